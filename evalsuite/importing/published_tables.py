"""A table of published figures, CSV or the first sheet of a workbook, under our own names of columns."""

import codecs
import csv
import difflib
import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evalsuite.core import files, paths
from evalsuite.core.errors import EvalsuiteError, did_you_mean

if TYPE_CHECKING:
    import _csv

    from openpyxl.cell.cell import Cell, MergedCell
    from openpyxl.cell.read_only import EmptyCell, ReadOnlyCell

COLUMNS: Mapping[str, Sequence[str]] = paths.read_data("table_columns.toml")  # our name → what it may be called
SIZES = ("deep_vocabulary", "classes", "num_layers", "hidden_size")  # of a model: they make another case
MOST_BYTES, MOST_COLUMNS, MOST_ROWS, MOST_CELLS = 1 << 28, 1_000, 200_000, 5_000_000
ANY = "any"  # a column of no importance
_ABSENT = ("", "-", "n/a", "na", "none", "null")  # D28: not recorded


@dataclass(frozen=True, kw_only=True)
class CitedRow:
    number: int  # of its line, from 1
    raw: str  # header and line as printed
    cells: Mapping[str, str]  # by our names, without those that are not recorded
    beyond: int = 0  # cells without a column, as an unquoted decimal comma makes one


@dataclass(frozen=True, kw_only=True)
class CitedTable:
    file: Path
    rows: tuple[CitedRow, ...]
    columns: Mapping[str, str]
    unread: tuple[str, ...]  # each with what it could be


def read(file: Path, mapped: Sequence[tuple[str, str]] = ()) -> CitedTable:
    """*mapped*: (our name, the column). Raises EvalsuiteError with the columns if none of them holds figures."""
    text = _spreadsheet(file) if file.suffix.lower() == ".xlsx" else _plain(file)
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    reader = csv.reader(io.StringIO(text))
    try:
        header = [name.strip() for name in next(reader, [])]
        _check_count(file, len(header), MOST_COLUMNS, "columns")
        _check_count(file, len(lines), MOST_ROWS, "lines")
        if (mark := _parted_by(header)) is not None:
            raise EvalsuiteError.of("importing.table_separator", path=file, mark=mark)
        at = _places(file, header, mapped)
        rows = tuple(_rows(reader, lines, at, len(header)))
    except csv.Error as error:
        raise EvalsuiteError.of("importing.table_csv_line", path=file, line=reader.line_num, error=error) from error
    if not rows:
        raise EvalsuiteError.of("importing.table_empty", path=file)
    used = {place for places in at.values() for place in places}
    unread = tuple(_unread(name, at) for place, name in enumerate(header) if place not in used and name)
    columns = {name: " and ".join(header[place] for place in places) for name, places in at.items()}
    return CitedTable(file=file, rows=rows, columns=columns, unread=unread)


def is_one(first_line: str) -> bool:
    """Whether a CSV with this header is a table of figures; others (a TensorBoard series) are logs."""
    names = {name.strip().strip('"').lower() for name in re.split("[,;\t]", first_line)}
    return bool(names & {"throughput", "items_per_s", "latency_ms"}) or {"metric", "value"} <= names


def _parted_by(header: Sequence[str]) -> str | None:
    marks = {";": "semicolons", "\t": "tabs"}
    whole = ",".join(header)
    return next((name for mark, name in marks.items() if mark in whole and is_one(whole)), None)


