"""Run folders → their measurements, by a process on each core: the same as by one. What was made already is kept as
long as no file of a run folder changes (name, inode, size, times of change: as for git's index), nor this package's
source and data. With dialects of others nothing is kept: their code is unknown."""

import contextlib
import functools
import hashlib
import importlib
import os
import pickle
from collections.abc import Callable, Mapping, Sequence
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

ROOMS = ("model", "findings", "documents", "messages")  # of plain values; nothing else is loaded
VALUES = frozenset({__name__, *(f"evalsuite.core.{room}" for room in ROOMS)})
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
    known = [of and _held(of) for of in entries]
    left = [place for place, value in enumerate(known) if value is None]
    if len(left) >= WORTH_A_PROCESS:
        importlib.import_module("evalsuite.results.samples.sample_arrays")  # and numpy: each process needs it
        importlib.import_module("numpy.random")
    made = processes.shared(read_folder, left, meanwhile, worth=len(left) >= WORTH_A_PROCESS)
    again = dict(zip(left, made, strict=True))
    every = [again[place] if place in again else read_folder(place, kept) for place, kept in enumerate(known)]
    return [each for each in every if isinstance(each, Measured)], [each for each in every if isinstance(each, Finding)]


def measure(folder: RunFolder, places: Places, cache: Path | None) -> Measured:
    """The run in *folder*, kept in *cache*; None keeps nothing. Raises EvalsuiteError if its case cannot be read."""
    entry = _entry(cache if places == measurement_room.HOUSE else None, folder)
    if entry and (known := _held(entry)):
        return known
    measurement, command = measurement_room.measured(folder, places)
    made = Measured(disclosed_whole(measurement), command and disclosed_whole(command))
    if entry and _seen(folder.path) == entry.seen:
        _keep(entry.file, (entry.seen, made))
    return made


def make_once(file: Path | None, work: Mapping[str, Callable[[], Any]]) -> Mapping[str, Any]:
    """Digest of what something is made of → that something: as *file* has it, which then has these alone."""
    held = together if file and isinstance(together := _load(file), dict) else {}
    made = {digest: held[digest] if digest in held else make() for digest, make in work.items()}
    if file and made.keys() != held.keys():
        _keep(file, made)
    return made


def _keep(file: Path, value: object) -> None:
    with contextlib.suppress(OSError):  # a failure only costs time
        file.parent.mkdir(parents=True, exist_ok=True)
        files.write_atomically(file, pickle.dumps(value, 5), mode=0o600, lasting=False)


class Entry(NamedTuple):
    file: Path
    seen: Seen


def _entry(cache: Path | None, folder: RunFolder) -> Entry | None:
    seen = _seen(folder.path) if cache else ()
    return Entry(file_of(cache, folder.path.absolute(), folder.label, folder.shift), seen) if cache and seen else None


def file_of(cache: Path, *told: object) -> Path:
    key = hashlib.sha256("\0".join(map(str, told)).encode("utf-8", "backslashreplace")).hexdigest()
    return files.version_folder(cache) / key[:2] / key


def _seen(folder: Path) -> Seen:
    with contextlib.suppress(OSError):
        stats = ((entry.name, entry.stat()) for entry in os.scandir(folder) if entry.is_file(follow_symlinks=False))
        return tuple(sorted((name, of.st_ino, of.st_size, of.st_mtime_ns, of.st_ctime_ns) for name, of in stats))
    return ()


def _held(entry: Entry) -> Measured | None:
    seen, value = held if isinstance(held := _load(entry.file), tuple) and len(held) == 2 else (None, None)
    return value if seen == entry.seen and isinstance(value, Measured) else None


def _load(file: Path) -> Any:
    with contextlib.suppress(*UNUSABLE), files.open_file(file) as opened:
        return _Values(opened).load()
    return None


@functools.cache
def _value_class(module: str, name: str) -> type:
    kind = getattr(importlib.import_module(module), name) if module in VALUES else None
    if not isinstance(kind, type) or kind.__module__ != module:
        raise pickle.UnpicklingError(f"{module}.{name} is no value of a measurement")
    return kind


class _Values(pickle.Unpickler):
    find_class = staticmethod(_value_class)
