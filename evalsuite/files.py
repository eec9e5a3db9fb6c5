"""Whole files: written so that a reader sees all of one or none of it, read as JSON objects, hashed, and swept up."""

import contextlib
import errno
import hashlib
import json
import os
import re
import secrets
import shutil
import stat
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from evalsuite.errors import EvalsuiteError

NO_UNNAMED = frozenset({errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT, errno.EINVAL})  # of old kernels too
PIECE_BYTES = 1 << 18
MOST_JSON_BYTES = 1 << 29  # the summary of 10,000 cases has a tenth of that


_HALVES = re.compile(rb"\\u[dD][89a-fA-F]")  # of a character beyond 65535, in JSON's own escapes


def read_json(path: Path) -> dict[str, object]:
    """The object in *path*. Raises EvalsuiteError if it is absent, cut off or no JSON object."""
    try:
        about = path.stat()
        if not stat.S_ISREG(about.st_mode):
            raise EvalsuiteError.of("core.json_no_file", path=path)
        if about.st_size > MOST_JSON_BYTES:
            raise EvalsuiteError.of("core.json_too_large", path=path, megabytes=MOST_JSON_BYTES >> 20)
        content = path.read_bytes()
        found = json.loads(content, object_pairs_hook=_each_once)
        if _HALVES.search(content):
            json.dumps(found, ensure_ascii=False).encode("utf-8", "surrogateescape")
    except FileNotFoundError as error:
        raise EvalsuiteError.of("core.file_none", path=path) from error
    except (ValueError, OSError, RecursionError) as error:
        raise EvalsuiteError.of("core.half_written", path=path, error=error) from error
    if not isinstance(found, dict):
        raise EvalsuiteError.of("core.file_other", path=path, type=type(found).__name__)
    return found


def _each_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object of JSON. Raises ValueError if a key stands twice: readers differ in which of the two counts."""
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f'the key "{twice[:60]}" stands twice')
    return found


def write_json(path: Path, facts: Mapping[str, object]) -> None:
    """Writes *facts* so that a reader sees the whole file or none of it."""
    text = json.dumps(facts, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    write_atomically(
        path, text.encode("utf-8", "backslashreplace")
    )  # a name that is no UTF-8 becomes JSON's own escape


def write_atomically(path: Path, content: bytes | Iterable[bytes]) -> None:
    """Writes *content*, whole or in pieces, beside *path*, flushes it to the disk, and renames it into place."""
    _put(path, content, mode=0o644, lasting=True)


def text(path: Path) -> str | None:
    """What a small file of the kernel says, without the line end; None if it cannot be read."""
    try:
        return path.read_text().strip()
    except (OSError, UnicodeDecodeError):
        return None


def keep(path: Path, content: bytes) -> None:
    """Puts *content* into a cache, whole or not at all; one that cannot be written only costs time."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        _put(path, content, mode=0o600, lasting=False)


def _put(path: Path, content: bytes | Iterable[bytes], *, mode: int, lasting: bool) -> None:
    with replacing(path, mode=mode, lasting=lasting) as file:
        file.writelines((content,) if isinstance(content, bytes) else content)


@contextlib.contextmanager
def replacing(path: Path, *, mode: int = 0o644, lasting: bool = True) -> Iterator[BinaryIO]:
    """A new file that takes the place of *path* once it is written whole, and goes if something goes wrong.

    Where the file system has files without a name, not even a process that is killed leaves anything.
    """
    try:
        handle, name = _new_file(path)
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
                file.flush()
                if lasting:
                    os.fsync(file.fileno())
                os.fchmod(file.fileno(), mode)
                name = name or _named(file.fileno(), path)
            os.replace(name, path)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name or "")
            raise
    except OSError as error:
        if error.filename is None:  # the kernel says that there is no room, and not where
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


def _new_file(path: Path) -> tuple[int, str | None]:
    """A descriptor of a new file beside *path*, and its name; None where it has none yet (open(2), O_TMPFILE)."""
    if hasattr(os, "O_TMPFILE") and os.path.isdir("/proc/self/fd"):
        try:
            return os.open(path.parent, os.O_TMPFILE | os.O_WRONLY, 0o600), None
        except OSError as error:
            if error.errno not in NO_UNNAMED:
                raise
    return tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")


def _named(handle: int, path: Path) -> str:
    """Gives the file of *handle*, which has none, a name beside *path*."""
    name = f"{path.parent}/.{path.name}.{secrets.token_hex(4)}"
    os.link(f"/proc/self/fd/{handle}", name, src_dir_fd=handle)  # with any, Python follows the link (linkat(2))
    return name


@contextlib.contextmanager
def scratch(purpose: str) -> Iterator[Path]:
    """An empty folder for a while. Raises EvalsuiteError where none can be made: all may be read-only, or full."""
    try:
        folder = Path(tempfile.mkdtemp(prefix=f"evalsuite-{purpose}-"))
    except OSError as error:
        raise EvalsuiteError.of(
            "core.temporary_folder", path=error.filename or "temporary folder", error=error
        ) from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def private(path: str, flags: int) -> int:
    """Opens a new file that nobody else may read: what a training script prints may hold a password. For `open`."""
    return os.open(path, flags, 0o600)


def sha256(path: Path) -> str:
    hashed = hashlib.sha256()
    with open(path, "rb", buffering=0) as file:
        while piece := file.read(PIECE_BYTES):
            hashed.update(piece)
    return hashed.hexdigest()


def remove_unused(folder: Path, unused_s: float) -> None:
    """Removes the folders in *folder* whose time of change lies longer ago. Raises OSError."""
    for inner in folder.iterdir() if folder.is_dir() else ():
        if time.time() - inner.stat().st_mtime > unused_s:
            shutil.rmtree(inner, ignore_errors=True)
