"""What the page's script knows: each case for filters and cards, and the tables to download.

The script decides nothing. Two pinned cases of one unit have a ratio. They may be compared if their `group` is the
same. If neither is partial, they differ by more than noise where one's row is among those `apart` from the other.
"""

import json
from collections import Counter
from collections.abc import Mapping
from itertools import combinations
from typing import Any

from evalsuite.model import Case, Summary
from evalsuite.report.book.book import Book
from evalsuite.report.data import tables
from evalsuite.report.sections.reproduction import reproduction
from evalsuite.report.text import names, numbers
from evalsuite.results.compare import fairness, winners

UNSAFE = {ord("<"): "\\u003c", ord(">"): "\\u003e", ord("&"): "\\u0026", 0x2028: "\\u2028", 0x2029: "\\u2029"}


def document(book: Book) -> Mapping[str, Any]:
    """Cases by column, keyed by the anchors of their receipts, and the tables to download."""
    compared = _compared(book)
    cases = {names.case_anchor(case): _case(book, case) | compared.get(case.id, {}) for case in book.planned}
    return {
        "cases": {"ids": list(cases), "values": _by_column(list(cases.values()))},
        "tables": {name: _table(name, found) for name, found in tables.rows(book, reproduction.embedded(book)).items()},
    }


# What the script takes from elsewhere: the case's fields from the summaries, the log from the receipts.
DERIVED = {"runs": ("run_id", "log", "log_sha256", "started_at", *tables.CASE[1:])}
CASE_KEYS = (
    *("framework", "model", "precision", "batch", "xla", "nodes", "devices", "group", "apart"),
    *("state", "origin", "partial", "unit", "value", "text", "interval", "n", "speedup", "efficiency", "base"),
)


def _case(book: Book, case: Case) -> dict[str, Any]:
    facts = {
        "framework": names.framework(case.framework),
        "model": names.model(case.model),
        "precision": names.precision(case.precision),
        "batch": case.batch_per_device,
        "xla": case.xla,
        "nodes": case.nodes,
        "devices": case.total_devices,
        "state": book.state(case),
        "origin": "measured",
    }
    summary = book.valid_of.get(case.id)
    return facts | (_value(summary) if summary else {})


def _compared(book: Book) -> dict[str, dict[str, Any]]:
    """Case id → its group, and the rows of its group that differ by more than noise."""
    rows = {case.id: row for row, case in enumerate(book.planned)}
    found: dict[str, dict[str, Any]] = {}
    keys: Counter[str] = Counter()
    for members in fairness.groups(book.valid, fairness.TESTED):
        key = names.anchor("q", repr(fairness.group(members[0], fairness.TESTED)))
        keys[key] += 1
        key = key if keys[key] == 1 else f"{key}-{keys[key]}"  # what differs in facts has a group of its own
        apart: dict[str, list[int]] = {one.case.id: [] for one in members}
        for a, b in combinations(members, 2):
            if winners.told_apart(a, b):
                apart[a.case.id].append(rows[b.case.id])
                apart[b.case.id].append(rows[a.case.id])
        found |= {case_id: {"group": key, "apart": others} for case_id, others in apart.items()}
    return found


def _by_column(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {key: _packed([row.get(key) for row in rows]) for key in CASE_KEYS}


def _value(summary: Summary) -> dict[str, Any]:
    return {
        "origin": summary.origin,
        "partial": summary.partial,
        "unit": names.visible(summary.unit),
        "value": float(f"{summary.items_per_s.value:.9g}"),
        "text": numbers.throughput(summary.items_per_s.value).text,
        "interval": _text(numbers.interval(summary.items_per_s, numbers.throughput)),
        "n": summary.n,
        "speedup": numbers.speedup(summary.speedup.value).text if summary.speedup else None,
        "efficiency": numbers.percent(summary.efficiency.value).text if summary.efficiency else None,
        "base": summary.base.total_devices if summary.base else None,
    }


def _text(number: numbers.Number | None) -> str | None:
    return number.text if number else None


def _table(name: str, found: list[dict[str, Any]]) -> dict[str, Any]:
    """By columns; few different values are written once, with the place of each row's."""
    columns = [column for column in tables.COLUMNS[name] if column not in DERIVED.get(name, ())]
    return {
        "columns": tables.COLUMNS[name],
        "rows": len(found),
        "values": {column: _packed([tables.harmless(row[column]) for row in found]) for column in columns},
    }


def _packed(values: list[Any]) -> list[Any] | dict[str, Any]:
    texts = [repr(value) for value in values]  # by repr: 1, 1.0 and true are not the same
    different = dict(zip(texts, values, strict=True))
    if 2 * len(different) > len(values):
        return values
    places = {text: place for place, text in enumerate(different)}
    return {"of": list(different.values()), "at": [places[text] for text in texts]}


def script_safe(document: Mapping[str, Any]) -> str:
    """JSON that can be put inside a `<script>` element whatever it holds."""
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8", "backslashreplace").decode().translate(UNSAFE)
