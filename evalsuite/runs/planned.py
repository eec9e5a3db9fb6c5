"""What was asked for: the matrix beside the run folders, and the one case that each of them is for."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import ClassVar

from evalsuite import documents
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
        return cls(
            repeat=documents.noun(_Repeat, known, where, cls.TRY).repeat,
            case=documents.noun(Case, case, where, cls.TRY),
        )

    @property
    def run(self) -> Run:
        return Run(case=self.case, repeat=self.repeat)


@dataclass(frozen=True, kw_only=True)
class _Repeat:
    repeat: int


def cases(planned: Planned | None, measurements: Sequence[Measurement], wanted: set[str] | None) -> tuple[Case, ...]:
    """The cases of the plan, then those that were measured and not planned. *wanted*: their ids; None: all."""
    asked = planned.cases if planned else ()
    known = {case.id for case in asked}
    others = dict.fromkeys(run.run.case for run in measurements if run.run.case.id not in known)
    return tuple(case for case in (*asked, *others) if wanted is None or case.id in wanted)
