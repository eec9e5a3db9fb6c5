"""Adaptive repeats of an evaluation: which runs beyond the least are needed, by what its finished runs have settled."""

import contextlib
from collections.abc import Iterable, Iterator
from itertools import count

from evalsuite.core import paths
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.model import Run
from evalsuite.logs.catalogue import Places
from evalsuite.plan.plan import Plan
from evalsuite.plan.spec import Spec
from evalsuite.results.compare.scaling import with_scaling
from evalsuite.results.judge import criteria as criteria_room
from evalsuite.results.judge import stopping
from evalsuite.results.judge.criteria import Criteria
from evalsuite.results.measure import measuring
from evalsuite.results.measure.summary import summaries
from evalsuite.results.rules import data_rules
from evalsuite.runs.store import Store


def missing_runs(plan: Plan, store: Store, places: Places, criteria: Criteria | None = None) -> list[Run]:
    """The runs that are not finished and, as far as that can be known now, needed."""
    missing = store.missing(plan.runs)
    if plan.spec.most_repeats is not None:
        missing = AdaptiveRepeats(plan, store, places, criteria).next_runs(missing)
    return [*_bases_again(missing, store), *missing]


def _bases_again(missing: Iterable[Run], store: Store) -> Iterator[Run]:
    """One more run of each base that was measured before and that this start, with a larger scale of it, lacks.

    What changed between two starts would be part of the efficiency (docs/method.md#verdicts).
    """
    cases = dict.fromkeys(run.case for run in missing)
    bases = dict.fromkeys(case.at_scale(1, 1) for case in cases if case.strong_batch is None)
    for base in (base for base in bases if base not in cases):
        again = next(run for repeat in count() if not store.folder(run := Run(case=base, repeat=repeat)).path.exists())
        if again.repeat > 0:
            yield again


def repeats_asked(spec: Spec) -> str:
    """`5`, or `5-7`."""
    return f"{spec.repeats}-{spec.most_repeats}" if spec.most_repeats else str(spec.repeats)


class AdaptiveRepeats:
    def __init__(self, plan: Plan, store: Store, places: Places, criteria: Criteria | None = None) -> None:
        self._plan, self._store, self._places = plan, store, places
        self._criteria = criteria or criteria_room.read()
        self._open: frozenset[str] = frozenset()  # ids of the cases that are not settled
        self._looked_before: int | None = None

    def is_needed(self, run: Run) -> bool:
        """Whether *run* is one of the least repeats, or its case is not settled by those before it."""
        if run.repeat < self._plan.spec.repeats:
            return True
        if self._looked_before != run.repeat:
            self._looked_before, self._open = run.repeat, self.unsettled_cases()
        return run.case.id in self._open

    def unsettled_cases(self) -> frozenset[str]:
        cache = paths.cache() / "measurements"
        measurements = []
        for run in filter(self._store.ended(), self._plan.runs):
            with contextlib.suppress(EvalsuiteError):  # the report says of a folder that cannot be read
                measurements.append(measuring.measure(self._store.folder(run), self._places, cache).measurement)
        return stopping.unsettled(with_scaling(summaries(data_rules.check_measurements(measurements))), self._criteria)

    def next_runs(self, missing: list[Run]) -> list[Run]:
        """Of the *missing* runs those that are known to be needed: the least, and the next one of an open case."""
        least = [run for run in missing if run.repeat < self._plan.spec.repeats]
        begun = {run.case for run in least}
        further: dict[str, Run] = {}
        for run in missing:
            if run.repeat >= self._plan.spec.repeats and run.case not in begun:
                further.setdefault(run.case.id, run)
        open_ = self.unsettled_cases() if further and not least else frozenset()
        return [*least, *(run for id, run in further.items() if id in open_)]
