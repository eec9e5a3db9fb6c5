"""`python -m evalsuite`. Its list of commands needs no import."""

import gc
import os
import sys

NEEDED = (3, 11)


def main() -> int:
    try:
        return _run()
    finally:
        try:
            print(end="", flush=True)
        except (OSError, ValueError) as error:  # closed, by an adapter even
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # else Python tries again
            if not isinstance(error, BrokenPipeError):
                sys.exit(3)


def _run() -> int:
    if sys.version_info < NEEDED:  # before imports that an older Python cannot read
        have = sys.version.split()[0]
        sys.exit(f"{sys.executable}: Python {have}; expected 3.11 or newer. Try .venv/bin/python -m evalsuite")
    if sys.argv[1:] in (["--help"], ["-h"]) and sys.stdout:
        inside = os.path.dirname(os.path.abspath(__file__))  # as `evalsuite.core.paths` finds it, without pathlib
        house = inside if os.path.isdir(os.path.join(inside, "data")) else os.path.dirname(inside)
        with open(os.path.join(house, "data", "commands", "help.txt"), encoding="utf-8") as file:
            print(file.read().encode(sys.stdout.encoding, "replace").decode(sys.stdout.encoding), end="")
        return 0
    import _signal as signal  # type: ignore[import-not-found]  # `signal` takes long enough to be interrupted

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # until a command runs there is nothing to end in order
    from evalsuite.cli import main as run

    gc.set_threshold(50_000, 20, 20)  # objects made at the start stay
    code = run()
    gc.freeze()  # the process ends anyway
    return code


if __name__ == "__main__":
    sys.exit(main())
