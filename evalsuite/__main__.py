"""`python -m evalsuite`."""

import gc
import sys

NEEDED = (3, 11)

if __name__ == "__main__":
    if sys.version_info < NEEDED:  # before anything is imported that an older Python cannot read
        have = ".".join(map(str, sys.version_info[:3]))
        sys.exit(f"{sys.executable}: Python {have}; expected 3.11 or newer. Try .venv/bin/python -m evalsuite")
    from evalsuite.cli import main

    gc.set_threshold(50_000, 20, 20)  # nearly all that is made while starting stays: it need not be looked at so often
    code = main()
    gc.freeze()  # the process ends, and with it all that a last look could find to be freed
    sys.exit(code)
