"""The tidy tables, of raw values: a row a run, a summary, a reading, …"""

import csv
import functools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import Any

from evalsuite.core import paths
from evalsuite.core.decode import number
from evalsuite.core.files import is_file, write_atomically
from evalsuite.report.book import columns
from evalsuite.report.book.book import Book
from evalsuite.report.book.changes import changes
from evalsuite.report.data.values import value_at
from evalsuite.report.sections.author import author
from evalsuite.report.text import names
from evalsuite.results.measure import latency as latency_room

Row = dict[str, Any]
ROWS_AT_ONCE = 1000
HELD, PERCENTILES = ("summaries", "runs", "scores", "phases", "utilisation"), ("mean", "p5", "p95")
NO_COLUMN = {*("series", "grounds", "inputs", "records", "hosts", "findings", "compute", "utilisation")}
NO_COLUMN |= {"to_target", "time_to_solution"}  # of the values of a case
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")  # of formulas


def rows(book: Book, wanted: Iterable[str] | None = None) -> Mapping[str, list[Row]]:
    """Every table or those *wanted*, as rows of plain values; None: not measured."""
    return {name: list(_rows(book, name)) for name in (TABLES if wanted is None else wanted)}


def _rows(book: Book, name: str) -> Iterator[Row]:
    for thing in THINGS[name](book):
        asked: dict[Any, Any] = {}
        row = {key: value_at(book, thing, path, asked) for key, path in TABLES[name].items()}
        yield row | dict(getattr(thing, "own", ()))


def write(book: Book, folder: Path, name: str) -> None:
    write_atomically(folder / f"{name}.csv", _csv(book, name))


def csv_files(book: Book, wanted: Iterable[str] | None = None) -> Mapping[str, bytes]:
    return {name: b"".join(_csv(book, name)) for name in wanted or COLUMNS}


def _csv(book: Book, name: str) -> Iterator[bytes]:
    """In parts, as UTF-8 with a byte order mark: spreadsheets need it for Chinese."""
    columns, table = with_options(COLUMNS[name], _rows(book, name))
    left = iter(table)
    some = iter(lambda: [[row[column] for column in columns] for row in islice(left, ROWS_AT_ONCE)], [])
    parts = map(_lines_of_steps, _timed(book)) if name == "steps" else map(_lines, some)
    yield _lines([columns]).encode("utf-8-sig", "backslashreplace")
    yield from (part.encode("utf-8", "backslashreplace") for part in parts)


def _lines(rows: Iterable[Sequence[Any]]) -> str:
    into = StringIO()
    csv.writer(into, lineterminator="\r\n").writerows([*map(harmless, row)] for row in rows)
    return into.getvalue()


def with_options(columns: Sequence[str], rows: Iterable[Row]) -> tuple[Sequence[str], Iterable[Row]]:
    """With a column `option_NAME` for each option that one of the rows has, and `own_NAME` of a spec."""
    if "options" not in columns:
        return columns, rows
    rows, known = [*rows], {*columns}
    texts = ([pair for pair in (row["options"] or "").split(";") if pair] for row in rows)
    each = [{f"option_{name}": value for name, _, value in (pair.partition("=") for pair in text)} for text in texts]
    own = dict.fromkeys(name for row in rows for name in row if name not in known)
    names = [*own, *sorted({name for row in each for name in row})]
    empty = dict.fromkeys(names)
    return (*columns, *names), [{**empty, **row, **options} for row, options in zip(rows, each, strict=True)]


def harmless(value: Any) -> Any:
    """An apostrophe keeps a text from being a formula (owasp.org/www-community/attacks/CSV_Injection)."""
    return _harmless(value) if isinstance(value, str) else value


