"""How long runs will take, from the runs that have ended."""

from collections.abc import Hashable, Iterable, Sequence

from evalsuite.model import Run


class Estimate:
    """Time left, from the runs that have ended: each case's own mean, else its framework's, else all runs'."""

    def __init__(self, known: Sequence[tuple[Run, float]] = ()) -> None:
        self._sums: dict[Hashable, tuple[float, int]] = {}  # what runs have alike → their seconds, and how many
        for run, seconds in known:
            self.add(run, seconds)

    def add(self, run: Run, seconds: float) -> None:
        for alike in _alike(run):
            total, runs = self._sums.get(alike, (0.0, 0))
            self._sums[alike] = (total + seconds, runs + 1)

    def of(self, run: Run) -> float | None:
        """Expected seconds of *run*; None if nothing has ended yet."""
        for alike in _alike(run):
            if alike in self._sums:
                total, runs = self._sums[alike]
                return total / runs
        return None

    def total(self, runs: Sequence[Run]) -> float | None:
        expected = [seconds for run in runs if (seconds := self.of(run)) is not None]
        return sum(expected) if runs and len(expected) == len(runs) else None


def _alike(run: Run) -> Iterable[Hashable]:
    """What a run has in common with others, the closest first: its case, its kind, and that it is one."""
    case = run.case
    return (case, (case.framework, case.options, case.protocol), "any")
