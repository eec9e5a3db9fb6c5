"""Several folders of runs read as one: a later one's repeats are numbered on, and its campaigns stay its own."""

import contextlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from evalsuite.core.decode import whole
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.model import Attempt, Case, Run, by_key
from evalsuite.runs import archive
from evalsuite.runs.journal import Campaign, Journal
from evalsuite.runs.planned import Planned
from evalsuite.runs.store import RunFolder, Store


def store(roots: Sequence[Path]) -> Store:
    """Of all *roots*, each a folder or a ZIP. Raises EvalsuiteError where two overlap, or one of several has no run."""
    places = [root.resolve() for root in roots]
    for number, place in enumerate(places):
        for other in places[:number]:
            if place.is_relative_to(other) or other.is_relative_to(place):
                raise EvalsuiteError.of("runs.roots_overlap", path=roots[number], other=other)
    stores = [Store(archive.unpack(root)) for root in roots]
    for root, each in zip(roots, stores, strict=True):
        if (stores[1:] or each.root != root) and not each.finished() and each.plan() is None:
            raise EvalsuiteError.of("runs.root_empty", path=root)
    if len(stores) == 1:
        return stores[0]
    ends = [["/".join(place.parts[-parts:]).strip("/") for parts in range(1, len(place.parts) + 1)] for place in places]
    every = Counter(end for each in ends for end in each)
    labels = [next((end for end in each if every[end] == 1), each[-1]) for each in ends]
    return MergedStore(dict(zip(labels, stores, strict=True)))


class MergedStore(Store):
    def __init__(self, stores: Mapping[str, Store]) -> None:
        first = next(iter(stores.values()))
        super().__init__(first.root)
        self._stores = tuple(stores.values())
        self._shifts: list[dict[str, int]] = []  # of each store: case → what its repeats are raised by
        self._finished: list[RunFolder] = []
        self._folders: dict[str, RunFolder] = {}  # by the run's id
        free: dict[str, int] = {}  # case → the first repeat that is free
        for label, store in stores.items():
            repeats = _repeats(store)
            shifts = {case: free[case] - min(*numbers, 1) if case in free else 0 for case, numbers in repeats.items()}
            free |= {case: max(numbers) + shifts[case] + 1 for case, numbers in repeats.items()}
            self._shifts.append(shifts)
            for folder in store.finished():
                run = _run(folder)
                shift = shifts[run.case.id] if run else 0
                self._finished.append(replace(folder, label=label, shift=shift))
                if run:
                    self._folders[replace(run, repeat=run.repeat + shift).id] = self._finished[-1]

    @property
    def roots(self) -> tuple[Path, ...]:
        return tuple(store.root for store in self._stores)

    @property
    def journal(self) -> Journal:
        return _MergedJournal([(each.journal, shifts) for each, shifts in zip(self._stores, self._shifts, strict=True)])

    def finished(self) -> list[RunFolder]:
        return sorted(self._finished, key=lambda each: (each.path.parent.name, each.shift, each.path.name))

    def folder(self, run: Run) -> RunFolder:
        return self._folders.get(run.id) or super().folder(run)

    def plan(self) -> Planned | None:
        plans = [plan for store in self._stores if (plan := store.plan())]
        if not plans:
            return None
        cases: dict[Case, None] = dict.fromkeys(case for plan in plans for case in plan.cases)
        skips = {skip.case: skip for plan in plans for skip in plan.skips if skip.case not in cases}
        profiles = {plan.profile for plan in plans}
        return Planned(
            profile=profiles.pop() if len(profiles) == 1 else "custom",
            repeats=max(plan.repeats for plan in plans),
            cases=tuple(cases),
            skips=tuple(skips.values()),
            columns=tuple(dict.fromkeys(each for plan in plans for each in plan.columns)),
            criteria=tuple(dict.fromkeys(each for plan in plans for each in plan.criteria)),
            machine=next((plan.machine for plan in plans if plan.machine), None),
        )


class _MergedJournal(Journal):
    def __init__(self, journals: Sequence[tuple[Journal, Mapping[str, int]]]) -> None:
        super().__init__(journals[0][0].root)
        self._journals = journals

    def attempts(self) -> tuple[Attempt, ...]:
        return tuple(
            replace(attempt, run=f"{case}/r{repeat + shifts.get(case, 0)}")
            for journal, shifts in self._journals
            for attempt in journal.attempts()
            for case, repeat in [_parts(attempt)]
        )

    def campaigns(self) -> tuple[Campaign, ...]:
        """What was started in another of these folders is no unseen one."""
        every = [campaign for journal, _ in self._journals for campaign in journal.campaigns()]
        plans = [{campaign.plan_sha256 for campaign in journal.campaigns()} for journal, _ in self._journals]
        seen = {campaign.id: sum(campaign.plan_sha256 in plan for plan in plans) - 1 for campaign in every}
        return tuple(replace(row, elsewhere=row.elsewhere and max(0, row.elsewhere - seen[row.id])) for row in every)

    def last_hashes(self) -> dict[Path, str]:
        return {file: hashed for journal, _ in self._journals for file, hashed in journal.last_hashes().items()}

    @property
    def chained(self) -> bool:
        return all(journal.chained for journal, _ in self._journals)


def _repeats(store: Store) -> dict[str, list[int]]:
    """Case → the repeats of its runs, finished or begun; the report says what of it cannot be read."""
    repeats = [(run.case.id, run.repeat) for folder in store.finished() if (run := _run(folder))]
    with contextlib.suppress(EvalsuiteError):
        repeats += map(_parts, store.journal.attempts())
    return by_key(repeats)


def _run(folder: RunFolder) -> Run | None:
    with contextlib.suppress(EvalsuiteError):
        return folder.run()
    return None


def _parts(attempt: Attempt) -> tuple[str, int]:
    case, _, repeat = attempt.run.rpartition("/r")
    return case, whole(repeat) or 0
