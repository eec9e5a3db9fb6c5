"""`report.xlsx`: what was found, in sentences, then a sheet for each tidy table that is not empty.

`tables/*.parquet`: the same tables of raw values, with their types.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import Any

from evalsuite import __version__
from evalsuite.core.files import write_atomically
from evalsuite.report.book import heading
from evalsuite.report.data import tables
from evalsuite.report.forms.material import Material
from evalsuite.report.sections.verdict import cards, notices, verdict
from evalsuite.report.text import names, words
from evalsuite.report.text.words import Rendered, Words

NAME = "report.xlsx"
SHEETS = ("summaries", "runs", "utilisation", "phases", "scores", "variants", "findings", "skips", "author_findings")
LONGEST_CELL = 32_767  # characters; Excel's limit
WIDEST = 48  # characters of a column of a table
# The date inside the file; the data's own would tell nothing more, and the day of writing would change the bytes.
CREATED = datetime(1980, 1, 1)
PLAIN_TEXT = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}


def write(material: Material) -> list[Path]:
    path = material.out / NAME
    write_atomically(path, workbook(material))
    return [path]


def workbook(material: Material) -> bytes:
    import pandas

    labels = words.read_beyond_the_page(material.languages)
    rows = tables.rows(material.book, SHEETS)
    options = {"options": {"in_memory": True, **PLAIN_TEXT}}
    with pandas.ExcelWriter(into := BytesIO(), engine="xlsxwriter", engine_kwargs=options) as file:
        about = [[_visible(cell) for cell in row] for row in _about(material, labels)]
        file.book.set_properties({"created": CREATED, "title": about[0][1], "comments": f"evalsuite {__version__}"})
        _add_sheet(file, _label(labels, "about"), pandas.DataFrame(about), head=False, widest=120)
        for name in SHEETS:
            if rows[name]:  # an empty sheet has no information
                columns, values = tables.with_options(tables.COLUMNS[name], rows[name])
                plain = [{column: _visible(row[column]) for column in columns} for row in values]
                frame = pandas.DataFrame(plain, columns=list(columns), dtype=object)
                _add_sheet(file, _label(labels, name), frame, head=True, widest=WIDEST)
    return into.getvalue()


def _add_sheet(file: Any, name: str, frame: Any, *, head: bool, widest: int) -> None:
    frame.to_excel(file, sheet_name=name, index=False, header=head, freeze_panes=(int(head), 1))
    sheet = file.sheets[name]
    sheet.autofit(widest * 7)  # pixels of a character
    sheet.set_landscape()
    sheet.fit_to_pages(1, 0)


def _label(labels: Words, name: str) -> str:
    text = labels(f"spreadsheet.{name}")
    return " ".join(text.plain(language) for language in labels.languages)


def _visible(value: Any) -> Any:
    return names.visible(value)[:LONGEST_CELL] if isinstance(value, str) else value


def _about(material: Material, labels: Words) -> Sequence[tuple[str | None, str]]:
    book, sentences = material.book, words.read(material.languages, on_cpu=material.book.on_cpu)
    period = f"{book.period.span} ({book.period.zone})" if book.period else "—"
    title = heading.title(book.evaluation, sentences)
    facts = {"title": " / ".join(dict.fromkeys(map(title.plain, material.languages))), "period": period}
    facts |= {"build": material.seal, "version": __version__}
    lines = (line.plain(language) for line in _lines(material, sentences) for language in material.languages)
    note = (labels("spreadsheet.note").plain(language) for language in material.languages)
    return [
        *((_label(labels, key), value) for key, value in facts.items()),
        *((None, text) for text in (*lines, *note)),
    ]


def _lines(material: Material, sentences: Words) -> Iterable[Rendered]:
    for note in verdict.model_findings(material.book, sentences):
        yield sentences("verdict.found_line", model=note.model, about_text=note.about, sentence_text=note.sentence)
        yield from [note.beside] if note.beside else []
    for card in cards.cards(material.book, sentences):
        yield from filter(None, (card.statement, card.reason))
    yield from (line for _, line in notices.notices(material.book, sentences))


def write_parquet(material: Material) -> list[Path]:
    import pandas

    written = []
    for name, rows in tables.rows(material.book).items():
        columns, values = tables.with_options(tables.COLUMNS[name], rows)
        frame = pandas.DataFrame(values, columns=list(columns)).convert_dtypes()
        mixed = [column for column in frame if frame[column].dtype == object]
        frame[mixed] = frame[mixed].astype("string")
        frame.to_parquet(into := BytesIO(), index=False)
        written.append(material.out / "tables" / f"{name}.parquet")
        write_atomically(written[-1], into.getvalue())
    return written
