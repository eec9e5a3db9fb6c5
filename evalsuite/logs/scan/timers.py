"""A script's own timers → the time of a step, taken apart (docs/report.md#step-time).

Our reference workloads print the parts of each step in one line, ElasticDL one line for each timer of a task.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalsuite.dialect import Line, Timers
from evalsuite.logs.text.records import matches, number, whole
from evalsuite.model import Breakdown, Phase, Window

MOST_REPORTS = 20_000  # of one log; no window is longer, and memory stays bounded
_PAIR = re.compile(rb"(\w+)_s=([0-9.e+-]+)")

# of our own reference workloads, whatever dialect they print in
OWN = Timers(
    line=Line(
        pattern=rb"reference workload: step=(?P<step>\d+) (?P<timers>[^\r\n]*\bstep_s=[0-9.e+-]+)",
        sample=b"reference workload: step=3 data_s=0.001210 forward_backward_s=0.206113 optimiser_s=0.004002 "
        b"step_s=0.211325",
        source="evalsuite adapters/workloads/cifar10.py, announce_parts()",
    ),
    whole="step",
    of="step",
    phases={name: (name, None) for name in ("data", "forward_backward", "allreduce", "optimiser")},
)


@dataclass(frozen=True, kw_only=True)
class Timed:
    """What the timers say of one step or task: timer → seconds."""

    index: int  # of the step, counted from 1; of the task where the line has no number
    seconds: Mapping[str, float]


class TimerCollector:
    """The timers in one log."""

    def __init__(self, timers: Timers | None) -> None:
        self._timers = timers or OWN
        self._found: list[tuple[int | None, dict[str, float | None]]] = []

    def add(self, text: bytes) -> None:
        if len(self._found) >= MOST_REPORTS:
            return
        for match, line in matches(text, (self._timers.line,)):
            fields = line.read(match) or {}
            several, one = fields.get("timers"), fields.get("timer")
            if isinstance(several, bytes):
                seconds = {name.decode(): number(value) for name, value in _PAIR.findall(several)}
                self._found.append((whole(fields.get("step")), seconds))
            elif isinstance(one, bytes):
                self._one(one.decode("ascii", "replace"), number(fields.get("timer_s")))

    def _one(self, name: str, seconds: float | None) -> None:
        """The line of the whole begins the next report; what stands before the first is dropped."""
        if name == self._timers.whole:
            self._found.append((None, {}))
        if self._found:
            self._found[-1][1][name] = seconds

    def timed(self) -> list[Timed]:
        """The last of a step that was trained again. What is no number is absent."""
        by_index = {}
        for place, (index, seconds) in enumerate(self._found, 1):
            known = {name: value for name, value in seconds.items() if value is not None and value >= 0}
            by_index[place if index is None else index] = known
        return [Timed(index=index, seconds=by_index[index]) for index in sorted(by_index)]


def breakdown(timed: Sequence[Timed], window: Window | None, timers: Timers | None) -> Breakdown | None:
    """Means over the measured steps; None where none was timed as a whole. A phase that only some steps have is left
    out."""
    timers = timers or OWN
    inside = [one for one in timed if window is None or window.first_step <= one.index <= window.last_step]
    inside = [one for one in inside if one.seconds.get(timers.whole, 0) > 0]
    if not inside:
        return None
    held = [name for name in timers.phases if all(name in one.seconds for one in inside)]
    phases = tuple(
        Phase(name=timers.phases[name][0], seconds=_mean(inside, name), parent=timers.phases[name][1]) for name in held
    )
    if not phases:
        return None
    return Breakdown(seconds=_mean(inside, timers.whole), phases=phases, of=timers.of, reports=len(inside))


def _mean(timed: Sequence[Timed], name: str) -> float:
    return math.fsum(one.seconds[name] for one in timed) / len(timed)
