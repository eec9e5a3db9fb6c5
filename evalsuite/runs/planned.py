"""The plan beside the run folders, and the case of each folder."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Annotated, ClassVar

from evalsuite.core import redaction
from evalsuite.core.decode import Mistake, at_least, message, refusal
from evalsuite.core.documents import Document, StatedMachine
from evalsuite.core.expressions import OwnColumn, OwnCriterion
from evalsuite.core.model import Case, Measurement, Run, Skip


@dataclass(frozen=True, kw_only=True)
class Planned(Document):
    TRY: ClassVar[str] = "try_plan"

    profile: str
    repeats: Annotated[int, at_least(0)]
    cases: tuple[Case, ...]
    skips: tuple[Skip, ...]
    most_repeats: int | None = None  # of a case that *repeats* leave open; None: none gets more

    columns: tuple[OwnColumn, ...] = ()
    criteria: tuple[OwnCriterion, ...] = ()
    machine: StatedMachine | None = None
    expected_run_s: float | None = None  # what the spec says of a run, until one like it has ended

    def mistakes(self) -> Iterator[Mistake]:
        for place, case in enumerate((*self.cases, *(skip.case for skip in self.skips))):
            key = f"cases[{place}]" if place < len(self.cases) else f"skips[{place - len(self.cases)}].case"
            yield from (Mistake(f"{key}.{name}", text) for name, text in _mistakes(case))


@dataclass(frozen=True, kw_only=True)
class AskedRun(Case, Document):
    """The fields of a case, and `repeat`. Unknown keys are refused: a case with one axis less is another case."""

    CLOSED: ClassVar[bool] = True
    repeat: Annotated[int, at_least(0)]

    @classmethod
    def of(cls, run: Run) -> "AskedRun":
        return cls(repeat=run.repeat, **{field.name: getattr(run.case, field.name) for field in fields(Case)})

    @property
    def run(self) -> Run:
        case = Case(**{field.name: getattr(self, field.name) for field in fields(Case)})
        return Run(case=case, repeat=self.repeat)

    def mistakes(self) -> Iterator[Mistake]:
        return _mistakes(self)


def _mistakes(case: Case) -> Iterator[Mistake]:
    least = {  # key → (value, minimum)
        "nodes": (case.nodes, 1),
        "devices_per_node": (case.devices_per_node, 1),
        "protocol.warmup_steps": (case.protocol.warmup_steps, 0),
        "protocol.measured_steps": (case.protocol.measured_steps, 1),
    }
    for key, (value, low) in least.items():
        if value < low:
            yield Mistake(key, refusal(value, message("at_least", least=low)))
    if case.batch_per_device <= 0:
        yield Mistake("batch_per_device", refusal(case.batch_per_device, message("above", least=0)))
    names = {"framework": case.framework, "recipe": case.recipe, "model": case.model}
    yield from (Mistake(key, refusal(name, message("filled_text"))) for key, name in names.items() if not name)
    if secret := redaction.find_secret({**names, "options": dict(case.options)}):
        yield Mistake(secret, message("secret_in_case"))


def cases(planned: Planned, measurements: Sequence[Measurement], wanted: set[str] | None) -> tuple[Case, ...]:
    known = {case.id for case in planned.cases}
    others = dict.fromkeys(run.run.case for run in measurements if run.run.case.id not in known)
    return tuple(case for case in (*planned.cases, *others) if wanted is None or case.id in wanted)
