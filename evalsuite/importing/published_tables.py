"""A tidy table of figures, one a row, below a head of our names of columns or a tracker's: CSV, TSV, XLSX, Parquet."""

import csv
import io
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evalsuite.core import decode, files, paths
from evalsuite.core.errors import EvalsuiteError, NothingMeasured
from evalsuite.core.messages import Message, message_of
from evalsuite.importing.histories import MOST_NAMED, choose, is_log
from evalsuite.importing.user_facts import FACTS
from evalsuite.logs.text.logfile import kind

COLUMNS: Mapping[str, Sequence[str]] = {  # our name → what it may be called: that, or as `import --help` has it
    ours: tuple(dict.fromkeys((*names, ours)))
    for ours, names in paths.read_data("table_columns.toml").items()
    if isinstance(names, list)
}
SIZES = ("deep_vocabulary", "classes", "num_layers", "hidden_size")  # of a model: they make another case
MOST_BYTES = 1 << 28
FORMS = (".csv", ".tsv", ".xlsx", ".parquet")
_ABSENT = ("", "-", "n/a", "na", "none", "null")  # not recorded
_OF_TRACKER = re.compile(r"^(?:params|metrics|config|summary|tags\.mlflow)[./]")  # before the name of a column


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
    unread: tuple[str, ...]


def is_one(file: Path) -> bool:
    """Whether it is no log: a workbook, or text with several columns that no script prints."""
    form = file.suffix.lower()
    try:
        with files.open_file(file, follow=True) as opened:
            head = opened.read(1 << 12)
    except OSError:
        return False  # whoever reads it says why
    if form not in FORMS[:2]:
        return form in FORMS and (kind(head) == "zip" or head.startswith(b"PAR1"))
    return not kind(head) and bool(re.search(rb"[,;\t]", head)) and not is_log(file)


def read(file: Path, tag: str | None = None) -> CitedTable:
    """*tag*: the column of the figures, as the user says. Raises EvalsuiteError for what is no table of figures."""
    try:
        lines = re.split(r"\r\n|\r|\n", _text(file))
    except ImportError as error:
        raise NothingMeasured.of("importing.table_library", path=file, error=error) from error
    except (OSError, ValueError) as error:
        raise EvalsuiteError.of("importing.table_encoding", path=file, error=message_of(error)) from error
    separator = max(",;\t", key="\n".join(lines[:9]).count)
    first = next((place for place, line in enumerate(lines) if sum(map(bool, line.split(separator))) > 1), 0)
    reader = csv.reader(io.StringIO("\n".join(lines[first:])), delimiter=separator)  # without a title above its head
    try:
        header = [name.strip() for name in next(reader, [])]
        cells = [(first + reader.line_num, row) for row in reader if any(row)]
        for number in (number for number, name in enumerate(header) if number and not name):
            if any(row[number : number + 1] not in ([], [""]) for _, row in cells):
                raise ValueError(Message("importing.column_nameless", number=number + 1))
        at, unit = _places(file, header, tag)
        rates = {name: place for place, name in enumerate(header) if name.lower() in COLUMNS["throughput"] and not tag}
        for line, row in cells:
            if len({decode.number(row[place].strip()) for place in rates.values() if place < len(row)} - {None}) > 1:
                raise EvalsuiteError.of("importing.column_twice", file=f"{file}:{line}", name=" = ".join(rates))
    except csv.Error as error:
        line = first + reader.line_num
        raise EvalsuiteError.of("importing.table_encoding", path=f"{file}:{line}", error=error) from error
    except ValueError as error:
        raise EvalsuiteError.of("importing.stated", who=file, error=message_of(error)) from error
    if not cells:
        raise EvalsuiteError.of("importing.table_empty", path=file)
    unread = tuple(name for place, name in enumerate(header) if place not in at.values() and name)
    rows = []
    for number, row in cells:
        texts = {name: row[place].strip() for name, place in at.items() if place < len(row)}
        known = {name: text for name, text in texts.items() if text.lower() not in _ABSENT}
        beyond = sum(1 for cell in row[len(header) :] if cell.strip())
        known = {"unit": unit, **known} if unit else known
        rows.append(CitedRow(number=number, raw=f"{lines[first]}\n{lines[number - 1]}", cells=known, beyond=beyond))
    if separator == ";" and all(re.fullmatch(r"\d{1,3}\.\d{3}", row.cells.get("throughput", "")) for row in rows):
        unsure = Message("importing.row_thousands", column=header[at["throughput"]], text=rows[0].cells["throughput"])
        raise EvalsuiteError.of("importing.stated", who=file, error=unsure)
    return CitedTable(file=file, rows=tuple(rows), columns={ours: header[at[ours]] for ours in at}, unread=unread)


def _text(file: Path) -> str:
    """As CSV. Raises OSError, ValueError and ImportError."""
    form = file.suffix.lower()
    if form in FORMS[:2]:
        return files.read_bytes(file, most=MOST_BYTES, follow=True).decode("utf-8-sig")
    import pandas

    try:
        if form == ".parquet":
            return str(pandas.read_parquet(file).to_csv(index=False))
        sheets = pandas.read_excel(file, sheet_name=None, header=None, dtype=object)
    except (ImportError, OSError):
        raise
    except Exception as error:  # of a damaged file: zlib.error, BadZipFile, ParseError, KeyError, struct.error, …
        raise ValueError(str(error) or type(error).__name__) from error
    filled = {name: sheet for name, sheet in sheets.items() if not sheet.empty}
    if len(filled) != 1:
        raise ValueError(Message("importing.table_sheets", names=tuple(filled)[:MOST_NAMED]))
    return str(next(iter(filled.values())).to_csv(index=False, header=False))


def _places(file: Path, header: Sequence[str], tag: str | None) -> tuple[dict[str, int], str | None]:
    """(Our name → its place, unit that stands in the name of the figures' column)"""
    lower = [re.sub(r"[\s/]+", "_", _OF_TRACKER.sub("", name.lower())) for name in header]
    if twice := sorted(name for name, n in Counter(lower).items() if name and n > 1):
        raise EvalsuiteError.of("importing.column_twice", file=file, name=twice[0])
    places = {ours: next((lower.index(name) for name in names if name in lower), -1) for ours, names in COLUMNS.items()}
    at, unit = {ours: place for ours, place in places.items() if place >= 0}, None
    if {"nodes", "devices"}.isdisjoint(at) and "gpus" in at and lower[at["gpus"]].endswith("gpus"):  # no node is named
        at["devices"] = at.pop("gpus")
    if tag is not None or "throughput" not in at:
        rate = choose(header, tag)
        if "rate" not in rate.series and tag is None:
            columns = (", ".join(header[:MOST_NAMED]) or "none") + (", …" if len(header) > MOST_NAMED else "")
            raise EvalsuiteError.of("importing.no_throughput_column", file=file, columns=columns)
        column, unit = rate.series.get("rate", (tag or "", 1.0))[0], rate.unit if "rate" in rate.series else None
        if rate.per_device:
            raise EvalsuiteError.of("importing.column_per_device", file=file, name=column)
        at["throughput"] = header.index(column)
    facts = ((name, place) for place, name in enumerate(lower) if name in FACTS)
    return at | {name: place for name, place in facts if place not in at.values()}, unit
