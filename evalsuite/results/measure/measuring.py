"""Run folders → their measurements, by a process on each core: the same as by one. What was made already is kept as
long as no file of a run folder changes (name, inode, size, times of change: as for git's index), nor this package's
source and data; of many also in one file. With dialects of others nothing is kept: their code is unknown."""

import contextlib
import functools
import hashlib
import importlib
import io
import os
import pickle
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from evalsuite.core import files, processes
from evalsuite.core.documents import RunCommand
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.findings import UnreadableRun
from evalsuite.core.model import Finding, Measurement
from evalsuite.logs.catalogue import Places
from evalsuite.logs.text.disclosure import disclosed_whole
from evalsuite.results.measure import measurement as measurement_room
from evalsuite.runs.store import RunFolder

# modules of plain values; nothing else is loaded
VALUES = frozenset(
    {"evalsuite.core.model", "evalsuite.core.findings", "evalsuite.core.documents", "evalsuite.core.messages", __name__}
)
UNUSABLE = (OSError, pickle.UnpicklingError, EOFError, ValueError, AttributeError, TypeError, ImportError, IndexError)
WORTH_A_PROCESS = 100  # folders; of fewer, starting it costs more than it saves
Seen = tuple[tuple[str, int, int, int, int], ...]  # of each file its name, inode, size and when it was changed


class Measured(NamedTuple):
    measurement: Measurement
    command: RunCommand | None


def measure_folders(
    folders: Sequence[RunFolder], places: Places, cache: Path | None, meanwhile: Callable[[], None]
) -> tuple[list[Measured], list[Finding]]:
    """A folder whose case cannot be read becomes a finding. *meanwhile*: done while other processes work."""

    def read_folder(place: int, kept: Measured | None = None) -> Measured | UnreadableRun:
        folder = folders[place]
        try:
            read = kept or measure(folder, places, cache)
            folder.check_name(read.measurement.run)
            return read
        except EvalsuiteError as error:
            return UnreadableRun(file=error.message.partition(": ")[0], said=error.message, where=folder.place)

    entries = [_entry(cache if places == measurement_room.HOUSE else None, folder) for folder in folders]
    roots = ((of.file.parents[1], zlib.crc32(os.fsencode(of.folder.absolute().parents[1]))) for of in entries if of)
    file = next((kept / f"all-{root:x}" for kept, root in roots), None)
    held = together if file and isinstance(together := _load(file), dict) else {}
    in_one = [entry and _fitting(entry, held.get(entry.file.name)) for entry in entries]
    known = [kept or (of and _fitting(of, _load(of.file))) for kept, of in zip(in_one, entries, strict=True)]
    left = [place for place, value in enumerate(known) if value is None]
    if len(left) >= WORTH_A_PROCESS:
        importlib.import_module("evalsuite.results.samples.sample_arrays")  # and numpy: each process needs it
        importlib.import_module("numpy.random")
    made = processes.shared(read_folder, left, meanwhile, worth=len(left) >= WORTH_A_PROCESS)
    again = dict(zip(left, made, strict=True))
    every = [again[place] if place in again else read_folder(place, kept) for place, kept in enumerate(known)]
    if file and in_one.count(None) >= max(WORTH_A_PROCESS, len(folders) // 20):
        fresh = ((of, each) for of, each in zip(entries, every, strict=True) if of and _seen(of.folder) == of.seen)
        _keep(file, {of.file.name: (of.seen, each) for of, each in fresh})
    return [each for each in every if isinstance(each, Measured)], [each for each in every if isinstance(each, Finding)]


def measure(folder: RunFolder, places: Places, cache: Path | None) -> Measured:
    """The run in *folder*, kept in *cache*; None keeps nothing. Raises EvalsuiteError if its case cannot be read."""
    entry = _entry(cache if places == measurement_room.HOUSE else None, folder)
    if entry and (known := _fitting(entry, _load(entry.file))):
        return known
    measurement, command = measurement_room.measured(folder, places)
    made = Measured(disclosed_whole(measurement), command and disclosed_whole(command))
    if entry and _seen(entry.folder) == entry.seen:
        _keep(entry.file, (entry.seen, made))
    return made


def _keep(file: Path, value: object) -> None:
    with contextlib.suppress(OSError):  # a failure only costs time
        file.parent.mkdir(parents=True, exist_ok=True)
        files.write_atomically(file, pickle.dumps(value, 5), mode=0o600, lasting=False)


class Entry(NamedTuple):
    file: Path
    folder: Path  # of the run
    seen: Seen


def _entry(cache: Path | None, folder: RunFolder) -> Entry | None:
    if cache is None or not (seen := _seen(folder.path)):
        return None
    asked = f"{folder.path.absolute()}\0{folder.label}\0{folder.shift}".encode("utf-8", "backslashreplace")
    key = hashlib.sha256(asked).hexdigest()
    return Entry(file=files.version_folder(cache) / key[:2] / key, folder=folder.path, seen=seen)


def _seen(folder: Path) -> Seen:
    with contextlib.suppress(OSError):
        stats = ((entry.name, entry.stat()) for entry in os.scandir(folder) if entry.is_file(follow_symlinks=False))
        return tuple(sorted((name, of.st_ino, of.st_size, of.st_mtime_ns, of.st_ctime_ns) for name, of in stats))
    return ()


def _fitting(entry: Entry, held: Any) -> Measured | None:
    seen, value = held if isinstance(held, tuple) and len(held) == 2 else (None, None)
    return value if seen == entry.seen and isinstance(value, Measured) else None


def _load(file: Path) -> Any:
    with contextlib.suppress(*UNUSABLE):
        return _Values(io.BytesIO(files.read_bytes(file))).load()
    return None


@functools.cache
def _value_class(module: str, name: str) -> type:
    kind = getattr(importlib.import_module(module), name) if module in VALUES else None
    if not isinstance(kind, type) or kind.__module__ != module:
        raise pickle.UnpicklingError(f"{module}.{name} is no value of a measurement")
    return kind


class _Values(pickle.Unpickler):
    find_class = staticmethod(_value_class)
