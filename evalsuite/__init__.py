"""Runs, measures and compares deep-learning training frameworks, and writes the bilingual report.

In Python: `load` folders of runs or reports, `compare` two reports, `parse` a log (docs/python.md).
"""

TYPE_CHECKING = False  # as in typing, which is slow to import

if TYPE_CHECKING:
    from evalsuite.commands.api import Results, compare, load, parse

__version__ = "0.1.0"
__all__ = ["Results", "compare", "load", "parse"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib  # what it takes is slow to import, and imports this

    return getattr(importlib.import_module("evalsuite.commands.api"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
