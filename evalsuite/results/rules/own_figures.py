"""The columns and criteria that a spec or a file of criteria defines (evalsuite/core/expressions.py)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from evalsuite.core import expressions
from evalsuite.core.expressions import OwnColumn, OwnCriterion
from evalsuite.core.model import WORST_FIRST, Case, Interval, Row, Summary, Verdict, VerdictCell, answer
from evalsuite.results.measure import latency
from evalsuite.results.measure.summary import case_figures, valid
from evalsuite.results.rules import flops_and_energy


def fields(row: Summary) -> Mapping[str, float | None]:
    """What an expression may name; None: not measured."""
    steps, compute, energy = latency.of_case(row), flops_and_energy.compute(row), flops_and_energy.energy(row)
    used = {f"{each.resource}_utilisation": each.mean / 100 for each in row.utilisation if each.unit == "%"}
    return {
        **{name: used.get(name) for name in expressions.KNOWN},
        **{name: getattr(row.case, name) for name in expressions.SIZES},
        **{name: _at(row, name, "value") for name in expressions.WITH_INTERVAL},
        **{"n": row.n, "cv": row.cv, "step_time_s": steps.percentiles_s[0] if steps else None},
        **case_figures(row),
        **({"tflops_per_device": compute.tflops_per_device, "mfu": compute.mfu} if compute else {}),
        "energy_j_per_item": energy.joules_per_item if energy else None,
    }


def _at(summary: Summary, name: str, end: str) -> float | None:
    per_device = name == "items_per_s_per_device"
    interval = getattr(summary, "items_per_s" if per_device else name)
    by_itself = name in ("speedup", "efficiency") and summary.base == summary.case  # 1
    value: float | None = getattr(interval, "value" if by_itself else end, None)
    return value / summary.case.total_devices if value is not None and per_device else value


def with_columns(rows: Sequence[Row], columns: Sequence[OwnColumn]) -> list[Row]:
    def own(row: Summary) -> tuple[tuple[str, float | None], ...]:
        known = fields(row)
        figures = ((column.name, expressions.values(column.value, known)) for column in columns)
        return tuple((f"own_{name}", values[0] if values else None) for name, values in figures)

    return [replace(row, own=own(row)) if columns and isinstance(row, Summary) else row for row in rows]


def verdicts(rows: Sequence[Row], criteria: Iterable[OwnCriterion], planned: Sequence[Case]) -> Iterator[Verdict]:
    known: dict[Case | None, Summary] = {row.case: row for row in valid(rows) if row.decides}
    for asked in criteria:
        cases = dict.fromkeys((*planned, *(row.case for row in rows)))
        about = [case for case in cases if asked.is_about(case.framework, case.model, case.nodes)]
        cells = [_cell(asked, case, known.get(case), known) for case in about]
        verdict = Verdict(criterion=asked.name, min_nodes=asked.min_nodes, holds=asked.holds)
        if not cells:
            yield replace(verdict, **answer("no_value", "own_none"))
            continue
        cell, limit = min(cells, key=lambda cell: WORST_FIRST.index(cell[0].outcome))
        every = tuple(each for each, _ in cells)
        yield replace(verdict, **cell.judged, threshold=limit, cells=every)


def _cell(
    asked: OwnCriterion, case: Case, summary: Summary | None, known_rows: Mapping[Case | None, Summary]
) -> tuple[VerdictCell, float | None]:
    cell = VerdictCell.of(case, [case], case=case)
    if summary is None:
        return replace(cell, **answer("no_value", "missing", scales=case.scale)), None
    known = fields(summary)
    middle = expressions.values(asked.holds, known)
    if middle is None:
        lacking = ", ".join(expressions.lacking(asked.holds, known))
        return replace(cell, n=summary.n, **answer("no_value", "own_unread", fields=lacking)), None
    own = expressions.names(asked.holds) & set(expressions.WITH_INTERVAL)
    ends = [{**known, **{name: _at(summary, name, end) for name in own}} for end in ("low", "high")]
    sides = [side for side in (expressions.values(asked.holds, each) for each in ends) if side]
    cell = replace(cell, n=summary.n, measured=Interval(value=middle[0]))
    needed = (summary, known_rows.get(summary.base) if own & {"speedup", "efficiency"} else None)
    if partial := [row.n for row in needed if own and row and row.partial]:
        return replace(cell, **answer("not_decided", "few", n=str(min(partial)))), middle[1]
    if own and len(sides) < len(ends):
        return replace(cell, **answer("no_value", "own_unread", fields=", ".join(sorted(own)))), middle[1]
    held = {expressions.holds(asked.holds, each) for each in (known, *ends)}
    if len(held) > 1:
        return replace(cell, **answer("not_decided", "spans", n=str(summary.n))), middle[1]
    cell = replace(cell, outcome="fail", reason="not_met")
    return replace(cell, outcome="pass", reason="met") if True in held else cell, middle[1]
