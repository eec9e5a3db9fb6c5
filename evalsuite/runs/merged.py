"""Several folders of runs read as one: a later one's repeats are numbered on, and its campaigns stay its own."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from evalsuite.errors import EvalsuiteError
from evalsuite.model import Attempt, Case, Run, Skip
from evalsuite.runs import archive
from evalsuite.runs.journal import Campaign, Journal
from evalsuite.runs.planned import Planned
from evalsuite.runs.store import RunFolder, Store


def store(roots: Sequence[Path]) -> Store:
    """Of all *roots*, each a folder or a ZIP. Raises EvalsuiteError where two are one or one lies in another."""
    places = [root.resolve() for root in roots]
    for number, place in enumerate(places):
        for other in places[:number]:
            if place.is_relative_to(other) or other.is_relative_to(place):
                raise EvalsuiteError.of("runs.roots_overlap", path=roots[number], other=other)
    stores = [Store(archive.unpack(root)) for root in roots]
    return stores[0] if len(stores) == 1 else MergedStore(dict(zip(_labels(places), stores, strict=True)))


def _labels(places: Sequence[Path]) -> list[str]:
    """Of each path the last parts that no other ends with."""
    ends = [["/".join(place.parts[-parts:]).strip("/") for parts in range(1, len(place.parts) + 1)] for place in places]
    every = Counter(end for each in ends for end in each)
    return [next((end for end in each if every[end] == 1), each[-1]) for each in ends]


class MergedStore(Store):
    """Of stores by their labels; it is only read."""

    def __init__(self, stores: Mapping[str, Store]) -> None:
        first = next(iter(stores.values()))
        super().__init__(first.root)
        self._stores = tuple(stores.values())
        self._shifts: list[dict[str, int]] = []  # of each store: case → what its repeats are raised by
        self._finished: list[RunFolder] = []
        free: dict[str, int] = {}  # case → the first repeat that is free
        for label, one in stores.items():
            repeats = _repeats(one)
            shifts = {case: free[case] - min(*found, 1) if case in free else 0 for case, found in repeats.items()}
            free |= {case: max(numbers) + shifts[case] + 1 for case, numbers in repeats.items()}
            self._shifts.append(shifts)
            self._finished += [replace(each, label=label, shift=shifts.get(_case(each), 0)) for each in one.finished()]
        self._folders = {each.run().id: each for each in self._finished if _case(each)}

    @property
    def roots(self) -> tuple[Path, ...]:
        return tuple(one.root for one in self._stores)

    @property
    def journal(self) -> Journal:
        return _MergedJournal([(one.journal, shifts) for one, shifts in zip(self._stores, self._shifts, strict=True)])

    def finished(self) -> list[RunFolder]:
        return sorted(self._finished, key=lambda each: (each.path.parent.name, each.shift, each.path.name))

    def folder(self, run: Run) -> RunFolder:
        return self._folders[run.id]

    def plan(self) -> Planned | None:
        plans = [plan for one in self._stores if (plan := one.plan())]
        if not plans:
            return None
        cases: dict[Case, None] = dict.fromkeys(case for plan in plans for case in plan.cases)
        skips: dict[Skip, None] = dict.fromkeys(skip for plan in plans for skip in plan.skips if skip.case not in cases)
        profiles = {plan.profile for plan in plans}
        return Planned(
            profile=profiles.pop() if len(profiles) == 1 else "custom",
            repeats=max(plan.repeats for plan in plans),
            cases=tuple(cases),
            skips=tuple(skips),
        )


class _MergedJournal(Journal):
    def __init__(self, journals: Sequence[tuple[Journal, Mapping[str, int]]]) -> None:
        super().__init__(journals[0][0].root)
        self._journals = journals

    def attempts(self) -> tuple[Attempt, ...]:
        return tuple(
            replace(one, run=f"{case}/r{int(repeat) + shifts.get(case, 0)}")
            for journal, shifts in self._journals
            for one in journal.attempts()
            for case, _, repeat in [one.run.rpartition("/r")]
        )

    def campaigns(self) -> tuple[Campaign, ...]:
        """What was started in another of these folders is no unseen one."""
        found = [one for journal, _ in self._journals for one in journal.campaigns()]
        plans = [{one.plan_sha256 for one in journal.campaigns()} for journal, _ in self._journals]
        seen = {one.id: sum(one.plan_sha256 in plan for plan in plans) - 1 for one in found}
        return tuple(replace(one, elsewhere=one.elsewhere and max(0, one.elsewhere - seen[one.id])) for one in found)

    @property
    def chained(self) -> bool:
        return all(journal.chained for journal, _ in self._journals)


def _repeats(one: Store) -> dict[str, list[int]]:
    """Case → the repeats of its runs, finished or begun."""
    found: dict[str, list[int]] = {}
    for case, repeat in (*_finished(one), *_begun(one.journal)):
        found.setdefault(case, []).append(repeat)
    return found


def _finished(one: Store) -> Iterator[tuple[str, int]]:
    for folder in one.finished():
        if case := _case(folder):
            yield case, folder.run().repeat


def _begun(journal: Journal) -> Iterator[tuple[str, int]]:
    try:
        for attempt in journal.attempts():
            case, _, repeat = attempt.run.rpartition("/r")
            yield case, int(repeat)
    except (EvalsuiteError, ValueError):
        return  # the report says that it cannot be read


def _case(folder: RunFolder) -> str:
    """Its id; "" where it cannot be read, which the report says."""
    try:
        return folder.run().case.id
    except EvalsuiteError:
        return ""
