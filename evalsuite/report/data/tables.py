"""The tidy tables: one row a run, a summary, a reading, a phase, a score, a finding, …; raw values, never rounded."""

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

from evalsuite.files import write_atomically
from evalsuite.model import Case, Finding, Interval, Measurement, Summary, Unmeasured
from evalsuite.report.book import columns
from evalsuite.report.book.book import Book
from evalsuite.report.book.states import run_state
from evalsuite.report.sections.author import author
from evalsuite.report.sections.variants import families
from evalsuite.report.sections.variants.effects import Effect
from evalsuite.report.text import findings, names
from evalsuite.results.measure import breakdown
from evalsuite.results.measure import latency as latency_room
from evalsuite.results.measure.summary import counts

Row = dict[str, Any]
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet would compute such a cell


def rows(book: Book, wanted: Iterable[str] | None = None) -> Mapping[str, list[Row]]:
    """Every table by name, or those *wanted*, as rows of plain values; None = not measured."""
    made = {
        "runs": lambda: [_run(book, run) for run in book.measurements],
        "summaries": lambda: [_summary(book, one) for one in book.summaries],
        "utilisation": lambda: list(_utilisation(book)),
        "phases": lambda: list(_phases(book)),
        "scores": lambda: list(_scores(book)),
        "variants": lambda: [_change(change) for family in families.families(book) for change in family.changes],
        "findings": lambda: [_finding(finding) for finding in book.findings],
        "skips": lambda: [{**_case(skip.case), "kind": skip.kind, "reason": skip.reason} for skip in book.skips],
        "author_findings": lambda: author.rows(book),
    }
    return {name: made[name]() for name in (made if wanted is None else wanted)}


