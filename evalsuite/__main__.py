"""`python -m evalsuite`."""

import sys

from evalsuite.cli import main

if __name__ == "__main__":
    sys.exit(main())
