"""What the journal of the run folders shows: runs taken away or made again, and plans that changed."""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from evalsuite.core import findings as rules
from evalsuite.core.documents import RunCommand
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.model import Attempt, CampaignStart, Case, Finding, Measurement, Run, by_key
from evalsuite.results.measure import plausibility
from evalsuite.results.measure.measuring import Measured
from evalsuite.runs.endings import ENDED_WELL
from evalsuite.runs.journal import Campaign, Journal
from evalsuite.runs.store import RunFolder

Commands = Mapping[str, RunCommand]  # of each finished run


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """The journal, read; what cannot be read of it is *broken*."""

    attempts: tuple[Attempt, ...] = ()
    campaigns: tuple[Campaign, ...] = ()
    broken: bool = False
    sha256: tuple[str, ...] = ()  # of its last line, in each folder of runs
    planned: frozenset[str] | None = None  # cases of the last plan, of which the page says what was not run
    begun: Mapping[str, int] = field(default_factory=dict)  # campaign → attempts, of whatever case

    @property
    def starts(self) -> tuple[CampaignStart, ...]:
        return tuple(
            CampaignStart(id=each.id, started_at=each.started_at, plan_sha256=each.plan_sha256, whole=each.whole)
            for each in self.campaigns
        )


def read(journal: Journal, cases: Container[str] | None, planned: frozenset[str] | None) -> Recorded:
    """Of *cases* alone, or of all; *planned*: as in `Recorded`."""
    try:
        every = journal.attempts()
        return Recorded(
            attempts=tuple(each for each in every if cases is None or each.run.partition("/")[0] in cases),
            campaigns=journal.campaigns(),
            broken=not journal.chained,
            sha256=tuple(journal.last_hashes().values()),
            planned=planned,
            begun=Counter(each.campaign for each in every),
        )
    except EvalsuiteError:
        return Recorded(broken=True, planned=planned)


def mark_changed(measured: Iterable[Measured], recorded: Recorded, of: Callable[[Run], RunFolder]) -> list[Measurement]:
    """Those whose files are not as the journal has them at their end get the finding."""
    held = {each.run: each.sha256 for each in recorded.attempts if each.sha256 is not None or each.status is None}
    noted = {(each.run, each.number): each for each in recorded.attempts}
    behind = ((a, b) for a, b in pairwise(recorded.attempts) if a.campaign == b.campaign)
    previous = {(b.run, b.number): a.ended_at for a, b in behind}
    marked = []
    for run, command in measured:
        wanted = held.get(run.run.id)
        files = {name for name, _ in run.records.items() ^ wanted.items()} if wanted is not None else ()
        held_by = {name: (wanted or {}).get(name) for name in files}
        changed = plausibility.changed(of(run.run), held_by) if files else ()
        if command and command.campaign and (attempt := noted.get((run.run.id, command.campaign.attempt))):
            before = previous.get((attempt.run, attempt.number))
            changed = (*changed, *plausibility.of_attempt(attempt, run, command, before))
        changed = (*changed, *(rules.LogBeside(file=name) for name in run.records if name.startswith("log.")))
        placed = (replace(each, where=run.run.id) for each in changed)
        marked.append(replace(run, findings=(*run.findings, *placed)) if changed else run)
    return marked


def superseded(recorded: Recorded, commands: Commands) -> tuple[Attempt, ...]:
    """The attempts that count for nothing: another one, or none, took their place."""
    numbers = by_key((attempt.run, attempt.number) for attempt in recorded.attempts)
    kept = {run: command.campaign.attempt for run, command in commands.items() if command.campaign}
    others = (each for each in recorded.attempts if each.number != kept.get(each.run))
    return tuple(each for each in others if each.number < max(numbers[each.run]) or each.status is not None)


def findings(recorded: Recorded, commands: Commands) -> tuple[Mapping[str, Sequence[Finding]], Sequence[Case]]:
    """Of each case; and of the plans of all starts the cases that were finished, and of which no run is here."""
    gone = [*_gone(recorded, commands)]
    taken = {each.where.partition("/")[0] for each in gone if isinstance(each, rules.RunTakenAway)}
    planned = dict.fromkeys(case for start in recorded.campaigns for case in start.plan.cases)
    lost = [case for case in planned if case.id in taken - {run.partition("/")[0] for run in commands}]
    every = (*gone, *_broken(recorded, commands), *_plans(recorded, commands, lost))
    return by_key((each.where.partition("/")[0], each) for each in every), lost


