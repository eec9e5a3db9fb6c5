"""Many run folders → their measurements and timelines, by a process on each core: the same as by one."""

import importlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from evalsuite.core import files, processes
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.findings import UnreadableRun
from evalsuite.core.model import Finding, Measurement, Row, Timeline, by_key
from evalsuite.logs.catalogue import Places
from evalsuite.results.measure import cache as measurement_cache
from evalsuite.results.measure.cache import Measured
from evalsuite.results.measure.summary import median_run, valid
from evalsuite.runs.store import RunFolder, Store

WORTH_A_PROCESS, TIMELINES_WORTH_IT = 100, 10  # folders and timelines; below, starting it costs more than it saves


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
        return measurement_cache.timeline(store.folder(run.run), window, cache)

    while left:
        runs = [median_run(of_series.pop()) for of_series in left.values()]
        lines = list(processes.shared(timeline_of, runs, meanwhile, worth=len(runs) >= TIMELINES_WORTH_IT))
        by_run |= {run.run.id: line for run, line in zip(runs, lines, strict=True) if line}
        known = [line is not None for line in lines]
        left = {key: rest for (key, rest), done in zip(left.items(), known, strict=True) if rest and not done}
    return by_run
