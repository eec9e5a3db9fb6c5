"""`summary.json`: verdicts and every summary (docs/contracts.md#summaryjson).

The published schema has the keys. A key is an attribute of what it describes, unless `_VALUES` has another way.
"""

import functools
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from typing import Any

from evalsuite import __version__
from evalsuite.model import Summary, Unmeasured
from evalsuite.report.book import columns
from evalsuite.report.book.book import Book
from evalsuite.report.book.tally import tally
from evalsuite.report.data import manifest, schema
from evalsuite.report.data.finished import SCHEMA_VERSION
from evalsuite.report.sections.author import author
from evalsuite.report.sections.fairness import fairness
from evalsuite.report.text import findings
from evalsuite.results.compare.answers import Answer
from evalsuite.results.compare.equivalence_results import case_pairs
from evalsuite.results.measure import convergence, latency, network
from evalsuite.results.measure.first_prints import first_prints
from evalsuite.results.rules import flops_and_energy
from evalsuite.results.rules.suspicions import AtChance, FarBelow, OneClock, OutsidePublished, SlowBase, Suspicion


def document(book: Book, build_hash: str) -> Mapping[str, Any]:
    """The whole file as plain values. Renaming or removing a field needs a new *schema_version*."""
    evaluation = book.evaluation
    whole = {
        **vars(evaluation),
        "schema_version": SCHEMA_VERSION,
        "evalsuite": __version__,
        "manifest": manifest.NAME,
        "input_sha256": build_hash,
        "summaries": book.summaries,
        "author_findings": author.rows(book),
        "problems": evaluation.kept_problems,
        "skips": book.skips,
        "findings": [findings.document(finding) for finding in book.findings],
        "breaks": book.breaks,
        "suspicions": [_suspicion(one) for one in book.suspicions],
        "answers": book.answers,
        "fairness": fairness.comparisons(book),
        "data_quality": tally(book),
        "environments": sorted(evaluation.environments),
        "machines": sorted({run.environment for run in book.measurements if run.environment}, key=str),
        "superseded_attempts": evaluation.superseded,
        "spent": book.spent,
        "next_repeats": book.next_repeats,
    }
    plain: Mapping[str, Any] = SchemaWriter(book).plain(schema.published(), whole, "summary.json")
    return plain


SIMPLE = (str, int, float, bool)


class SchemaWriter:
    """Makes plain values in the shape of the schema."""

    def __init__(self, book: Book) -> None:
        self.book = book

    def plain(self, shape: Mapping[str, Any], value: Any, kind: str) -> Any:
        """*kind*: name or place of the part of the schema."""
        if value is None or type(value) in SIMPLE:
            return value
        if "$ref" in shape:
            kind = shape["$ref"].rpartition("/")[2]
            return self.plain(schema.published()["$defs"][kind], value, kind)
        if "anyOf" in shape:
            return self.plain(shape["anyOf"][0], value, kind)
        if "properties" in shape:
            return {name: self._of(name, each, value, kind) for name, each in shape["properties"].items()}
        if "items" in shape:
            return [self.plain(shape["items"], each, kind) for each in value]
        if shape.get("type") == "object":
            inner = shape.get("additionalProperties", {})
            return {name: self.plain(inner, each, kind) for name, each in dict(value).items()}
        return value.isoformat() if isinstance(value, date) else value

    def _of(self, name: str, shape: Mapping[str, Any], value: Any, kind: str) -> Any:
        given = _VALUES.get(f"{kind}.{name}", name)
        found = given(self.book, value) if callable(given) else at(value, given)
        return self.plain(shape, found, f"{kind}.{name}")


@functools.cache
def _names(path: str) -> tuple[str, ...]:
    return tuple(path.split("."))


def at(value: Any, path: str) -> Any:
    """At *path* in *value*, "throughput.window.steps"; None where a part is None, or the case has no value.

    Raises AttributeError for a field of the schema that nothing gives.
    """
    for name in _names(path):
        if value is None or (isinstance(value, Unmeasured) and not hasattr(value, name)):
            return None
        value = value.get(name) if isinstance(value, dict) else getattr(value, name)
    return value


