"""`report.xlsx`: who leads, the document's results, then a sheet for each tidy table."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import Any

from evalsuite import __version__
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.files import write_atomically
from evalsuite.report.book import heading
from evalsuite.report.book.book import Book
from evalsuite.report.data import tables
from evalsuite.report.forms import result_sheets
from evalsuite.report.forms.material import Material
from evalsuite.report.sections.common import captioned_figure
from evalsuite.report.sections.verdict import answers, cards, matrix, notices, verdict
from evalsuite.report.sections.verdict.matrix import Standings, WinnerMatrix
from evalsuite.report.text import names, numbers, words
from evalsuite.report.text.words import Rendered, Words

Colours = Mapping[str, result_sheets.Colour]  # by framework
NAME = "report.xlsx"
SHEETS = ("summaries", "runs", "utilisation", "phases", "scores", "variants", "findings", "skips", "author_findings")
VERDICT = ("criterion", "in_words", "outcome", "within_noise", "threshold", "measured", "low", "high", "n", "case_id")
LONGEST_CELL = 32_767  # characters; Excel's limit
LONGEST_NAME = 31  # of a sheet
WIDEST = 48  # characters of a column
COLUMN = 24  # characters of a column of the first sheet
SAMPLE = 200  # rows that a column's width is taken from
# The date inside the file; the data's own would tell nothing more, and the day of writing would change the bytes.
CREATED = datetime(1980, 1, 1)


def check() -> None:
    _library()


def write(material: Material) -> list[Path]:
    path = material.out / NAME
    write_atomically(path, workbook(material))
    return [path]


def workbook(material: Material) -> bytes:
    book, labels = material.book, words.read_beyond_the_page(material.languages)
    into = BytesIO()
    plain_text = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    with _library().Workbook(into, {"in_memory": True, **plain_text}) as file:
        file.set_properties(
            {"created": CREATED, "title": _title(book, material), "comments": f"evalsuite {__version__}"}
        )
        head = file.add_format({"bold": True, "bottom": 1, "valign": "vcenter"})
        wrapped = file.add_format({"text_wrap": True, "valign": "top"})
        sentences, colours = words.read(material.languages, on_cpu=book.on_cpu), captioned_figure.colours(book)
        if tables_of_all := matrix.standings(book, sentences):
            leaders = matrix.matrix(book, answers.questions(book, sentences), sentences)
            _standings(file, _name(labels, "standings"), tables_of_all, leaders, colours)
        _about(file.add_worksheet(_name(labels, "about")), book, material, labels, head, wrapped)
        results = result_sheets.Writer(file, sentences, labels, book.efficiency_threshold, colours)
        for sheet in result_sheets.sheets(book):
            results.write(sheet)
        rows = tables.rows(book, SHEETS)
        judged = ("verdicts", (*VERDICT, "reason"), _verdicts(book, sentences))
        raw = [judged, *((name, tables.COLUMNS[name], rows[name]) for name in SHEETS)]
        for name, columns, table in raw:
            if table:  # an empty sheet has no information
                _table(file.add_worksheet(_name(labels, name)), columns, table, head)
    return into.getvalue()


def _library() -> Any:
    try:
        import xlsxwriter
    except ImportError as error:
        raise EvalsuiteError.of("report.xlsx_library") from error
    return xlsxwriter


def _name(labels: Words, sheet: str) -> str:
    return _label(labels, sheet)[:LONGEST_NAME]


def _label(labels: Words, name: str) -> str:
    text = labels(f"spreadsheet.{name}")
    return " ".join(text.plain(language) for language in labels.languages)


def _title(book: Book, material: Material) -> str:
    title = heading.title(book.evaluation, words.read(material.languages))
    return " · ".join(dict.fromkeys(title.plain(language) for language in material.languages))


def _about(sheet: Any, book: Book, material: Material, labels: Words, head: Any, wrapped: Any) -> None:
    period = book.period
    facts = (
        ("title", _title(book, material)),
        *([("period", f"{period.span} ({period.zone})")] if period else []),
        ("build", material.build_hash),
        ("version", __version__),
    )
    for row, (key, value) in enumerate(facts):
        sheet.write_string(row, 0, _label(labels, key), head)
        sheet.write_string(row, 1, names.visible(value))
    lines = (line.plain(language) for line in _lines(book, material, labels) for language in labels.languages)
    for row, text in enumerate(map(names.visible, lines), len(facts) + 1):
        result_sheets.give_room(sheet, row, [text], 90)
        sheet.write_string(row, 1, text, wrapped)
    sheet.set_column(0, 0, 44)
    sheet.set_column(1, 1, 90)
    result_sheets.for_paper(sheet)


def _standings(
    file: Any, name: str, scales: Sequence[Standings], leaders: WinnerMatrix | None, colours: Colours
) -> None:
    """Who leads, then the table of the chosen scale and the others; ⚠ is in the number format, reasons stand below."""
    sheet = file.add_worksheet(name)
    head = file.add_format({"bold": True, "bottom": 1, "text_wrap": True, "valign": "bottom"})
    line = _leaders(file, sheet, leaders, head) if leaders else 0
    beside = 2 + max(len(leaders.scales) + 1 if leaders else 0, *(len(grid.answers) for grid in scales))
    _draw_bars(file, sheet, scales, (line, beside), colours)
    for standings in sorted(scales, key=lambda standings: not standings.chosen):
        pairs = zip(standings.answers, standings.settings, strict=True)
        titles = [f"{names.model(answer.setting.model)} {_every(setting)}" for answer, setting in pairs]
        sheet.write_row(line, 0, [standings.scale, *titles], head)
        result_sheets.give_room(sheet, line, titles, COLUMN)
        reasons = []
        for row, (framework, cells) in enumerate(standings.rows, line + 1):
            sheet.write_string(row, 0, framework)
            for place, (title, cell) in enumerate(zip(titles, cells, strict=True), 1):
                why = _every(cell.why) if cell.why else ""
                if cell.share is None:
                    sheet.write_string(row, place, why, file.add_format({"font_color": "#777777", "align": "right"}))
                    continue
                look_of = {"italic": bool(why), "bold": cell.weight == "decided"}
                form = '0.0%"' + " ⚠" * cell.flagged + " *" * bool(why) + '"'
                sheet.write_number(row, place, cell.share.raw, file.add_format({"num_format": form, **look_of}))
                reasons += [f"* {framework} · {title}: {why}"] if why else []
        last = line + len(standings.rows)
        ends = {"min_color": result_sheets.LOW, "max_color": result_sheets.HIGH}
        sheet.conditional_format(line + 1, 1, last, len(titles), {"type": "2_color_scale", **ends})
        sheet.write_column(last + 1, 0, reasons, file.add_format({"italic": True, "font_color": "#555555"}))
        line = last + 2 + len(reasons)
    sheet.set_column(0, beside - 2, COLUMN)
    sheet.freeze_panes(0, 1)
    result_sheets.for_paper(sheet)


def _leaders(file: Any, sheet: Any, matrix: WinnerMatrix, head: Any) -> int:
    heads = (_every(matrix.title.words(f"answers.{key}")) for key in ("model", "setting"))
    sheet.write_string(0, 0, _every(matrix.title), file.add_format({"bold": True, "font_size": 12}))
    sheet.write_row(1, 0, [*heads, *matrix.scales], head)
    wrapped = file.add_format({"text_wrap": True, "valign": "top"})
    for line, row in enumerate(matrix.rows, 2):
        said = ((cell.winner, cell.lead, "⚠" * cell.flagged, cell.note) for cell in row.cells)
        parts = ([text if isinstance(text, str) else _every(text) for text in cell if text] for cell in said)
        texts = [row.model, _every(row.setting), *map(" ".join, parts)]
        sheet.write_row(line, 0, texts, wrapped)
        result_sheets.give_room(sheet, line, texts, COLUMN)
    return len(matrix.rows) + 3


def _draw_bars(file: Any, sheet: Any, scales: Sequence[Standings], place: tuple[int, int], colours: Colours) -> None:
    chosen = next(standing for standing in scales if standing.chosen or standing is scales[-1])
    line, last, by_name = place[0], len(chosen.answers), {names.framework(of): each for of, each in colours.items()}
    series = (
        (((sheet.name, row, 0), (sheet.name, line, 1, line, last), (sheet.name, row, 1, row, last)), by_name[framework])
        for row, (framework, _) in enumerate(chosen.rows, line + 1)
    )
    bars = sum(cell.share is not None for _, cells in chosen.rows for cell in cells)
    about = {"kind": {"type": "bar"}, "title": chosen.scale, "size": {"height": 120 + 13 * bars}}
    across = {"x": {"min": 0, "num_format": "0%"}, "y": {"reverse": True, "crossing": "max"}}  # of bars the values
    result_sheets.draw(file, sheet, place, series, about | across)


def _every(text: Rendered) -> str:
    return " / ".join(dict.fromkeys(names.visible(text.plain(language)) for language in text.words.languages))


def _lines(book: Book, material: Material, labels: Words) -> Iterable[Rendered]:
    sentences = words.read(material.languages, on_cpu=book.on_cpu)
    for note in verdict.model_findings(book, sentences):
        yield sentences("verdict.found_line", model=note.model, about_text=note.about, sentence_text=note.sentence)
        yield from [note.beside] if note.beside else []
    yield from (notice.line for notice in notices.notices(book, sentences))
    yield labels("spreadsheet.note")
    asked = book.efficiency_threshold
    if asked is not None:
        yield labels("spreadsheet.colours", threshold=numbers.limit(asked))


def _verdicts(book: Book, sentences: Words) -> list[dict[str, Any]]:
    plain = ("criterion", "outcome", "within_noise", "threshold", "n", "reason")
    return [
        {name: getattr(verdict, name) for name in plain}
        | {"in_words": _every(card.reason or sentences(f"verdict.{verdict.outcome}"))}
        | {"measured": getattr(verdict.measured, "value", None)}
        | {name: getattr(verdict.measured, name, None) for name in ("low", "high")}
        | {"case_id": verdict.case.id if verdict.case else None}
        for card in cards.cards(book, sentences)
        for verdict in (card.verdict,)
    ]


def _table(sheet: Any, columns: Sequence[str], rows: Sequence[dict[str, Any]], head: Any) -> None:
    for place, column in enumerate(columns):
        sheet.write_string(0, place, column, head)
        sheet.set_column(place, place, _width(column, rows))
    for line, row in enumerate(rows, 1):
        for place, column in enumerate(columns):
            value = row[column]
            text = value is not None and not isinstance(value, int | float)
            sheet.write(line, place, names.visible(value)[:LONGEST_CELL] if text else value)
    sheet.freeze_panes(1, 1)
    sheet.repeat_rows(0)
    result_sheets.for_paper(sheet)
    sheet.autofilter(0, 0, max(len(rows), 1), len(columns) - 1)


def _width(column: str, rows: Sequence[dict[str, Any]]) -> int:
    longest = max((len(names.visible(row[column])) for row in rows[:SAMPLE] if row[column] is not None), default=0)
    return min(WIDEST, max(longest, len(column)) + 3)
