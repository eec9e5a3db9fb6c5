"""The tidy tables, of raw values: a row a run, a summary, a reading, …"""

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

from evalsuite.files import write_atomically
from evalsuite.model import Case, Measurement, Summary, Unmeasured
from evalsuite.report.book import columns
from evalsuite.report.book.book import Book
from evalsuite.report.book.states import run_state
from evalsuite.report.data.summary_json import at, if_measured
from evalsuite.report.sections.author import author
from evalsuite.report.sections.variants import families
from evalsuite.report.text import findings, names
from evalsuite.results.measure import breakdown
from evalsuite.results.measure import latency as latency_room

Row = dict[str, Any]
Column = str | Callable[[Book, Any], Any]  # path of an attribute, or a function
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")  # of formulas


def rows(book: Book, wanted: Iterable[str] | None = None) -> Mapping[str, list[Row]]:
    """Every table or those *wanted*, as rows of plain values; None: not measured."""
    return {
        name: [_row(book, thing, TABLES[name]) for thing in THINGS[name](book)]
        for name in (TABLES if wanted is None else wanted)
    }


def _row(book: Book, thing: Any, columns: Mapping[str, Column]) -> Row:
    return {name: given(book, thing) if callable(given) else at(thing, given) for name, given in columns.items()}


def write(book: Book, folder: Path) -> list[Path]:
    """As CSV in UTF-8 with a byte order mark: spreadsheets need it for Chinese."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in csv_files(book).items():
        write_atomically(folder / f"{name}.csv", content)
    return files(folder)


def files(folder: Path) -> list[Path]:
    return [folder / f"{name}.csv" for name in COLUMNS]


def csv_files(book: Book) -> Mapping[str, bytes]:
    """As the bytes of CSV files (RFC 4180); empty cells were not measured."""
    return {name: _csv(*with_options(COLUMNS[name], found)) for name, found in rows(book).items()}


def with_options(columns: Sequence[str], found: Sequence[Row]) -> tuple[Sequence[str], Sequence[Row]]:
    """With a column `option_NAME` for each option that one of the rows has."""
    if "options" not in columns:
        return columns, found
    texts = ([pair for pair in (row["options"] or "").split(";") if pair] for row in found)
    each = [{f"option_{name}": value for name, _, value in (pair.partition("=") for pair in one)} for one in texts]
    names = dict.fromkeys(sorted({name for one in each for name in one}))
    return (*columns, *names), [{**row, **names, **options} for row, options in zip(found, each, strict=True)]


def _csv(columns: Sequence[str], found: Iterable[Row]) -> bytes:
    into = StringIO()
    writer = csv.writer(into, lineterminator="\r\n")
    writer.writerow(columns)
    writer.writerows([harmless(row[column]) for column in columns] for row in found)
    return into.getvalue().encode("utf-8-sig", "backslashreplace")


def harmless(value: Any) -> Any:
    """An apostrophe keeps a text from being a formula (owasp.org/www-community/attacks/CSV_Injection)."""
    if isinstance(value, str):
        value = names.visible(value)
        return f"'{value}" if value.startswith(FORMULA_STARTS) else value
    return value


def _options(book: Book, thing: Any) -> str:
    return ";".join(f"{name}={value}" for name, value in _case_of(thing).options)


def _case_of(thing: Any) -> Case:
    found: Case = thing.run.case if isinstance(thing, Measurement) else thing.case
    return found


def _case(way: str) -> dict[str, Column]:
    """*way*: path of the case."""
    names = (
        "framework",
        "recipe",
        "model",
        "precision",
        "xla",
        "device",
        "cores_per_device",
        "batch_per_device",
        "nodes",
    )
    scale = ("devices_per_node", "total_devices", "global_batch", "protocol.warmup_steps", "protocol.measured_steps")
    columns: dict[str, Column] = {name.rpartition(".")[2]: f"{way}.{name}" for name in (*names, *scale)}
    rest = {name: f"{way}.{name}" for name in ("batch_policy", "strong_batch")}
    return {"case_id": f"{way}.id", **columns, "options": _options, **rest}


def _interval(name: str, way: str) -> dict[str, Column]:
    return {name: f"{way}.value", **{f"{name}_{part}": f"{way}.{part}" for part in ("low", "high", "coverage")}}


def _of(way: str, *names: str) -> dict[str, Column]:
    return {name: f"{way}.{name}" if way else name for name in names}


def _latency(latency_of: Callable[[Any], latency_room.Latency | None]) -> dict[str, Column]:
    def part(name: str, place: int | None = None) -> Column:
        def value(book: Book, thing: Any) -> Any:
            found = getattr(latency_of(thing), name, None)
            return found if found is None or place is None else found[place]

        return value

    percentiles = enumerate(latency_room.PERCENTILES)
    return {
        **{f"latency_p{each}_s": part("percentiles_s", place) for place, each in percentiles},
        **{f"latency_{name}": part(name) for name in ("reports", "steps_per_report")},
    }


def _engine(book: Book, run: Measurement) -> str | None:
    command = book.evaluation.commands.get(run.run.id)
    return command.engine if command else None


def _findings(book: Book, one: Summary | Unmeasured) -> str:
    return ";".join(sorted({finding.code for finding in book.findings_of(one)}))


def _phases(book: Book) -> Iterable[Row]:
    for run in book.measurements:
        if (found := run.breakdown) is not None:
            named = [("whole", found.seconds, None), *((one.name, one.seconds, one.parent) for one in found.phases)]
            left = breakdown.rest(found)
            for name, seconds, parent in named + ([("rest", left, None)] if left is not None else []):
                share = seconds / found.seconds
                phase = {"phase": name, "parent_phase": parent, "seconds": seconds, "share": share}
                yield {"run": run.run, "whole": found, **phase}


def _steps(book: Book) -> Iterable[Row]:
    for run in book.measurements:
        if (found := latency_room.of_run(run)) is not None and run.throughput is not None:
            for number, step_s in enumerate(run.throughput.step_time_s, 1):
                yield {"run": run.run, "report": number, "steps": found.steps_per_report, "step_time_s": step_s}


THINGS: Mapping[str, Callable[[Book], Iterable[Any]]] = {  # what the rows are about
    "runs": lambda book: book.measurements,
    "summaries": lambda book: book.summaries,
    "utilisation": lambda book: ({"run": run.run, "used": one} for run in book.measurements for one in run.utilisation),
    "phases": _phases,
    "steps": _steps,
    "scores": lambda book: ({"run": run.run, "score": one} for run in book.measurements for one in run.scores),
    "variants": lambda book: (change for family in families.families(book) for change in family.changes),
    "findings": lambda book: book.findings,
    "skips": lambda book: book.skips,
    "author_findings": author.rows,
}
OF_RUN: Mapping[str, Column] = {"run_id": "run.id", "case_id": "run.case.id"}
TABLES: Mapping[str, Mapping[str, Column]] = {
    "runs": {
        "run_id": "run.id",
        **_case("run.case"),
        **_of("", "campaign", "round"),
        **{"repeat": "run.repeat", "status": "status", "counts": "counts", "fault": "fault"},
        **{"outcome": lambda book, run: run_state(run), "reason": "reason", "origin": "origin", "items_per_s": "value"},
        **_of("throughput", "unit", "method", "printed_items_per_s", "clock_items_per_s"),
        **_latency(latency_room.of_run),
        **_of("throughput.window", "first_step", "last_step"),
        "window_steps": "throughput.window.steps",
        "window_begin_s": "throughput.window.begin_s",
        "window_end_s": "throughput.window.end_s",
        **_of("", "started_at", "duration_s", "exit_code", "host"),
        "environment": lambda book, run: run.environment and str(run.environment),
        **_of("", "framework_version", "log"),
        "log_line_first": "throughput.line_first",
        "log_line_last": "throughput.line_last",
        "printers": "printers",
        "log_sha256": "log_sha256",
        "engine": _engine,
    },
    "summaries": {
        **_case("case"),
        "unit": lambda book, one: one.unit or "",
        "n": lambda book, one: getattr(one, "n", 0),
        **_interval("items_per_s", "items_per_s"),
        **_of("", "items_per_s_per_device", "cv"),
        **_latency(lambda one: latency_room.of_case(one) if isinstance(one, Summary) else None),
        "base_case_id": "base.id",
        "base_devices": "base.total_devices",
        **_interval("speedup", "speedup"),
        **_interval("efficiency", "efficiency"),
        **{column.name: if_measured(column.value) for column in columns.OF_CASE},
        "partial": lambda book, one: getattr(one, "partial", False),
        "origin": "origin",
        "state": lambda book, one: book.state(one.case),
        "findings": _findings,
    },
    "utilisation": {
        **OF_RUN,
        **_of("used", "resource", "device", "unit", "mean", "p5", "p95", "samples", "coverage", "capacity"),
    },
    "phases": {
        **OF_RUN,
        **_of("whole", "of"),
        **_of("", "phase", "parent_phase", "seconds", "share"),
        **_of("whole", "reports"),
    },
    "steps": {**OF_RUN, **_of("", "report", "steps", "step_time_s")},  # of the measured window
    "scores": {
        **OF_RUN,
        **_of("score", "epoch", "split", "metric", "value", "at_s"),
        "log_line": "score.line",
    },
    "variants": {  # ratio: of the second case to the first
        "option": "option",
        "before": lambda book, one: one.values[0],
        "after": lambda book, one: one.values[1],
        "case_id_before": "before.id",
        "case_id_after": "after.id",
        **_interval("ratio", "ratio"),
        "significant": "found.significant",
        "metric": "cost.metric",
        "final_before": "cost.before.value",
        "final_after": "cost.after.value",
    },
    "findings": {
        **_of("", "code", "severity", "where"),
        "also": lambda book, one: ";".join(one.also),
        "text": lambda book, one: findings.english(one),
    },
    "skips": {**_case("case"), "kind": "kind", "reason": "reason"},
    "author_findings": _of("", *author.ROW),
}
CASE = tuple(_case(""))
COLUMNS: Mapping[str, Sequence[str]] = {name: tuple(columns) for name, columns in TABLES.items()}
