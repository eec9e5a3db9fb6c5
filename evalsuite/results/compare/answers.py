"""Which framework, or variant of the only one, is fastest at each setting and scale that was asked for."""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, pairwise
from typing import Literal

from evalsuite.model import Case, Device, Precision, Protocol, Skip, Summary, Unmeasured
from evalsuite.results.compare import fairness, ranking, significance, winners
from evalsuite.results.compare.fairness import Obstacle
from evalsuite.results.compare.ranking import Contest, Entrant
from evalsuite.results.compare.scaling import suspicious
from evalsuite.results.compare.winners import Standing, Word
from evalsuite.results.measure import facts
from evalsuite.results.measure.summary import DECIDING_ORIGINS, FULL_REPEATS, short_window, values

PUBLISHED = ("cited", "digitised")
Untested = Literal[
    "suspicious",  # the highest value contradicts its own scaling (D12)
    "published",  # other people's figures, which are not tested
    "alone",
    "none",  # none has
]
Said = Word | Untested
Needed = Literal["repeats", "window", "facts", "base"]
Absence = Literal["unsupported", "not_run", "no_valid_run", "elsewhere", "not_planned"]


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """All that a question holds equal beside its scale."""

    model: str
    device: Device
    precision: Precision
    xla: bool
    batch_per_device: int | None  # None under strong scaling: it becomes smaller from scale to scale
    options: tuple[tuple[str, str], ...]  # without those that tell apart what is ranked
    protocol: Protocol
    strong_batch: int | None = None  # of the whole job, at every scale


@dataclass(frozen=True, kw_only=True)
class Ranked:
    summary: Summary
    ratio: float
    leading: bool


@dataclass(frozen=True, kw_only=True)
class Apart:
    summary: Summary
    obstacles: tuple[Obstacle, ...]  # empty: a slower script of a framework that is ranked

    @property
    def why(self) -> tuple[str, ...]:
        """The names of the conditions; "recipe" of a slower script."""
        return tuple(each.key for each in self.obstacles) or ("recipe",)


@dataclass(frozen=True, kw_only=True)
class Missing:
    entrant: Entrant
    why: Absence
    case: Case | None = None  # the one that was asked for
    reason: str = ""
    others: tuple[Case, ...] = ()  # with "elsewhere": what it was measured with at this scale, a case each batch

    @property
    def framework(self) -> str:
        return self.entrant.framework

    @property
    def batches(self) -> tuple[int, ...]:
        return tuple(case.batch_per_device for case in self.others)


@dataclass(frozen=True, kw_only=True)
class Deciding:
    needed: Needed
    runs: int = 0
    seconds: float | None = None
    facts: tuple[str, ...] = ()  # with "facts": those that nobody states of all


@dataclass(frozen=True, kw_only=True)
class Answer:
    setting: Conditions
    nodes: int
    devices_per_node: int
    said: Said
    contest: Contest = ranking.FRAMEWORKS
    ranked: tuple[Ranked, ...] = ()  # the highest median first
    apart: tuple[Apart, ...] = ()
    missing: tuple[Missing, ...] = ()
    chance: float | None = None  # with "consistent": of such an order where all are equal
    false_exclusion: float | None = None
    deciding: Deciding | None = None

    @property
    def devices(self) -> int:
        return self.nodes * self.devices_per_node

    def entrant(self, summary: Summary) -> Entrant:
        return self.contest.entrant(summary.case)

    @property
    def of_variants(self) -> tuple[str, ...]:
        if self.contest.among == "frameworks":
            return ()
        there = (*(one.summary.case.framework for one in self.ranked), *(one.framework for one in self.missing))
        return there[:1]

    @property
    def leaders(self) -> tuple[Ranked, ...]:
        return tuple(one for one in self.ranked if one.leading)

    @property
    def next(self) -> Ranked | None:
        return next((one for one in self.ranked if not one.leading), None)

    @property
    def lead(self) -> float | None:
        return 1 / self.next.ratio - 1 if self.next else None

    @property
    def idle(self) -> tuple[str, ...]:
        """The options in which those ranked differ though they cannot act here: a link, on one node."""
        if self.nodes > 1:
            return ()
        cases = [one.summary.case for one in self.ranked]
        return tuple(name for name in ranking.BETWEEN_NODES if len({case.option(name) for case in cases}) > 1)

    @property
    def fewest(self) -> int:
        return min((one.summary.n for one in self.ranked), default=0)

    @property
    def decided(self) -> bool:
        return self.said in ("fastest", "group")

    @property
    def steps(self) -> tuple[bool, ...]:
        found = [values(one.summary) for one in self.ranked]
        return tuple(significance.apart(lower, higher) for higher, lower in pairwise(found))

    @property
    def in_steps(self) -> bool:
        return all(self.steps)

    @property
    def all_alike(self) -> bool:
        found = [values(one.summary) for one in self.ranked]
        return not any(significance.apart(lower, higher) for higher, lower in combinations(found, 2))


