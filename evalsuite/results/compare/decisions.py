"""What is known of two results, and who is ahead of several: objects that every place prints and none computes again. A
ranking is of the frameworks of a model or, of one framework alone, of its variants: its scripts and the options that
change how the same work is done. One of whom too little is known takes nothing from the verdict of others above it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import combinations
from typing import Literal

from evalsuite.core import paths
from evalsuite.core.decode import whole
from evalsuite.core.findings import RoundsMissing
from evalsuite.core.model import Case, Summary, by_key
from evalsuite.results.compare import fairness, significance
from evalsuite.results.compare.fairness import Purpose
from evalsuite.results.compare.scaling import suspicious
from evalsuite.results.compare.significance import LEVEL, PairComparison, looks
from evalsuite.results.measure.summary import DECIDING_ORIGINS, FULL_REPEATS, failed_runs, short_window

WORK = ("image_size", "sequence_length", "network")
LAID = ("parallel_layout", "micro_batch", "accumulation", "recomputation")
SIZES = ("num_layers", "hidden_size", "deep_vocabulary", "classes")
Among = Literal["frameworks", "variants", "layouts"]


@dataclass(frozen=True, kw_only=True)
class Candidate:
    framework: str
    recipe: str | None = None  # None: its scripts are equivalent
    options: tuple[tuple[str, str | None], ...] = ()  # those that tell variants apart; None: not given


@dataclass(frozen=True, kw_only=True)
class RankingScope:
    among: Among = "frameworks"
    scripts: bool = False  # of variants: whether there are several scripts
    options: tuple[tuple[str, tuple[str | None, ...]], ...] = ()  # of variants: in what they differ, with all values

    def candidate(self, case: Case) -> Candidate:
        if self.among != "variants":
            return Candidate(framework=case.framework)
        options = tuple((name, case.option(name)) for name in self.names)
        return Candidate(framework=case.framework, recipe=case.recipe if self.scripts else None, options=options)

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.options)

    @cached_property
    def purpose(self) -> Purpose:
        if self.among != "variants":
            return fairness.LAYOUTS if self.among == "layouts" else fairness.FRAMEWORKS
        scripts = ("recipe", "framework_version") if self.scripts else ("recipe",)
        free = {*scripts, "origin", *(f"options.{name}" for name in self.names)}
        return Purpose(free=frozenset(free), facts="of_scripts")


FRAMEWORKS = RankingScope()
LAYOUTS = RankingScope(among="layouts")


def ranking_scopes(cases: Iterable[Case]) -> dict[str, RankingScope]:
    return {model: _scope_of(own) for model, own in by_key((case.model, case) for case in cases).items()}


def _scope_of(cases: list[Case]) -> RankingScope:
    if len({case.framework for case in cases}) > 1:
        return FRAMEWORKS
    values: dict[str, dict[str | None, None]] = {}
    for name in sorted({name for case in cases for name, _ in case.options}):
        if name not in (*WORK, *SIZES):
            values[name] = dict.fromkeys(case.option(name) for case in cases)
    differing = tuple(
        (name, tuple(sorted(given, key=lambda value: (value is not None, value or ""))))
        for name, given in values.items()
        if len(given) > 1
    )
    scripts = len({case.recipe for case in cases}) > 1
    return RankingScope(among="variants", scripts=scripts, options=differing) if scripts or differing else FRAMEWORKS


PUBLISHED = ("cited", "digitised")
Outcome = Literal[  # all that is said of two, in every form (docs/decisions.md, 24)
    "ahead",  # the first is
    "equal",  # within 1.5 %
    "not_decided",
    "not_comparable",  # they may not be ranked with each other
    "no_value",  # of all but one
]
Why = Literal[  # it is not decided
    "scatter",  # five runs and more do not tell
    "runs",  # they are fewer, shorter, failed or disturbed
    "campaign",  # the runs are not known to be of one
    "base",  # the higher value contradicts its own scaling
    "facts",  # some of the work or the place is not stated of both
    "source",  # they are other people's figures, which are not tested
    "clock",  # none of ours confirms them
]
Known = Literal["ahead", "equal"] | Why
CLEAR = ("ahead", "equal", "scatter", "base")  # what is known of the two will not change by what else is stated
Needed = Literal["repeats", "window", "facts", "base", "campaign"]


@dataclass(frozen=True, kw_only=True)
class Deciding:
    needed: Needed
    runs: int = 0
    facts: tuple[str, ...] = ()  # not stated for all: runs alone would decide nothing
    level: float = LEVEL  # at which these would be tested: that of a new plan is whole
    anew: int = 0  # runs of a new plan, where those are more repeats of this one


class Told:
    known: Known | None  # None: of fewer than two

    @property
    def outcome(self) -> Outcome | None:
        if self.known == "ahead" or self.known == "equal":
            return self.known
        return "not_decided" if self.known else None

    @property
    def why(self) -> Why | None:
        return None if self.known == "ahead" or self.known == "equal" else self.known


@dataclass(frozen=True, kw_only=True)
class Decision(Told):
    first: Summary  # of the higher median
    second: Summary
    known: Known
    compared: PairComparison
    unknown: tuple[str, ...] = ()  # facts that are not stated of both

    @property
    def lead(self) -> float:
        return speed(self.first) / speed(self.second) - 1


def flags(summary: Summary) -> tuple[str, ...]:
    findings = (*summary.findings, *(each for run in summary.measurements if run.counts for each in run.findings))
    return tuple(dict.fromkeys(each.code for each in findings if each.severity == "flag"))


def decide(a: Summary, b: Summary, among: Sequence[Summary] = (), purpose: Purpose = fairness.FRAMEWORKS) -> Decision:
    """Of two that may be ranked with each other, and with all *among* whom they are."""
    first, second = (a, b) if speed(a) >= speed(b) else (b, a)
    compared, unknown = significance.compare(second, first, among), fairness.unknown_facts(first, second, purpose)
    known = _known(first, second, compared, unknown)
    return Decision(first=first, second=second, known=known, compared=compared, unknown=unknown)


def _known(first: Summary, second: Summary, compared: PairComparison, unknown: Sequence[str]) -> Known:
    both, runs = (first, second), max(compared.rounds, min(first.n, second.n))
    if any(row.origin in PUBLISHED for row in both):
        return "source"
    if any(row.grounds == "printed" for row in both):
        return "clock"
    weak = [
        row.origin not in DECIDING_ORIGINS
        or failed_runs(row)
        or short_window(row)
        or (row.partial and row.n >= FULL_REPEATS)
        or (row.disturbed and not compared.rounds)
        for row in both
    ]
    if any(weak) or (runs < FULL_REPEATS and not compared.early):
        return "runs"
    if unknown:
        return "facts"
    if not compared.behind:
        return "equal" if compared.equal else "scatter"
    if compared.basis == "across":
        return "campaign"
    return "base" if suspicious(first) else "ahead"


def _deciding(known: Known, rows: Sequence[Summary], scope: RankingScope) -> Deciding | None:
    """What would decide an order of *rows*; None where nothing is known to, or one is ahead."""
    if known == "base" or known == "campaign":
        return Deciding(needed=known)
    pairs = combinations(rows, 2)
    facts = tuple(dict.fromkeys(fact for pair in pairs for fact in fairness.unknown_facts(*pair, scope.purpose)))
    if known == "facts":
        return Deciding(needed="facts", facts=facts)
    more, anew = sum(max(0, FULL_REPEATS - row.n) for row in rows), FULL_REPEATS * len(rows)
    if known == "runs" and any(map(short_window, rows)):
        return Deciding(needed="window", runs=anew, facts=facts)
    if known != "runs" or not more:
        return None
    asked = [each.planned for row in rows for each in row.findings if isinstance(each, RoundsMissing)]
    sealed = any(run.campaign and run.origin == "measured" for row in rows for run in row.measurements)
    added = sealed * max(0, FULL_REPEATS - max((*asked, *(len(row.measurements) for row in rows))))
    level = LEVEL / max(looks(row, added) for row in rows)
    return Deciding(needed="repeats", runs=more, facts=facts, level=level, anew=anew if added else 0)


def speed(summary: Summary) -> float:
    return summary.items_per_s.value


EQUAL_FRAMEWORKS = paths.DATA / "statistics" / "equal_frameworks.csv"
WEAKEST: Sequence[Known] = ("source", "clock", "runs", "facts")  # of one such pair the whole is no more
OF_A_LEAD: Sequence[Known] = ("campaign", "base", "ahead")  # the weakest first


@dataclass(frozen=True, kw_only=True)
class Ranked(Told):
    summary: Summary
    ratio: float
    leading: bool
    judged: bool = True  # False: too little is known of it, and nothing is said of it
    known: Known | None = None  # of the first and this; None of the first
    flags: tuple[str, ...] = ()  # codes of the rules that a reader of the value must know


@dataclass(frozen=True, kw_only=True)
class Ranking(Told):
    ranked: tuple[Ranked, ...] = ()  # each candidate by its best, the highest median first
    known: Known | None = None  # None: fewer than two
    false_exclusion: float | None = None  # of an order or a group
    deciding: Deciding | None = None


def rank(summaries: Sequence[Summary], scope: RankingScope = FRAMEWORKS) -> Ranking:
    """Among *summaries*, which are all comparable, each candidate by its best."""
    best: dict[Candidate, Summary] = {}
    sound = [row for row in summaries if not failed_runs(row)] or summaries  # none of whose runs failed of its own
    for row in sorted(sound, key=speed, reverse=True):
        best.setdefault(scope.candidate(row.case), row)
    rivals = list(best.values())
    every = [decide(rivals[0], rival, rivals, scope.purpose) for rival in rivals[1:]]
    clear = next((place for place, pair in enumerate(every) if pair.known in CLEAR), len(every))
    pairs = [pair for place, pair in enumerate(every) if place <= clear or pair.known in CLEAR]
    judged = [*rivals[:1], *(pair.second for pair in pairs)]
    leading = [*rivals[:1], *(pair.second for pair in pairs if not pair.compared.behind)]
    ranked = tuple(
        Ranked(
            summary=rival,
            ratio=speed(rival) / speed(rivals[0]),
            leading=any(rival is row for row in leading),
            judged=any(rival is row for row in judged),
            known=pair.known if pair else None,
            flags=flags(rival),
        )
        for rival, pair in zip(rivals, (None, *every), strict=False)
    )
    if not pairs:
        return Ranking(ranked=ranked)
    known = _known_of_all(pairs, scope, rivals)
    fewest = min(max(pair.compared.rounds, min(pair.first.n, pair.second.n)) for pair in pairs)
    simulated = known in ("ahead", "equal", "scatter") and all(pair.compared.basis != "across" for pair in pairs)
    excluded, deciding = false_exclusion(len(judged), fewest) if simulated else None, _deciding(known, judged, scope)
    return Ranking(ranked=ranked, known=known, false_exclusion=excluded, deciding=deciding)


def _known_of_all(pairs: Sequence[Decision], scope: RankingScope, rivals: Sequence[Summary]) -> Known:
    levels = [pair.known for pair in pairs]
    for weak in WEAKEST:
        if weak in levels:
            return weak
    level = [pair for pair in pairs if not pair.compared.behind]
    if not level:
        return next(kind for kind in OF_A_LEAD if kind in levels)
    others = [decide(a.second, b.second, rivals, scope.purpose) for a, b in combinations(level, 2)]
    return "equal" if all(pair.known == "equal" for pair in (*level, *others)) else "scatter"


@cache
def false_exclusion(frameworks: int, runs: int) -> float:
    """How often some one of *frameworks* equal ones leaves the winner's group, simulated: of the next larger number of
    them and the next smaller one of runs. Beyond the most frameworks the share grows with them."""
    rows = paths.read_rows(EQUAL_FRAMEWORKS)
    simulated = {(int(row["frameworks"]), int(row["n"])): float(row["left_out"]) for row in rows}
    most = max(size for size, _ in simulated)
    size = min((size for size, _ in simulated if size >= frameworks), default=most)
    known = [n for of, n in simulated if of == size]
    n = max((n for n in known if n <= runs), default=min(known))
    return min(1.0, simulated[size, n] * max(1.0, frameworks / size))


@dataclass(frozen=True, kw_only=True)
class LayoutSearch:
    """Each stack's best layout on as many devices at one global batch, of all that it tried: who tried more has more
    chances of a fast one, so that an order wants as many points of each."""

    model: str
    devices: int
    global_batch: int
    tried: Mapping[str, Sequence[Summary]]  # by framework, the fastest first
    ranking: Ranking | None  # None: not all tried as many
    apart: tuple[str, ...] = ()  # the frameworks whose work is another, on as many devices at that batch

    @property
    def points(self) -> tuple[Summary, ...]:
        return tuple(row for rows in self.tried.values() for row in rows)


def layout_of(row: Summary) -> dict[str, str]:
    """What is stated of how its work lies over the devices."""
    known = fairness.facts_of(row)
    return {key: "; ".join(fact.value for fact in known[key]) for key in LAID if known.get(key)}


def layout_searches(rows: Iterable[Summary]) -> tuple[LayoutSearch, ...]:
    """Where at least one stack tried several."""
    places: dict[tuple[str, int, int], list[Summary]] = {}
    for row in sorted(rows, key=speed)[::-1]:
        stated = fairness.facts_of(row).get("global_batch", ())
        batch = whole(stated[0].value) if len(stated) == 1 else None
        places.setdefault((row.case.model, row.case.total_devices, batch or row.case.global_batch), []).append(row)
    found = []
    for (model, devices, batch), alike in places.items():
        for part in fairness.groups(alike, LAYOUTS.purpose):
            tried = by_key((row.case.framework, row) for row in part)
            budgets = {len(points) for points in tried.values()}
            ranking = rank(part, LAYOUTS) if len(budgets) == 1 and len(tried) > 1 else None
            apart = tuple(dict.fromkeys(row.case.framework for row in alike if row.case.framework not in tried))
            search = LayoutSearch(model=model, devices=devices, global_batch=batch, tried=tried, ranking=ranking)
            found += [replace(search, apart=apart)] * (max(budgets) > 1)
    return tuple(found)
