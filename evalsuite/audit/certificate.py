"""Whether a finished report keeps thresholds, by the worse ends of its intervals; which nodes fail or are missing."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, timedelta
from pathlib import Path
from typing import Annotated, Any, Literal

from evalsuite.core import decode, expressions
from evalsuite.core.decode import FILLED, NAMES_ONCE, Many, Word, between, instant
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.expressions import SIZES, WITH_INTERVAL, OwnCriterion
from evalsuite.core.messages import Message
from evalsuite.results.rules.own_figures import OUTCOMES

Outcome = Literal["PASS", "FAIL", "RECORD", "UNDETERMINED"]
EXAMPLE = "docs/evidence.md"
OF_RATE = frozenset({"items_per_s", "items_per_s_per_device"})
WITH_RATE = ("mfu", "tflops_per_device")  # in proportion to it
ENDS = ("value", "low", "high")
CERTIFIED: Mapping[str, Outcome] = {"pass": "PASS", "fail": "FAIL", "undetermined": "UNDETERMINED"}
Facts = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Threshold(OwnCriterion):
    devices: Many[Word] = ()  # parts of the names of devices
    unit: Word = ""
    record: bool = False


@dataclass(frozen=True, kw_only=True)
class Thresholds:
    criterion: Annotated[tuple[Threshold, ...], FILLED, NAMES_ONCE]
    valid_days: Annotated[int, between(1, 3650)] = 180  # from the last run on
    nodes: Many[Word] = ()  # all that must have been measured


@dataclass(frozen=True, kw_only=True)
class Check:
    name: str
    holds: str
    case: str = ""  # id; "": none is concerned
    outcome: Outcome = "UNDETERMINED"
    reason: str = "none"  # key of its words
    measured: Mapping[str, float | None] = field(default_factory=dict)  # the left side: value, low, high
    limit: float | None = None
    n: int = 0
    fields: tuple[str, ...] = ()  # of which no value comes


@dataclass(frozen=True, kw_only=True)
class Certificate:
    outcome: Outcome
    checks: tuple[Check, ...]
    failing: tuple[str, ...]  # nodes
    missing: tuple[str, ...]
    machines: tuple[str, ...]
    measured_at: str
    valid_until: str
    seal: str
    thresholds_sha256: str

    @property
    def document(self) -> dict[str, Any]:
        return {**vars(self), "checks": [vars(check) for check in self.checks]}

    @property
    def short_hash(self) -> str:
        return hashlib.sha256(json.dumps(self.document, sort_keys=True).encode()).hexdigest()[:12]


def read(path: Path) -> Thresholds:
    return decode.decode(Thresholds, decode.read_toml(path, EXAMPLE), str(path), "see_criteria", strict=True)


def certify(facts: Facts, asked: Thresholds, *, seal: str, sha256: str) -> Certificate:
    """Of the `summary.json` *facts*. Raises EvalsuiteError where a threshold is of another unit."""
    checks = tuple(check for each in asked.criterion for check in _checks(each, facts))
    runs = [run for row in facts["summaries"] for run in row["runs"]]
    missing = tuple(sorted(set(asked.nodes) - {host for run in runs for host in run.get("hosts", ())}))
    starts = [start for run in runs if (start := instant(run["started_at"]))]
    if not starts:
        raise EvalsuiteError.of("audit.no_day")
    last = max(starts, key=lambda start: start.replace(tzinfo=start.tzinfo or UTC)).date()
    checks += tuple(Check(name=node, holds="nodes", reason="missing") for node in missing)
    whole: Sequence[Outcome] = ("FAIL", "UNDETERMINED", "PASS", "RECORD")
    return Certificate(
        outcome=min((check.outcome for check in checks), key=whole.index),
        checks=checks,
        failing=tuple(sorted(_failing(facts, asked.criterion))),
        missing=missing,
        machines=tuple(sorted({run["environment"] for run in runs if run["environment"]})),
        measured_at=str(last),
        valid_until=str(last + timedelta(days=asked.valid_days)),
        seal=seal,
        thresholds_sha256=sha256,
    )


def _concerned(asked: Threshold, facts: Facts) -> Iterator[Facts]:
    named = OF_RATE & expressions.names(asked.holds)
    for summary in facts["summaries"]:
        case, on = summary["case"], {run["environment"] or "" for run in summary["runs"]}
        if not asked.is_about(case["framework"], case["model"], case["nodes"]):
            continue
        if asked.devices and not all(any(part in name for part in asked.devices) for name in on):
            continue
        if named and summary["unit"] and asked.unit != summary["unit"]:
            raise EvalsuiteError.of(
                "audit.other_unit", name=asked.name, got=asked.unit or Message("audit.no_unit"), unit=summary["unit"]
            )
        yield summary


def _checks(asked: Threshold, facts: Facts) -> list[Check]:
    plain, concerned = Check(name=asked.name, holds=asked.holds), _concerned(asked, facts)
    judged = [_judged(replace(plain, case=each["case"]["id"], n=each["n"]), each) for each in concerned] or [plain]
    return [replace(check, outcome="RECORD") for check in judged] if asked.record else judged


def _judged(check: Check, facts: Facts) -> Check:
    known = {end: fields(facts, end) for end in ENDS}
    sides = {end: expressions.values(check.holds, known[end]) for end in ENDS}
    if (middle := sides["value"]) is None:
        return replace(check, reason="unread", fields=expressions.lacking(check.holds, known["value"]))
    measured = {end: side[0] if side else None for end, side in sides.items()}
    check = replace(check, measured=measured, limit=middle[1])
    if any(run["counts"] and run["grounds"] != "clock" for run in facts["runs"]):
        return replace(check, reason="unconfirmed")
    if None in sides.values() or facts["partial"]:
        return replace(check, reason="few")
    outcome, reason = OUTCOMES[frozenset(expressions.holds(check.holds, known[end]) for end in ENDS)]
    return replace(check, outcome=CERTIFIED[outcome], reason=reason)


def fields(facts: Facts, end: str = "value") -> Mapping[str, float | None]:
    """What an expression may name, at one end of the interval; None: not measured."""
    case, rate, middle = facts["case"], _at(facts["throughput"], end), _at(facts["throughput"], "value")
    share = rate / middle if rate is not None and middle else None
    known = {**dict.fromkeys(expressions.KNOWN), **facts["figures"], **{name: case[name] for name in SIZES}}
    known |= {
        f"{each['resource']}_utilisation": each["mean"] / 100 for each in facts["utilisation"] if each["unit"] == "%"
    }
    known |= {name: known[name] * share if known[name] and share else None for name in WITH_RATE}
    known |= {name: _at(facts[name], end) for name in WITH_INTERVAL if name in facts}
    if facts["base"] == case["id"]:
        known |= dict.fromkeys(("speedup", "efficiency"), 1.0)
    per_device = rate / case["total_devices"] if rate is not None else None
    return {**known, "items_per_s": rate, "items_per_s_per_device": per_device, "n": facts["n"], "cv": facts["cv"]}


def _at(interval: Facts | None, end: str) -> float | None:
    if interval is None or (end != "value" and interval["coverage"] is None):
        return None
    return interval[end]  # type: ignore[no-any-return]


def _failing(facts: Facts, criteria: Iterable[Threshold]) -> set[str]:
    """Nodes all of whose own runs of a case on one node miss a threshold of its rate."""
    failing: set[str] = set()
    for asked in criteria:
        if asked.record or not OF_RATE & expressions.names(asked.holds):
            continue
        for summary in _concerned(asked, facts):
            held: dict[str, list[bool]] = {}
            for run in summary["runs"]:
                if run["counts"] and len(run.get("hosts", ())) == 1:
                    own = {**summary, "throughput": {**summary["throughput"], "value": run["value"]}}
                    if expressions.values(asked.holds, known := fields(own)) is not None:
                        held.setdefault(run["hosts"][0], []).append(expressions.holds(asked.holds, known))
            failing |= {host for host, each in held.items() if not any(each)}
    return failing
