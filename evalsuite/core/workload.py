"""What reference workloads answer after training from one start, and the receipt of all frameworks. A receipt holds all
that the verdicts are computed from, and the hashes of the workload files that it proves."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from evalsuite.core.decode import Mistake, message
from evalsuite.core.documents import Document


@dataclass(frozen=True, kw_only=True)
class TrainedSetting:
    """The first steps at one rate and decay."""

    name: str  # "own": the workload's; "probe": larger; "undecayed"; "float32"
    dtype: Literal["float64", "float32"]
    learning_rate: float
    weight_decay: float
    losses: tuple[float, ...]  # before each step
    gradient_norms: Mapping[str, float]  # of the first step, by canonical names of weights


@dataclass(frozen=True, kw_only=True)
class WorkloadAnswer(Document):
    TRY: ClassVar[str] = "try_equivalence"

    framework: str
    version: str
    model: str
    script: str  # file
    settings: tuple[TrainedSetting, ...]
    parameters: Mapping[str, str]  # canonical name → shape: "64x3x7x7"
    timed: tuple[str, ...]  # between two readings of the clock
    modes: Mapping[str, str]  # declared differences: layout, eager or graph
    files: Mapping[str, str] | None = None  # SHA-256 of the script and of its imports beside it

    @property
    def elements(self) -> int:
        """Of all parameters. Raises ValueError for a bad shape."""
        return sum(math.prod(int(side) for side in shape.split("x") if side) for shape in self.parameters.values())

    def setting(self, name: str) -> TrainedSetting | None:
        return next((each for each in self.settings if each.name == name), None)


@dataclass(frozen=True, kw_only=True)
class EquivalenceReceipt(Document):
    TRY: ClassVar[str] = WorkloadAnswer.TRY

    model: str
    day: str
    evalsuite: str
    answers: tuple[WorkloadAnswer, ...]

    def mistakes(self) -> Iterator[Mistake]:
        for answer in self.answers:
            if not answer.settings or not all(setting.losses for setting in answer.settings):
                yield Mistake("answers", message("no_loss", framework=answer.framework))

    def answer(self, framework: str) -> WorkloadAnswer | None:
        return next((each for each in self.answers if each.framework == framework), None)
