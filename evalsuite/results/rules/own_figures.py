"""The columns and criteria that a spec or a file of criteria defines (evalsuite/expressions.py)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from evalsuite import expressions
from evalsuite.expressions import OwnColumn, OwnCriterion
from evalsuite.model import Case, Interval, Outcome, Row, Summary, Verdict, VerdictCell
from evalsuite.results.measure import latency
from evalsuite.results.measure.summary import case_figures, valid
from evalsuite.results.rules import flops_and_energy

OUTCOMES: Mapping[frozenset[bool], tuple[Outcome, str]] = {  # of the value and the ends of its interval → and reason
    frozenset({True}): ("pass", "met"),
    frozenset({False}): ("fail", "not_met"),
    frozenset({True, False}): ("undetermined", "spans"),
}
WORST: Sequence[Outcome] = ("fail", "undetermined", "pass")
OPPOSITE = {"low": "high", "high": "low", "value": "value"}
Earlier = Mapping[str, Summary]
"""By the ids of cases, of an earlier report."""


def fields(one: Summary, before: Summary | None = None) -> Mapping[str, float | None]:
    """What an expression may name; None: not measured."""
    steps, compute, energy = latency.of_case(one), flops_and_energy.compute(one), flops_and_energy.energy(one)
    used = {f"{each.resource}_utilisation": each.mean / 100 for each in one.utilisation if each.unit == "%"}
    return {
        **{name: used.get(name) for name in expressions.KNOWN},
        **{name: getattr(one.case, name) for name in expressions.SIZES},
        **{name: _at(one, name, "value") for name in expressions.WITH_INTERVAL},
        expressions.BEFORE: _before(before, "value"),
        **{"n": one.n, "cv": one.cv, "step_time_s": steps.percentiles_s[0] if steps else None},
        **case_figures(one),
        **({"tflops_per_device": compute.tflops_per_device, "mfu": compute.mfu} if compute else {}),
        "energy_j_per_item": energy.joules_per_item if energy else None,
    }


def _at(one: Summary, name: str, end: str) -> float | None:
    per_device = name == "items_per_s_per_device"
    found: float | None = getattr(getattr(one, "items_per_s" if per_device else name), end, None)
    return found / one.case.total_devices if found is not None and per_device else found


def _before(one: Summary | None, end: str) -> float | None:
    whole = one if end == "value" or (one and not one.partial) else None
    return getattr(whole and whole.items_per_s, OPPOSITE[end], None)


def with_columns(rows: Sequence[Row], columns: Sequence[OwnColumn], earlier: Earlier) -> list[Row]:
    judged = (Summary,) if columns else ()
    return [replace(one, own=_own(one, columns, earlier)) if isinstance(one, judged) else one for one in rows]


def _own(one: Summary, columns: Sequence[OwnColumn], earlier: Earlier) -> tuple[tuple[str, float | None], ...]:
    known = fields(one, earlier.get(one.case.id))
    found = [(column.name, expressions.values(column.value, known)) for column in columns]
    return tuple((f"own_{name}", values[0] if values else None) for name, values in found)


def verdicts(
    rows: Sequence[Row], criteria: Iterable[OwnCriterion], planned: Sequence[Case], earlier: Earlier
) -> Iterator[Verdict]:
    known = {row.case: row for row in valid(rows) if row.decides}
    for asked in criteria:
        cases = dict.fromkeys((*planned, *(row.case for row in rows)))
        about = [case for case in cases if asked.is_about(case.framework, case.model, case.nodes)]
        cells = [_cell(asked, case, known.get(case), earlier.get(case.id)) for case in about]
        verdict = Verdict(criterion=asked.name, outcome="undetermined", min_nodes=asked.min_nodes, holds=asked.holds)
        if not cells:
            yield replace(verdict, reason="own_none")
            continue
        cell, limit = min(cells, key=lambda cell: WORST.index(cell[0].outcome))
        every = tuple(each for each, _ in cells)
        yield replace(verdict, **cell.judged, threshold=limit, within_noise=cell.reason == "spans", cells=every)


def _cell(
    asked: OwnCriterion, case: Case, one: Summary | None, before: Summary | None
) -> tuple[VerdictCell, float | None]:
    """And the right side of the comparison."""
    cell = VerdictCell.of(case, outcome="undetermined", scales=(case.scale,), case=case)
    if one is None:
        return replace(cell, reason="missing", values=(("scales", case.scale),)), None
    known = fields(one, before)
    found = expressions.values(asked.holds, known)
    if found is None:
        lacking = ", ".join(expressions.lacking(asked.holds, known))
        return replace(cell, n=one.n, reason="own_unread", values=(("fields", lacking),)), None
    own = expressions.names(asked.holds) & set(expressions.WITH_INTERVAL)
    with_interval = own or expressions.BEFORE in expressions.names(asked.holds)
    ends = [
        {**known, **{name: _at(one, name, end) for name in own}, expressions.BEFORE: _before(before, end)}
        for end in ("low", "high")
    ]
    sides = [side for side in (expressions.values(asked.holds, each) for each in ends) if side]
    cell = replace(cell, n=one.n, measured=Interval(value=found[0]))
    few = (("n", str(one.n)),)
    if with_interval and (len(sides) < len(ends) or one.partial):
        return replace(cell, reason="partial", values=few), found[1]
    held = frozenset(expressions.holds(asked.holds, each) for each in (known, *ends))
    outcome, reason = OUTCOMES[held]
    return replace(cell, outcome=outcome, reason=reason, values=few if reason == "spans" else ()), found[1]