def write(book: Book, folder: Path) -> list[Path]:
    """Writes each table as CSV in UTF-8 with a byte order mark, which spreadsheets need to read Chinese."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in csv_files(book).items():
        write_atomically(folder / f"{name}.csv", content)
    return files(folder)


def files(folder: Path) -> list[Path]:
    """Where each table stands in *folder*."""
    return [folder / f"{name}.csv" for name in COLUMNS]


def csv_files(book: Book) -> Mapping[str, bytes]:
    """Every table by name, as the bytes of its CSV file (RFC 4180); nothing stands where nothing was measured."""
    return {name: _csv(COLUMNS[name], found) for name, found in rows(book).items()}


def _csv(columns: Sequence[str], found: Iterable[Row]) -> bytes:
    into = StringIO()
    writer = csv.writer(into, lineterminator="\r\n")
    writer.writerow(columns)
    writer.writerows([harmless(row[column]) for column in columns] for row in found)
    return into.getvalue().encode("utf-8-sig", "backslashreplace")


def harmless(value: Any) -> Any:
    """Text that a spreadsheet would take for a formula gets an apostrophe before it, and shows as text.

    OWASP, CSV Injection (owasp.org/www-community/attacks/CSV_Injection).
    """
    if isinstance(value, str):
        value = names.visible(value)
        return f"'{value}" if value.startswith(FORMULA_STARTS) else value
    return value


def _case(case: Case) -> Row:
    return {
        "case_id": case.id,
        "framework": case.framework,
        "recipe": case.recipe,
        "model": case.model,
        "precision": case.precision,
        "xla": case.xla,
        "device": case.device,
        "batch_per_device": case.batch_per_device,
        "nodes": case.nodes,
        "devices_per_node": case.devices_per_node,
        "total_devices": case.total_devices,
        "global_batch": case.global_batch,
        "warmup_steps": case.protocol.warmup_steps,
        "measured_steps": case.protocol.measured_steps,
        "options": ";".join(f"{name}={value}" for name, value in case.options),
        "batch_policy": case.batch_policy,
        "strong_batch": case.strong_batch,
    }


def _run(book: Book, run: Measurement) -> Row:
    found = run.throughput
    window = found.window if found else None
    command = book.evaluation.commands.get(run.run.id)
    return {
        "run_id": run.run.id,
        **_case(run.run.case),
        "repeat": run.run.repeat,
        "status": run.status,
        "counts": counts(run),
        "outcome": run_state(run),
        "reason": run.reason,
        "origin": run.origin,
        "items_per_s": run.value,
        "unit": found.unit if found else None,
        "method": found.method if found else None,
        "printed_items_per_s": found.printed_items_per_s if found else None,
        "clock_items_per_s": found.clock_items_per_s if found else None,
        **_latency(latency_room.of_run(run)),
        "first_step": window.first_step if window else None,
        "last_step": window.last_step if window else None,
        "window_steps": window.steps if window else None,
        "window_begin_s": window.begin_s if window else None,
        "window_end_s": window.end_s if window else None,
        "started_at": run.started_at,
        "duration_s": run.duration_s,
        "exit_code": run.exit_code,
        "host": run.host,
        "environment": run.environment,
        "framework_version": run.framework_version,
        "log": run.log,
        "log_line_first": found.line_first if found else None,
        "log_line_last": found.line_last if found else None,
        "log_sha256": run.log_sha256,
        "engine": command.engine if command else None,
    }


def _summary(book: Book, one: Summary | Unmeasured) -> Row:
    valid = one if isinstance(one, Summary) else None
    base = valid.base if valid else None
    return {
        **_case(one.case),
        "unit": one.unit or "",
        "n": valid.n if valid else 0,
        **_interval("items_per_s", valid.items_per_s if valid else None),
        "items_per_s_per_device": valid.items_per_s_per_device if valid else None,
        "cv": valid.cv if valid else None,
        **_latency(latency_room.of_case(valid) if valid else None),
        "base_case_id": base.id if base else None,
        "base_devices": base.total_devices if base else None,
        **_interval("speedup", valid.speedup if valid else None),
        **_interval("efficiency", valid.efficiency if valid else None),
        **{column.name: column.value(valid) if valid else None for column in columns.OF_CASE},
        "partial": valid.partial if valid else False,
        "origin": one.origin,
        "state": book.state(one.case),
        "findings": ";".join(sorted({finding.code for finding in book.findings_of(one)})),
    }


def _finding(one: Finding) -> Row:
    also = ";".join(one.also)
    return {"code": one.code, "severity": one.severity, "where": one.where, "also": also, "text": findings.english(one)}


def _interval(name: str, found: Interval | None) -> Row:
    parts = ("value", "low", "high", "coverage")
    return {(name if part == "value" else f"{name}_{part}"): getattr(found, part, None) for part in parts}


def _latency(found: latency_room.Latency | None) -> Row:
    """Percentiles of the step time, and how many reports of how many steps they are taken from."""
    values = found.percentiles_s if found else (None,) * len(latency_room.PERCENTILES)
    return {
        **dict(zip(LATENCY, values, strict=False)),
        "latency_reports": found.reports if found else None,
        "latency_steps_per_report": found.steps_per_report if found else None,
    }


def _utilisation(book: Book) -> Iterable[Row]:
    for run in book.measurements:
        for used in run.utilisation:
            yield {
                "run_id": run.run.id,
                "case_id": run.run.case.id,
                "resource": used.resource,
                "device": used.device,
                "unit": used.unit,
                "mean": used.mean,
                "p5": used.p5,
                "p95": used.p95,
                "samples": used.samples,
                "coverage": used.coverage,
                "capacity": used.capacity,
            }


def _phases(book: Book) -> Iterable[Row]:
    """The whole of each run first, as the phase "whole", then its parts; the rest is what they leave over."""
    for run in book.measurements:
        if (found := run.breakdown) is not None:
            named = [("whole", found.seconds, None), *((one.name, one.seconds, one.parent) for one in found.phases)]
            left = breakdown.rest(found)
            for name, seconds, parent in named + ([("rest", left, None)] if left is not None else []):
                yield {
                    "run_id": run.run.id,
                    "case_id": run.run.case.id,
                    "of": found.of,
                    "phase": name,
                    "parent_phase": parent,
                    "seconds": seconds,
                    "share": seconds / found.seconds,
                    "reports": found.reports,
                }


def _scores(book: Book) -> Iterable[Row]:
    for run in book.measurements:
        for one in run.scores:
            yield {
                "run_id": run.run.id,
                "case_id": run.run.case.id,
                "epoch": one.epoch,
                "split": one.split,
                "metric": one.metric,
                "value": one.value,
                "at_s": one.at_s,
                "log_line": one.line,
            }


def _change(one: Effect) -> Row:
    """Two cases that differ in one option; the ratio is that of the second to the first."""
    before, after = one.values
    return {
        "option": one.option,
        "before": before,
        "after": after,
        "case_id_before": one.before.id,
        "case_id_after": one.after.id,
        **_interval("ratio", one.ratio),
        "significant": one.found.significant if one.found else None,
        "metric": one.cost.metric if one.cost else None,
        "final_before": one.cost.before.value if one.cost else None,
        "final_after": one.cost.after.value if one.cost else None,
    }


CASE = tuple(_case(Case(framework="", recipe="", model="", batch_per_device=1)))
_RATIO: Callable[[str], tuple[str, ...]] = lambda name: (name, f"{name}_low", f"{name}_high", f"{name}_coverage")  # noqa: E731
LATENCY = (*(f"latency_p{each}_s" for each in latency_room.PERCENTILES), "latency_reports", "latency_steps_per_report")
COLUMNS: Mapping[str, Sequence[str]] = {
    "runs": (
        "run_id",
        *CASE,
        *("repeat", "status", "counts", "outcome", "reason", "origin", "items_per_s", "unit", "method"),
        *("printed_items_per_s", "clock_items_per_s", *LATENCY, "first_step", "last_step", "window_steps"),
        *("window_begin_s", "window_end_s", "started_at", "duration_s", "exit_code", "host", "environment"),
        *("framework_version", "log", "log_line_first", "log_line_last", "log_sha256", "engine"),
    ),
    "summaries": (
        *CASE,
        *(
            "unit",
            "n",
            *_RATIO("items_per_s"),
            "items_per_s_per_device",
            "cv",
            *LATENCY,
            "base_case_id",
            "base_devices",
        ),
        *(*_RATIO("speedup"), *_RATIO("efficiency")),
        *(column.name for column in columns.OF_CASE),
        *("partial", "origin", "state", "findings"),
    ),
    "utilisation": (
        *("run_id", "case_id", "resource", "device", "unit", "mean", "p5", "p95", "samples", "coverage", "capacity"),
    ),
    "phases": ("run_id", "case_id", "of", "phase", "parent_phase", "seconds", "share", "reports"),
    "scores": ("run_id", "case_id", "epoch", "split", "metric", "value", "at_s", "log_line"),
    "variants": (
        *("option", "before", "after", "case_id_before", "case_id_after", *_RATIO("ratio"), "significant"),
        *("metric", "final_before", "final_after"),
    ),
    "findings": ("code", "severity", "where", "also", "text"),
    "skips": (*CASE, "kind", "reason"),
    "author_findings": author.ROW,
}
