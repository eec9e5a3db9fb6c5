"""How long runs will take, from the runs that have ended."""

from collections.abc import Sequence

from evalsuite.model import Protocol, Run


class Estimate:
    """Time left, from the runs that have ended: each case's own mean, else its framework's, else all runs'."""

    def __init__(self, known: Sequence[tuple[Run, float]] = ()) -> None:
        self._seconds = [(run.case, seconds) for run, seconds in known]

    def add(self, run: Run, seconds: float) -> None:
        self._seconds.append((run.case, seconds))

    def of(self, run: Run) -> float | None:
        """Expected seconds of *run*; None if nothing has ended yet."""
        for same in (
            lambda case: case == run.case,
            lambda case: (case.framework, case.options, case.protocol) == _kind(run),
            lambda case: True,
        ):
            found = [seconds for case, seconds in self._seconds if same(case)]
            if found:
                return sum(found) / len(found)
        return None

    def total(self, runs: Sequence[Run]) -> float | None:
        expected = [seconds for run in runs if (seconds := self.of(run)) is not None]
        return sum(expected) if runs and len(expected) == len(runs) else None


def _kind(run: Run) -> tuple[str, tuple[tuple[str, str], ...], Protocol]:
    return (run.case.framework, run.case.options, run.case.protocol)
