"""The one room that touches Jinja: the templates of a page."""

import contextlib
import errno
import hashlib
import os
import pickle
import re
import stat
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from jinja2 import BytecodeCache, Environment, FileSystemLoader, StrictUndefined
from jinja2.bccache import Bucket

from evalsuite import files, paths, sources

__all__ = ["Environment", "environment"]


DIGEST = hashlib.sha256().digest_size
INDENT = re.compile(r"^[ \t]+", re.MULTILINE)


class Flush(FileSystemLoader):
    """Templates without the blanks before their lines, which are for who reads the template and not for the page."""

    def get_source(self, environment: Environment, template: str) -> tuple[str, str, Callable[[], bool]]:
        source, file, is_current = super().get_source(environment, template)
        return INDENT.sub("", source), file, is_current


class Compiled(BytecodeCache):
    """Templates already compiled, which takes longer than to fill those of a short report.

    What is kept is found by the text of a template and all that it is compiled with: the versions of Jinja and of this
    code, and the environment, whose filters are applied to constants by the compiler. It is code, and is believed only
    if nobody but its user can have written it.
    """

    def __init__(self, cache: Path) -> None:
        self._folder = sources.kept(cache)

    def load_bytecode(self, bucket: Bucket) -> None:
        with contextlib.suppress(OSError, EOFError, ValueError, TypeError, pickle.UnpicklingError):
            content = _own(self._file(bucket))
            if content[:DIGEST] == hashlib.sha256(content[DIGEST:]).digest():
                bucket.bytecode_from_string(content[DIGEST:])

    def dump_bytecode(self, bucket: Bucket) -> None:
        code = bucket.bytecode_to_string()
        files.keep(self._file(bucket), hashlib.sha256(code).digest() + code)

    def _file(self, bucket: Bucket) -> Path:
        asked = repr((bucket.key, bucket.checksum, version("jinja2"), _settings(bucket.environment)))
        return self._folder / hashlib.sha256(asked.encode("utf-8", "backslashreplace")).hexdigest()


def _settings(environment: Environment) -> tuple[object, ...]:
    """What the compiler asks of *environment*."""
    filters = [(name, _called(each)) for name, each in sorted(environment.filters.items())]
    return (
        filters,
        _called(environment.finalize),
        environment.autoescape,
        environment.trim_blocks,
        environment.undefined.__qualname__,
    )


def _called(function: object) -> tuple[str, str]:
    """What tells *function* from others; one without a name is told by its address, and never found again."""
    return getattr(function, "__module__", ""), getattr(function, "__qualname__", repr(function))


def _own(path: Path) -> bytes:
    """The content of *path*. Raises PermissionError if somebody else may have written it."""
    with open(path, "rb") as file:
        about = os.fstat(file.fileno())
        if about.st_uid != os.geteuid() or about.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise PermissionError(errno.EPERM, "others may have written it", str(path))
        return file.read()


def environment(folders: Sequence[Path], finalize: Callable[[Any], Any] | None = None) -> Environment:
    """Templates of *folders*, the first that has one: escaped, and strict about names that nobody gave."""
    return Environment(
        loader=Flush(list(folders)),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        finalize=finalize,
        bytecode_cache=Compiled(paths.cache() / "templates"),
    )
