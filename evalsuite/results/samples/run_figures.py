"""Further figures of a run, each declared once in `FIGURES`: what its devices held and took, and its CPU time.

To add one: declare it, and name it in data/text/columns.toml. It is then a column of the page, the tables and
`summary.json`. A device that was not read leaves the whole unsaid.
"""

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from evalsuite.contracts.dialect import Dialect
from evalsuite.core.documents import STATED_FIGURES
from evalsuite.core.model import Log, Window
from evalsuite.logs import extra_metrics
from evalsuite.results.samples.utilisation import Devices
from evalsuite.runs.endings import AgentOutcome
from evalsuite.runs.samples import Samples, gpu_name

if TYPE_CHECKING:
    from evalsuite.results.samples.sample_arrays import Floats, Readout

GIB = 1024**3
Counted = tuple["Floats", "Floats"]


@dataclass(frozen=True, kw_only=True)
class RunRecords:
    planned: Devices
    samples: Mapping[str, Samples] = field(default_factory=dict)  # by host
    window: Window | None = None
    agents: Sequence[AgentOutcome] = ()
    logs: Sequence[Log] = ()
    dialect: Dialect | None = None
    lines: tuple[int | None, int | None] = (None, None)  # of the window

    @cached_property
    def printed(self) -> extra_metrics.AlsoPrinted:
        log = next(iter(self.logs), None)
        printed = extra_metrics.also_printed(log.path, self.dialect, *self.lines) if log and self.dialect else None
        return printed or extra_metrics.AlsoPrinted()

    def table(self, samples: Samples, quantity: str) -> "Readout | None":
        from evalsuite.results.samples.sample_arrays import ahead, table_of

        return table_of(samples, quantity, ahead(samples, len(self.samples)))

    @cached_property
    def counters(self) -> list[Counted]:
        """Of each device, or of the job on each host without devices: when was read, and how many joules or CPU
        seconds."""
        origin = next((samples.header.started_at_unix_s for samples in self.samples.values()), None)
        quantity, counted = "gpus.energy_j" if self.planned.accelerators else "tree.cpu_s", list[Counted]()
        for samples in self.samples.values():
            devices = _of_job(samples) if self.planned.accelerators else [""]
            if not devices:
                continue
            start = samples.header.started_at_unix_s
            shift_s = start - origin if start is not None and origin is not None else 0.0
            from evalsuite.results.samples.sample_arrays import ahead, times_s

            table, at_s = self.table(samples, quantity), times_s(samples, ahead(samples, len(self.samples))) + shift_s
            for row in (table.row(device) if table else None for device in devices):
                counted.append((at_s[:0], at_s[:0]) if row is None else (at_s[row == row], row[row == row]))
        return counted


@dataclass(frozen=True, kw_only=True)
class RunFigure:
    name: str  # ends with its unit
    unit: str  # "bytes", or as it is printed
    read: Callable[[RunRecords], float | None] | None  # of one run; gives None where it is not measured; None: stated
    over_runs: Callable[[Sequence[float]], float] | None = None  # makes the case's figure; None: it has none


def read(run: RunRecords) -> tuple[tuple[str, float], ...]:
    figures = ((figure.name, figure.read(run)) for figure in FIGURES if figure.read)
    return tuple((name, value) for name, value in figures if value is not None)


def cpu_s(run: RunRecords) -> float | None:
    """Of all processes over the whole run, start and end included."""
    seconds_of = [agent.group_cpu_s for agent in run.agents]
    known = [seconds for seconds in seconds_of if seconds is not None]
    return sum(known) if known and len(known) == len(seconds_of) else None


def _most(run: RunRecords, quantity: str, devices: Callable[[Samples], Sequence[str]]) -> float | None:
    """That one of *devices* was seen to hold, of all that programs and the driver's context take."""
    named = [(samples, names) for samples in run.samples.values() if (names := devices(samples))]
    if not named:
        return None
    tables = ((run.table(samples, quantity), names) for samples, names in named)
    rows = [table.row(name) for table, names in tables if table for name in names]
    known = (row[row == row] for row in rows if row is not None)  # NaN is not itself
    return max((float(row.max()) for row in known if row.size), default=None) or None


def _in_window(run: RunRecords) -> float | None:
    if (window := run.window) is None or window.begin_s is None or window.end_s is None:
        return None
    return work(run, window.begin_s, window.end_s)


def work(run: RunRecords, begin_s: float, end_s: float) -> float | None:
    """Joules, or CPU seconds of a job without devices; None where one was not read."""
    taken = [_between(series, begin_s, end_s) for series in run.counters]
    known = [each for each in taken if each is not None]
    complete = len(known) == len(taken) == (run.planned.accelerators or run.planned.nodes)
    return sum(known) if known and complete else None


_STATED: dict[str, Callable[[RunRecords], float | None]] = {"spread": lambda run: run.printed.spread_items_per_s}
FIGURES = (
    RunFigure(  # what the script's allocator gave out or kept on one device
        name="peak_memory_printed_bytes",
        unit="bytes",
        read=lambda run: run.printed.memory_gib * GIB if run.printed.memory_gib else None,
        over_runs=max,
    ),
    RunFigure(
        name="peak_memory_sampled_bytes",
        unit="bytes",
        read=lambda run: _most(run, "gpus.memory_used_bytes", _of_job),
        over_runs=max,
    ),
    RunFigure(  # on one node
        name="peak_memory_of_job_bytes",
        unit="bytes",
        read=lambda run: None if run.planned.accelerators else _most(run, "tree.memory_bytes", lambda samples: [""]),
        over_runs=max,
    ),
    RunFigure(name="cpu_s", unit="s", read=cpu_s, over_runs=statistics.median),
    RunFigure(name="energy_j", unit="J", read=lambda run: _in_window(run) if run.planned.accelerators else None),
    RunFigure(name="window_cpu_s", unit="s", read=lambda run: None if run.planned.accelerators else _in_window(run)),
    *(
        RunFigure(name=figure.figure, unit=figure.unit, read=_STATED.get(figure.name), over_runs=statistics.median)
        for figure in STATED_FIGURES
    ),
    RunFigure(name="data_wait_s", unit="s", read=lambda run: run.printed.data_wait_s),
    RunFigure(name="tflops_printed", unit="", read=lambda run: run.printed.tflop_per_s_per_device),
    RunFigure(name="mfu_printed", unit="", read=lambda run: run.printed.mfu),
    RunFigure(name="spread_printed", unit="", read=lambda run: run.printed.spread_of_rates),
)


def _of_job(samples: Samples) -> list[str]:
    return sorted({gpu_name(gpu.index) for gpu in samples.header.gpus or () if gpu.of_job is not False})


def _between(readings: Counted, begin_s: float, end_s: float) -> float | None:
    from evalsuite.results.samples.sample_arrays import level_at

    times_s, counts = readings
    within = counts[(times_s >= begin_s) & (times_s <= end_s)]
    if times_s.size < 2 or not times_s[0] <= begin_s <= end_s <= times_s[-1] or (within[1:] < within[:-1]).any():
        return None
    return level_at(readings, end_s) - level_at(readings, begin_s)
