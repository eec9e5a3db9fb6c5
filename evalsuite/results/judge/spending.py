"""What the runs of an evaluation took: time and device-hours, with those that failed and the trials of batches."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evalsuite.core.findings import SameBytes
from evalsuite.core.model import BatchTrial, Measurement, by_key


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
    measured = (run for run in measurements if run.origin == "measured" and not _is_copy(run))
    by_framework = by_key((run.run.case.framework, run) for run in measured)
    tried = by_key((trial.run.case.framework, trial) for trial in trials)
    return tuple(
        _spent(framework, by_framework.get(framework, []), tried.get(framework, []))
        for framework in dict.fromkeys((*by_framework, *tried))
    )


def _is_copy(run: Measurement) -> bool:
    return any(isinstance(finding, SameBytes) for finding in run.findings)


def _spent(framework: str, runs: Sequence[Measurement], trials: Sequence[BatchTrial]) -> Spent:
    every = [(run.duration_s, run.run.case.total_devices) for run in runs]
    every += [(trial.duration_s, trial.run.case.total_devices) for trial in trials]
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


def total(spent: Sequence[Spent]) -> Spent:
    return Spent(
        framework="",
        runs=sum(part.runs for part in spent),
        lost=sum(part.lost for part in spent),
        seconds=sum(part.seconds for part in spent),
        device_hours=sum(part.device_hours for part in spent),
        trials=sum(part.trials for part in spent),
        untimed=sum(part.untimed for part in spent),
    )
