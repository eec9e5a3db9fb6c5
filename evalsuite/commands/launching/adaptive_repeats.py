"""Which runs an evaluation needs: of cases that are not settled, and of rounds that others disturbed."""

import contextlib
from collections.abc import Iterable, Iterator
from itertools import count

from evalsuite.commands.printing.i18n import say
from evalsuite.commands.printing.terminal import note
from evalsuite.core import paths
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.model import Row, Run, by_key
from evalsuite.logs.catalogue import Places
from evalsuite.plan.plan import Plan, in_blocks
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
    missing, repeats = store.missing(plan.runs), AdaptiveRepeats(plan, store, places, criteria)
    least = [run for run in missing if run.repeat < plan.spec.repeats]
    missing = least or list(filter(repeats.is_needed, missing)) or repeats.next_round()
    return [*_bases_again(missing, store), *missing]


def _bases_again(missing: Iterable[Run], store: Store) -> Iterator[Run]:
    """One more run of each base that was measured before and that this start, with a larger scale of it, lacks. What
    changed between two starts would be part of the efficiency (docs/numbers.md#verdicts)."""
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
        spec = plan.spec
        more = max(1, spec.repeats // 2) if spec.quiet_rounds is None else spec.quiet_rounds
        self._planned = spec.most_repeats or spec.repeats
        self._further = range(self._planned, self._planned + more)

    def is_needed(self, run: Run) -> bool:
        """Whether *run* is one of the least repeats or of a round made again, or its case is not settled before it."""
        if run.repeat < self._plan.spec.repeats or run.repeat >= self._planned:
            return True
        if self._looked_before != run.repeat:
            self._looked_before = run.repeat
            self._open = stopping.unsettled(with_scaling(self._rows()), self._criteria)
        return run.case.id in self._open

    def _rows(self) -> list[Row]:
        cache = paths.cache() / "measurements"
        measurements = []
        again = in_blocks(self._plan.cases, self._plan.spec, self._further)
        for run in filter(self._store.ended(), (*self._plan.runs, *again)):
            with contextlib.suppress(EvalsuiteError):  # the report says of a folder that cannot be read
                measurements.append(measuring.measure(self._store.folder(run), self._places, cache).measurement)
        return summaries(data_rules.check_measurements(measurements))

    def rounds(self, missing: list[Run], expected: list[Run]) -> Iterator[Run]:
        """The *missing* runs, and then those of further rounds, which *expected* gets, as long as others disturb."""
        yield from missing
        before: list[Run] = []
        while (again := self.next_round()) and again != before:  # others may hold them
            note(say("run.quiet_round", runs=len(again), repeat=again[0].repeat + 1))
            expected += (run for run in again if run not in expected)
            yield from again
            before = again

    def next_round(self) -> list[Run]:
        """A further round of each model and scale of which a case has too few runs that nobody disturbed. All its cases
        take part, by the machine's state and never by their values. There is none after two in which no run of them had
        the machine for itself."""
        again: list[Run] = []
        rows_of = by_key(((row.case.model, row.case.scale), row) for row in (self._rows() if self._further else ()))
        for rows in rows_of.values():
            made = {row.case: [run for run in row.measurements if run.counts or run.set_aside] for row in rows}
            lacking = [
                any(run.disturbed for run in runs) and sum(not run.disturbed for run in runs) < self._plan.spec.repeats
                for runs in made.values()
            ]
            last = max(run.run.repeat for row in rows for run in row.measurements)
            vain = all(run.disturbed for runs in made.values() for run in runs if run.run.repeat > last - 2)
            begun = self._store.missing(in_blocks([*made], self._plan.spec, [last])) if last in self._further else []
            following = max(last + 1, self._planned)
            if any(lacking) and (begun or (following in self._further and not (vain and last > self._planned))):
                again += begun or in_blocks([*made], self._plan.spec, [following])
        return again
