"""What the runs of an evaluation took: time and device-hours, with those that failed and the trials of batches."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evalsuite.model import BatchTrial, Measurement, by_key


@dataclass(frozen=True, kw_only=True)
class Spent:
    framework: str  # "" of all
    runs: int
    lost: int  # runs that count for nothing
    seconds: float  # one run after the other
    device_hours: float
    trials: int = 0  # short runs that searched for the largest batch: in both sums, and in no other number
    untimed: int = 0  # runs of which no duration is recorded: they are in neither sum


def spent(measurements: Iterable[Measurement], trials: Iterable[BatchTrial] = ()) -> tuple[Spent, ...]:
    by_framework = by_key((run.run.case.framework, run) for run in measurements if run.origin == "measured")
    tried = by_key((one.run.case.framework, one) for one in trials)
    return tuple(
        _spent(framework, by_framework.get(framework, []), tried.get(framework, []))
        for framework in dict.fromkeys((*by_framework, *tried))
    )


def _spent(framework: str, runs: Sequence[Measurement], trials: Sequence[BatchTrial]) -> Spent:
    every = [(run.duration_s, run.run.case.total_devices) for run in runs]
    every += [(one.duration_s, one.run.case.total_devices) for one in trials]
    timed = [(seconds, devices) for seconds, devices in every if seconds is not None]
    return Spent(
        framework=framework,
        runs=len(runs),
        lost=sum(not run.counts for run in runs),
        seconds=sum(seconds for seconds, _ in timed),
        device_hours=sum(seconds * devices for seconds, devices in timed) / 3600,
        trials=len(trials),
        untimed=len(every) - len(timed),
    )


def total(found: Sequence[Spent]) -> Spent:
    return Spent(
        framework="",
        runs=sum(one.runs for one in found),
        lost=sum(one.lost for one in found),
        seconds=sum(one.seconds for one in found),
        device_hours=sum(one.device_hours for one in found),
        trials=sum(one.trials for one in found),
        untimed=sum(one.untimed for one in found),
    )
