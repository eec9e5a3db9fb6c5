"""Whole files: written atomically, read as JSON objects, hashed, swept up."""

import bz2
import contextlib
import errno
import functools
import gzip
import hashlib
import io
import itertools
import json
import lzma
import os
import re
import shutil
import stat
import sys
import tempfile
import time
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from evalsuite.core import paths
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.messages import Message

HOLE_BYTES = 1 << 30  # a larger file of which next to nothing was ever written is none
MOST_BYTES = 1 << 26  # of a record
EARLIEST = (1980, 1, 1, 0, 0, 0)  # the first time that a zip can say; the files' own would differ each time
LEAST_BYTES = 32  # of a value in our files, on average; a shorter one takes far more room once it is read
MOST_BLANK = 64  # bytes behind a file, which an editor may have put there
MOST_SUMMARY_BYTES = 1 << 29  # ten times the summary of 10,000 cases
HASHED = ("*.py", "*.toml", "*.csv", "*.json")  # of our sources and data, for caches
PACKED: dict[bytes, Callable[..., Any]] = {
    b"\x1f\x8b": gzip.open,
    b"\xfd7zXZ\x00": lzma.open,
    b"BZh": bz2.open,
}  # by what a file begins with
NOT_UNPACKED = (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError)
CACHE_UNUSED_S = 30 * 86_400  # caches of other versions go after that

_HALVES = re.compile(rb"\\u[dD][89a-fA-F]")  # JSON escapes of surrogates


def open_file(path: Path, *, follow: bool = False) -> io.BufferedReader:
    """*path* for reading. Raises OSError if it is no file: a pipe, a socket, a device or the kernel's own, which could
    block or never end, or a link, which could lead anywhere, unless *follow*: for what a person names."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW))
    about = os.fstat(handle)
    hole = about.st_size > HOLE_BYTES and about.st_blocks * 512 < about.st_size >> 10
    kernel = not about.st_blocks and os.path.realpath(path).startswith(("/proc/", "/sys/"))  # they take no room
    if hole or kernel or not stat.S_ISREG(about.st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, Message("core.a_hole" if hole else "core.no_regular_file"), str(path))
    return os.fdopen(handle, "rb")


@contextlib.contextmanager
def unpacking(path: Path, *, follow: bool = False) -> Iterator[io.BufferedReader]:
    """*path* for reading, unpacked if it is packed. Raises OSError as `open_file`, and reading one of NOT_UNPACKED."""
    with open_file(path, follow=follow) as file:
        unpack = next((opener for sign, opener in PACKED.items() if file.peek(len(sign)).startswith(sign)), None)
        yield io.BufferedReader(unpack(file)) if unpack else file


def read_bytes(path: Path, *, most: int = MOST_BYTES, follow: bool = False) -> bytes:
    """Raises OSError as `open_file`, and for more than *most* bytes."""
    with open_file(path, follow=follow) as file:
        content = file.read(most + 1) if os.fstat(file.fileno()).st_size <= most else None
    if content is None or len(content) > most:
        raise OSError(errno.EFBIG, Message("core.file_too_large", megabytes=most >> 20), str(path))
    return content


def read_text(path: Path) -> str:
    return read_bytes(path).decode("utf-8", "replace")


def is_file(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def read_json(path: Path, most: int = MOST_BYTES) -> dict[str, object]:
    """Raises EvalsuiteError if *path* is absent, cut off or no JSON object."""
    try:
        content = read_bytes(path, most=most)
        document = parse_json(content, most // LEAST_BYTES)
        if _HALVES.search(content):
            json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogateescape")
    except FileNotFoundError as error:
        raise EvalsuiteError.of("core.file_none", path=path) from error
    except (ValueError, OSError) as error:
        raise EvalsuiteError.of("core.half_written", path=path, error=error) from error
    if not isinstance(document, dict):
        raise EvalsuiteError.of("core.file_other", path=path, type=type(document).__name__)
    return document


def parse_json(content: bytes | str, most: int = MOST_BYTES // LEAST_BYTES) -> Any:
    """What somebody else's JSON says. Raises ValueError, also for more than *most* values, and depth without end."""
    marks: Any = (b",", b"[", b"{") if isinstance(content, bytes) else (",", "[", "{")
    if sum(map(content.count, marks)) > most:
        raise ValueError(Message("core.many_values", most=most))
    try:
        return json.loads(content, object_pairs_hook=_each_once)
    except RecursionError as error:
        raise ValueError(str(error)) from error


