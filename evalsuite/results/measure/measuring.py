"""Many run folders → their measurements, by a process on each core: the same ones in the same order as by one."""

import functools
import importlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from evalsuite import processes, sources
from evalsuite.errors import EvalsuiteError
from evalsuite.findings import UnreadableRun
from evalsuite.logs.catalogue import Places
from evalsuite.model import Finding
from evalsuite.results.measure import cache as remembered
from evalsuite.results.measure.cache import Measured
from evalsuite.runs.store import RunFolder

WORTH_A_PROCESS = 100  # folders; below that starting it costs more than it saves


def measured(
    folders: Sequence[RunFolder], places: Places, cache: Path | None, meanwhile: Callable[[], None]
) -> tuple[list[Measured], list[Finding]]:
    """Each folder as a measurement; a folder whose case cannot be read becomes a finding, never silence.

    *meanwhile* is done while other processes have begun; not at all if this one is alone.
    """
    if cache is not None:
        sources.kept(cache)  # asked here, each process below knows it
    cores = processes.cores() if len(folders) >= WORTH_A_PROCESS else 1
    if cores > 1:
        found = _by_several(folders, places, cache, cores, meanwhile)
    else:
        found = (_one(folder, functools.partial(remembered.measured, folder, places, cache)) for folder in folders)
    every = list(found)
    return [one for one in every if isinstance(one, Measured)], [one for one in every if isinstance(one, Finding)]


def _by_several(
    folders: Sequence[RunFolder], places: Places, cache: Path | None, cores: int, meanwhile: Callable[[], None]
) -> Iterator[Measured | Finding]:
    """A measurement comes from another process in the bytes that the cache keeps."""

    def told(folder: RunFolder) -> bytes | UnreadableRun:
        try:
            return remembered.pickled(folder, places, cache)
        except EvalsuiteError as error:
            return _unreadable(folder, error)

    def ready() -> None:
        for room in (
            "evalsuite.results.samples.sample_arrays",
            "numpy.random",
        ):  # and numpy: all are needed after this in any case
            importlib.import_module(room)
        meanwhile()

    for folder, found in zip(folders, processes.shared(told, folders, cores, ready), strict=True):
        if isinstance(found, bytes):
            yield _one(folder, functools.partial(remembered.unpickled, found, folder, places, cache))
        else:
            yield found


def _one(folder: RunFolder, made: Callable[[], Measured]) -> Measured | UnreadableRun:
    try:
        found = made()
        folder.check_name(found.measurement.run)
        return found
    except EvalsuiteError as error:
        return _unreadable(folder, error)


def _unreadable(folder: RunFolder, error: EvalsuiteError) -> UnreadableRun:
    name = f"{folder.path.parent.name}/{folder.path.name}"
    file, _, said = str(error).partition(": ")
    return UnreadableRun(file=file, said=said or file, where=name)
