"""Says what is missing before the virtual environment is made; used by the Makefile."""

import sys

NEEDED = (3, 11)


def main() -> int:
    if sys.version_info < NEEDED:
        have = ".".join(map(str, sys.version_info[:3]))
        print(
            f"{sys.executable}: Python {have}; evalsuite needs 3.11 or newer. Try make PYTHON=python3.11",
            file=sys.stderr,
        )
        return 1
    try:
        import ensurepip  # noqa: F401, absent in Debian's python3 without python3-venv
        import venv  # noqa: F401
    except ImportError:
        print("Python's venv module is missing. Try: sudo apt-get install python3-venv", file=sys.stderr)
        return 1
    import install_locked  # beside this file

    reason = install_locked.index_unreachable()
    if reason and "find-links" not in install_locked.pip_settings():  # said at once, not when half is made
        print(install_locked.why(reason), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
