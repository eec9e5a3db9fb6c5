"""What the page's script knows: each case, for the receipts beside numbers."""

import json
from collections.abc import Mapping
from typing import Any

from evalsuite.core.model import Case, Summary
from evalsuite.report.book.book import Book
from evalsuite.report.text import names, numbers

UNSAFE = {ord("<"): "\\u003c", ord(">"): "\\u003e", ord("&"): "\\u0026", 0x2028: "\\u2028", 0x2029: "\\u2029"}


def document(book: Book) -> Mapping[str, Any]:
    """Cases by column, keyed by the anchors of their receipts."""
    cases = {names.case_anchor(case): _case(book, case) for case in book.planned}
    return {"ids": list(cases), "values": {key: _packed([row.get(key) for row in cases.values()]) for key in CASE_KEYS}}


CASE_KEYS = (
    *("framework", "model", "precision", "batch", "xla", "nodes", "devices"),
    *("unit", "text", "interval", "n", "speedup"),
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
    }
    summary = book.valid_of.get(case.id)
    return facts | (_value(summary) if summary else {})


def _value(summary: Summary) -> dict[str, Any]:
    interval = numbers.interval(summary.items_per_s, numbers.throughput)
    return {
        "unit": names.visible(summary.unit),
        "text": numbers.throughput(summary.items_per_s.value).text,
        "interval": interval.text if interval else None,
        "n": summary.n,
        "speedup": numbers.speedup(summary.speedup.value).text if summary.speedup else None,
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
