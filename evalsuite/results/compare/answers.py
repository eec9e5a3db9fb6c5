"""Which framework, or variant of the only one, is fastest at each setting and scale that was asked for."""

import functools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from evalsuite.core.model import Case, Device, Precision, Protocol, Row, Skip, Summary, Unmeasured, by_key
from evalsuite.results.compare import decisions, fairness
from evalsuite.results.compare.decisions import Candidate, Decision, Outcome, Ranked, Ranking, RankingScope
from evalsuite.results.compare.fairness import Obstacle
from evalsuite.results.measure import facts
from evalsuite.results.measure.summary import failed_runs

FAILED_RUNS = "failed_runs"  # the obstacle that only some of the runs are left over
Place = tuple["Conditions", int, int]  # and nodes, devices of each
Absence = Literal["unsupported", "not_run", "no_valid_run", "taken_away", "elsewhere", "not_planned"]


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
    others: tuple[Case, ...] = ()  # with "elsewhere": those that do the same work at this scale, the most alike first


@dataclass(frozen=True, kw_only=True)
class Answer(Ranking):
    setting: Conditions
    nodes: int
    devices_per_node: int
    scope: RankingScope = decisions.FRAMEWORKS
    apart: tuple[Apart, ...] = ()
    passed_over: tuple[Apart, ...] = ()  # not ranked, and no slower than the second of whom the lead is
    missing: tuple[Missing, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """What is said of the order, in the words that are said of two of it."""
        return super().outcome or ("not_comparable" if self.left_out else "no_value")

    @property
    def devices(self) -> int:
        return self.nodes * self.devices_per_node

    def candidate(self, summary: Summary) -> Candidate:
        return self.scope.candidate(summary.case)

    @property
    def leaders(self) -> tuple[Ranked, ...]:
        return tuple(entry for entry in self.ranked if entry.leading)

    @property
    def next(self) -> Ranked | None:
        return next((entry for entry in self.ranked if entry.judged and not entry.leading), None)

    @property
    def left_out(self) -> bool:
        ranked = {self.candidate(entry.summary) for entry in self.ranked}
        return any(self.candidate(apart.summary) not in ranked for apart in self.apart)

    @property
    def ahead(self) -> tuple[str, ...]:
        """The ids of the cases that lead where others are known to be behind: all that is bold."""
        told = self.known in ("ahead", "equal") and self.next
        return tuple(leader.summary.case.id for leader in self.leaders) if told else ()

    @property
    def level(self) -> bool:
        """Whether several lead: equal ones, or such as the runs do not tell apart."""
        return self.known in ("equal", "scatter")

    @property
    def second(self) -> Ranked | None:
        return self.next if self.level else self.ranked[1] if len(self.ranked) > 1 else None

    @functools.cached_property
    def lead_pair(self) -> Decision | None:
        return self.decision(self.ranked[0], self.second) if self.second else None

    @property
    def compared(self) -> tuple[Summary, ...]:
        pair = self.lead_pair if self.known != "runs" else None
        first = tuple(entry.summary for entry in (self.leaders if pair or self.level else self.ranked))
        return (*first, pair.second) if pair else first

    @property
    def disturbed(self) -> bool:
        """Whether others used the machine so much that who is ahead holds, and not how far."""
        pair = self.lead_pair
        return bool(pair and (pair.first.disturbed or pair.second.disturbed))

    @property
    def withheld(self) -> bool:
        """Whether no place may say by how much the first leads, nor the ratios to it."""
        return bool(self.passed_over) or self.disturbed

    @property
    def lead(self) -> float | None:
        pair = self.lead_pair
        return pair.lead if pair and not self.withheld else None

    @property
    def few(self) -> tuple[Ranked, ...]:
        """Those of whom too little is known: they take no part in what is said of others above them."""
        return tuple(entry for entry in self.ranked if not entry.judged)

    def decision(self, higher: Ranked, lower: Ranked) -> Decision:
        rivals = [entry.summary for entry in self.ranked]
        return decisions.decide(higher.summary, lower.summary, rivals, self.scope.purpose)


@dataclass(kw_only=True)
class _Question:
    scope: RankingScope
    cases: dict[str, Case] = field(default_factory=dict)
    valid: list[Summary] = field(default_factory=list)


def answers(summaries: Iterable[Row], planned: Iterable[Case] = (), skips: Iterable[Skip] = ()) -> tuple[Answer, ...]:
    """The answer to each question that was asked: settings in the order of *planned*, of each small scales first."""
    rows, skipped = list(summaries), {skip.case.id: skip for skip in skips}
    cases = (*planned, *(skip.case for skip in skipped.values()), *(row.case for row in rows))
    of_model = decisions.ranking_scopes(cases)
    asked: dict[Place, _Question] = {}
    for case in cases:
        scope = of_model[case.model]
        asked.setdefault(_question(case, scope), _Question(scope=scope)).cases[case.id] = case
    for row in rows:
        if isinstance(row, Summary):
            asked[_question(row.case, of_model[row.case.model])].valid.append(row)
    absent = _Absences(rows, skipped, asked)
    order = {setting: place for place, setting in enumerate(dict.fromkeys(setting for setting, _, _ in asked))}
    ordered = sorted(asked, key=lambda key: (order[key[0]], key[1] * key[2], key[1]))
    known = [_answer(key, asked[key], absent) for key in ordered]
    places = [(work_of(answer.setting), answer.nodes, answer.devices_per_node) for answer in known]
    alike = by_key(zip(places, known, strict=True))
    return tuple(
        replace(answer, passed_over=_passed_over(answer, alike[place])) if answer.second else answer
        for place, answer in zip(places, known, strict=True)
    )


def _work(setting: Conditions) -> Conditions:
    options = tuple(pair for pair in setting.options if pair[0] in (*decisions.WORK, *decisions.SIZES))
    return replace(setting, options=options, xla=False)


def _passed_over(answer: Answer, alike: Iterable[Answer]) -> tuple[Apart, ...]:
    ranked, first = [answer.candidate(entry.summary) for entry in answer.ranked], answer.ranked[0].summary
    others: list[Ranked | Apart] = list(answer.apart)
    for other in alike:
        others += (*other.ranked, *other.apart) if other.setting != answer.setting else ()
    best: dict[Candidate, Apart] = {}
    batch = first.case.series_batch  # with which it stands in the same table
    for row in sorted(others, key=lambda row: (row.summary.case.series_batch != batch, -decisions.speed(row.summary))):
        near = answer.second and decisions.speed(row.summary) >= decisions.speed(answer.second.summary)
        if near and row.summary.unit == first.unit and answer.candidate(row.summary) not in ranked:
            best.setdefault(answer.candidate(row.summary), _apart(row.summary, first, answer.scope))
    return tuple(best.values())


def unlike_settings(conditions: Conditions, other: Conditions) -> tuple[Obstacle, ...]:
    ours, theirs = (
        {
            "batch_per_device": str(setting.batch_per_device or setting.strong_batch),
            **{f"options.{name}": value for name, value in setting.options},
            "protocol": str(setting.protocol),
            "xla": "on" if setting.xla else "off",
        }
        for setting in (conditions, other)
    )
    unlike = [name for name in sorted(ours | theirs) if ours.get(name) != theirs.get(name)]
    return tuple(Obstacle(key=name, ours=ours.get(name), theirs=theirs.get(name)) for name in unlike)


def headline(of_one_model: Iterable[Answer], preferred: Conditions | None = None) -> Answer | None:
    """The answer that says most of a model: of the scales that most frameworks share, the largest; among equals that of
    the *preferred* setting, or of the one with the most scales."""
    settled = [answer for answer in of_one_model if answer.ranked]
    scales = Counter(answer.setting for answer in settled)
    first = max(settled, key=lambda of: (*_telling(of), of.setting == preferred, scales[of.setting]), default=None)
    if first is None or first.setting == preferred:
        return first

    def but_options(answer: Answer) -> object:
        return _telling(answer), answer.setting.xla, answer.nodes, _work(answer.setting)

    alike = [answer for answer in settled if but_options(answer) == but_options(first)]
    return max(alike, key=lambda answer: decisions.speed(answer.ranked[0].summary))


def _telling(answer: Answer) -> tuple[int, int, int]:
    first, *second = (answer.candidate(entry.summary) for entry in answer.ranked)
    others = {answer.candidate(each.summary) for each in answer.apart} - {first} if not second else ()
    return (len(answer.ranked), len(others), answer.devices)


def setting_of(case: Case, scope: RankingScope) -> Conditions:
    loaders = (*facts.rules().sets["loaders"], facts.rules().words["read_by_loaders"])
    return Conditions(
        model=case.model,
        device=case.device,
        precision=case.precision,
        xla=case.xla,
        batch_per_device=case.batch_per_device if case.strong_batch is None else None,
        options=tuple(  # no loader, of which the facts say what it reads, nor a framework's own version or a run's name
            (name, value)
            for name, value in case.options
            if name not in (*scope.names, *facts.LABELS) and not (name == "data" and value in loaders)
        ),
        protocol=case.protocol,
        strong_batch=case.strong_batch,
    )


def _question(case: Case, scope: RankingScope) -> Place:
    return setting_of(case, scope), case.nodes, case.devices_per_node


def _answer(key: Place, asked: _Question, absent: "_Absences") -> Answer:
    setting, nodes, per_node = key
    scope = asked.scope

    def weight(part: Sequence[Summary]) -> tuple[bool, int, float]:
        timed = part[0].grounds != "printed"
        return timed, len({scope.candidate(member.case) for member in part}), max(map(decisions.speed, part))

    sound = [row for row in asked.valid if row.grounds != "disputed"]  # what is disputed has no rank, not even alone
    part = max(fairness.groups(sound, scope.purpose), key=weight, default=[])
    result = decisions.rank(part, scope)
    rivals = [entry.summary for entry in result.ranked]
    others = [row for row in asked.valid if all(row is not rival for rival in rivals)]
    return Answer(
        setting=setting,
        nodes=nodes,
        devices_per_node=per_node,
        scope=scope,
        apart=tuple(_apart(row, rivals[0] if rivals else None, scope) for row in others),
        missing=tuple(absent.of(key, asked)),
        **vars(result),
    )


def _apart(summary: Summary, first: Summary | None, scope: RankingScope) -> Apart:
    alone = (Obstacle(key=fairness.CLOCKS, ours=fairness.conditions(summary).get(fairness.CLOCKS), theirs=None),)
    reasons = (*left_over(summary), *(fairness.obstacles(summary, first, scope.purpose) if first else alone))
    return Apart(summary=summary, obstacles=reasons, flags=decisions.flags(summary))


def left_over(summary: Summary) -> tuple[Obstacle, ...]:
    failed = failed_runs(summary)
    return (Obstacle(key=FAILED_RUNS, ours=str(summary.n), theirs=str(summary.n + failed)),) if failed else ()


def work_of(setting: Conditions) -> Conditions:
    """What is trained: without batch, compiler, steps and the options that change only how."""
    return replace(_work(setting), batch_per_device=None, strong_batch=setting.strong_batch and 1, protocol=Protocol())


class _Absences:
    def __init__(self, summaries: Sequence[Row], skipped: Mapping[str, Skip], asked: Mapping[Place, _Question]) -> None:
        self.skipped = skipped
        self.unmeasured = {row.case.id: row for row in summaries if isinstance(row, Unmeasured)}
        self.candidates: dict[str, dict[Candidate, None]] = {}  # model → those that were ever asked about it
        self.others: dict[object, list[Case]] = {}
        for (setting, nodes, per_node), question in asked.items():
            known, candidate = self.candidates.setdefault(setting.model, {}), question.scope.candidate
            known.update(dict.fromkeys(map(candidate, question.cases.values())))
            for row in question.valid:
                place = (work_of(setting), candidate(row.case), nodes, per_node)
                self.others.setdefault(place, []).append(row.case)

    def of(self, key: Place, asked: _Question) -> Iterable[Missing]:
        setting, nodes, per_node = key
        there = {asked.scope.candidate(row.case) for row in asked.valid}
        for candidate in self.candidates[setting.model]:
            if candidate not in there:
                others = self.others.get((work_of(setting), candidate, nodes, per_node), [])
                unlike = {case.id: unlike_settings(setting_of(case, asked.scope), setting) for case in others}
                alike = sorted(others, key=lambda case: (len(unlike[case.id]), case.batch_per_device))
                yield self._missing(candidate, asked, tuple(alike))

    def _missing(self, candidate: Candidate, asked: _Question, others: tuple[Case, ...]) -> Missing:
        own = [case for case in asked.cases.values() if asked.scope.candidate(case) == candidate]
        if row := next((self.unmeasured[case.id] for case in own if case.id in self.unmeasured), None):
            reason = next((run.reason for run in row.measurements if run.reason), "")
            why: Absence = "no_valid_run" if row.measurements else "taken_away"
            return Missing(candidate=candidate, why=why, case=row.case, reason=reason)
        if skip := next((self.skipped[case.id] for case in own if case.id in self.skipped), None):
            return Missing(candidate=candidate, why=skip.kind, case=skip.case, reason=skip.reason)
        if own:
            return Missing(candidate=candidate, why="not_run", case=own[0])
        why = "elsewhere" if others else "not_planned"
        return Missing(candidate=candidate, why=why, others=others)
