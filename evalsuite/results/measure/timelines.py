"""Which runs of an evaluation are drawn over time, and their timelines, by a process on each core."""

from collections.abc import Callable, Iterable
from pathlib import Path

from evalsuite import processes
from evalsuite.model import Measurement, Row, Timeline, by_key
from evalsuite.results.measure import cache as measurement_cache
from evalsuite.results.measure.summary import median_run, valid
from evalsuite.runs.store import Store

WORTH_A_PROCESS = 10  # timelines; below that starting it costs more than it saves


def of_series(
    store: Store, rows: Iterable[Row], cache: Path | None, meanwhile: Callable[[], object]
) -> dict[str, Timeline]:
    """Of each series the timeline of its largest case that has one: of the median run."""
    left = by_key(
        ((row.case.series, row.unit), row) for row in sorted(valid(rows), key=lambda row: row.case.total_devices)
    )
    by_run: dict[str, Timeline] = {}

    def timeline(run: Measurement) -> Timeline | None:
        window = run.throughput.window if run.throughput else None
        return measurement_cache.timeline(store.folder(run.run), window, cache)

    while left:
        runs = [median_run(of_series.pop()) for of_series in left.values()]
        lines = list(processes.shared(timeline, runs, meanwhile, worth=len(runs) >= WORTH_A_PROCESS))
        by_run |= {run.run.id: line for run, line in zip(runs, lines, strict=True) if line}
        known = [line is not None for line in lines]
        left = {key: rest for (key, rest), done in zip(left.items(), known, strict=True) if rest and not done}
    return by_run
