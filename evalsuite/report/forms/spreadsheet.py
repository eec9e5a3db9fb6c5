"""`report.xlsx`: the board, then a sheet for each tidy table that is not empty.

`tables/*.parquet`: the same tables of raw values, with their types.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import Any

from evalsuite import __version__
from evalsuite.core.files import write_atomically
from evalsuite.report.book import board, heading
from evalsuite.report.book.board import Board
from evalsuite.report.data import tables
from evalsuite.report.forms.material import Material
from evalsuite.report.sections.verdict import cards, verdict
from evalsuite.report.text import names, options, words
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
        rows_of_board = _about(material, labels)
        wide = max(map(len, rows_of_board))
        about = [[_visible(cell) for cell in (*row, *[None] * (wide - len(row)))] for row in rows_of_board]
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


def _about(material: Material, labels: Words) -> Sequence[Sequence[str | None]]:
    """What the report is, then the board."""
    book, sentences = material.book, words.read(material.languages, on_cpu=material.book.on_cpu)
    facts = {"title": _in_each(heading.title(book.evaluation, sentences)), "period": str(book.period or "—")}
    facts |= {"build": material.seal, "version": __version__}
    return [
        *((_label(labels, key), value) for key, value in facts.items()),
        *_board(board.board(book, sentences), sentences),
        *([_in_each(of)] for card in cards.cards(book, sentences) for of in (card.statement, card.reason) if of),
        *([_in_each(line)] for line in (*verdict.remarks(book, sentences), labels("spreadsheet.note"))),
    ]


def _board(made: Board, sentences: Words) -> Iterable[Sequence[str | None]]:
    yield from ([_in_each(each)] for each in (made.finding, made.beside) if each)
    yield [_in_each(chip.text) for chip in made.chips]
    heads = [_in_each(head) for head in made.heads]
    for sheet in made.sheets:
        for table in sheet.in_order:
            yield []
            yield [_in_each(options.apart([sheet.title, table.setting, table.scale, table.unit], sentences))]
            yield from ([_in_each(line)] for line in made.sentences_of(table))
            yield heads
            yield from ([_in_each(cell) for cell in row.cells(sentences)] for row in table.rows)


def _in_each(text: Rendered) -> str:
    return " / ".join(dict.fromkeys(map(text.plain, text.words.languages)))


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