def _gone(recorded: Recorded, commands: Commands) -> Iterable[Finding]:
    by_run = by_key((attempt.run, attempt) for attempt in superseded(recorded, commands))
    for run, attempts in by_run.items():
        replaced = run in commands or any(attempt.status is None for attempt in attempts)
        ended = [attempt for attempt in attempts if attempt.status]
        taken = [each for each in ended if not replaced or (each.status in ENDED_WELL and each.counts is not False)]
        if taken:
            yield rules.RunTakenAway(attempts=len(taken), where=run)
        if again := [attempt for attempt in attempts if attempt not in taken]:
            failed = sum(attempt.status is not None and attempt.fault is None for attempt in again)
            yield rules.RunMadeAgain(attempts=len(again), failed=failed, where=run)


def _broken(recorded: Recorded, commands: Commands) -> Iterable[Finding]:
    """The attempts of a start are numbered as they are made, a round behind the other: what is not made yet has no
    number, what was taken away leaves its own, with its line or without, or a line of a case that no plan has."""
    whole = [each for each in recorded.campaigns if each.whole]
    sealed = {(each.id, each.plan_sha256) for each in whole}
    planned = {case.id for each in whole for case in each.plan.cases}  # a start measures the base of an earlier one
    starts = {(attempt.run, attempt.number) for attempt in recorded.attempts}
    begun = by_key((attempt.campaign, attempt.run.rpartition("/r")[0]) for attempt in recorded.attempts)
    places = {run: command.campaign for run, command in commands.items() if command.campaign}
    orders = by_key((place.id, place.order) for place in places.values())
    rounds = by_key(((place.id, place.round), place.order) for place in places.values() if place.attempt == 1)
    holes = by_key((id, max(made) - min(made) + 1 - len(made)) for (id, _), made in rounds.items())
    for run, place in places.items():
        asked, made = planned.issuperset(begun.get(place.id, ())), recorded.begun.get(place.id, 0)
        known = asked and (place.id, place.plan_sha256) in sealed and (run, place.attempt) in starts
        lost = max(max(orders[place.id]) + 1 - made, max(holes.get(place.id, [0])) - (made - len(orders[place.id])))
        if recorded.broken or not known or lost > 0:
            yield rules.JournalBroken(campaign=place.id, where=run)


def _plans(recorded: Recorded, commands: Commands, lost: Iterable[Case]) -> Iterable[Finding]:
    """Earlier evaluations, repeats added, rounds and cases that the folder lacks. Lacking at the end of a start they
    were not made (`_broken`): of those that are here an order is told, but of the rivals of a case that is all gone."""
    ran = {command.campaign.id for command in commands.values() if command.campaign}
    asked = by_key((case, start) for start in recorded.campaigns if start.id in ran for case in start.plan.cases)
    measured = {run.partition("/")[0] for run in commands}
    here = by_key((run.rpartition("/r")[0], run) for run in {*commands, *(each.run for each in recorded.attempts)})
    gone = {(case.model, case.scale): case.id for case in lost}
    first = min((start.started_at for start in recorded.campaigns if start.id in ran), default="")
    for start in (each for each in recorded.campaigns if each.started_at < first and not recorded.begun.get(each.id)):
        planned = (case.id for case in start.plan.cases if case.id in measured)
        yield from (rules.RoundsMissing(planned=start.plan.repeats, here=0, where=case) for case in planned)
    begun = by_key((each.run.rpartition("/r")[0], int(each.run.rpartition("/r")[2])) for each in recorded.attempts)
    for case, starts in asked.items():
        most = [start.plan.most_repeats or start.plan.repeats for start in starts]
        most.append(max(begun.get(case.id, (0,))) + 1)
        if max(most) > most[0] and case.id in measured:
            yield rules.RepeatsAdded(planned=most[0], later=max(most), where=case.id)
        before = (each.elsewhere for each in starts if each.elsewhere)
        yield from (rules.EvaluatedBefore(evaluations=evaluations, where=case.id) for evaluations in before)
        if case.id in measured and (other := gone.get((case.model, case.scale))):
            yield rules.RivalTakenAway(other=other, where=case.id)
        repeats, runs = max(start.plan.repeats for start in starts), len(here.get(case.id, ()))
        if 0 < runs < repeats or (not runs and recorded.planned and case.id not in recorded.planned):
            yield rules.RoundsMissing(planned=repeats, here=runs, where=case.id)
