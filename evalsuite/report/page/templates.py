"""The one room that touches Jinja: the templates of a page."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

__all__ = ["Environment", "environment"]


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
