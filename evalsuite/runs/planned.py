"""What was asked for: the matrix beside the run folders, and the one case that each of them is for."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import ClassVar, Self

from evalsuite import documents, redaction
from evalsuite.documents import Document
from evalsuite.errors import EvalsuiteError
from evalsuite.model import Case, Measurement, Run, Skip


@dataclass(frozen=True, kw_only=True)
class Planned(Document):
    """What was asked for last: what was to be run, and what was skipped."""

    TRY: ClassVar[str] = "Was the file edited, or written by another version? `evalsuite compare` writes it anew."

    profile: str
    repeats: int
    cases: tuple[Case, ...]
    skips: tuple[Skip, ...]
    most_repeats: int | None = None  # of a case that *repeats* leave open; None: none gets more

    LEAST: ClassVar[Mapping[str, float]] = {"repeats": 0}

    @classmethod
    def from_json(cls, facts: object, where: Path | str) -> Self:
        found = super().from_json(facts, where)
        for case in (*found.cases, *(skip.case for skip in found.skips)):
            _check(case, where, cls.TRY)
        return found


@dataclass(frozen=True, kw_only=True)
class AskedRun(Document):
    """The run that a folder is for: the fields of its case, and `repeat` beside them.

    A key that is not known is refused here: a case with one axis less is another case.
    """

    repeat: int
    case: Case

    def to_json(self) -> dict[str, object]:
        case = {name: value for name, value in asdict(self.case).items() if value is not None}
        return {"schema": self.SCHEMAS[-1], "repeat": self.repeat, **case}

    @classmethod
    def from_json(cls, facts: object, where: Path | str) -> "AskedRun":
        known = documents.checked_schema(facts, cls.SCHEMAS, where)
        case = {name: value for name, value in known.items() if name not in ("schema", "repeat")}
        unknown = sorted(case.keys() - {field.name for field in fields(Case)})
        if unknown:
            keys = ", ".join(field.name for field in fields(Case))
            raise EvalsuiteError(f"{where}: {unknown[0]}: no case has such a key; expected {keys}. {cls.TRY}")
        found = cls(
            repeat=documents.noun(_Repeat, known, where, cls.TRY).repeat,
            case=documents.noun(Case, case, where, cls.TRY),
        )
        _check(found.case, where, cls.TRY)
        if found.repeat < 0:
            raise EvalsuiteError(f"{where}: repeat: {found.repeat} stands there; expected at least 0. {cls.TRY}")
        return found

    @property
    def run(self) -> Run:
        return Run(case=self.case, repeat=self.repeat)


def _check(case: Case, where: Path | str, hint: str) -> None:
    """Raises EvalsuiteError if no run can be of such a *case*."""
    numbers: dict[str, tuple[float, float]] = {  # key → (what stands there, the least that can be)
        "nodes": (case.nodes, 1),
        "devices_per_node": (case.devices_per_node, 1),
        "protocol.warmup_steps": (case.protocol.warmup_steps, 0),
        "protocol.measured_steps": (case.protocol.measured_steps, 1),
    }
    for key, (found, least) in numbers.items():
        if found < least:
            raise EvalsuiteError(f"{where}: {key}: {found} stands there; expected at least {least}. {hint}")
    if case.batch_per_device <= 0:
        raise EvalsuiteError(f"{where}: batch_per_device: {case.batch_per_device} stands there; expected more. {hint}")
    names = {"framework": case.framework, "recipe": case.recipe, "model": case.model}
    if secret := redaction.first_of({**names, "options": dict(case.options)}):
        raise EvalsuiteError(
            f"{where}: {secret}: it looks like a secret, and names of cases stand in the report; expected none. Give "
            "it to the script by a variable of the environment, run the case again, and make the secret invalid."
        )
    for key in ("framework", "recipe", "model"):
        if not getattr(case, key):
            raise EvalsuiteError(f"{where}: {key}: nothing stands there; expected a name. {hint}")


@dataclass(frozen=True, kw_only=True)
class _Repeat:
    repeat: int


def cases(planned: Planned | None, measurements: Sequence[Measurement], wanted: set[str] | None) -> tuple[Case, ...]:
    """The cases of the plan, then those that were measured and not planned. *wanted*: their ids; None: all."""
    asked = planned.cases if planned else ()
    known = {case.id for case in asked}
    others = dict.fromkeys(run.run.case for run in measurements if run.run.case.id not in known)
    return tuple(case for case in (*asked, *others) if wanted is None or case.id in wanted)
