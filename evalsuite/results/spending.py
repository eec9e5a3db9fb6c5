"""What the runs of an evaluation took: time and device-hours, those that failed counted too."""

from collections.abc import Iterable
from dataclasses import dataclass

from evalsuite.model import Measurement
from evalsuite.results.summary import counts


@dataclass(frozen=True, kw_only=True)
class Spent:
    """What one framework's runs took."""

    framework: str
    runs: int
    lost: int  # runs that count for nothing
    seconds: float  # one run after the other
    device_hours: float
    untimed: int = 0  # runs of which no duration is recorded: they are in neither sum


def spent(measurements: Iterable[Measurement]) -> tuple[Spent, ...]:
    """What each framework's measured runs took, in the order of their first appearance."""
    by_framework: dict[str, list[Measurement]] = {}
    for run in measurements:
        if run.origin == "measured":
            by_framework.setdefault(run.run.case.framework, []).append(run)
    return tuple(_spent(framework, runs) for framework, runs in by_framework.items())


def _spent(framework: str, runs: list[Measurement]) -> Spent:
    timed = [(run.duration_s, run.run.case.total_devices) for run in runs if run.duration_s is not None]
    return Spent(
        framework=framework,
        runs=len(runs),
        lost=sum(not counts(run) for run in runs),
        seconds=sum(seconds for seconds, _ in timed),
        device_hours=sum(seconds * devices for seconds, devices in timed) / 3600,
        untimed=len(runs) - len(timed),
    )
