"""`summary.json`: verdicts and every summary (docs/contracts.md#summaryjson).

The published schema has the keys. A key is an attribute of what it describes, unless `data/schema/summary.toml`
has another way.
"""

from collections.abc import Mapping
from datetime import date
from types import MappingProxyType
from typing import Any

from evalsuite import __version__
from evalsuite.core import paths
from evalsuite.finished import manifest, schema
from evalsuite.finished.finished import SCHEMA_VERSION
from evalsuite.report.book.book import Book
from evalsuite.report.book.tally import tally
from evalsuite.report.data.values import value_at
from evalsuite.report.sections.author import author
from evalsuite.report.sections.fairness import fairness
from evalsuite.report.text import findings

PATHS = paths.read_data("schema/summary.toml")


def document(book: Book, build_hash: str, page_files: Mapping[str, str] = MappingProxyType({})) -> Mapping[str, Any]:
    """The whole file as plain values. Renaming or removing a field needs a new *schema_version*."""
    evaluation = book.evaluation
    whole = {
        **vars(evaluation),
        "schema_version": SCHEMA_VERSION,
        "evalsuite": __version__,
        "manifest": manifest.NAME,
        "input_sha256": build_hash,
        "page_files": page_files,
        "summaries": book.summaries,
        "author_findings": author.rows(book),
        "problems": evaluation.kept_problems,
        "skips": book.skips,
        "findings": [findings.document(finding) for finding in book.findings],
        "answers": book.answers,
        "layout_searches": book.layout_searches,
        "fairness": fairness.comparisons(book),
        "data_quality": tally(book),
        "environments": sorted(evaluation.environments),
        "machines": sorted({run.environment for run in book.measurements if run.environment}, key=str),
        "superseded_attempts": evaluation.superseded,
    }
    plain: Mapping[str, Any] = plain_of(book, schema.published(), whole, "summary.json")
    return plain


SIMPLE = (str, int, float, bool)


def plain_of(book: Book, shape: Mapping[str, Any], value: Any, kind: str) -> Any:
    """*kind*: name or place of the part of the schema."""
    if value is None or type(value) in SIMPLE:
        return value
    if "$ref" in shape:
        kind = shape["$ref"].rpartition("/")[2]
        return plain_of(book, schema.published()["$defs"][kind], value, kind)
    if "anyOf" in shape:
        return plain_of(book, shape["anyOf"][0], value, kind)
    if "properties" in shape:
        paths_of = PATHS.get(kind, {})
        given = {name: value_at(book, value, paths_of.get(name, name)) for name in shape["properties"]}
        return {name: plain_of(book, each, given[name], f"{kind}.{name}") for name, each in shape["properties"].items()}
    if "items" in shape:
        return [plain_of(book, shape["items"], each, kind) for each in value]
    if shape.get("type") == "object":
        inner = shape.get("additionalProperties", {})
        return {name: plain_of(book, inner, each, kind) for name, each in dict(value).items()}
    return value.isoformat() if isinstance(value, date) else value