def if_measured(function: Callable[[Summary], Any]) -> Callable[[Book, Any], Any]:
    """None for a case without a valid run."""
    return lambda book, one: function(one) if isinstance(one, Summary) else None


def _peak_memory(one: Summary) -> Mapping[str, Any] | None:
    held = {f"{how}_bytes": columns.shown_values(one)[f"peak_memory_{how}_bytes"] for how in ("printed", "sampled")}
    return held if any(held.values()) else None


def _final_scores(book: Book, one: Any) -> list[Any]:
    run = convergence.run_of(one)
    last = {(score.split, score.metric): score for score in run.scores} if run else {}
    return [score for _, score in sorted(last.items())]


def _solution(book: Book, one: Any) -> convergence.Solution | None:
    run = convergence.run_of(one)
    found = convergence.target_of(one.case, run, book.evaluation.targets) if run else None
    return convergence.solution(run, found[0]) if run and found else None


def _all_reduce(book: Book, one: Any) -> Iterator[dict[str, Any]]:
    times, curve = network.times_s(one), network.bus_curve(one)
    counted = {each.bytes: len(each.seconds) for each in one.all_reduce}
    for size in sorted(times):
        yield {"bytes": size, "n": counted[size], "seconds": times[size], "bus_bytes_per_s": curve.get(size)}


def _unit(book: Book, answer: Answer) -> str | None:
    shown = [*(one.summary for one in answer.ranked), *(one.summary for one in answer.apart)]
    return shown[0].unit if shown else None


def _among(book: Book, answer: Answer) -> dict[str, Any]:
    scope = answer.scope
    return {"what": scope.among, "scripts": scope.scripts, "options": scope.options}


def _facts(book: Book, comparison: Any) -> list[dict[str, Any]]:
    ids = [summary.case.id for summary in comparison.members]
    return [
        {
            "fact": row.rule.key,
            "kind": row.rule.kind,
            "likeness": row.likeness,
            "keeps_apart": row.apart,
            "values": dict(zip(ids, (stated or None for stated in row.values), strict=True)),
        }
        for row in comparison.rows
    ]


def _suspicion(one: Suspicion) -> dict[str, Any]:
    """*value* is odd; *low* and *high* would not be."""
    cases = one.cases if isinstance(one, OneClock) else (one.one.case,)
    settings = getattr(one, "settings", ())
    value: float | None = None
    low: float | None = None
    high: float | None = None
    match one:
        case FarBelow():
            rule, value, low = "far_below", one.one.items_per_s.value, one.median
        case OutsidePublished():
            rule, value, low, high = "outside_published", one.one.items_per_s.value, one.range.low, one.range.high
        case SlowBase():
            rule, value, low, cases = "slow_base", one.share, 1.0, (one.one.case, one.base.case)
        case AtChance():
            rule, value, low = "at_chance", one.score.value, 100 / one.classes
        case OneClock():
            rule = "one_clock"
    ids = [case.id for case in cases]
    return {"rule": rule, "cases": ids, "value": value, "low": low, "high": high, "settings": settings}


