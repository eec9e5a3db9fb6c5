"""Whether two summaries may be compared, and why not: only what a comparison is about (`Purpose.free`) may differ."""

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar, cast

from evalsuite.core import layout
from evalsuite.core.model import Fact, Machine, Summary
from evalsuite.results.measure import facts
from evalsuite.results.measure.facts import FactRule

Value = TypeVar("Value")
Common = tuple[tuple[str, str | None], ...]  # conditions and their values
CLOCKS = "clocks"
GROUNDS = "grounds"
RUNS = "runs"  # the obstacle that the same runs are part of both
FACT = "facts."
Stated = tuple[Fact, ...] | None  # of one fact: what the runs of a case state, several where they differ; None: unknown
Likeness = Literal["same", "different", "unknown"]
MUST_BE_EQUAL = ("workload", "environment", "compiler")  # kinds of facts


def cached(made: Callable[[Summary], Value]) -> Callable[[Summary], Value]:
    """*made*, whose value is kept with each summary: a cache by value would hash all its runs."""
    name = f"_{made.__module__}.{made.__qualname__}"

    @functools.wraps(made)
    def known(summary: Summary) -> Value:
        beside = vars(summary)
        if name not in beside:
            beside[name] = made(summary)
        return cast(Value, beside[name])

    return known


@dataclass(frozen=True, kw_only=True)
class Purpose:
    free: frozenset[str]
    recorded: frozenset[str] = frozenset()
    independent: bool = False  # no run may be part of both
    facts: Literal["free", "as_known", "of_scripts"] = "free"

    def asks_facts(self, a: Summary, b: Summary) -> bool:
        return self.facts == "as_known" or (self.facts == "of_scripts" and a.case.recipe != b.case.recipe)


# what is read, and not by what: the facts `data` and `data_source` say it; a version is a framework's own
FRAMEWORKS = Purpose(
    free=frozenset(
        {"framework", "recipe", "framework_version", "origin", "options.data"}
        | {f"options.{name}" for name in facts.LABELS}
    ),
    facts="as_known",
)
# how the work lies over the devices
_LAID = ("parallel_layout", "micro_batch", "batch_per_device", "accumulation", "recomputation")
LAYOUTS = Purpose(
    free=FRAMEWORKS.free
    | {"nodes", "devices_per_node", "batch_per_device", "options.accumulation", "options.recompute"}
    | {f"options.{name}" for name in layout.table()["parts"]}
    | {f"facts.{key}" for key in _LAID},
    facts="as_known",
)
SCALES = Purpose(free=frozenset({"nodes", "devices_per_node", "origin"}))
VERSIONS = Purpose(free=frozenset({"framework_version"}), recorded=frozenset({"environment"}), independent=True)
MACHINES = Purpose(free=frozenset({"framework_version", "environment"}), independent=True)


def setting(name: str) -> Purpose:
    """An option off and on: *name* is "xla", "precision", or "options.<its name>"."""
    return Purpose(free=frozenset({name}))


@dataclass(frozen=True, kw_only=True)
class Obstacle:
    """One reason why two summaries may not be compared: a condition that is not the same; None = not recorded."""

    key: str  # its name in `conditions`, or RUNS
    ours: str | None
    theirs: str | None


@dataclass(frozen=True, kw_only=True)
class FactRow:
    rule: FactRule
    values: tuple[Stated, ...]  # one for each case
    likeness: Likeness

    @property
    def apart(self) -> bool:
        told = {fact.value.lower() for stated in self.values for fact in stated or ()} - {*facts.NEUTRAL}
        alone = None in self.values and (self.rule.unknown == "unranked" or (self.rule.unknown == "alone" and told))
        mixed = self.rule.steady and any(len(stated or ()) > 1 for stated in self.values)
        return mixed or (self.rule.kind in MUST_BE_EQUAL and bool(self.likeness == "different" or alone))

    @property
    def texts(self) -> tuple[str | None, ...]:
        return tuple("; ".join(fact.value for fact in stated) if stated else None for stated in self.values)

    @property
    def untold(self) -> bool:
        must = self.rule.kind in MUST_BE_EQUAL and self.rule.unknown != "ranked"
        return must and self.likeness == "unknown" and not self.apart


