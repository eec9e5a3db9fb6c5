"""The values of `summary.json` and of the tables: at a path in what they describe, or of a function here.
`data/schema/summary.toml` and `tables.toml` have the paths."""

import functools
from collections.abc import Callable, Mapping
from typing import Any

from evalsuite.core.model import Case, Measurement, Row, Summary, Target, Unmeasured
from evalsuite.report.book import columns
from evalsuite.report.book.book import Book
from evalsuite.report.book.states import run_state
from evalsuite.report.text import findings
from evalsuite.results.compare.decisions import layout_of
from evalsuite.results.compare.equivalence import case_pairs
from evalsuite.results.measure import convergence, latency
from evalsuite.results.rules import flops_and_energy


def value_at(book: Book, thing: Any, path: str, asked: dict[Any, Any] | None = None) -> Any:
    """*asked*: what functions gave for *thing*, so that each is called once for all columns of a row."""
    function, names = _parsed(path)
    if function is None:
        value = thing
    elif asked is not None and function in asked:
        value = asked[function]
    else:
        value = function(book, thing)
        if asked is not None:
            asked[function] = value
    return _at(value, names) if names else value


def _at(value: Any, names: tuple[str | int, ...]) -> Any:
    """Down *names* in *value*: throughput, window, steps; None where a part is None, or the case has no value.
    Raises AttributeError for a field of the schema that nothing gives."""
    for name in names:
        if value is None:
            return None
        kind = type(value)
        if kind is dict:
            value = value.get(name)
        elif isinstance(name, int):
            value = value[name]
        else:
            value = getattr(value, name, None) if kind is Unmeasured else getattr(value, name)
    return value


@functools.cache
def _parsed(path: str) -> tuple[Callable[[Book, Any], Any] | None, tuple[str | int, ...]]:
    first, *rest = path.split(".")
    function = FUNCTIONS[first[1:]] if first.startswith("@") else None
    names = rest if function else [first, *rest]
    return function, tuple(int(name) if name.isascii() and name.isdigit() else name for name in names)


def case_of(thing: Any) -> Case:
    case: Case = thing.run.case if isinstance(thing, Measurement) else thing.case
    return case


def _if_measured(function: Callable[[Summary], Any]) -> Callable[[Book, Any], Any]:
    return lambda book, summary: function(summary) if isinstance(summary, Summary) else None


def _codes(_: Book, summary: Row) -> list[str]:
    return sorted({finding.code for each in (summary, *summary.measurements) for finding in each.findings})


def _peak_memory(summary: Summary) -> Mapping[str, Any] | None:
    held = {f"{how}_bytes": columns.shown_values(summary)[f"peak_memory_{how}_bytes"] for how in ("printed", "sampled")}
    return held if any(held.values()) else None


def _final_scores(book: Book, thing: Any) -> list[Any]:
    run = convergence.run_of(thing)
    last = {(score.split, score.metric): score for score in run.scores} if run else {}
    return [score for _, score in sorted(last.items())]


def _solution(book: Book, thing: Any) -> convergence.Solution | None:
    run, target = _target(book, thing)
    return convergence.solution(run, target) if run and target else None


def _target(book: Book, thing: Any) -> tuple[Measurement | None, Target | None]:
    run = convergence.run_of(thing)
    reached = convergence.target_of(thing.case, run, book.evaluation.targets) if run else None
    return run, reached[0] if reached else None


def _to_target(book: Book, thing: Any) -> Mapping[str, Any] | None:
    _, target = _target(book, thing)
    own = convergence.arrivals(thing, target) if target else None
    if target is None or own is None or not own.trainings:
        return None
    shown = {name: getattr(own, name) for name in ("trainings", "epochs", "seconds", "epochs_each", "seconds_each")}
    return {**vars(target), **shown}


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


FUNCTIONS: Mapping[str, Callable[[Book, Any], Any]] = {
    "also": lambda book, thing: ";".join(thing.also),
    "among": lambda book, thing: {
        "what": thing.scope.among,
        "scripts": thing.scope.scripts,
        "options": thing.scope.options,
    },
    "batch_per_device": lambda book, thing: (
        thing.setting.batch_per_device or (thing.setting.strong_batch or 0) // thing.devices
    ),
    "cases_named": lambda book, row: [name for name in row["cases"].split(";") if name],
    "causes": lambda book, pair: [each.cause for each in getattr(pair.measured, "differences", ())],
    "codes": _codes,
    "computation": lambda book, thing: case_pairs(thing.members, book.evaluation.commands, book.evaluation.receipts),
    "compute": _if_measured(flops_and_energy.compute),
    "energy": _if_measured(flops_and_energy.energy),
    "engine": lambda book, run: getattr(book.evaluation.commands.get(run.run.id), "engine", None),
    "environment": lambda book, run: run.environment and str(run.environment),
    "facts": _facts,
    "figures": _if_measured(columns.shown_values),
    "final_scores": _final_scores,
    "findings": lambda book, thing: ";".join(_codes(book, thing)),
    "ids_of_cases": lambda book, thing: [case.id for case in thing.cases],
    "ids_of_others": lambda book, thing: [case.id for case in thing.others],
    "ids_of_members": lambda book, thing: [summary.case.id for summary in thing.members],
    "ids_of_pair": lambda book, pair: [pair.first.case.id, pair.second.case.id],
    "latency": lambda _, of: (
        latency.of_run(of) if isinstance(of, Measurement) else _if_measured(latency.of_case)(_, of)
    ),
    "layout": lambda book, row: layout_of(row),
    "n": lambda book, thing: getattr(thing, "n", 0),
    "options": lambda book, thing: ";".join(f"{name}={value}" for name, value in case_of(thing).options),
    "outcome": lambda book, run: run_state(run),
    "partial": lambda book, thing: getattr(thing, "partial", False),
    "peak_memory": _if_measured(_peak_memory),
    "ranked_together": lambda book, thing: [[each.case.id for each in part] for part in thing.ranked],
    "reason": lambda book, thing: thing.reason or None,
    "state": lambda book, thing: book.state(thing.case),
    "text": lambda book, thing: findings.english(thing),
    "time_to_solution": _solution,
    "to_target": _to_target,
    "unit": lambda book, thing: thing.unit or "",
    "unit_of_answer": lambda book, thing: next((each.summary.unit for each in (*thing.ranked, *thing.apart)), None),
    "utilisation": lambda book, thing: getattr(thing, "utilisation", ()),
    **{f"figure:{column.name}": _if_measured(column.value) for column in columns.OF_CASE},
}
