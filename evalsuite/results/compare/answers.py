"""Which framework, or variant of the only one, is fastest at each setting and scale that was asked for."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, pairwise, product
from typing import Literal

from evalsuite.model import Case, Device, Precision, Protocol, Row, Skip, Summary, Unmeasured, by_key
from evalsuite.results.compare import fairness, ranking, winners
from evalsuite.results.compare.decisions import (
    PUBLISHED,
    Deciding,
    Decision,
    Evidence,
    decide,
    flags,
    keep_apart,
    price,
    speed,
)
from evalsuite.results.compare.fairness import Obstacle
from evalsuite.results.compare.ranking import Candidate, RankingScope
from evalsuite.results.compare.winners import RankingResult
from evalsuite.results.measure import facts
from evalsuite.results.measure.summary import failed_runs

FAILED_RUNS = "failed_runs"  # the obstacle that only some of the runs are left over
Said = Literal[  # the last three: by the scripts, without a clock of ours; one alone; none has a value
    "fastest", "tie", "group", "consistent", "indicative", "untold", "unknown_facts", "suspicious", "published",
    "printed", "alone", "none",
]  # fmt: skip
OF_EVIDENCE: Mapping[Evidence, Said] = {
    "decided": "fastest",
    "tie": "tie",
    "open": "group",
    "consistent": "consistent",
    "preliminary": "untold",
    "indicative": "indicative",
    "suspicious": "suspicious",
    "unknown": "unknown_facts",
    "cited": "published",
    "printed": "printed",
}
Absence = Literal["unsupported", "not_run", "no_valid_run", "elsewhere", "not_planned"]


@dataclass(frozen=True, kw_only=True)
class Conditions:
    model: str
    device: Device
    precision: Precision
    xla: bool | None
    batch_per_device: int | None  # None under strong scaling: it becomes smaller from scale to scale
    options: tuple[tuple[str, str], ...]  # without those that tell apart what is ranked
    protocol: Protocol
    strong_batch: int | None = None  # of the whole job, at every scale


@dataclass(frozen=True, kw_only=True)
class Ranked:
    summary: Summary
    ratio: float
    leading: bool
    judged: bool = True  # False: too little is known of it, and nothing is said of it
    evidence: Evidence | None = None  # of the first and this; None of the first
    flags: tuple[str, ...] = ()  # codes of the rules that a reader of the value must know


@dataclass(frozen=True, kw_only=True)
class Apart:
    summary: Summary
    obstacles: tuple[Obstacle, ...]  # empty: a slower script of a framework that is ranked
    flags: tuple[str, ...] = ()

    @property
    def why(self) -> tuple[str, ...]:
        """The names of the conditions; "recipe" of a slower script."""
        return tuple(each.key for each in self.obstacles) or ("recipe",)


@dataclass(frozen=True, kw_only=True)
class Missing:
    candidate: Candidate
    why: Absence
    case: Case | None = None  # the one that was asked for
    reason: str = ""
    others: tuple[Case, ...] = ()  # with "elsewhere": what it was measured with at this scale, a case each batch

    @property
    def framework(self) -> str:
        return self.candidate.framework

    @property
    def batches(self) -> tuple[int, ...]:
        return tuple(case.batch_per_device for case in self.others)


@dataclass(frozen=True, kw_only=True)
class Answer:
    setting: Conditions
    nodes: int
    devices_per_node: int
    said: Said
    scope: RankingScope = ranking.FRAMEWORKS
    ranked: tuple[Ranked, ...] = ()  # the highest median first
    apart: tuple[Apart, ...] = ()
    passed_over: tuple[Apart, ...] = ()  # not ranked, and no slower than the second of whom the lead is
    missing: tuple[Missing, ...] = ()
    chance: float | None = None  # with "consistent": of such an order where all are equal
    false_exclusion: float | None = None
    own_level: float | None = None
    missed: tuple[tuple[float, float], ...] = ()
    deciding: Deciding | None = None

    @property
    def devices(self) -> int:
        return self.nodes * self.devices_per_node

    def candidate(self, summary: Summary) -> Candidate:
        return self.scope.candidate(summary.case)

    @property
    def of_variants(self) -> tuple[str, ...]:
        if self.scope.among == "frameworks":
            return ()
        there = (*(one.summary.case.framework for one in self.ranked), *(one.framework for one in self.missing))
        return there[:1]

    @property
    def leaders(self) -> tuple[Ranked, ...]:
        return tuple(one for one in self.ranked if one.leading)

    @property
    def next(self) -> Ranked | None:
        return next((one for one in self.ranked if one.judged and not one.leading), None)

    @property
    def lead(self) -> float | None:
        return 1 / self.next.ratio - 1 if self.next else None

    @property
    def left_out(self) -> bool:
        ranked = {self.candidate(one.summary) for one in self.ranked}
        return any(self.candidate(one.summary) not in ranked for one in self.apart)

    @property
    def idle(self) -> tuple[str, ...]:
        """The options in which those ranked differ though they cannot act here: a link, on one node."""
        if self.nodes > 1:
            return ()
        cases = [one.summary.case for one in self.ranked]
        return tuple(name for name in ranking.BETWEEN_NODES if len({case.option(name) for case in cases}) > 1)

    @property
    def fewest(self) -> int:
        return min((one.summary.n for one in self.ranked if one.judged), default=0)

    @property
    def ahead(self) -> tuple[str, ...]:
        """The ids of the cases that lead where others are known to be behind: all that is bold."""
        decided = self.said in ("fastest", "tie") and self.next
        return tuple(one.summary.case.id for one in self.leaders) if decided else ()

    @property
    def level(self) -> bool:
        """Whether several lead: equal ones, or such as the runs do not tell apart."""
        return self.said in ("tie", "group")

    @cached_property
    def decisions(self) -> Mapping[tuple[str, str], Decision]:
        """(id of the higher, id of the lower) → what is known of the two."""
        rivals = [one.summary for one in self.ranked]
        found = (decide(a, b, rivals, self.scope.purpose) for a, b in combinations(rivals, 2))
        return {(one.first.case.id, one.second.case.id): one for one in found}

    @property
    def wording(self) -> str:
        """What is said; where some were measured here, not all are published figures."""
        some = self.said == "published" and any(one.summary.origin not in PUBLISHED for one in self.ranked)
        return "published_some" if some else self.said

    @property
    def second(self) -> Ranked | None:
        return self.next if self.level else self.ranked[1] if len(self.ranked) > 1 else None

    @property
    def lead_pair(self) -> Decision | None:
        return self.decision(self.ranked[0], self.second) if self.second else None

    @property
    def compared(self) -> tuple[Summary, ...]:
        pair = self.lead_pair if self.said != "untold" else None
        return (
            (*(one.summary for one in self.leaders), pair.second) if pair else tuple(one.summary for one in self.ranked)
        )

    @property
    def few(self) -> tuple[Ranked, ...]:
        """Those of whom too little is known: they take no part in what is said of others above them."""
        return tuple(one for one in self.ranked if not one.judged)

    def decision(self, higher: Ranked, lower: Ranked) -> Decision:
        return self.decisions[higher.summary.case.id, lower.summary.case.id]

    def beside(self) -> Iterable[Decision]:
        """Of each two of whom one is not ranked here."""
        failed = {one.summary.case.id: one.obstacles for one in self.apart if FAILED_RUNS in one.why}
        rivals, others = ([one.summary for one in known] for known in (self.ranked, self.apart))
        pairs = [*product(rivals, others), *combinations(others, 2)]
        for a, b in pairs:
            left = failed.get(b.case.id) or failed.get(a.case.id)
            apart = keep_apart(a, b, self.scope.purpose, left or ())
            yield apart or decide(a, b, rivals, self.scope.purpose)

    @property
    def steps(self) -> tuple[bool, ...]:
        return tuple(self.decision(higher, lower).behind for higher, lower in pairwise(self.ranked))

    @property
    def in_steps(self) -> bool:
        return all(self.steps)

    @property
    def all_alike(self) -> bool:
        return not any(one.behind for one in self.decisions.values())


@dataclass(kw_only=True)
class _Question:
    scope: RankingScope
    cases: dict[str, Case] = field(default_factory=dict)
    valid: list[Summary] = field(default_factory=list)


def answers(summaries: Iterable[Row], planned: Iterable[Case] = (), skips: Iterable[Skip] = ()) -> tuple[Answer, ...]:
    """The answer to each question that was asked: settings in the order of *planned*, of each small scales first."""
    found, skipped = list(summaries), {skip.case.id: skip for skip in skips}
    cases = (*planned, *(skip.case for skip in skipped.values()), *(one.case for one in found))
    of_model = ranking.ranking_scopes(cases)
    asked: dict[tuple[Conditions, int, int], _Question] = {}
    for case in cases:
        scope = of_model[case.model]
        asked.setdefault(_question(case, scope), _Question(scope=scope)).cases[case.id] = case
    for one in found:
        if isinstance(one, Summary):
            asked[_question(one.case, of_model[one.case.model])].valid.append(one)
    absent = _Absences(found, skipped, asked)
    order = {setting: place for place, setting in enumerate(dict.fromkeys(setting for setting, _, _ in asked))}
    ordered = sorted(asked, key=lambda key: (order[key[0]], key[1] * key[2], key[1]))
    return tuple(_with_passed_over([_answer(key, asked[key], absent) for key in ordered]))


def _with_passed_over(found: Sequence[Answer]) -> Iterable[Answer]:
    alike = by_key((_work(one), one) for one in found)
    for one in found:
        yield replace(one, passed_over=_passed_over(one, alike[_work(one)])) if one.second else one


def _work(answer: Answer) -> object:
    options = tuple(pair for pair in answer.setting.options if pair[0] in (*ranking.WORK, *ranking.SIZES))
    return replace(answer.setting, options=options, xla=False), answer.nodes, answer.devices_per_node


def _passed_over(answer: Answer, alike: Iterable[Answer]) -> tuple[Apart, ...]:
    ranked, unit = [answer.candidate(one.summary) for one in answer.ranked], answer.ranked[0].summary.unit
    found = [one for one in answer.apart if one.obstacles]
    for other in alike:
        if other.setting != answer.setting:
            unlike = _unlike(other.setting, answer.setting)
            there: tuple[Ranked | Apart, ...] = (*other.ranked, *other.apart)
            found += [Apart(summary=one.summary, obstacles=unlike, flags=one.flags) for one in there]
    best: dict[Candidate, Apart] = {}
    for one in sorted(found, key=lambda one: -speed(one.summary)):
        near = answer.second is not None and speed(one.summary) >= speed(answer.second.summary)
        if near and one.summary.unit == unit and answer.candidate(one.summary) not in ranked:
            best.setdefault(answer.candidate(one.summary), one)
    return tuple(best.values())


def _unlike(one: Conditions, other: Conditions) -> tuple[Obstacle, ...]:
    ours, theirs = ({"xla": "on" if each.xla else "off", **dict(each.options)} for each in (one, other))
    unlike = [name for name in sorted(ours | theirs) if ours.get(name) != theirs.get(name)]
    return tuple(Obstacle(key=name, ours=ours.get(name), theirs=theirs.get(name)) for name in unlike)


def headline(of_one_model: Iterable[Answer]) -> Answer | None:
    """The answer that says most of a model: of the scales that most frameworks share, the largest.

    Among equals that of the setting with the most scales.
    """
    found = [one for one in of_one_model if one.ranked]
    scales = Counter(one.setting for one in found)
    first = max(found, key=lambda one: (*_telling(one), scales[one.setting]), default=None)
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
    return len({one.candidate(each.summary) for each in one.apart} - {one.candidate(one.ranked[0].summary)})


def setting_of(case: Case, scope: RankingScope) -> Conditions:
    return Conditions(
        model=case.model,
        device=case.device,
        precision=case.precision,
        xla=case.xla,
        batch_per_device=case.batch_per_device if case.strong_batch is None else None,
        options=tuple((name, value) for name, value in case.options if _asks(name, value, scope)),
        protocol=case.protocol,
        strong_batch=case.strong_batch,
    )


def _asks(name: str, value: str, scope: RankingScope) -> bool:
    """Whether an option is part of the question. A loader is not: the facts say what it reads."""
    return name not in scope.names and not (name == "data" and facts.is_loader(value))


def _question(case: Case, scope: RankingScope) -> tuple[Conditions, int, int]:
    return setting_of(case, scope), case.nodes, case.devices_per_node


def _answer(key: tuple[Conditions, int, int], asked: _Question, absent: "_Absences") -> Answer:
    setting, nodes, per_node = key
    scope = asked.scope
    parts = sorted(fairness.groups(asked.valid, scope.purpose), key=lambda part: _weight(part, scope), reverse=True)
    members = sorted(winners.entrants(parts[0]), key=speed, reverse=True) if parts else []
    result = winners.rank(members, scope)
    ranked = _ranked(members, result)
    said: Said = OF_EVIDENCE[result.evidence] if result else "alone" if ranked else "none"
    others = [one for one in asked.valid if all(one is not each.summary for each in ranked)]
    return Answer(
        setting=setting,
        nodes=nodes,
        devices_per_node=per_node,
        said=said,
        scope=scope,
        ranked=ranked,
        apart=tuple(_apart(one, ranked, scope) for one in others),
        missing=tuple(absent.of(key, asked)),
        chance=result.chance if result else None,
        false_exclusion=result.false_exclusion if result else None,
        own_level=result.own_level if result else None,
        missed=result.missed if result else (),
        deciding=_deciding(result, scope) if result else None,
    )


def _weight(members: Sequence[Summary], scope: RankingScope) -> tuple[bool, int, float]:
    timed = members[0].grounds not in ("printed", "disputed")
    return timed, len({scope.candidate(one.case) for one in members}), max(map(speed, members))


def _ranked(members: Sequence[Summary], result: RankingResult | None) -> tuple[Ranked, ...]:
    rivals = result.rivals if result else members[:1]
    parts = (result.group, result.judged) if result else (rivals, rivals)
    known = {one.second.case.id: one.evidence for one in result.pairs} if result else {}
    leading, judged = ({one.case.id for one in part} for part in parts)
    return tuple(
        Ranked(
            summary=one,
            ratio=speed(one) / speed(rivals[0]),
            leading=one.case.id in leading,
            judged=one.case.id in judged,
            evidence=known.get(one.case.id),
            flags=flags(one),
        )
        for one in rivals
    )


def _apart(one: Summary, ranked: Sequence[Ranked], scope: RankingScope) -> Apart:
    found = (*left_over(one), *fairness.obstacles(one, ranked[0].summary, scope.purpose))
    return Apart(summary=one, obstacles=found, flags=flags(one))


def left_over(one: Summary) -> tuple[Obstacle, ...]:
    failed = failed_runs(one)
    return (Obstacle(key=FAILED_RUNS, ours=str(one.n), theirs=str(one.n + failed)),) if failed else ()


def _deciding(result: RankingResult, scope: RankingScope) -> Deciding | None:
    unknown = (fact for a, b in combinations(result.judged, 2) for fact in scope.unknown_facts(a, b))
    found = result.group if result.evidence == "open" else result.judged  # the first two of whom it is not decided
    return price(result.evidence, found, unknown, len(result.rivals))


class _Absences:
    def __init__(
        self,
        summaries: Sequence[Row],
        skipped: Mapping[str, Skip],
        asked: Mapping[tuple[Conditions, int, int], _Question],
    ) -> None:
        self.skipped = skipped
        self.unmeasured = {one.case.id: one for one in summaries if isinstance(one, Unmeasured)}
        self.candidates: dict[str, dict[Candidate, None]] = {}  # model → those that were ever asked about it
        self.others: dict[tuple[str, Candidate, str, int, int], dict[int, Case]] = {}
        for (setting, nodes, per_node), question in asked.items():
            known, candidate = self.candidates.setdefault(setting.model, {}), question.scope.candidate
            known.update(dict.fromkeys(map(candidate, question.cases.values())))
            for one in question.valid:
                place = (setting.model, candidate(one.case), setting.precision, nodes, per_node)
                self.others.setdefault(place, {}).setdefault(one.case.batch_per_device, one.case)

    def of(self, key: tuple[Conditions, int, int], asked: _Question) -> Iterable[Missing]:
        setting, nodes, per_node = key
        there = {asked.scope.candidate(one.case) for one in asked.valid}
        for candidate in self.candidates[setting.model]:
            if candidate not in there:
                place = (setting.model, candidate, setting.precision, nodes, per_node)
                others = sorted(self.others.get(place, {}).items())
                yield self._missing(candidate, asked, tuple(case for _, case in others))

    def _missing(self, candidate: Candidate, asked: _Question, others: tuple[Case, ...]) -> Missing:
        own = [case for case in asked.cases.values() if asked.scope.candidate(case) == candidate]
        for case in own:
            if case.id in self.unmeasured:
                runs = self.unmeasured[case.id].measurements
                reason = next((run.reason for run in runs if run.reason), "")
                return Missing(candidate=candidate, why="no_valid_run", case=case, reason=reason)
        for case in own:
            if case.id in self.skipped:
                skip = self.skipped[case.id]
                return Missing(candidate=candidate, why=skip.kind, case=case, reason=skip.reason)
        if own:
            return Missing(candidate=candidate, why="not_run", case=own[0])
        why: Absence = "elsewhere" if others else "not_planned"
        return Missing(candidate=candidate, why=why, others=others)