def untold(folder: Path, summary: Mapping[str, Any]) -> Iterator[str]:
    """Cases of which *summary* says what no table in *folder* has of them, or a mean beyond those of its runs."""
    cells, means = defaultdict[str, set[str]](set), defaultdict[tuple[str, ...], list[float]](list)
    files = {name: folder / f"{name}.csv" for name in (*HELD, "findings")}
    tables = {name: paths.read_rows(file) if is_file(file) else [] for name, file in files.items()}
    for row in (row for name in HELD for row in tables[name]):
        cells[row.get("case_id", "")].update(map(str, row.values()))
        for key in PERCENTILES if "resource" in row else ():
            means[row.get("case_id", ""), row["resource"], key].append(number(row.get(key) or "") or 0.0)
    for each in summary["summaries"] if cells else ():
        id, used = each["case"]["id"], each["utilisation"]
        within = ((means[id, of["resource"], key] or [0.0], of[key]) for of in used for key in PERCENTILES)
        if not (cells[id].issuperset(_plain(each)) and all(min(of) <= mean <= max(of) for of, mean in within)):
            yield id
    both = (summary["findings"], tables["findings"])
    found, told = (Counter(str(harmless(of["where"])) for of in each) for each in both)
    yield from ["findings"] * (bool(cells) and found != told)


def _plain(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        value = [each for name, each in value.items() if name not in NO_COLUMN]
    if isinstance(value, list):
        yield from (text for each in value for text in _plain(each))
    elif value is not None:
        yield str(harmless(value))


@functools.lru_cache(maxsize=4096)  # names of cases stand in every row
def _harmless(text: str) -> str:
    text = names.visible(text)
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text


def _phases(book: Book) -> Iterable[Row]:
    for run in book.measurements:
        if (step := run.breakdown) is not None:
            named = [("whole", step.seconds, None), *((of.name, of.seconds, of.parent) for of in step.phases)]
            left = latency_room.rest(step)
            for name, seconds, parent in named + ([("rest", left, None)] if left is not None else []):
                share = seconds / step.seconds
                phase = {"phase": name, "parent_phase": parent, "seconds": seconds, "share": share}
                yield {"run": run.run, "whole": step, **phase}


def _timed(book: Book) -> Iterator[Row]:
    for run in book.measurements:
        if run.throughput is not None and (latency := latency_room.of_run(run)) is not None:
            yield {"run": run.run, "steps": latency.steps_per_report, "seconds": run.throughput.step_time_s}


def _lines_of_steps(timed: Row) -> str:
    """Of one run; this is the largest table by far."""
    head = _lines([(timed["run"].id, timed["run"].case.id)]).rstrip("\r\n")
    steps, each = timed["steps"], enumerate(timed["seconds"], 1)
    return f"{head}," + f"\r\n{head},".join([f"{report},{steps},{seconds!r}" for report, seconds in each]) + "\r\n"


THINGS: Mapping[str, Callable[[Book], Iterable[Any]]] = {  # what the rows are about
    "runs": lambda book: book.measurements,
    "summaries": lambda book: book.summaries,
    "utilisation": lambda book: ({"run": run.run, "used": use} for run in book.measurements for use in run.utilisation),
    "phases": _phases,
    "steps": lambda book: (
        {**timed, "report": report, "step_time_s": seconds}
        for timed in _timed(book)
        for report, seconds in enumerate(timed["seconds"], 1)
    ),
    "scores": lambda book: ({"run": run.run, "score": score} for run in book.measurements for score in run.scores),
    "variants": lambda book: changes(book, book.planned),
    "findings": lambda book: book.findings,
    "skips": lambda book: book.skips,
    "author_findings": author.rows,
}


DECLARED = paths.read_data("schema/tables.toml")
GROUPS = {"case": DECLARED.pop("case"), "*": {column.name: f"@figure:{column.name}" for column in columns.OF_CASE}}
TABLES = {  # the path of each column
    name: {
        key: path if each not in GROUPS or path.startswith("@") else f"{way}.{path}"
        for each, way in declared.items()
        for key, path in GROUPS.get(each, {each: way}).items()
    }
    for name, declared in DECLARED.items()
}
COLUMNS: Mapping[str, Sequence[str]] = {name: tuple(columns) for name, columns in TABLES.items()}
CASE = tuple(GROUPS["case"])