def decoded(text: bytes) -> str:
    """The beginning of a file in UTF-8 or in UTF-16, which spreadsheet programs call Unicode text."""
    if text[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return text.decode("utf-16-le" if text[:2] == codecs.BOM_UTF16_LE else "utf-16-be", "replace").lstrip("\ufeff")
    return text.decode("utf-8-sig", "replace")


def _rows(
    reader: "_csv.Reader", lines: Sequence[str], at: Mapping[str, Sequence[int]], columns: int
) -> Iterator[CitedRow]:
    for cells in reader:
        if not any(cells):
            continue
        number = reader.line_num
        row = {
            name: "/".join(cells[place].strip() for place in places if place < len(cells))
            for name, places in at.items()
        }
        kept = {name: value for name, value in row.items() if name != ANY and value.lower() not in _ABSENT}
        beyond = sum(1 for cell in cells[columns:] if cell.strip())
        yield CitedRow(number=number, raw=f"{lines[0]}\n{lines[number - 1]}", cells=kept, beyond=beyond)


def _places(file: Path, header: Sequence[str], mapped: Sequence[tuple[str, str]]) -> dict[str, tuple[int, ...]]:
    lower = [name.lower() for name in header]
    twice = sorted({name for name in lower if name and lower.count(name) > 1})
    if twice:
        raise EvalsuiteError.of("importing.column_twice", file=file, name=twice[0])
    at = {name: place for place, name in enumerate(lower)}
    absent = [(name, column) for name, column in mapped if column.lower() not in at]
    if absent:
        name, column = absent[0]
        raise EvalsuiteError.of(
            "importing.map_column", path=file, name=name, column=column, names=header, near=did_you_mean(column, header)
        )
    columns: dict[str, tuple[int, ...]] = {}
    for name, column in mapped:
        columns[name] = (*columns.get(name, ()), at[column.lower()])
    taken = {place for places in columns.values() for place in places}
    for ours, names in COLUMNS.items():
        place = next((at[name] for name in names if name in at and at[name] not in taken), None)
        if ours not in columns and place is not None:
            columns[ours] = (place,)
    if columns.get("log_set") == (at.get("log_dir"),) and "log_stem" in at:
        columns["log_set"] = (at["log_dir"], at["log_stem"])
    if not columns.keys() & {"throughput", "latency"} and not {"metric", "value"} <= columns.keys():
        raise EvalsuiteError.of("importing.no_throughput_column", file=file, columns=", ".join(header) or "none")
    return columns


def _unread(column: str, at: Mapping[str, Sequence[int]]) -> str:
    free = {name: ours for ours, names in COLUMNS.items() if ours not in at for name in (ours, *names)}
    near = difflib.get_close_matches(column.lower(), free, n=1)
    return f"{column} (--map {free[near[0]] if near else column}={column})"


def _plain(file: Path) -> str:
    """CSV in UTF-8, in UTF-16 with its mark, or in GB 18030, as programs save it in China."""
    try:
        _check_size(file, file.stat().st_size)
        content = files.read_bytes(file, most=MOST_BYTES, follow=True)
        if content[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            return content.decode("utf-16")
        try:
            return content.decode("utf-8-sig")
        except UnicodeDecodeError:
            return content.decode("gb18030")
    except (OSError, ValueError) as error:
        raise EvalsuiteError.of("importing.table_encoding", path=file, error=error) from error


def _spreadsheet(file: Path) -> str:
    try:
        import openpyxl
    except ImportError as error:
        raise EvalsuiteError.of("importing.table_openpyxl", path=file) from error
    try:
        _check_size(file, sum(part.file_size for part in zipfile.ZipFile(file).infolist()))
        book = openpyxl.load_workbook(file, read_only=True, data_only=True, keep_links=False)
        rows = list(_cells(file, book.worksheets[0].iter_rows()))
    except EvalsuiteError:
        raise
    except Exception as error:  # the reader lets errors of zip and XML through
        said = str(error) or type(error).__name__
        raise EvalsuiteError.of("importing.table_workbook", path=file, error=said) from error
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(_filled_part(rows))
    return text.getvalue()


def _check_count(file: Path, n: int, most: int, what: str) -> None:
    if n > most:
        raise EvalsuiteError.of("importing.table_most", path=file, found=n, what=what, most=most)


def _check_size(file: Path, size_bytes: int) -> None:
    if size_bytes > MOST_BYTES:
        raise EvalsuiteError.of(
            "importing.table_bytes", path=file, found=size_bytes / 1000000.0, most=MOST_BYTES / 1000000.0
        )


def _cells(file: Path, rows: "Iterable[Sequence[Cell | ReadOnlyCell | EmptyCell | MergedCell]]") -> Iterator[list[str]]:
    """The texts of *rows*. Raises EvalsuiteError where they are too many: a cell far away makes millions of others."""
    cells = 0
    for number, row in enumerate(rows, 1):
        cells += len(row)
        if number > MOST_ROWS or cells > MOST_CELLS:
            raise EvalsuiteError.of("importing.table_cells", path=file, rows=MOST_ROWS, cells=MOST_CELLS)
        yield [_cell_text(cell) for cell in row]


def _filled_part(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    height = max((place for place, row in enumerate(rows, 1) if any(row)), default=0)
    width = max((place for row in rows for place, text in enumerate(row, 1) if text), default=0)
    return [[*row[:width], *[""] * (width - len(row))] for row in rows[:height]]


def _cell_text(cell: "Cell | ReadOnlyCell | EmptyCell | MergedCell") -> str:
    value = cell.value
    if value is None or getattr(cell, "data_type", None) == "e":
        return ""
    text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
    return " ".join(text.split())
