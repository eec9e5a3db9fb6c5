"""All figures of a model's cases side by side."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from evalsuite.core.decode import whole
from evalsuite.core.model import Case
from evalsuite.report.book import cells, columns
from evalsuite.report.book.blocks import Distinction, Model, distinctions
from evalsuite.report.book.book import Book
from evalsuite.report.book.cells import Cell
from evalsuite.report.book.columns import CaseColumn
from evalsuite.report.text import names, numbers, options
from evalsuite.report.text.numbers import Number
from evalsuite.report.text.words import Rendered, Words
from evalsuite.results.compare.decisions import SIZES


@dataclass(frozen=True, kw_only=True)
class FiguresRow:
    case: Case
    notes: Distinction  # with the options of its group
    sizes: tuple[Number | None, ...]
    throughput: Cell
    values: tuple[Number | None, ...]


@dataclass(frozen=True, kw_only=True)
class FiguresTable:
    sizes: tuple[str, ...]  # the options that tell how large the model is
    columns: tuple[CaseColumn, ...]
    rows: tuple[FiguresRow, ...]
    marks: tuple[str, ...]  # that every value carries
    n: int | None

    @property
    def legend(self) -> tuple[str, ...]:
        return cells.legend(row.throughput for row in self.rows)

    @property
    def groups(self) -> list[list[FiguresRow]]:
        return [list(same) for _, same in groupby(self.rows, key=lambda row: _setting(row.case, self.sizes))]

    def title(self, words: Words) -> Rendered:
        if self.sizes:
            return words("models.by_size", sizes=words.listed(self.heads(words)))
        return words("totals.title")

    def heads(self, words: Words) -> list[Rendered]:
        return [options.title(name, words) for name in self.sizes]


def of_model(book: Book, model: Model) -> FiguresTable | None:
    cases = [case for block in model.blocks for case in block.cases]
    given = {name: {case.option(name) for case in cases} for name in SIZES}
    numbered = (name for name, of in given.items() if all(text is None or whole(text) is not None for text in of))
    sizes = tuple(name for name in numbered if len(given[name]) > 1)
    values = {case.id: columns.shown_values(summary) for case in cases if (summary := book.valid_of.get(case.id))}
    shown = columns.shown(book.evaluation)
    used = tuple(column for column in shown if any(value[column.name] is not None for value in values.values()))
    if not sizes and all(column.name == "step_time_s" for column in used):  # the throughput once more
        return None

    def order(case: Case) -> tuple[object, ...]:
        return (_setting(case, sizes), *(int(case.option(name, "0")) for name in sizes), *names.case_order(case))

    told = distinctions([_without(case, sizes) for case in cases])
    rows = [
        FiguresRow(
            case=case,
            notes=told[_without(case, sizes).id],
            sizes=tuple(numbers.count(int(text)) if (text := case.option(name)) else None for name in sizes),
            throughput=cells.throughput_cell(book, case),
            values=tuple(column.number(values.get(case.id, {})) for column in used),
        )
        for case in sorted(cases, key=order)
    ]
    marks, n = cells.of_all(row.throughput for row in rows)
    bare = tuple(replace(row, throughput=cells.bare(row.throughput, marks, n)) for row in rows)
    return FiguresTable(sizes=sizes, columns=used, rows=bare, marks=marks, n=n)


def _without(case: Case, sizes: Sequence[str]) -> Case:
    return replace(case, options=tuple(pair for pair in case.options if pair[0] not in sizes))


def _setting(case: Case, sizes: Sequence[str]) -> tuple[object, ...]:
    scale = (case.device, case.total_devices, case.nodes)
    return (*scale, case.precision, case.series_batch, _without(case, sizes).options)
