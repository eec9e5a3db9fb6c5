"""Many run folders → their measurements, by a process on each core: the same ones in the same order as by one."""

import importlib
from collections.abc import Callable, Sequence
from pathlib import Path

from evalsuite import files, processes
from evalsuite.errors import EvalsuiteError
from evalsuite.findings import UnreadableRun
from evalsuite.logs.catalogue import Places
from evalsuite.model import Finding
from evalsuite.results.measure import cache as measurement_cache
from evalsuite.results.measure.cache import Measured
from evalsuite.runs.store import RunFolder

WORTH_A_PROCESS = 100  # folders; below that starting it costs more than it saves


def measure_folders(
    folders: Sequence[RunFolder], places: Places, cache: Path | None, meanwhile: Callable[[], None]
) -> tuple[list[Measured], list[Finding]]:
    """A folder whose case cannot be read becomes a finding. *meanwhile*: done while other processes work."""
    if cache is not None:
        files.version_folder(cache)  # asked here, each process below knows it

    def measure(folder: RunFolder) -> Measured | UnreadableRun:
        try:
            read = measurement_cache.measure(folder, places, cache)
            folder.check_name(read.measurement.run)
            return read
        except EvalsuiteError as error:
            return UnreadableRun(file=error.message.partition(": ")[0], said=error.message, where=folder.place)

    if worth := len(folders) >= WORTH_A_PROCESS:
        # and numpy, which all processes share then: each needs it in any case
        importlib.import_module("evalsuite.results.samples.sample_arrays")
        importlib.import_module("numpy.random")
    every = list(processes.shared(measure, folders, meanwhile, worth=worth))
    return [each for each in every if isinstance(each, Measured)], [each for each in every if isinstance(each, Finding)]
