"""Run folders → their measurements and timelines, by a process on each core: the same as by one.

What was made already is kept by the hash of a run folder's files and of this package's source and data. With dialects
of others nothing is kept: what their code depends on is unknown.
"""

import hashlib
import importlib
import io
import os
import pickle
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeVar, cast

from evalsuite.core import files, processes
from evalsuite.core.documents import RunCommand
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.findings import UnreadableRun
from evalsuite.core.model import Finding, Measurement, Row, Timeline, Window, by_key
from evalsuite.logs.catalogue import Places
from evalsuite.results.measure import measurement as measurement_room
from evalsuite.results.measure.summary import median_run, valid
from evalsuite.runs.store import RunFolder, Store

# modules of plain values; nothing else is loaded
VALUES = frozenset(
    {"evalsuite.core.model", "evalsuite.core.findings", "evalsuite.core.documents", "evalsuite.core.messages", __name__}
)
UNUSABLE = (OSError, pickle.UnpicklingError, EOFError, ValueError, AttributeError, TypeError, ImportError, IndexError)
WORTH_A_PROCESS, TIMELINES_WORTH_IT = 100, 10  # folders and timelines; below, starting it costs more than it saves
Seen = tuple[tuple[str, int, int, int, int], ...]  # of each file its name, inode, size and when it was changed
Value = TypeVar("Value")


class Measured(NamedTuple):
    measurement: Measurement
    command: RunCommand | None


def measure_folders(
    folders: Sequence[RunFolder], places: Places, cache: Path | None, meanwhile: Callable[[], None]
) -> tuple[list[Measured], list[Finding]]:
    """A folder whose case cannot be read becomes a finding. *meanwhile*: done while other processes work."""
    if cache is not None:
        files.version_folder(cache)  # asked here, each process below knows it

    def read_folder(folder: RunFolder) -> Measured | UnreadableRun:
        try:
            read = measure(folder, places, cache)
            folder.check_name(read.measurement.run)
            return read
        except EvalsuiteError as error:
            return UnreadableRun(file=error.message.partition(": ")[0], said=error.message, where=folder.place)

    if worth := len(folders) >= WORTH_A_PROCESS:
        # and numpy, which all processes share then: each needs it in any case
        importlib.import_module("evalsuite.results.samples.sample_arrays")
        importlib.import_module("numpy.random")
    every = list(processes.shared(read_folder, folders, meanwhile, worth=worth))
    return [each for each in every if isinstance(each, Measured)], [each for each in every if isinstance(each, Finding)]


def timelines(
    store: Store, rows: Iterable[Row], cache: Path | None, meanwhile: Callable[[], object]
) -> dict[str, Timeline]:
    """Of each series the timeline of its largest case that has one: of the median run."""
    left = by_key(
        ((row.case.series, row.unit), row) for row in sorted(valid(rows), key=lambda row: row.case.total_devices)
    )
    by_run: dict[str, Timeline] = {}

    def timeline_of(run: Measurement) -> Timeline | None:
        window = run.throughput.window if run.throughput else None
        return timeline(store.folder(run.run), window, cache)

    while left:
        runs = [median_run(of_series.pop()) for of_series in left.values()]
        lines = list(processes.shared(timeline_of, runs, meanwhile, worth=len(runs) >= TIMELINES_WORTH_IT))
        by_run |= {run.run.id: line for run, line in zip(runs, lines, strict=True) if line}
        known = [line is not None for line in lines]
        left = {key: rest for (key, rest), done in zip(left.items(), known, strict=True) if rest and not done}
    return by_run


def measure(folder: RunFolder, places: Places, cache: Path | None) -> Measured:
    """The run in *folder*, kept in *cache*; None keeps nothing. Raises EvalsuiteError if its case cannot be read."""
    entry = _entry(cache, folder, "measurement") if places == measurement_room.HOUSE else None
    return _cached(entry, Measured, lambda: _measure(folder, places))


def timeline(folder: RunFolder, window: Window | None, cache: Path | None) -> Timeline | None:
    """As `measurement.timeline`, kept in *cache*; None keeps nothing."""
    entry = _entry(cache, folder, f"timeline of {window!r}")
    return _cached(entry, Timeline, lambda: measurement_room.timeline(folder, window))


def _measure(folder: RunFolder, places: Places) -> Measured:
    measured = measurement_room.measurement(folder, places)
    try:
        return Measured(measured, folder.command())
    except EvalsuiteError:  # the measurement has failed and says why
        return Measured(measured, None)


@dataclass(frozen=True, kw_only=True)
class CacheEntry:
    file: Path
    folder: Path  # of the run
    seen: Seen  # its files when they were hashed


def _entry(cache: Path | None, folder: RunFolder, what: str) -> CacheEntry | None:
    if cache is None:
        return None
    hashed = hashlib.sha256(
        f"{what}\0{folder.path.absolute()}\0{folder.label}\0{folder.shift}\0".encode("utf-8", "backslashreplace")
    )
    try:
        seen = _seen(folder.path)
        for name, _, size, *_ in seen:
            hashed.update(f"{os.fsencode(name)!r}\0{size}\0".encode())
            with files.open_file(folder.path / name) as file:
                while piece := file.read(files.PIECE_BYTES):
                    hashed.update(piece)
    except OSError:
        return None
    key = hashed.hexdigest()
    return CacheEntry(file=files.version_folder(cache) / key[:2] / key, folder=folder.path, seen=seen)


def _seen(folder: Path) -> Seen:
    stats = ((entry.name, entry.stat()) for entry in os.scandir(folder) if entry.is_file(follow_symlinks=False))
    return tuple(sorted((name, of.st_ino, of.st_size, of.st_mtime_ns, of.st_ctime_ns) for name, of in stats))


def _cached(entry: CacheEntry | None, kind: type, make: Callable[[], Value]) -> Value:
    if entry is not None:
        try:
            known = _Values(io.BytesIO(files.read_bytes(entry.file))).load()
        except UNUSABLE:
            known = None
        if isinstance(known, kind):
            return cast(Value, known)
    made_new = make()
    if entry is not None and made_new is not None and _unchanged(entry):
        files.write_cache(entry.file, pickle.dumps(made_new, protocol=pickle.HIGHEST_PROTOCOL))
    return made_new


def _unchanged(entry: CacheEntry) -> bool:
    try:
        return _seen(entry.folder) == entry.seen
    except OSError:
        return False


class _Values(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> type:
        kind = super().find_class(module, name) if module in VALUES else None
        if not isinstance(kind, type) or kind.__module__ != module:
            raise pickle.UnpicklingError(f"{module}.{name} is no value of a measurement")
        return kind
