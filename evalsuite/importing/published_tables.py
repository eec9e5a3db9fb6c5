"""A tidy table of published figures: CSV in UTF-8, our names of columns in its header, one figure a row."""

import csv
import difflib
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evalsuite.core import files, paths
from evalsuite.core.errors import EvalsuiteError
from evalsuite.importing.user_facts import FACTS

COLUMNS: Mapping[str, Sequence[str]] = {  # our name → what it may be called: that, or as `import --help` has it
    ours: tuple(dict.fromkeys((*names, ours)))
    for ours, names in paths.read_data("table_columns.toml").items()
    if isinstance(names, list)
}
SIZES = ("deep_vocabulary", "classes", "num_layers", "hidden_size")  # of a model: they make another case
MOST_BYTES = 1 << 28
_ABSENT = ("", "-", "n/a", "na", "none", "null")  # not recorded


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
    columns: Mapping[str, str]  # our name → its header
    unread: tuple[str, ...]  # each with what it could be


def is_one(file: Path) -> bool:
    """Whether a CSV has a throughput; others (a TensorBoard series) are logs."""
    with files.open_file(file, follow=True) as lines:
        head = lines.readline().decode("utf-8-sig", "replace")
    return bool({name.strip().strip('"').lower() for name in head.split(",")} & {*COLUMNS["throughput"]})


def read(file: Path) -> CitedTable:
    """Raises EvalsuiteError for what is no table of figures."""
    try:
        text = files.read_bytes(file, most=MOST_BYTES, follow=True).decode("utf-8-sig")
    except (OSError, ValueError) as error:
        raise EvalsuiteError.of("importing.table_encoding", path=file, error=error) from error
    reader = csv.reader(io.StringIO(text))
    try:
        header = [name.strip() for name in next(reader, [])]
        at = _places(file, header)
        rows = tuple(_rows(reader, [line.removesuffix("\r") for line in text.split("\n")], at, len(header)))
    except csv.Error as error:
        raise EvalsuiteError.of("importing.table_csv_line", path=file, line=reader.line_num, error=error) from error
    if not rows:
        raise EvalsuiteError.of("importing.table_empty", path=file)
    free = {name: ours for ours, names in COLUMNS.items() if ours not in at for name in names}
    left = [name for place, name in enumerate(header) if place not in at.values() and name]
    near = [(name, difflib.get_close_matches(name.lower(), free, n=1)) for name in left]
    unread = tuple(f"{name} ({free[like[0]]}?)" if like else name for name, like in near)
    return CitedTable(file=file, rows=rows, columns={name: header[place] for name, place in at.items()}, unread=unread)


def _rows(reader: Iterator[list[str]], lines: Sequence[str], at: Mapping[str, int], columns: int) -> Iterator[CitedRow]:
    for cells in reader:
        if not any(cells):
            continue
        number: int = reader.line_num  # type: ignore[attr-defined]
        row = {name: cells[place].strip() for name, place in at.items() if place < len(cells)}
        yield CitedRow(
            number=number,
            raw=f"{lines[0]}\n{lines[number - 1]}",
            cells={name: value for name, value in row.items() if value.lower() not in _ABSENT},
            beyond=sum(1 for cell in cells[columns:] if cell.strip()),
        )


def _places(file: Path, header: Sequence[str]) -> dict[str, int]:
    lower = [name.lower() for name in header]
    if twice := sorted({name for name in lower if name and lower.count(name) > 1}):
        raise EvalsuiteError.of("importing.column_twice", file=file, name=twice[0])
    places = {ours: next((lower.index(name) for name in names if name in lower), -1) for ours, names in COLUMNS.items()}
    at = {ours: place for ours, place in places.items() if place >= 0}
    if "throughput" not in at:
        raise EvalsuiteError.of("importing.no_throughput_column", file=file, columns=", ".join(header) or "none")
    facts = ((name, place) for place, name in enumerate(lower) if name in FACTS)
    return at | {name: place for name, place in facts if place not in at.values()}
