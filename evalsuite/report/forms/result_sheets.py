"""Sheets that read like the document's tables, one for each model and precision.

Scales are rows, frameworks are columns. Values are numbers; their form and marks are their number format.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evalsuite.core.model import by_key
from evalsuite.report.book import blocks, heading, states
from evalsuite.report.book.book import Book
from evalsuite.report.book.cells import Cell
from evalsuite.report.book.result_tables import BatchPolicy, Grid, Group, SeriesRow, policies
from evalsuite.report.text import names, numbers
from evalsuite.report.text.words import Rendered, Words

LONGEST_NAME = 31  # characters of a sheet's name; Excel's limit
FORBIDDEN = re.compile(r"[\[\]:*?/\\']")  # in a sheet's name
DECIMALS = re.compile(r"^[^.]*\.?(\d*)")  # of a printed number
LINES = {"type": "scatter", "subtype": "straight_with_markers"}
DRAWING_LINES, DRAWING_WIDTH = 16, 500  # what a chart covers, in pixels
SCALE_COLUMNS = 3  # nodes, devices of each, devices of the job
WIDTHS = {"scale": 10, "value": 16}
Colour = tuple[str, bool]  # of a framework, and whether it is another hand's build
Charted = tuple[tuple[tuple[object, ...], ...], Colour]  # the cells of name, categories and values
LOW, HIGH, REACHED, MISSED = "#FFFFFF", "#9BD3A5", "#DDF1E0", "#FBE3D6"


@dataclass(frozen=True, kw_only=True)
class ResultSheet:
    name: str
    model: str  # whole, where *name* has no room for it
    tables: tuple[tuple[BatchPolicy, str], ...]  # with the precision whose series are here


def sheets(book: Book) -> tuple[ResultSheet, ...]:
    by_setting = by_key(
        ((model.name, precision), policy)
        for model in blocks.models(book)
        for policy in policies(model.blocks)
        for precision in policy.precisions
        if any(block.precision == precision and block.valid for block in policy.blocks)
    )
    taken: set[str] = set()
    return tuple(
        ResultSheet(name=_name(*key, taken), model=key[0], tables=tuple((policy, key[1]) for policy in of))
        for key, of in by_setting.items()
    )


def _name(model: str, precision: str, taken: set[str]) -> str:
    end = f" {names.precision(precision)}"
    stem = FORBIDDEN.sub("_", names.model(model))
    for number in range(1, len(taken) + 2):
        tail = end if number == 1 else f"{end} {number}"
        name = stem[: LONGEST_NAME - len(tail)] + tail
        if name.casefold() not in taken:
            taken.add(name.casefold())
            return name
    raise AssertionError("of more names than there are sheets one is free")


def draw(file: Any, sheet: Any, place: tuple[int, int], series: Iterable[Charted], about: Mapping[str, Any]) -> None:
    chart = file.add_chart(dict(about["kind"]))
    for (name, categories, values), (colour, build) in series:
        fill = {"color": colour, "transparency": 55 * build}
        line = {"color": colour, "width": 1.5, "dash_type": "dash" if build else "solid"}
        marker = {"type": "circle", "size": 5, "fill": fill, "border": {"color": colour}}
        look = {"fill": fill} if about["kind"]["type"] == "bar" else {"line": line, "marker": marker}
        chart.add_series({"name": list(name), "categories": list(categories), "values": list(values)} | look)
    chart.set_title({"name": about["title"], "overlay": False, "name_font": {"size": 11}})
    chart.set_x_axis(about["x"])
    chart.set_y_axis(about["y"])
    chart.show_blanks_as("gap")
    chart.set_size({"width": 480, **about["size"]})  # and what it is moved by
    sheet.insert_chart(*place, chart)


def give_room(sheet: Any, line: int, texts: Iterable[str], width: int) -> None:
    """As many lines as the longest of *texts* takes that wrap in columns of *width* Latin characters."""
    widths = (sum(1 + (character > "⺀") for character in text) for text in texts)
    sheet.set_row(line, 15 * max((math.ceil(1.1 * each / width) for each in widths), default=1))


class Writer:
    def __init__(
        self, file: Any, words: Words, labels: Words, threshold: float | None, colours: Mapping[str, Colour]
    ) -> None:
        self.file, self.words, self.labels, self.threshold, self.colours = file, words, labels, threshold, colours
        self.formats: dict[tuple[object, ...], Any] = {}

    def write(self, of: ResultSheet) -> None:
        sheet = self.file.add_worksheet(of.name)
        sheet.set_column(0, SCALE_COLUMNS - 1, WIDTHS["scale"])
        most = max(sum(map(len, _groups(policy.throughput, precision))) for policy, precision in of.tables)
        sheet.set_column(SCALE_COLUMNS, SCALE_COLUMNS + 2 * most, WIDTHS["value"])
        line = 0
        for policy, precision in of.tables:
            about = f"{names.model(of.model)} · {self._about(policy, precision)}"
            sheet.write_string(line, 0, about, self._format(bold=True, font_size=12))
            line = self._table(sheet, line, policy, precision) + 2
        sheet.freeze_panes(0, SCALE_COLUMNS)
        sheet.repeat_columns(0, SCALE_COLUMNS - 1)
        for_paper(sheet)

    def in_languages(self, text: Rendered) -> str:
        return " / ".join(dict.fromkeys(text.plain(language) for language in self.words.languages))

    def _about(self, policy: BatchPolicy, precision: str) -> str:
        several = [names.precision(precision)] * (len(policy.precisions) > 1)
        return " · ".join([self.in_languages(heading.policy(policy, self.words)), *several])

    def _table(self, sheet: Any, line: int, policy: BatchPolicy, precision: str) -> int:
        for mark in policy.throughput.marks:
            line += 1
            sheet.write_string(
                line,
                0,
                f"{states.MARKS[mark]} {self.in_languages(self.words(f'of_all.{mark}'))}",
                self._format(italic=True),
            )
        groups = _groups(policy.throughput, precision)
        columns = [row for group in groups for row in group]
        grids = [(self.labels("spreadsheet.throughput", unit=names.visible(policy.unit)), columns)]
        if policy.has_scaling:
            speedup = [row for group in _groups(policy.speedup, precision) for row in group]
            grids.append((self.labels("spreadsheet.speedup"), speedup))
        head = line + 1
        self._scales(sheet, head, policy)
        place = SCALE_COLUMNS
        for kind, (title, rows) in zip(("throughput", "speedup"), grids, strict=False):
            self._heads(sheet, head, place, title, rows, policy)
            for column, row in enumerate(rows, place):
                for number, cell in enumerate(row.cells):
                    self._cell(sheet, head + 3 + number, column, cell, kind)
            self._colour(sheet, head + 3, place, policy, groups, kind)
            place += len(rows) + 1
        last = self._legend(sheet, head + 3 + len(policy.scales), policy.throughput, columns)
        if policy.has_scaling:
            self._draw(sheet, head, last, policy, [rows for _, rows in grids])
        return last + DRAWING_LINES if policy.has_scaling else last

    def _draw(
        self, sheet: Any, head: int, line: int, policy: BatchPolicy, grids: Sequence[Sequence[SeriesRow]]
    ) -> None:
        first, last, start = head + 3, head + 2 + len(policy.scales), SCALE_COLUMNS
        at = (sheet.name, first, SCALE_COLUMNS - 1, last, SCALE_COLUMNS - 1)
        devices = [nodes * per_node for nodes, per_node in policy.scales]
        form: dict[str, object] = {"log_base": 2} if max(devices) > numbers.FAR * min(devices) else {"min": 0}
        for place, (title, rows) in enumerate(zip((policy.unit or "", "x"), grids, strict=False)):
            cells = (
                ((sheet.name, head + 1, col), at, (sheet.name, first, col, last, col))
                for col in range(start, start + len(rows))
            )
            colours = (self.colours[row.column.framework] for row in rows)
            size = {"x_offset": place * DRAWING_WIDTH, "y_offset": 8}
            about = {"kind": LINES, "title": names.visible(title), "x": form, "y": form, "size": size}
            draw(self.file, sheet, (line, SCALE_COLUMNS), zip(cells, colours, strict=True), about)
            start += len(rows) + 1

    def _scales(self, sheet: Any, head: int, policy: BatchPolicy) -> None:
        bold = self._format(bold=True, bottom=1, text_wrap=True, valign="top")
        kind = "processes" if self.words.on_cpu else "devices"
        titles = [self.in_languages(self.labels(f"spreadsheet.{key}")) for key in ("nodes", f"{kind}_per_node", kind)]
        sheet.write_row(head + 2, 0, titles, bold)
        give_room(sheet, head + 2, titles, WIDTHS["scale"])
        for number, (nodes, per_node) in enumerate(policy.scales):
            for column, value in enumerate((nodes, per_node, nodes * per_node)):
                sheet.write_number(head + 3 + number, column, value)

    def _heads(
        self, sheet: Any, head: int, place: int, title: Rendered, rows: Sequence[SeriesRow], policy: BatchPolicy
    ) -> None:
        bold = self._format(bold=True, bottom=1, text_wrap=True, valign="top", align="right")
        sheet.write_string(head, place, self.in_languages(title), self._format(bold=True))
        for column, row in enumerate(rows, place):
            recipe = f" ({names.visible(row.column.recipe)})" if row.column.show_recipe else ""
            signs = "".join(states.MARKS[mark] for mark in row.marks)
            name = self._format(bold=True, align="right", text_wrap=True, valign="bottom")
            sheet.write_string(head + 1, column, f"{row.column.title}{recipe}{signs}", name)
            sheet.write_string(head + 2, column, self._setting(row, policy), bold)

    def _setting(self, row: SeriesRow, policy: BatchPolicy) -> str:
        setting = self.in_languages(heading.setting_of(row, policy, self.words))
        batch = f" · {row.block.bsz}" if policy.mixed else ""
        n = policy.throughput.n if row.n is None else row.n
        return f"{setting}{batch}" + (f" · n = {n}" if n is not None else "")

    def _cell(self, sheet: Any, line: int, column: int, cell: Cell, kind: str) -> None:
        if cell.number is None:
            sheet.write_string(line, column, self._state(cell.state), self._format(align="right", font_color="#777777"))
            return
        decimals = len(DECIMALS.findall(cell.number.text)[0])
        whole = "#,##0" + ("." + "0" * decimals if decimals else "")
        own = f" ({cell.n})" if cell.n is not None else ""
        tail = f'"{"x" if kind == "speedup" else ""}{cell.signs}{own}"'
        form = self._format(num_format=whole + (tail if tail != '""' else ""), bold=cell.best)
        sheet.write_number(line, column, cell.number.raw, form)

    def _state(self, name: str) -> str:
        key = f"glyphs.{name}"
        return self.in_languages(self.words(key)) if key in self.words else states.GLYPHS[name]

    def _colour(
        self, sheet: Any, first: int, place: int, policy: BatchPolicy, groups: Sequence[Group], kind: str
    ) -> None:
        for number, (nodes, per_node) in enumerate(policy.scales):
            line, column = first + number, place
            for group in groups:
                ends = (line, column, line, column + len(group) - 1)
                column += len(group)
                if kind == "throughput" and len(group) > 1:
                    scale = {"type": "2_color_scale", "min_color": LOW, "max_color": HIGH}
                    sheet.conditional_format(*ends, scale)
                elif kind == "speedup" and self.threshold and _shows_scaling(policy, nodes, per_node):
                    self._reached(sheet, ends, self.threshold * nodes * per_node)

    def _reached(self, sheet: Any, ends: tuple[int, int, int, int], limit: float) -> None:
        for criteria, colour in ((">=", REACHED), ("<", MISSED)):
            form = self._format(bg_color=colour)
            sheet.conditional_format(*ends, {"type": "cell", "criteria": criteria, "value": limit, "format": form})

    def _legend(self, sheet: Any, line: int, grid: Grid, rows: Sequence[SeriesRow]) -> int:
        cells = [cell for row in rows for cell in row.cells]
        shown = {cell.state for cell in cells} | {mark for cell in cells for mark in cell.marks}
        shown |= {mark for row in rows for mark in row.marks}
        for key in grid.legend:
            if key in shown and key != "value":
                text = f"{states.MARKS.get(key) or self._state(key)} {self.in_languages(self.words(f'status.{key}'))}"
                sheet.write_string(line, 0, text, self._format(italic=True))
                line += 1
        return line

    def _format(self, **how: Any) -> Any:
        """One for each look: a workbook has room for 64,000."""
        key = tuple(sorted(how.items()))
        if key not in self.formats:
            self.formats[key] = self.file.add_format(how)
        return self.formats[key]


def _groups(grid: Grid, precision: str) -> tuple[Group, ...]:
    return tuple(group for group in grid.groups if group[0].block.precision == precision)


def _shows_scaling(policy: BatchPolicy, nodes: int, per_node: int) -> bool:
    """Processes that share cores are no more hardware than their base."""
    shared = any(row.case.shares_cores for row in policy.summaries if row.case.scale == f"{nodes}x{per_node}")
    return policy.base_devices == (1,) and nodes * per_node > 1 and not shared


def for_paper(sheet: Any) -> None:
    sheet.set_landscape()
    sheet.set_paper(9)  # A4, in Excel's numbering
    sheet.fit_to_pages(1, 0)
    sheet.set_footer("&C&P / &N")
