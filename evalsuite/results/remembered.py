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
from typing import TypeVar

from evalsuite import files, sources
from evalsuite.logs.catalogue import Places
from evalsuite.model import Measurement, Timeline, Window
from evalsuite.results import measurement as measurement_room
from evalsuite.runs.store import RunFolder

VALUES = frozenset({"evalsuite.model", "evalsuite.findings"})  # modules of plain values; nothing else is loaded
PIECE_BYTES = 1 << 18
UNUSABLE = (OSError, pickle.UnpicklingError, EOFError, ValueError, AttributeError, TypeError, ImportError, IndexError)

Value = TypeVar("Value")


def measurement(folder: RunFolder, places: Places, cache: Path | None) -> Measurement:
    """As `measurement.measurement`, kept in *cache*; None keeps nothing."""
    file = _file(cache, folder, "measurement") if places == measurement_room.HOUSE else None
    known = _read(file)
    if isinstance(known, Measurement):
        return known
    return _kept(measurement_room.measurement(folder, places), file)


def timeline(folder: RunFolder, window: Window | None, cache: Path | None) -> Timeline | None:
    """As `measurement.timeline`, kept in *cache*; None keeps nothing."""
    file = _file(cache, folder, f"timeline of {window!r}")
    known = _read(file)
    if isinstance(known, Timeline):
        return known
    return _kept(measurement_room.timeline(folder, window), file)


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


def _read(file: Path | None) -> object:
    try:
        return None if file is None else _Values(io.BytesIO(file.read_bytes())).load()
    except UNUSABLE:
        return None


def _kept(value: Value, file: Path | None) -> Value:
    """*value*, kept whole or not at all; a cache that cannot be written only costs time."""
    if file is not None and value is not None:
        files.keep(file, pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL))
    return value
