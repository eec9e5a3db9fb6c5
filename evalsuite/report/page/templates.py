"""The one room that touches Jinja: the templates of a page."""

import contextlib
import functools
import os
import re
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from jinja2 import Environment, FileSystemBytecodeCache, FileSystemLoader, StrictUndefined
from jinja2.bccache import Bucket
from markupsafe import Markup

from evalsuite.core import files, paths
from evalsuite.report.text import names

__all__ = ["Environment", "drawing", "environment"]
INDENT = re.compile(r"^[ \t]+", re.MULTILINE)


class Flush(FileSystemLoader):
    def get_source(self, environment: Environment, template: str) -> tuple[str, str, Callable[[], bool]]:
        source, file, is_current = super().get_source(environment, template)
        return INDENT.sub("", source), file, is_current


class Compiled(FileSystemBytecodeCache):
    """Jinja's own cache, for this version of the code."""

    def dump_bytecode(self, bucket: Bucket) -> None:
        with contextlib.suppress(OSError):
            super().dump_bytecode(bucket)


def _compiled() -> Compiled | None:
    folder = files.version_folder(paths.cache() / "templates") / version("jinja2")
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700, exist_ok=True)
        about = folder.stat()
        if about.st_uid == os.geteuid() and not about.st_mode & 0o022:
            return Compiled(str(folder))
    return None


def refuse_none(value: Any) -> Any:
    if value is None:
        raise ValueError("a template printed None; what is absent has words of its own")
    return value


def environment(folders: Sequence[Path], shown: Callable[[Any], Any] = refuse_none, markup: bool = True) -> Environment:
    """Of *folders* the first that has a template; strict about None and unknown names. *markup*: flush and escaped."""
    return Environment(
        loader=(Flush if markup else FileSystemLoader)(list(folders)),
        autoescape=markup,
        undefined=StrictUndefined,
        trim_blocks=True,
        finalize=shown,
        bytecode_cache=_compiled(),
    )


@functools.cache
def _drawings() -> Environment:
    env = environment([paths.TEMPLATES / "drawings"])
    env.filters |= {"px": lambda value: f"{value:.1f}", "text": lambda words: Markup(escape(names.visible(words)))}
    return env


def drawing(name: str, **facts: object) -> str:
    """What is no page: an SVG or XML of its own. Its filters: a place to a tenth of a pixel, and text."""
    return _drawings().get_template(name).render(facts)
