"""The figures of a case other than its speed, declared once for page, Markdown, tables, spreadsheet and `summary.json`.
The names of those that the page shows are in data/text/columns.toml."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from evalsuite.core.expressions import OwnColumn
from evalsuite.core.model import Evaluation, Summary
from evalsuite.report.text import numbers
from evalsuite.report.text.numbers import Form, Number
from evalsuite.report.text.words import Rendered, Words
from evalsuite.results.compare.fairness import cached
from evalsuite.results.measure import latency
from evalsuite.results.measure.summary import case_figure
from evalsuite.results.rules.flops_and_energy import compute, energy
from evalsuite.results.samples.run_figures import FIGURES, RunFigure


@dataclass(frozen=True, kw_only=True)
class CaseColumn:
    name: str
    value: Callable[[Summary], float | str | None]
    form: Form | None = None  # how the page prints it; None: it does not
    formula: str = ""  # of a column of the author's own, which its head shows

    def head(self, words: Words) -> Rendered:
        if self.formula:
            return words.same(f"{self.name.removeprefix('own_')} = {self.formula}")
        key = f"totals.{self.name}"
        return words(key) if key in words else words.same(self.name)

    def number(self, values: Mapping[str, float | str | None]) -> Number | None:
        value = values.get(self.name)
        return self.form(value) if self.form and isinstance(value, (int, float)) else None


MEDIAN = latency.PERCENTILES.index(50)


def _quantity(unit: str) -> Form:
    return numbers.memory if unit == "bytes" else partial(numbers.quantity, unit=unit)


def _of_figure(figure: RunFigure) -> CaseColumn:
    return CaseColumn(
        name=figure.name,
        value=lambda summary: case_figure(summary, figure),
        form=numbers.milliseconds if figure.name == "step_time_stated_s" else _quantity(figure.unit),
    )


OF_CASE = (
    CaseColumn(
        name="step_time_s",
        value=lambda row: steps.percentiles_s[MEDIAN] if (steps := latency.of_case(row)) else None,
        form=numbers.milliseconds,
    ),
    CaseColumn(
        name="tflops_per_device",
        value=lambda summary: rate.tflops_per_device if (rate := compute(summary)) else None,
        form=_quantity(""),
    ),
    CaseColumn(name="peak_tflops", value=lambda summary: rate.peak_tflops if (rate := compute(summary)) else None),
    CaseColumn(name="mfu", value=lambda row: rate.mfu if (rate := compute(row)) else None, form=numbers.percent),
    CaseColumn(
        name="energy_j_per_item",
        value=lambda summary: used.joules_per_item if (used := energy(summary)) else None,
        form=_quantity("J"),
    ),
    CaseColumn(name="energy_method", value=lambda summary: used.method if (used := energy(summary)) else None),
    *(_of_figure(figure) for figure in FIGURES if figure.over_runs),
)
SHOWN = tuple(column for column in OF_CASE if column.form)


def shown(evaluation: Evaluation) -> tuple[CaseColumn, ...]:
    return (*SHOWN, *(_own(column) for column in evaluation.columns))


def _own(column: OwnColumn) -> CaseColumn:
    name, form = f"own_{column.name}", _quantity(column.unit) if column.unit else numbers.plain
    return CaseColumn(name=name, value=lambda row: dict(row.own).get(name), form=form, formula=column.value)


@cached
def shown_values(summary: Summary) -> Mapping[str, float | str | None]:
    return {**{column.name: column.value(summary) for column in SHOWN}, **dict(summary.own)}
