"""Which points of the plan have a value."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from evalsuite.report.figures.data import FLAG, TEXT_FORM, Axis, Figure, Label, LegendEntry, Table, ref_of
from evalsuite.report.figures.shapes import Box, outlines, tiles
from evalsuite.report.figures.sheet import SMALL, TEXT, WIDTH, Panel, Sheet, draw, shortened, text_width
from evalsuite.report.figures.style import Look

CellStatus = Literal[
    "ok", "partial", "flagged", "failed", "oom", "timed_out", "invalid", "unsupported", "planned", "not_planned"
]
_LETTERS = {
    "ok": "",
    "partial": "◐",
    "flagged": FLAG,
    "failed": "✗",
    "oom": "OOM",
    "timed_out": f"⌛{TEXT_FORM}",
    "invalid": "⊘",
    "unsupported": "N/S",
    "planned": "·",
    "not_planned": "—",
}
_FILLS = {
    **dict.fromkeys(("ok",), "cell-ok"),
    **dict.fromkeys(("partial", "flagged"), "cell-partial"),
    **dict.fromkeys(("failed", "oom", "timed_out", "invalid"), "cell-bad"),
    **dict.fromkeys(("unsupported", "not_planned"), "cell-none"),
}


@dataclass(frozen=True, kw_only=True)
class CoverageCell:
    """The state of one case: its status (docs/report.md#states-and-marks) and how many valid repeats it has."""

    row: Label
    column: str  # "1x8"
    status: CellStatus
    n: int | None = None
    ref: str = ""


def coverage(cells: Sequence[CoverageCell], look: Look, *, id: str) -> Figure:
    """The test matrix: rows as first met, columns as first met, lettered and coloured by status.

    A place that no cell names is "not planned": none is left empty.
    """
    cells = tuple(cells)
    present = {cell.status for cell in cells}
    return Figure(
        id=id,
        svg=draw(_coverage, id, look, cells) if cells else None,
        table=Table(
            columns=("case", "scale", "status", "n"),
            rows=tuple((ref_of(cell.row), cell.column, cell.status, cell.n) for cell in cells),
            refs=tuple(cell.ref for cell in cells),
        ),
        legend=tuple(LegendEntry(key=key, label=letter or "5") for key, letter in _LETTERS.items() if key in present),
        axes=(Axis(key="scale"), Axis(key="case")),
        notes=tuple(key for key in _LETTERS if key in present),
    )


def _coverage(id: str, look: Look, cells: Sequence[CoverageCell]) -> str:
    rows = list(dict.fromkeys(cell.row for cell in cells))
    columns = list(dict.fromkeys(cell.column for cell in cells))
    left = min(max(text_width(row, TEXT) for row in rows) + 18, 330)
    across = min((WIDTH - left) / len(columns), 84)
    height = 30 + 28 * len(rows) + 4
    sheet = Sheet(id, height=height)
    panel = sheet.panel(left, 30, left + across * len(columns), height - 4, foot=False)
    panel.set_xlim(0, len(columns))
    panel.set_ylim(len(rows), 0)
    for i, column in enumerate(columns):
        sheet.write(left + across * (i + 0.5), 16, shortened(column, across + 4), anchor="center", colour="ink")
    for i, row in enumerate(rows):
        text = shortened(row, left - 12, TEXT)
        sheet.write(left - 8, 30 + 28 * (i + 0.5), text, anchor="right", size=TEXT, colour="ink")
    _matrix(sheet, panel, cells, rows, columns, left, across)
    return sheet.svg()


def _matrix(
    sheet: Sheet,
    panel: Panel,
    cells: Sequence[CoverageCell],
    rows: list[Label],
    columns: list[str],
    left: float,
    across: float,
) -> None:
    named = {(cell.row, cell.column): cell for cell in cells}
    groups: dict[str, list[tuple[Box, str | None]]] = {}
    for y, row in enumerate(rows):
        for x, column in enumerate(columns):
            known = named.get((row, column))
            cell = known or CoverageCell(row=row, column=column, status="not_planned")
            box = (x + 0.03, y + 0.05, 0.94, 0.9)
            groups.setdefault(cell.status, []).append((box, known.ref if known else None))
            middle = (left + across * (x + 0.5), 30 + 28 * (y + 0.5))
            sheet.write(*middle, _cell_text(cell), anchor="center", size=SMALL, colour="ink")
    for status, group in groups.items():
        boxes = [box for box, _ in group]
        shapes = outlines(panel, boxes, colour="rule", width=0.8) if status == "planned" else None
        shapes = shapes or tiles(panel, boxes, _FILLS[status])
        sheet.mark(shapes, [ref for _, ref in group])


def _cell_text(cell: CoverageCell) -> str:
    counted = cell.status in ("ok", "partial", "flagged") and cell.n is not None
    return f"{_LETTERS[cell.status]} {cell.n if counted else ''}".strip()
