"""Measurements already made: a run folder that holds the same bytes as before is not read again.

What is kept is found by the hash of everything that a measurement is made of: each file of the folder, its path,
this package's source and data. The hash is computed every time, so an entry for other bytes cannot be found. Where
others bring dialects nothing is kept: nobody knows what their code depends on.
"""

import hashlib
import io
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from evalsuite import files, sources
from evalsuite.documents import RunCommand
from evalsuite.errors import EvalsuiteError
from evalsuite.logs.catalogue import Places
from evalsuite.model import Measurement, Timeline, Window
from evalsuite.results import measurement as measurement_room
from evalsuite.runs.store import RunFolder

VALUES = frozenset(
    {"evalsuite.model", "evalsuite.findings", "evalsuite.documents"}
)  # modules of plain values; nothing else is loaded
PIECE_BYTES = 1 << 18
UNUSABLE = (OSError, pickle.UnpicklingError, EOFError, ValueError, AttributeError, TypeError, ImportError, IndexError)


class Measured(NamedTuple):
    """A run as numbers, and what exactly was run where that can be read."""

    measurement: Measurement
    command: RunCommand | None


def measured(folder: RunFolder, places: Places, cache: Path | None) -> Measured:
    """The run in *folder*, kept in *cache*; None keeps nothing. Raises EvalsuiteError if its case cannot be read."""
    file = _measurement_file(folder, places, cache)
    if known := _measured(_content(file)):
        return known
    found = _made(folder, places)
    _kept(found, file)
    return found


def pickled(folder: RunFolder, places: Places, cache: Path | None) -> bytes:
    """What `measured` gives, in bytes for another process: `unpickled` looks into them, also into what was kept."""
    file = _measurement_file(folder, places, cache)
    return _content(file) or _kept(_made(folder, places), file)


def unpickled(content: bytes, folder: RunFolder, places: Places, cache: Path | None) -> Measured:
    """What `pickled` told of *folder*; made here if that was spoilt."""
    return _measured(content) or measured(folder, places, cache)


def timeline(folder: RunFolder, window: Window | None, cache: Path | None) -> Timeline | None:
    """As `measurement.timeline`, kept in *cache*; None keeps nothing."""
    file = _timeline_file(folder, window, cache)
    known = _value(_content(file))
    if isinstance(known, Timeline):
        return known
    found = measurement_room.timeline(folder, window)
    if found is not None:
        _kept(found, file)
    return found


def pickled_timeline(folder: RunFolder, window: Window | None, cache: Path | None) -> bytes:
    """What `timeline` gives, in bytes for another process; none for None."""
    file = _timeline_file(folder, window, cache)
    if content := _content(file):
        return content
    found = measurement_room.timeline(folder, window)
    return b"" if found is None else _kept(found, file)


def unpickled_timeline(content: bytes, folder: RunFolder, window: Window | None, cache: Path | None) -> Timeline | None:
    """What `pickled_timeline` told of *folder*; made here if that was spoilt."""
    known = _value(content)
    if content and not isinstance(known, Timeline):
        return timeline(folder, window, cache)
    return known if isinstance(known, Timeline) else None


def _timeline_file(folder: RunFolder, window: Window | None, cache: Path | None) -> Path | None:
    return _file(cache, folder, f"timeline of {window!r}")


def _made(folder: RunFolder, places: Places) -> Measured:
    found = measurement_room.measurement(folder, places)
    try:
        return Measured(found, folder.command())
    except EvalsuiteError:  # the measurement has failed and says why
        return Measured(found, None)


def _measurement_file(folder: RunFolder, places: Places, cache: Path | None) -> Path | None:
    return _file(cache, folder, "measurement") if places == measurement_room.HOUSE else None


def _file(cache: Path | None, folder: RunFolder, what: str) -> Path | None:
    """Where *what* is made of *folder* lies, or would; None where a file cannot be read, and nothing is kept."""
    if cache is None:
        return None
    buffer = memoryview(bytearray(PIECE_BYTES))
    hashed = hashlib.sha256(f"{what}\0{folder.path.resolve()}\0".encode("utf-8", "backslashreplace"))
    try:
        for entry in sorted(os.scandir(folder.path), key=lambda entry: entry.name):
            if entry.is_file():
                hashed.update(f"{os.fsencode(entry.name)!r}\0{entry.stat().st_size}\0".encode())
                _add(hashed.update, entry.path, buffer)
    except OSError:
        return None
    key = hashed.hexdigest()
    return sources.kept(cache) / key[:2] / key


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


def _content(file: Path | None) -> bytes:
    """What is kept in *file*; nothing where nothing is."""
    try:
        return b"" if file is None else file.read_bytes()
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


def _kept(value: Measured | Timeline, file: Path | None) -> bytes:
    """The bytes of *value*, kept whole or not at all; a cache that cannot be written only costs time."""
    plain = tuple(value) if isinstance(value, Measured) else value
    content = pickle.dumps(plain, protocol=pickle.HIGHEST_PROTOCOL)
    if file is not None:
        files.keep(file, content)
    return content