def _each_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Raises ValueError for a repeated key: readers differ in which counts."""
    facts = dict(pairs)
    if len(facts) < len(pairs):
        twice = next(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
        raise ValueError(f'the key "{twice[:60]}" stands twice')
    return facts


def write_json(path: Path, facts: Mapping[str, object], *, fresh: bool = False) -> None:
    """A reader sees the whole file or none of it, or no folder yet where that is *fresh*."""
    path.write_bytes(_laid_out(facts)) if fresh else write_atomically(path, _laid_out(facts))


def _laid_out(facts: object) -> bytes:
    text = json.dumps(facts, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    return text.encode("utf-8", "backslashreplace")  # escapes a name that is no UTF-8


def says_the_same(path: Path, sha256: str) -> bool:
    """Whether the file with that hash had what *path* has: but for blank lines behind it, or JSON laid out anew."""
    try:
        content = _laid_out(read_json(path)) if path.suffix == ".json" else read_bytes(path)
    except (OSError, EvalsuiteError):
        return False
    ends = range(len(content.rstrip(b"\r\n\t ")) + 1, len(content) + 1)[-MOST_BLANK:]
    return any(hashlib.sha256(content[:end]).hexdigest() == sha256 for end in ends)


def write_atomically(path: Path, content: bytes | Iterable[bytes], *, mode: int = 0o644, lasting: bool = True) -> None:
    """Writes beside *path*, flushes to the disk where it must be *lasting*, renames into place."""
    with replacing(path, mode=mode, lasting=lasting) as file:
        file.writelines((content,) if isinstance(content, bytes) else content)


def text(path: Path) -> str | None:
    """A small file of the kernel, stripped; None if unreadable."""
    try:
        return path.read_text().strip()
    except (OSError, UnicodeDecodeError):
        return None


def refuse_other(path: Path) -> None:
    """Raises OSError where a link, a pipe or a device has that name: root would replace /dev/stdout."""
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise OSError(errno.EINVAL, Message("core.no_regular_file"), str(path))


@contextlib.contextmanager
def replacing(path: Path, *, mode: int = 0o644, lasting: bool = True) -> Iterator[BinaryIO]:
    """A new file that replaces *path* once it is whole."""
    prefix = f".{path.name}."
    try:
        refuse_other(path)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=prefix)
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
                file.flush()
                if lasting:
                    os.fsync(file.fileno())
                os.fchmod(file.fileno(), mode)
            os.replace(name, path)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name)
            raise
    except OSError as error:
        if prefix in str(error.filename or prefix):  # the kernel does not say where there is no room
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


@contextlib.contextmanager
def scratch(purpose: str) -> Iterator[Path]:
    """A temporary folder. Raises EvalsuiteError where none can be made."""
    try:
        folder = tempfile.TemporaryDirectory(prefix=f"evalsuite-{purpose}-", ignore_cleanup_errors=True)
    except OSError as error:
        place = error.filename or "temporary folder"
        raise EvalsuiteError.of("core.temporary_folder", path=place, error=error) from error
    with folder as name:
        yield Path(name)


def open_own(path: str, flags: int) -> int:
    """An opener for `open`: no link is followed, and no pipe waited for."""
    handle = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, Message("core.no_regular_file"), path)
    return handle


def write_named(path: Path, content: bytes) -> None:
    """Into a file that a person names. Raises EvalsuiteError, also if a pipe, a device or a link has that name."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, content)
    except OSError as error:
        raise EvalsuiteError.of("core.out_file", path=path, error=error) from error


def write_beside(path: Path, content: bytes) -> Path:
    """Into *path*, or where another text has that name beside it, as in `evaluation.2.sbatch`; gives the place."""
    places = (path.with_name(f"{path.stem}{f'.{n}' * (n > 1)}{path.suffix}") for n in itertools.count(1))
    place = next(each for each in places if not is_file(each) or each.read_bytes() == content)
    write_named(place, content)
    return place


def try_place(path: Path, *, folder: bool = False) -> None:
    """Raises EvalsuiteError if *path*, a file or a *folder*, cannot be written: before the work that it is for."""
    try:
        if not folder:
            refuse_other(path)
        with tempfile.TemporaryFile(dir=existing(path if folder else path.parent)):
            pass
    except OSError as error:
        raise EvalsuiteError.of("core.out_file", path=path, error=error.strerror or error) from error


def open_private(path: str, flags: int) -> int:
    """An opener for `open`: other users may not read what a training script prints."""
    return os.open(path, flags, 0o600)


def sha256(path: Path, *, follow: bool = True, unpacked: bool = False) -> str:
    with (unpacking if unpacked else open_file)(path, follow=follow) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def existing(path: Path) -> Path:
    """*path*, or the nearest folder above it that is there."""
    return next(each for each in (path.absolute(), *path.absolute().parents) if each.exists())


def zip_entry(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, EARLIEST)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.create_system = 3  # Unix on every system, so that the mode means the same
    info.external_attr = 0o100644 << 16
    return info


@functools.cache
def version_folder(cache: Path) -> Path:
    """This version's folder in *cache*. Removes long unused ones of others."""
    own = cache / fingerprint()
    with contextlib.suppress(OSError):  # it only costs time
        own.mkdir(parents=True, exist_ok=True)
        for each in cache.iterdir():
            if time.time() - each.stat().st_mtime > CACHE_UNUSED_S and each != own:
                shutil.rmtree(each, ignore_errors=True)
        os.utime(own)
    return own


@functools.cache
def fingerprint() -> str:
    """Changes with our code and data, and with the interpreter."""
    hashed = hashlib.sha256(sys.version.encode())
    folders = (paths.PACKAGE, paths.ADAPTERS, paths.DATA / "criteria", paths.DATA / "dialects")
    inside = {path for folder in folders for kind in HASHED for path in folder.rglob(kind)}
    for path in sorted(path for path in {*inside, *paths.DATA.glob("*.*")} if path.is_file()):
        hashed.update(f"{path}\0".encode("utf-8", "backslashreplace"))
        hashed.update(path.read_bytes())
    return hashed.hexdigest()[:16]