@dataclass(frozen=True, kw_only=True)
class Comparison:
    members: tuple[Summary, ...]
    rows: tuple[FactRow, ...]
    ranked: tuple[tuple[Summary, ...], ...]  # parts of the members; across parts nothing is ranked

    @property
    def apart(self) -> tuple[FactRow, ...]:
        return tuple(row for row in self.rows if row.apart)

    @property
    def untold(self) -> tuple[FactRow, ...]:
        return tuple(row for row in self.rows if row.untold)

    @property
    def standing(self) -> Literal["ranked", "not_decided", "not_comparable"]:
        if len(self.ranked) > 1:
            return "not_comparable"
        return "not_decided" if self.untold else "ranked"


@cached
def conditions(summary: Summary) -> dict[str, str | None]:
    case, strong, batch = summary.case, summary.case.strong_batch, str(summary.case.batch_per_device)
    # What is printed only is compared with its like; where clocks contradict each other, with nothing.
    doubted = {CLOCKS: f"{next(iter(summary.doubts), 'in doubt')} in {case.id}"}
    clocks = {"printed": {GROUNDS: "printed only"}, "disputed": doubted}
    return {
        "framework": case.framework,
        "recipe": case.recipe,
        "model": case.model,
        "nodes": str(case.known_nodes or "?"),
        "devices_per_node": str(case.known_devices_per_node or "?"),
        **({"global_batch": str(strong), "scaling": "strong"} if strong else {"batch_per_device": batch}),
        "precision": case.precision,
        "xla": None if case.xla is None else "on" if case.xla else "off",
        "device": case.device,
        **({"cores_per_device": str(case.cores_per_device)} if case.cores_per_device else {}),
        "protocol": str(case.protocol),
        **{f"options.{name}": value for name, value in case.options},
        "unit": summary.unit,
        "framework_version": "; ".join(versions(summary)) or None,
        "environment": "; ".join(sorted({str(machine.hardware) for machine in machines(summary)})) or None,
        "origin": summary.origin,
        **clocks.get(summary.grounds, {}),
    }


def machines(summary: Summary) -> tuple[Machine, ...]:
    return tuple(sorted({run.environment for run in summary.measurements if run.counts and run.environment}, key=str))


def versions(summary: Summary) -> tuple[str, ...]:
    names = {run.framework_version for run in summary.measurements if run.counts}
    return tuple(sorted(version for version in names if version))


def group(summary: Summary, purpose: Purpose) -> Common:
    return tuple((key, value) for key, value in conditions(summary).items() if key not in purpose.free)


def groups(summaries: Iterable[Summary], purpose: Purpose) -> list[list[Summary]]:
    """Within a group all may be compared; one that leaves facts open goes into the first that it fits."""
    by_facts: dict[Common, list[list[Summary]]] = {}
    for summary in summaries:
        alike = by_facts.setdefault(group(summary, purpose), [])
        fitting = (members for members in alike if not any(_unlike(summary, other, purpose) for other in members))
        if (members := next(fitting, None)) is None:
            alike.append(members := [])
        members.append(summary)
    return [members for alike in by_facts.values() for members in alike]


def obstacles(a: Summary, b: Summary, purpose: Purpose) -> tuple[Obstacle, ...]:
    ours, theirs = conditions(a), conditions(b)
    differing = [
        Obstacle(key=key, ours=ours.get(key), theirs=theirs.get(key))
        for key in dict.fromkeys([*ours, *theirs])
        if key not in purpose.free
        and (ours.get(key) != theirs.get(key) or (key in purpose.recorded and ours.get(key) is None))
    ]
    named = {obstacle.key for obstacle in differing}
    for row in _unlike(a, b, purpose):
        if named.isdisjoint({*row.rule.conditions, f"options.{row.rule.key}"}):
            us, them = row.texts
            differing.append(Obstacle(key=f"{FACT}{row.rule.key}", ours=us, theirs=them))
    if purpose.independent and (shared := receipts(a) & receipts(b)):
        runs = ", ".join(sorted(name for name, _ in shared))
        differing.append(Obstacle(key=RUNS, ours=runs, theirs=runs))
    return tuple(differing)


