"""Which runs of an evaluation are drawn over time, and their timelines, by a process on each core."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from evalsuite import processes
from evalsuite.model import Measurement, Summary, Timeline, Unmeasured, Window
from evalsuite.results.measure import cache as remembered
from evalsuite.results.measure.summary import median_run, valid
from evalsuite.runs.store import RunFolder, Store

WORTH_A_PROCESS = 10  # timelines; below that starting it costs more than it saves


def of_series(
    store: Store, rows: Iterable[Summary | Unmeasured], cache: Path | None, meanwhile: Callable[[], object]
) -> dict[str, Timeline]:
    """For each series that of its largest case that has one, as the page draws it: of the median run, one that
    happened, not an average of several. *meanwhile* may be done while other processes have begun.
    """
    left: dict[tuple[str, str], list[Summary]] = {}
    for one in sorted(valid(rows), key=lambda one: one.case.total_devices):
        left.setdefault((one.case.series, one.unit), []).append(one)
    found: dict[str, Timeline] = {}
    while left:
        runs = [median_run(of_series.pop()) for of_series in left.values()]
        lines = list(_each(store, runs, cache, meanwhile))
        found |= {run.run.id: line for run, line in zip(runs, lines, strict=True) if line}
        known = [line is not None for line in lines]
        left = {key: rest for (key, rest), done in zip(left.items(), known, strict=True) if rest and not done}
    return found


def _each(
    store: Store, runs: Sequence[Measurement], cache: Path | None, meanwhile: Callable[[], object]
) -> Iterator[Timeline | None]:
    """The timeline of each run; from another process it comes in the bytes that the cache keeps."""
    asked = [(store.folder(run.run), run.throughput.window if run.throughput else None) for run in runs]
    cores = processes.cores() if len(runs) >= WORTH_A_PROCESS else 1
    if cores < 2:
        yield from (remembered.timeline(folder, window, cache) for folder, window in asked)
        return

    def told(one: tuple[RunFolder, Window | None]) -> bytes:
        return remembered.pickled_timeline(*one, cache)

    for (folder, window), content in zip(asked, processes.shared(told, asked, cores, meanwhile), strict=True):
        yield remembered.unpickled_timeline(content, folder, window, cache)