@dataclass(kw_only=True)
class _Question:
    contest: Contest
    cases: dict[str, Case] = field(default_factory=dict)
    valid: list[Summary] = field(default_factory=list)


def answers(
    summaries: Iterable[Summary | Unmeasured], planned: Iterable[Case] = (), skips: Iterable[Skip] = ()
) -> tuple[Answer, ...]:
    """The answer to each question that was asked: settings in the order of *planned*, of each small scales first."""
    found, skipped = list(summaries), {skip.case.id: skip for skip in skips}
    cases = (*planned, *(skip.case for skip in skipped.values()), *(one.case for one in found))
    of_model = ranking.contests(cases)
    asked: dict[tuple[Conditions, int, int], _Question] = {}
    for case in cases:
        contest = of_model[case.model]
        asked.setdefault(_question(case, contest), _Question(contest=contest)).cases[case.id] = case
    for one in found:
        if isinstance(one, Summary):
            asked[_question(one.case, of_model[one.case.model])].valid.append(one)
    absent = _Absences(found, skipped, asked)
    order = {setting: place for place, setting in enumerate(dict.fromkeys(setting for setting, _, _ in asked))}
    ordered = sorted(asked, key=lambda key: (order[key[0]], key[1] * key[2], key[1]))
    return tuple(_answer(key, asked[key], absent) for key in ordered)


def headline(of_one_model: Iterable[Answer]) -> Answer | None:
    """The answer that says most of a model: of the scales that most frameworks share, the largest."""
    found = [one for one in of_one_model if one.ranked]
    first = max(found, key=_telling, default=None)
    if first is None:
        return None
    alike = [one for one in found if _telling(one) == _telling(first) and _same_but_options(one, first)]
    return max(alike, key=lambda one: one.ranked[0].summary.items_per_s.value)


def _telling(one: Answer) -> tuple[int, int, int]:
    return (len(one.ranked), _others(one), one.devices)


def _same_but_options(one: Answer, other: Answer) -> bool:
    same = replace(one.setting, options=other.setting.options) == other.setting and one.nodes == other.nodes
    ours, theirs = (
        {pair for pair in each.setting.options if pair[0] in (*ranking.WORK, *ranking.SIZES)} for each in (one, other)
    )
    return same and ours == theirs


def _others(one: Answer) -> int:
    if len(one.ranked) > 1:
        return 0
    return len({one.entrant(each.summary) for each in one.apart} - {one.entrant(one.ranked[0].summary)})


def most_efficient(answer: Answer) -> Summary | None:
    shown = [*(one.summary for one in answer.ranked), *(one.summary for one in answer.apart)]
    known = [
        (one.efficiency.value, place, one)
        for place, one in enumerate(shown)
        if one.efficiency and one.base != one.case and not suspicious(one)
    ]
    return max(known)[2] if known else None


def setting_of(case: Case, contest: Contest) -> Conditions:
    return Conditions(
        model=case.model,
        device=case.device,
        precision=case.precision,
        xla=case.xla,
        batch_per_device=case.batch_per_device if case.strong_batch is None else None,
        options=tuple((name, value) for name, value in case.options if _asks(name, value, contest)),
        protocol=case.protocol,
        strong_batch=case.strong_batch,
    )


def _asks(name: str, value: str, contest: Contest) -> bool:
    """Whether an option is part of the question. A loader is not: the facts say what it reads."""
    return name not in contest.names and not (name == "data" and facts.is_loader(value))


def _question(case: Case, contest: Contest) -> tuple[Conditions, int, int]:
    return setting_of(case, contest), case.nodes, case.devices_per_node


def _answer(key: tuple[Conditions, int, int], asked: _Question, absent: "_Absences") -> Answer:
    setting, nodes, per_node = key
    contest = asked.contest
    parts = sorted(fairness.groups(asked.valid, contest.purpose), key=lambda part: _weight(part, contest), reverse=True)
    members = sorted(parts[0], key=_speed, reverse=True) if parts else []
    ranked = _ranked(members, contest)
    standing = winners.rank(members, contest)
    said = _said(ranked, standing)
    others = [one for one in asked.valid if all(one is not each.summary for each in ranked)]
    return Answer(
        setting=setting,
        nodes=nodes,
        devices_per_node=per_node,
        said=said,
        contest=contest,
        ranked=ranked,
        apart=tuple(_apart(one, ranked, contest) for one in others),
        missing=tuple(absent.of(key, asked)),
        chance=standing.chance if standing and said == "consistent" else None,
        false_exclusion=standing.false_exclusion if standing and said in ("fastest", "group") else None,
        deciding=_deciding(said, ranked, contest),
    )


