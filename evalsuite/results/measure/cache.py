"""Measurements already made: a run folder that holds the same bytes as before is not read again.

What is kept is found by the hash of everything that a measurement is made of: each file of the folder, its path,
this package's source and data. The hash is computed every time, so an entry for other bytes cannot be found; what
changes while it is read is not kept. Where others bring dialects nothing is kept: nobody knows what their code
depends on.
"""

import hashlib
import io
import os
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from evalsuite import files, sources
from evalsuite.documents import RunCommand
from evalsuite.errors import EvalsuiteError
from evalsuite.logs.catalogue import Places
from evalsuite.model import Measurement, Timeline, Window
from evalsuite.results.measure import measurement as measurement_room
from evalsuite.runs.store import RunFolder

# modules of plain values; nothing else is loaded
VALUES = frozenset({"evalsuite.model", "evalsuite.findings", "evalsuite.documents"})
UNUSABLE = (OSError, pickle.UnpicklingError, EOFError, ValueError, AttributeError, TypeError, ImportError, IndexError)
Seen = tuple[tuple[str, int, int, int, int], ...]  # of each file its name, inode, size and when it was changed


class Measured(NamedTuple):
    """A run as numbers, and what exactly was run where that can be read."""

    measurement: Measurement
    command: RunCommand | None


@dataclass(frozen=True, kw_only=True)
class CacheEntry:
    """A place of the cache, and what it is for."""

    file: Path
    folder: Path  # of the run
    seen: Seen  # its files when they were hashed

    @property
    def still(self) -> bool:
        """Whether none of them has changed since."""
        try:
            return _seen(self.folder) == self.seen
        except OSError:
            return False


def measured(folder: RunFolder, places: Places, cache: Path | None) -> Measured:
    """The run in *folder*, kept in *cache*; None keeps nothing. Raises EvalsuiteError if its case cannot be read."""
    entry = _measurement_entry(folder, places, cache)
    if known := _measured(_content(entry)):
        return known
    found = _made(folder, places)
    _kept(found, entry)
    return found


def pickled(folder: RunFolder, places: Places, cache: Path | None) -> bytes:
    """What `measured` gives, in bytes for another process: `unpickled` looks into them, also into what was kept."""
    entry = _measurement_entry(folder, places, cache)
    return _content(entry) or _kept(_made(folder, places), entry)


def unpickled(content: bytes, folder: RunFolder, places: Places, cache: Path | None) -> Measured:
    """What `pickled` told of *folder*; made here if that was spoilt."""
    return _measured(content) or measured(folder, places, cache)


def timeline(folder: RunFolder, window: Window | None, cache: Path | None) -> Timeline | None:
    """As `measurement.timeline`, kept in *cache*; None keeps nothing."""
    entry = _timeline_entry(folder, window, cache)
    known = _value(_content(entry))
    if isinstance(known, Timeline):
        return known
    found = measurement_room.timeline(folder, window)
    if found is not None:
        _kept(found, entry)
    return found


def pickled_timeline(folder: RunFolder, window: Window | None, cache: Path | None) -> bytes:
    """What `timeline` gives, in bytes for another process; none for None."""
    entry = _timeline_entry(folder, window, cache)
    if content := _content(entry):
        return content
    found = measurement_room.timeline(folder, window)
    return b"" if found is None else _kept(found, entry)


def unpickled_timeline(content: bytes, folder: RunFolder, window: Window | None, cache: Path | None) -> Timeline | None:
    """What `pickled_timeline` told of *folder*; made here if that was spoilt."""
    known = _value(content)
    if content and not isinstance(known, Timeline):
        return timeline(folder, window, cache)
    return known if isinstance(known, Timeline) else None


def _timeline_entry(folder: RunFolder, window: Window | None, cache: Path | None) -> CacheEntry | None:
    return _entry(cache, folder, f"timeline of {window!r}")


def _made(folder: RunFolder, places: Places) -> Measured:
    found = measurement_room.measurement(folder, places)
    try:
        return Measured(found, folder.command())
    except EvalsuiteError:  # the measurement has failed and says why
        return Measured(found, None)


def _measurement_entry(folder: RunFolder, places: Places, cache: Path | None) -> CacheEntry | None:
    return _entry(cache, folder, "measurement") if places == measurement_room.HOUSE else None


def _entry(cache: Path | None, folder: RunFolder, what: str) -> CacheEntry | None:
    """Where *what* is made of *folder* lies, or would; None where a file cannot be read, and nothing is kept."""
    if cache is None:
        return None
    buffer = memoryview(bytearray(files.PIECE_BYTES))
    hashed = hashlib.sha256(f"{what}\0{folder.path.absolute()}\0".encode("utf-8", "backslashreplace"))
    try:
        seen = _seen(folder.path)
        for name, _, size, *_ in seen:
            hashed.update(f"{os.fsencode(name)!r}\0{size}\0".encode())
            _add(hashed.update, os.path.join(folder.path, name), buffer)
    except OSError:
        return None
    key = hashed.hexdigest()
    return CacheEntry(file=sources.kept(cache) / key[:2] / key, folder=folder.path, seen=seen)


def _seen(folder: Path) -> Seen:
    stats = ((entry.name, entry.stat()) for entry in os.scandir(folder) if entry.is_file())
    return tuple(sorted((name, of.st_ino, of.st_size, of.st_mtime_ns, of.st_ctime_ns) for name, of in stats))


def _add(update: Callable[[memoryview], object], path: str, buffer: memoryview) -> None:
    """Gives *update* the bytes at *path*, by way of *buffer*: a new one for each file takes longer than most files."""
    with open(path, "rb", buffering=0) as file:
        while count := file.readinto(buffer):
            update(buffer[:count])


class _Values(pickle.Unpickler):
    """Loads the values that a measurement is made of. A file that names anything else is not believed."""

    def find_class(self, module: str, name: str) -> type:
        found = super().find_class(module, name) if module in VALUES else None
        if not isinstance(found, type) or found.__module__ != module:
            raise pickle.UnpicklingError(f"{module}.{name} is no value of a measurement")
        return found


def _content(entry: CacheEntry | None) -> bytes:
    """What is kept there; nothing where nothing is."""
    try:
        return b"" if entry is None else entry.file.read_bytes()
    except OSError:
        return b""


def _value(content: bytes) -> object:
    """The value in *content*; None where it is spoilt."""
    try:
        return _Values(io.BytesIO(content)).load()
    except UNUSABLE:
        return None


def _measured(content: bytes) -> Measured | None:
    match _value(content):
        case (Measurement() as measurement, RunCommand() | None as command):
            return Measured(measurement, command)
    return None


def _kept(value: Measured | Timeline, entry: CacheEntry | None) -> bytes:
    """The bytes of *value*, kept whole or not at all; a cache that cannot be written only costs time."""
    plain = tuple(value) if isinstance(value, Measured) else value
    content = pickle.dumps(plain, protocol=pickle.HIGHEST_PROTOCOL)
    if entry is not None and entry.still:
        files.keep(entry.file, content)
    return content