_VALUES: Mapping[str, str | Callable[[Book, Any], Any]] = {  # key → path of an attribute, or a function
    "against.case": "case.id",
    "case.warmup_steps": "protocol.warmup_steps",
    "case.measured_steps": "protocol.measured_steps",
    "run.id": "run.id",
    "run.repeat": "run.repeat",
    "run.environment": lambda book, one: one.environment and str(one.environment),
    "summary.id": "case.id",
    "summary.state": lambda book, one: book.state(one.case),
    "summary.unit": lambda book, one: one.unit or "",
    "summary.throughput": "items_per_s",
    "summary.throughput_per_device": "items_per_s_per_device",
    "summary.n": lambda book, one: getattr(one, "n", 0),
    "summary.latency": if_measured(latency.of_case),
    "summary.base": "base.id",
    "summary.base_devices": "base.total_devices",
    "summary.utilisation": lambda book, one: getattr(one, "utilisation", ()),
    "summary.compute": if_measured(flops_and_energy.compute),
    "summary.peak_memory": if_measured(_peak_memory),
    "summary.energy": if_measured(flops_and_energy.energy),
    "summary.figures": if_measured(columns.shown_values),
    "summary.final_scores": _final_scores,
    "summary.time_to_solution": _solution,
    "summary.partial": lambda book, one: getattr(one, "partial", False),
    "summary.findings": lambda book, one: sorted({finding.code for finding in book.findings_of(one)}),
    "summary.runs": "measurements",
    "latency.p50_s": lambda book, one: one.percentiles_s[0],
    "latency.p90_s": lambda book, one: one.percentiles_s[1],
    "latency.p99_s": lambda book, one: one.percentiles_s[2],
    "solution.scaled_by": "factor",
    "verdict.case": "case.id",
    "verdict.aggregation": lambda book, one: "largest_scale" if one.largest_only else "every_scale",
    "verdict_cell.case": "case.id",
    "author_finding.cases": lambda book, row: [name for name in row["cases"].split(";") if name],
    "data_quality.cases_without_result": "cases_without",
    "next_repeats.cases": lambda book, one: [case.id for case in one.cases],
    "network.total_devices": "devices",
    "network.all_reduce": _all_reduce,
    "network.storage_bytes_per_s": lambda book, one: network.read_bytes_per_s(one),
    "breaks.found.series": "after.case.series",
    "breaks.found.before": "before.case.id",
    "breaks.found.after": "after.case.id",
    "breaks.found.before_devices": "before.case.total_devices",
    "breaks.found.after_devices": "after.case.total_devices",
    "breaks.found.efficiency_of_doubling": "step",
    "comparison.cases": lambda book, one: [summary.case.id for summary in one.members],
    "comparison.ranked_together": lambda book, one: [[each.case.id for each in part] for part in one.ranked],
    "comparison.facts": _facts,
    "comparison.first_prints": lambda book, comparison: [
        {"case": each.summary.case.id, "run": each.run.run.id, "parameters": each.parameters, "losses": each.losses}
        for each in first_prints(comparison.members, book.evaluation.commands)
    ],
    "comparison.computation": lambda book, one: case_pairs(
        one.members, book.evaluation.commands, book.evaluation.receipts
    ),
    "computation.cases": lambda book, pair: [pair.first.case.id, pair.second.case.id],
    "computation.causes": lambda book, pair: [each.cause for each in getattr(pair.measured, "differences", ())],
    **{f"computation.{name}": f"measured.{name}" for name in ("losses", "gradient_norm", "float32")},
    "computation.receipt": "day",
    "computation.receipt_by_lab": lambda book, pair: pair.by_lab if pair.day else None,
    **{
        f"answer.{name}": f"setting.{name}"
        for name in ("model", "device", "precision", "xla", "strong_batch", "options")
    },
    "answer.batch_per_device": lambda book, one: (
        one.setting.batch_per_device or (one.setting.strong_batch or 0) // one.devices
    ),
    "answer.warmup_steps": "setting.protocol.warmup_steps",
    "answer.measured_steps": "setting.protocol.measured_steps",
    "answer.total_devices": "devices",
    "answer.among": _among,
    "answer.unit": _unit,
    "ranked.framework": "summary.case.framework",
    "ranked.case": "summary.case.id",
    "ranked.throughput": "summary.items_per_s.value",
    "ranked.n": "summary.n",
    "apart.framework": "summary.case.framework",
    "apart.case": "summary.case.id",
    "missing.recipe": "candidate.recipe",
    "missing.options": "candidate.options",
    "missing.case": "case.id",
    "missing.reason": lambda book, one: one.reason or None,
}