def _weight(members: Sequence[Summary], contest: Contest) -> tuple[int, float]:
    return len({contest.entrant(one.case) for one in members}), max(map(_speed, members))


def _speed(one: Summary) -> float:
    return one.items_per_s.value


def _ranked(members: Sequence[Summary], contest: Contest) -> tuple[Ranked, ...]:
    return tuple(
        Ranked(summary=one, ratio=_speed(one) / _speed(members[0]), leading=not significance.is_behind(one, members[0]))
        for one in winners.best_of_each(members, contest)
    )


def _said(ranked: Sequence[Ranked], standing: Standing | None) -> Said:
    if not ranked:
        return "none"
    if standing is None:
        return "alone"
    if any(one.summary.origin in PUBLISHED for one in ranked):
        return "published"
    if any(one.summary.origin not in DECIDING_ORIGINS for one in ranked):
        return "untold"
    return "suspicious" if standing.word == "fastest" and suspicious(standing.first) else standing.word


def _apart(one: Summary, ranked: Sequence[Ranked], contest: Contest) -> Apart:
    return Apart(summary=one, obstacles=fairness.obstacles(one, ranked[0].summary, contest.purpose))


def _deciding(said: Said, ranked: Sequence[Ranked], contest: Contest) -> Deciding | None:
    found = [one.summary for one in ranked]
    if said == "suspicious":
        return Deciding(needed="base")
    if said == "unknown_facts":
        unknown = (fact for a, b in combinations(found, 2) for fact in contest.unknown_facts(a, b))
        return Deciding(needed="facts", facts=tuple(dict.fromkeys(unknown)))
    if said not in ("untold", "consistent"):
        return None
    again = [one for one in found if short_window(one)]
    more = {one.case.id: FULL_REPEATS if one in again else max(0, FULL_REPEATS - one.n) for one in found}
    if not any(more.values()):
        return None
    return Deciding(
        needed="window" if again else "repeats",
        runs=sum(more.values()),
        seconds=None if again else _seconds(found, more),
    )


def _seconds(found: Sequence[Summary], more: Mapping[str, int]) -> float | None:
    total = 0.0
    for one in found:
        taken = [run.duration_s for run in one.measurements if run.counts and run.duration_s is not None]
        if more[one.case.id] and not taken:
            return None
        total += more[one.case.id] * statistics.median(taken) if taken else 0.0
    return total


class _Absences:
    def __init__(
        self,
        summaries: Sequence[Summary | Unmeasured],
        skipped: Mapping[str, Skip],
        asked: Mapping[tuple[Conditions, int, int], _Question],
    ) -> None:
        self.skipped = skipped
        self.unmeasured = {one.case.id: one for one in summaries if isinstance(one, Unmeasured)}
        self.entrants: dict[str, dict[Entrant, None]] = {}  # model → those that were ever asked about it
        self.others: dict[tuple[str, Entrant, str, int, int], dict[int, Case]] = {}
        for (setting, nodes, per_node), question in asked.items():
            known, entrant = self.entrants.setdefault(setting.model, {}), question.contest.entrant
            known.update(dict.fromkeys(map(entrant, question.cases.values())))
            for one in question.valid:
                place = (setting.model, entrant(one.case), setting.precision, nodes, per_node)
                self.others.setdefault(place, {}).setdefault(one.case.batch_per_device, one.case)

    def of(self, key: tuple[Conditions, int, int], asked: _Question) -> Iterable[Missing]:
        setting, nodes, per_node = key
        there = {asked.contest.entrant(one.case) for one in asked.valid}
        for entrant in self.entrants[setting.model]:
            if entrant not in there:
                place = (setting.model, entrant, setting.precision, nodes, per_node)
                others = sorted(self.others.get(place, {}).items())
                yield self._missing(entrant, asked, tuple(case for _, case in others))

    def _missing(self, entrant: Entrant, asked: _Question, others: tuple[Case, ...]) -> Missing:
        own = [case for case in asked.cases.values() if asked.contest.entrant(case) == entrant]
        for case in own:
            if case.id in self.unmeasured:
                runs = self.unmeasured[case.id].measurements
                reason = next((run.reason for run in runs if run.reason), "")
                return Missing(entrant=entrant, why="no_valid_run", case=case, reason=reason)
        for case in own:
            if case.id in self.skipped:
                skip = self.skipped[case.id]
                return Missing(entrant=entrant, why=skip.kind, case=case, reason=skip.reason)
        if own:
            return Missing(entrant=entrant, why="not_run", case=own[0])
        why: Absence = "elsewhere" if others else "not_planned"
        return Missing(entrant=entrant, why=why, others=others)
