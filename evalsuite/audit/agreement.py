"""Whether the tables and the Markdown of a report say the numbers of its `summary.json`."""

import csv
import io
import itertools
import json
import re
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from evalsuite.core.errors import EvalsuiteError, Gone
from evalsuite.core.messages import Message
from evalsuite.report.data.values import at
from evalsuite.report.forms import parquet as form
from evalsuite.report.forms.markdown import MOST_CASES
from evalsuite.report.text import names, numbers

NONE = (ValueError, LookupError, TypeError, AttributeError, RecursionError, OSError, csv.Error, ElementTree.ParseError)
ROWS: Mapping[str, Mapping[str, str]] = {  # table → column → path in a summary or in one of its runs
    "summaries": {
        **{"case_id": "id", "items_per_s": "throughput.value", "items_per_s_per_device": "throughput_per_device"},
        **{f"items_per_s_{name}": f"throughput.{name}" for name in ("low", "high")},
        **{name: f"{name}.value" for name in ("speedup", "efficiency")},
        **{f"{name}_{end}": f"{name}.{end}" for name in ("speedup", "efficiency") for end in ("low", "high")},
        **{name: name for name in ("unit", "n", "cv", "partial", "origin", "state", "base_devices")},
    },
    "runs": {
        **{"run_id": "id", "items_per_s": "value"},
        **{name: name for name in ("repeat", "status", "counts", "origin", "started_at", "log_sha256")},
    },
    "verdicts": {
        **{"measured": "measured.value", "low": "measured.low", "high": "measured.high", "case_id": "case"},
        **{name: name for name in ("criterion", "outcome", "within_noise", "threshold", "n", "reason")},
    },
}
CELL = re.compile(r"\| *\**([\d,.]+)[^\d|(]*(?:\(([\d.,]+)–([\d.,]+))?")  # | 26.50⚠ (26.38–26.95) |
TEXT = re.compile(r't="s"><v>(\d+)<')  # a cell's, by its number
TEX = re.compile(r"& ([\d.,]+)[ $]")  # 1×2 & 26.50$^{\circ}$ & -- \\
NUMBER = re.compile(r"[\d.eE+-]+")
SHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


def mistake(name: str, text: str, facts: Mapping[str, Any]) -> Message | None:
    """What of *text*, a file of the report or of its archive, is not as *facts*, its `summary.json`, has it.

    Raises one of NONE where it is no such file.
    """
    match name.rpartition("/")[2]:
        case "summary.json":
            return None if json.loads(text) == facts else Message("site.other_page")
        case "summaries.csv" | "runs.csv" as table:
            rows = csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline=""))
            return _of_table(table.removesuffix(".csv"), rows, facts)
        case "tables.json":
            tables = json.loads(text)
            return next(filter(None, (_of_table(table, tables[table], facts) for table in ("summaries", "runs"))), None)
        case "evidence.json":
            return _of_evidence(json.loads(text), facts)
        case paper if paper.endswith(".tex"):
            known = {numbers.throughput(row["throughput"]["value"]).text for row in valid(facts)}
            other = sorted(known ^ {*TEX.findall(text)})
            return Message("site.other_numbers", value=other[0]) if other else None
        case markdown if (
            markdown.endswith(".md") and facts["data_quality"]["cases_planned"] <= MOST_CASES
        ):  # with tables
            cells = {match.groups() for match in CELL.finditer(text)}
            return _lacks(cells, (_printed(row["throughput"]) for row in valid(facts)))
    return None


def workbook(parts: Mapping[str, str], facts: Mapping[str, Any]) -> Message | None:
    """The same of a spreadsheet: its raw tables, each throughput on the other sheets, and each text in some cell."""
    strings = ElementTree.fromstring(parts["xl/sharedStrings.xml"]).iter(f"{SHEET}si")
    shared = ["".join(part.text or "" for part in text.iter(f"{SHEET}t")) for text in strings]
    shown, lacking = set[str](), {table for table in ROWS if _things(table, facts)}
    sheets = [parts[name] for name in parts if name.startswith("xl/worksheets/sheet")]
    for sheet in sheets:
        head, *rows = [*_cells(sheet, shared)] or [{}]
        columns = {column: letters for letters, column in head.items()}
        table = next((table for table, wanted in ROWS.items() if wanted.keys() <= columns.keys()), None)
        if table is None:
            if wrong := _of_standings([head, *rows], facts):
                return wrong
            shown |= {_plain(value) for row in rows for value in row.values()}
        elif wrong := _of_table(table, ({name: row.get(columns[name]) for name in ROWS[table]} for row in rows), facts):
            return wrong
        lacking -= {table}
    if lacking or len({at for sheet in sheets for at in TEXT.findall(sheet)}) < len(shared):
        return Message("site.other_page")
    known = (facts["input_sha256"], facts["evalsuite"], *(_plain(row["throughput"]["value"]) for row in valid(facts)))
    return _lacks({*shown, *shared}, known)


def parquet(file: Path, facts: Mapping[str, Any]) -> Message | None:
    """The same of a table for pandas. Raises Gone without pyarrow."""
    try:
        rows = form.read(file)
    except EvalsuiteError as error:
        raise Gone(error.message) from error
    return _of_table(file.stem, rows, facts) if file.stem in ("summaries", "runs") else None


