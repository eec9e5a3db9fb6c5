"""The report: an evaluation → `report.html` in both languages, `summary.json`, tidy tables as CSV.

The same evaluation gives the same bytes: rows are ordered here, nothing asks the time, and random choices
have fixed seeds.
"""

import importlib
import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from evalsuite.model import LANGUAGES, Evaluation

if TYPE_CHECKING:
    from evalsuite.report.book.book import Book


def make_ready(languages: Sequence[str] = LANGUAGES) -> None:
    """Loads what `build` needs, before there is an evaluation."""
    from evalsuite.report.page import render

    for room in ("forms", "book.identity", "data.summary_json", "data.tables"):
        importlib.import_module(f"evalsuite.report.{room}")
    render.make_ready(languages)


def build(
    evaluation: Evaluation, out: Path, languages: Sequence[str] = LANGUAGES, book: "Book | None" = None
) -> list[Path]:
    """Writes the report of *evaluation* into *out* and returns the files, the page first.

    *book*: that of *evaluation*, where the caller needs it too. What is worked out of it once stays known to it.
    """
    from evalsuite.files import write_atomically
    from evalsuite.report.book import identity
    from evalsuite.report.book.book import Book
    from evalsuite.report.data import summary_json, tables
    from evalsuite.report.page import ahead, parts, render
    from evalsuite.report.text import names, words

    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    book = book or Book(evaluation=identity.ordered(evaluation))
    build_hash = ahead.Later(partial(identity.build_hash, evaluation))
    said = words.read(languages, on_cpu=book.on_cpu)
    page = out / "report.html"

    def write_summary() -> None:
        facts = summary_json.document(book, build_hash())
        text = json.dumps(facts, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        write_atomically(out / "summary.json", text.encode("utf-8", "backslashreplace"))

    def write_part(part: Book) -> None:
        text = render.part(part, book, said, build_hash())
        write_atomically(out / names.part_file(part.part), text.encode("utf-8", "backslashreplace"))

    beside: tuple[ahead.Work, ...] = (write_summary, partial(tables.write, book, out / "tables"))
    write_atomically(page, render.page(book, said, build_hash, beside).encode("utf-8", "backslashreplace"))
    others = list(parts.books(book))
    ahead.shared([partial(write_part, one) for one in others])
    further = [out / names.part_file(part.part) for part in others]
    for path in parts.outdated(out, further):
        path.unlink()
    return [page, *further, out / "summary.json", *tables.files(out / "tables")]
