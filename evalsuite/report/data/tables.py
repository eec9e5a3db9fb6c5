"""The tidy tables, of raw values: a row a run, a summary, a reading, …"""

import csv
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

from evalsuite.core import paths
from evalsuite.core.files import write_atomically
from evalsuite.report.book import columns
from evalsuite.report.book.book import Book
from evalsuite.report.data.values import value_at
from evalsuite.report.sections.author import author
from evalsuite.report.sections.variants import variants
from evalsuite.report.text import names
from evalsuite.results.measure import breakdown
from evalsuite.results.measure import latency as latency_room

Row = dict[str, Any]
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")  # of formulas


def rows(book: Book, wanted: Iterable[str] | None = None) -> Mapping[str, list[Row]]:
    """Every table or those *wanted*, as rows of plain values; None: not measured."""
    return {
        name: list(_rows(book, THINGS[name](book), TABLES[name])) for name in (TABLES if wanted is None else wanted)
    }


def _rows(book: Book, things: Iterable[Any], columns: Mapping[str, str]) -> Iterator[Row]:
    """What is a run's in rows of its parts (a step, a phase) is looked up once a run."""
    run, of_run = None, {}
    for thing in things:
        if isinstance(thing, dict) and thing.get("run") is not run:
            run = thing["run"]
            of_run = {key: value_at(book, thing, path) for key, path in columns.items() if path.startswith("run.")}
        known, asked = of_run if isinstance(thing, dict) else {}, dict[Any, Any]()
        row = {key: known[key] if key in known else value_at(book, thing, path, asked) for key, path in columns.items()}
        yield row | dict(getattr(thing, "own", ()))


def write(book: Book, folder: Path) -> list[Path]:
    """As CSV in UTF-8 with a byte order mark: spreadsheets need it for Chinese."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in csv_files(book).items():
        write_atomically(folder / f"{name}.csv", content)
    return files(folder)


def files(folder: Path) -> list[Path]:
    return [folder / f"{name}.csv" for name in COLUMNS]


def csv_files(book: Book) -> Mapping[str, bytes]:
    return {name: _csv(*with_options(COLUMNS[name], table)) for name, table in rows(book).items()}


def with_options(columns: Sequence[str], rows: Sequence[Row]) -> tuple[Sequence[str], Sequence[Row]]:
    """With a column `option_NAME` for each option that one of the rows has, and `own_NAME` of a spec."""
    if "options" not in columns:
        return columns, rows
    texts = ([pair for pair in (row["options"] or "").split(";") if pair] for row in rows)
    each = [{f"option_{name}": value for name, _, value in (pair.partition("=") for pair in text)} for text in texts]
    own = dict.fromkeys(name for row in rows for name in row if name not in columns)
    names = [*own, *sorted({name for row in each for name in row})]
    empty = dict.fromkeys(names)
    return (*columns, *names), [{**empty, **row, **options} for row, options in zip(rows, each, strict=True)]


def _csv(columns: Sequence[str], rows: Iterable[Row]) -> bytes:
    into = StringIO()
    writer = csv.writer(into, lineterminator="\r\n")
    writer.writerow(columns)
    writer.writerows([harmless(row[column]) for column in columns] for row in rows)
    return into.getvalue().encode("utf-8-sig", "backslashreplace")


def harmless(value: Any) -> Any:
    """An apostrophe keeps a text from being a formula (owasp.org/www-community/attacks/CSV_Injection)."""
    return _harmless(value) if isinstance(value, str) else value


@functools.lru_cache(maxsize=4096)  # names of cases stand in every row
def _harmless(text: str) -> str:
    text = names.visible(text)
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text


def _phases(book: Book) -> Iterable[Row]:
    for run in book.measurements:
        if (step := run.breakdown) is not None:
            named = [
                ("whole", step.seconds, None),
                *((phase.name, phase.seconds, phase.parent) for phase in step.phases),
            ]
            left = breakdown.rest(step)
            for name, seconds, parent in named + ([("rest", left, None)] if left is not None else []):
                share = seconds / step.seconds
                phase = {"phase": name, "parent_phase": parent, "seconds": seconds, "share": share}
                yield {"run": run.run, "whole": step, **phase}


def _steps(book: Book) -> Iterable[Row]:
    for run in book.measurements:
        if (latency := latency_room.of_run(run)) is not None and run.throughput is not None:
            for number, step_s in enumerate(run.throughput.step_time_s, 1):
                yield {"run": run.run, "report": number, "steps": latency.steps_per_report, "step_time_s": step_s}


THINGS: Mapping[str, Callable[[Book], Iterable[Any]]] = {  # what the rows are about
    "runs": lambda book: book.measurements,
    "summaries": lambda book: book.summaries,
    "utilisation": lambda book: ({"run": run.run, "used": use} for run in book.measurements for use in run.utilisation),
    "phases": _phases,
    "steps": _steps,
    "scores": lambda book: ({"run": run.run, "score": score} for run in book.measurements for score in run.scores),
    "variants": lambda book: variants.changes(book, book.planned),
    "findings": lambda book: book.findings,
    "skips": lambda book: book.skips,
    "author_findings": author.rows,
}


FIGURES = {column.name: f"@figure:{column.name}" for column in columns.OF_CASE}
TABLES = {  # the path of each column
    name: {
        key: path for each, way in declared.items() for key, path in (FIGURES if each == "*" else {each: way}).items()
    }
    for name, declared in paths.read_data("schema/tables.toml").items()
}
COLUMNS: Mapping[str, Sequence[str]] = {name: tuple(columns) for name, columns in TABLES.items()}
CASE = COLUMNS["skips"][:-2]