def logs(manifest: str, hashes: Mapping[str, str], facts: Mapping[str, Any]) -> Message | None:
    """The same of the copies of logs, whose archive has *hashes*."""
    raw = {run["log"]: run["log_sha256"] for run in _runs(facts)}
    for log in json.loads(manifest)["logs"]:
        if hashes.get(log["log"]) != log["masked_sha256"] or raw.get(log["log"], log["sha256"]) != log["sha256"]:
            return Message("site.other_row", table="logs", row=log["log"])
    return None


def _of_standings(rows: Iterable[Mapping[str, str]], facts: Mapping[str, Any]) -> Message | None:
    """Percentages of the fastest, below a head of scale and models; a sheet without such a head is another one."""
    shares, head = _shares(facts), dict[str, str]()
    frameworks = {framework for framework, _ in shares}
    for row in rows:
        name, scale = row.get("A", ""), head.get("A", "")
        if name not in frameworks:
            head = dict(row)
        elif any(scale == known for _, known in shares):
            for place in row.keys() - {"A"}:
                known = {share for model, share in shares[name, scale] if head.get(place, "").startswith(model)}
                if NUMBER.fullmatch(row[place]) and _plain(row[place]) not in known:
                    return Message("site.other_row", table="standings", row=[name, row[place]])
    return None


def _shares(facts: Mapping[str, Any]) -> Mapping[tuple[str, str], set[tuple[str, str]]]:
    """Framework and scale ("" too, of a table of all scales) → models with shares of the highest that is ranked."""
    shares_by_place = defaultdict[tuple[str, str], set[tuple[str, str]]](set)
    highest = defaultdict[object, set[float]](set)
    for answer in facts["answers"]:
        highest[_place(answer)] |= {first["throughput"] for first in answer["ranked"][:1]}
    for summary in valid(facts):
        case, value = summary["case"], summary["throughput"]["value"]
        shares = {(names.model(case["model"]), _plain(value / most)) for most in highest[_place(case)]}
        for scale in ("", f"{case['nodes']}×{case['devices_per_node']}"):
            shares_by_place[names.framework(case["framework"]), scale] |= shares
    return shares_by_place


def _place(of: Mapping[str, Any]) -> object:
    return of["model"], of["nodes"], of["devices_per_node"]


def valid(facts: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    return (row for row in facts["summaries"] if row["throughput"])


def _cells(sheet: str, shared: Sequence[str]) -> Iterator[dict[str, str]]:
    kinds: dict[str | None, Callable[[str], str]] = {"s": lambda at: shared[int(at)], "b": lambda one: str(one == "1")}
    for row in ElementTree.fromstring(sheet).iter(f"{SHEET}row"):
        cells = ((cell.get("r", "").rstrip("0123456789"), cell.get("t"), cell.findtext(f"{SHEET}v")) for cell in row)
        yield {letters: kinds.get(kind, str)(value) for letters, kind, value in cells if value is not None}


def _of_table(table: str, rows: Iterable[Mapping[str, Any]], facts: Mapping[str, Any]) -> Message | None:
    wanted = sorted([_plain(at(thing, path)) for path in ROWS[table].values()] for thing in _things(table, facts))
    there = sorted([_plain(row[column]) for column in ROWS[table]] for row in rows)
    other = next((got or asked for got, asked in itertools.zip_longest(there, wanted) if got != asked), None)
    return Message("site.other_row", table=table, row=other[0]) if other else None


def _things(table: str, facts: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    return _runs(facts) if table == "runs" else facts[table]


def _runs(facts: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [run for row in facts["summaries"] for run in row["runs"]]


def _of_evidence(entries: Iterable[Mapping[str, Any]], facts: Mapping[str, Any]) -> Message | None:
    """A run's value is that of the summary, and its items by its seconds where both are there."""
    values = {run["id"]: run["value"] for run in _runs(facts)}
    for run in entries:
        counted = [sum(run["items"]) / sum(run["seconds"])] if run["items"] and run["items_per_s"] is not None else []
        shown = {_plain(value) for value in (run["items_per_s"], values[run["run_id"]], *counted)}
        if len(shown) > 1:
            return Message("site.other_row", table="evidence", row=run["run_id"])
    return None


def _plain(value: object) -> str:
    """A number by nine digits; a text as a table shows it: an apostrophe keeps it from being a formula."""
    text = "" if value is None else str(value)
    try:
        return f"{float(text):.9g}"
    except ValueError:
        return names.visible(text).removeprefix("'")


def _printed(interval: Mapping[str, Any]) -> tuple[str | None, ...]:
    ends = (interval[name] for name in ("value", "low", "high"))
    return tuple(None if value is None else numbers.throughput(value).text for value in ends)


def _lacks(shown: Container[object], wanted: Iterable[str | tuple[str | None, ...]]) -> Message | None:
    lacking = next((text for text in wanted if text not in shown), None)
    if lacking is None:
        return None
    return Message("site.lacks", value=lacking if isinstance(lacking, str) else lacking[0])
