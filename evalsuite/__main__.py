"""`python -m evalsuite`."""

import gc
import sys

NEEDED = (3, 11)

if __name__ == "__main__":
    if sys.version_info < NEEDED:  # before imports that an older Python cannot read
        have = ".".join(map(str, sys.version_info[:3]))
        sys.exit(f"{sys.executable}: Python {have}; expected 3.11 or newer. Try .venv/bin/python -m evalsuite")
    from evalsuite.cli import main

    gc.set_threshold(50_000, 20, 20)  # objects made at the start stay
    code = main()
    gc.freeze()  # the process ends anyway
    sys.exit(code)
