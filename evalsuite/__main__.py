"""`python -m evalsuite`."""

import gc
import sys

from evalsuite.cli import main

if __name__ == "__main__":
    gc.set_threshold(50_000, 20, 20)  # nearly all that is made while starting stays: it need not be looked at so often
    code = main()
    gc.freeze()  # the process ends, and with it all that a last look could find to be freed
    sys.exit(code)
