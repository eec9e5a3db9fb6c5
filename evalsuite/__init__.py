"""Runs, measures and compares deep-learning training frameworks, and writes the bilingual report.

In Python: `load` folders of runs or reports, `diff` two reports or lists of rates, `read` a log (docs/python.md).
"""

TYPE_CHECKING = False  # as in typing, which is slow to import

if TYPE_CHECKING:
    from evalsuite.commands.api import Results, diff, load, read
    from evalsuite.core.errors import EvalsuiteError

__version__ = "0.1.0"
__all__ = ["EvalsuiteError", "Results", "diff", "load", "read"]
_GONE = {"compare": "diff", "parse": "read"}


def __getattr__(name: str) -> object:
    if name not in __all__:
        instead = f"; it is evalsuite.{_GONE[name]} now" if name in _GONE else ""
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{instead}")
    import importlib  # what it takes is slow to import, and imports this

    return getattr(importlib.import_module("evalsuite.commands.api"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
