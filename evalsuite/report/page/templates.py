"""The one room that touches Jinja: templates of a page, and the static files that stand in it."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from evalsuite import paths

__all__ = ["Environment", "environment", "static"]


def environment(folders: Sequence[Path], finalize: Callable[[Any], Any] | None = None) -> Environment:
    """Templates of *folders*, the first that has one: escaped, and strict about names that nobody gave."""
    return Environment(
        loader=FileSystemLoader(list(folders)),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=finalize,
    )


def static(name: str) -> str:
    """The text of a file of `templates/` that stands in a page as it is."""
    return (paths.TEMPLATES / name).read_text(encoding="utf-8")
