"""Further figures of a run, each declared once in `FIGURES`: what its devices held and took, and its CPU time. To add
one: declare it, and name it in data/text/columns.toml. It is then a column of the page, the tables and `summary.json`.
A device that was not read leaves the whole unsaid."""

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
    from evalsuite.results.samples.sample_arrays import Floats, Readings

GIB = 1024**3
Counted = tuple["Floats", "Floats | None"]  # times and counts; NaN where it was not read


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

    @cached_property
    def hosts(self) -> "list[Readings]":
        if not self.samples:
            return []  # without numpy, which loads slowly
        from evalsuite.results.samples.sample_arrays import on_one_clock

        return on_one_clock(self.samples)

    @cached_property
    def counters(self) -> list[Counted]:
        """Of each device, or of the job on each host without devices: when was read, and how many joules or CPU
        seconds."""
        quantity, counted = "gpus.energy_j" if self.planned.accelerators else "tree.cpu_s", list[Counted]()
        for host in self.hosts:
            devices = _of_job(host) if self.planned.accelerators else [""]
            table = host.table(quantity) if devices else None
            counted += [(host.times_s, table.row(device) if table else None) for device in devices]
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


def _most(run: RunRecords, quantity: str, devices: Callable[["Readings"], Sequence[str]]) -> float | None:
    """That one of *devices* was seen to hold, of all that programs and the driver's context take."""
    named = ((host, names) for host in run.hosts if (names := devices(host)))
    rows = [table.row(name) for host, names in named if (table := host.table(quantity)) for name in names]
    known = (row[row == row] for row in rows if row is not None)  # NaN is not itself
    return max((float(row.max()) for row in known if row.size), default=None) or None


def _in_window(run: RunRecords) -> float | None:
    if (window := run.window) is None or window.begin_s is None or window.end_s is None:
        return None
    return work(run, window.begin_s, window.end_s)


def work(run: RunRecords, begin_s: float, end_s: float) -> float | None:
    """Joules, or CPU seconds of a job without devices; None where one was not read."""
    if not run.counters:
        return None
    from evalsuite.results.samples.sample_arrays import growth

    taken = [growth(*series, begin_s, end_s) for series in run.counters]
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
        read=lambda run: None if run.planned.accelerators else _most(run, "tree.memory_bytes", lambda host: [""]),
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


def _of_job(host: "Readings") -> list[str]:
    return sorted({gpu_name(gpu.index) for gpu in host.header.gpus or () if gpu.of_job is not False})