def unlike_at_base(summary: Summary, base: Summary) -> list[FactRow]:
    """Facts that scale does not change, and that tell the two apart; or what slows both, and not alike."""
    rows = (row for row in _open(summary, base) if row.apart and row.rule.key not in (*_LAID, "communication"))
    both = facts_of(base).get("watched"), facts_of(summary).get("watched")
    slowed = (FactRow(rule=rule, values=both, likeness="same") for rule in facts.rules().fact if rule.key == "watched")
    alike = slowed if both[0] and both[0] == both[1] and summary is not base else ()
    return [*alike, *(row for row in rows if row.likeness == "different" or row.rule.unknown == "alone")]


def _unlike(a: Summary, b: Summary, purpose: Purpose) -> list[FactRow]:
    rows = _open(a, b) if purpose.asks_facts(a, b) else []
    if purpose.independent:  # of the same work, as far as both say
        stated = (facts.of_runs([run for run in row.measurements if run.counts], meant=True) for row in (a, b))
        likely = (row for row in _open(a, b, *stated) if row.rule.kind == "workload")
        rows = [row for row in likely if row.likeness == "different" or row.rule.unknown == "alone"]
    return [row for row in rows if row.apart and f"{FACT}{row.rule.key}" not in purpose.free]


def unknown_facts(a: Summary, b: Summary, purpose: Purpose = FRAMEWORKS) -> tuple[str, ...]:
    """The facts that are not stated for both; with any, the order of *a* and *b* is not decided."""
    rows = _open(a, b) if purpose.asks_facts(a, b) else []
    return tuple(row.rule.key for row in rows if row.untold and f"{FACT}{row.rule.key}" not in purpose.free)


@cached
def facts_of(summary: Summary) -> Mapping[str, tuple[Fact, ...]]:
    return facts.of_runs(run for run in summary.measurements if run.counts)


def _open(a: Summary, b: Summary, *stated: Mapping[str, tuple[Fact, ...]]) -> list[FactRow]:
    ours, theirs = (each.get for each in stated or (facts_of(a), facts_of(b)))
    asked = (rule for rule in facts.rules().fact if rule.kind in MUST_BE_EQUAL or rule.steady)
    unlike = (rule for rule in asked if ours(rule.key) is None or ours(rule.key) != theirs(rule.key))
    return [row for row in (_row(rule, (a, b), (ours(rule.key), theirs(rule.key))) for rule in unlike) if row]


def _row(rule: FactRule, summaries: Sequence[Summary], values: Sequence[Stated]) -> FactRow | None:
    asked = any(values) or rule.unknown in ("unranked", "preliminary")
    if not asked or not any(rule.concerns(row.case) for row in summaries):
        return None
    return FactRow(rule=rule, values=tuple(values), likeness=likeness(values))


def comparison(members: Sequence[Summary]) -> Comparison:
    stated = [facts_of(row) for row in members]
    rows = (_row(rule, members, [known.get(rule.key) for known in stated]) for rule in facts.rules().fact)
    ranked = tuple(map(tuple, groups(members, FRAMEWORKS)))
    return Comparison(members=tuple(members), rows=tuple(filter(None, rows)), ranked=ranked)


def likeness(values: Sequence[Stated]) -> Likeness:
    if values and values[0] and all(stated == values[0] for stated in values):
        return "same"  # as nearly all are
    words = [{fact.value for fact in stated} for stated in values if stated]
    if any(_clash(word, other) for place, word in enumerate(words) for other in words[:place]):
        return "different"
    return "unknown" if len(words) < len(values) or any(word != words[0] for word in words) else "same"


def _clash(ours: set[str], theirs: set[str]) -> bool:
    if ours == theirs:
        return False
    both, open_words = ((ours, theirs), (theirs, ours)), facts.rules().meanings.items()
    return not any({word} == mine and other <= {*exact} for word, exact in open_words for mine, other in both)


def receipts(summary: Summary) -> set[tuple[str, float | None]]:
    counted = [run for run in summary.measurements if run.counts]
    return {(run.log_sha256 or run.started_at or f"r{run.run.repeat}", run.value) for run in counted}
