"""What a step's time is made of: one table per block, in ElasticDL's form (docs/numbers.md)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from evalsuite.core.model import Breakdown, Summary
from evalsuite.report.book.blocks import Block, Model
from evalsuite.report.sections.common.section import Section, Subject
from evalsuite.report.text import numbers
from evalsuite.report.text.numbers import Form, Number
from evalsuite.results.measure import latency

# The order of a step; other names follow, in the order they are met.
PHASES = ("data", "forward_backward", "forward", "backward", "allreduce", "tensor_copy", "get_model", "optimiser")
Share = Mapping[str, Number]  # "time" and "share" of a phase
SECONDS_FROM = 10.0  # where a whole is as long as this, its table is in seconds, else in milliseconds


@dataclass(frozen=True, kw_only=True)
class StepRow:
    summary: Summary
    whole: Number
    parts: tuple[Share | None, ...]
    rest: Share | None  # None where the phases fill the whole
    communication: Number | None
    ratio: Number | None  # computation : communication, "10 : 3.06"
    overlaps: bool


@dataclass(frozen=True, kw_only=True)
class StepTimes:
    block: Block
    of: str  # "step" or "task"
    phases: tuple[tuple[str, str | None], ...]  # name, and the phase it lies inside
    rows: tuple[StepRow, ...]

    @property
    def id(self) -> str:
        return f"{self.block.id}-p{self.of[0]}"

    @property
    def legend(self) -> tuple[str, ...]:
        missing = any(None in row.parts or not row.ratio for row in self.rows)
        return tuple(["flagged"] * any(row.overlaps for row in self.rows) + ["missing"] * missing)


def sections(subject: Subject) -> Iterable[Section]:
    if tables := step_times(subject.models):
        yield Section(
            id="steptime",
            title=subject.words("steptime.title"),
            template="steptime/steptime.html.j2",
            facts=lambda: {"tables": tables},
        )


def step_times(models: Sequence[Model]) -> tuple[StepTimes, ...]:
    return tuple(times for model in models for block in model.blocks for times in _of_block(block))


def _of_block(block: Block) -> Iterable[StepTimes]:
    timed = [(summary, summary.breakdown) for summary in block.valid if summary.breakdown]
    for of in ("step", "task"):
        ours = [(summary, breakdown) for summary, breakdown in timed if breakdown.of == of]
        if ours:
            phases = _phases([breakdown for _, breakdown in ours])
            longest_s = max(spent.seconds for _, spent in ours)
            form = numbers.seconds if longest_s >= SECONDS_FROM else numbers.milliseconds
            rows = tuple(_row(row, breakdown, phases, form) for row, breakdown in ours)
            yield StepTimes(block=block, of=of, phases=phases, rows=rows)


def _phases(breakdowns: Sequence[Breakdown]) -> tuple[tuple[str, str | None], ...]:
    parents = {phase.name: phase.parent for breakdown in breakdowns for phase in breakdown.phases}
    order = {name: place for place, name in enumerate((*PHASES, *(name for name in parents if name not in PHASES)))}
    outer = sorted((name for name in parents if parents[name] not in parents), key=order.__getitem__)
    inner = {name: sorted((n for n in parents if parents[n] == name), key=order.__getitem__) for name in outer}
    return tuple((name, parents[name]) for phase in outer for name in (phase, *inner[phase]))


def _row(summary: Summary, spent: Breakdown, phases: Sequence[tuple[str, str | None]], form: Form) -> StepRow:
    waited = latency.seconds_of(spent, latency.COMMUNICATION)
    return StepRow(
        summary=summary,
        whole=form(spent.seconds),
        parts=tuple(_part(spent, spent.seconds_of(name), form) for name, _ in phases),
        rest=_part(spent, latency.rest(spent), form),
        communication=None if waited is None else numbers.percent(waited / spent.seconds),
        ratio=None if not waited else ratio(spent.seconds, waited),
        overlaps=any(True for _ in latency.findings(spent)),
    )


def _part(spent: Breakdown, seconds: float | None, form: Form) -> Share | None:
    return None if seconds is None else {"time": form(seconds), "share": numbers.percent(seconds / spent.seconds)}


def ratio(whole_s: float, communication_s: float) -> Number:
    """Computation : communication, brought to 10 : b (docs/numbers.md)."""
    if whole_s <= communication_s:
        return Number(text="0 : 10", raw=0.0)
    known = numbers.significant(10 * communication_s / (whole_s - communication_s), 3)
    return replace(known, text=f"10 : {known.text}")
