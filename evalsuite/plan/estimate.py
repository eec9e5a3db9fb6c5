"""How long runs will take and what they will cost, by the runs that have ended; None: unknown."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from evalsuite.core.model import Case, Run, by_key


@dataclass(frozen=True, kw_only=True)
class Job:
    """A job with nodes of its own for what one number of nodes runs."""

    nodes: int
    scales: tuple[str, ...]
    seconds: float | None


class Estimate:
    """By each case's own mean, else that of runs like it, else what is stated: the one place that says how long."""

    def __init__(self, known: Sequence[tuple[Run, float]] = (), stated_s: float | None = None) -> None:
        """*stated_s*: of a run where nothing like it has ended."""
        self._stated_s = stated_s
        self._sums: dict[Hashable, tuple[float, int]] = {}
        for run, seconds in known:
            self.add(run, seconds)

    def add(self, run: Run, seconds: float) -> None:
        for alike in _alike(run.case):
            total, runs = self._sums.get(alike, (0.0, 0))
            self._sums[alike] = (total + seconds, runs + 1)

    def of(self, run: Run) -> float | None:
        known = next((self._sums[alike] for alike in _alike(run.case) if alike in self._sums), None)
        return known[0] / known[1] if known else self._stated_s

    def total(self, runs: Sequence[Run]) -> float | None:
        expected = [seconds for run in runs if (seconds := self.of(run)) is not None]
        return sum(expected) if runs and len(expected) == len(runs) else None

    def left(self, runs: Sequence[Run], elapsed_s: float | None) -> float | None:
        """Of *runs*, the first of which has gone on for *elapsed_s*: one that takes longer than others ends soon."""
        total, first_s = self.total(runs), self.of(runs[0]) if runs else None
        return None if total is None or first_s is None else total - min(elapsed_s or 0.0, 0.9 * first_s)

    def priced(self, runs: Iterable[Run]) -> list[tuple[Case, float]]:
        return [(run.case, seconds) for run in runs if (seconds := self.of(run)) is not None]

    def jobs(self, runs: Sequence[Run]) -> tuple[Job, ...]:
        """One for each number of nodes. Those of several measure the bases of their cases once more."""
        by_nodes = by_key((run.case.nodes, run) for run in sorted(runs, key=lambda run: run.case.nodes))
        jobs = []
        for nodes, theirs in by_nodes.items():
            cases = dict.fromkeys(run.case for run in theirs)
            scaled = (case.at_scale(1, 1) for case in cases if nodes > 1 and case.strong_batch is None)
            bases = [Run(case=base, repeat=0) for base in dict.fromkeys(scaled)]
            scales = dict.fromkeys(run.case.scale for run in (*bases, *theirs))
            jobs.append(Job(nodes=nodes, scales=tuple(scales), seconds=self.total([*bases, *theirs])))
        return tuple(jobs)


def _alike(case: Case) -> Iterator[Hashable]:
    """The very case; the same script at another scale or batch size."""
    yield case
    yield (case.framework, case.recipe, case.device, case.options, case.protocol)
