"""The one room that touches Jinja: the templates of a page."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

__all__ = ["Environment", "environment"]


INDENT = re.compile(r"^[ \t]+", re.MULTILINE)


class Flush(FileSystemLoader):
    """Templates without the blanks before their lines, which are for who reads the template and not for the page."""

    def get_source(self, environment: Environment, template: str) -> tuple[str, str, Callable[[], bool]]:
        source, file, is_current = super().get_source(environment, template)
        return INDENT.sub("", source), file, is_current


def environment(folders: Sequence[Path], finalize: Callable[[Any], Any] | None = None) -> Environment:
    """Templates of *folders*, the first that has one: escaped, and strict about names that nobody gave."""
    return Environment(
        loader=Flush(list(folders)),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        finalize=finalize,
    )
