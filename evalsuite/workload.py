"""What reference workloads answer that train from one start, and the receipt that holds the answers of all frameworks.

A receipt holds everything that the verdicts are computed from, so that they can be computed again, and the hash of
each file of each workload: a proof is about those files and about no others.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from evalsuite.decode import Mistake, said
from evalsuite.documents import Document


@dataclass(frozen=True, kw_only=True)
class TrainedSetting:
    """The first steps of one workload at one rate and decay."""

    name: str  # "own": the workload's; "probe": larger ones; "undecayed": without decay; "float32"
    dtype: Literal["float64", "float32"]
    learning_rate: float
    weight_decay: float
    losses: tuple[float, ...]  # before each step
    gradient_norms: Mapping[str, float]  # of the first step, by the canonical names of the weights


@dataclass(frozen=True, kw_only=True)
class WorkloadAnswer(Document):
    """What one framework's workload says after training from the given start."""

    TRY: ClassVar[str] = "try_equivalence"

    framework: str
    version: str
    model: str
    script: str  # the workload's file
    settings: tuple[TrainedSetting, ...]
    parameters: Mapping[str, str]  # canonical name → shape: "64x3x7x7"
    flops_per_item: int | None  # of the forward pass, by the shapes of the layers; None: not counted
    items_per_step: int
    bytes_reduced_per_step: int  # gradients that several processes would add up, in float32
    timed: tuple[str, ...]  # what is done between two readings of the clock
    modes: Mapping[str, str]  # what may differ and is declared: layout, eager or graph
    files: Mapping[str, str] | None = None  # name → SHA-256: the script and what it imports beside it

    @property
    def elements(self) -> int:
        """Of all parameters. Raises ValueError if a shape is none."""
        return sum(math.prod(int(side) for side in shape.split("x") if side) for shape in self.parameters.values())

    def setting(self, name: str) -> TrainedSetting | None:
        return next((each for each in self.settings if each.name == name), None)


@dataclass(frozen=True, kw_only=True)
class EquivalenceReceipt(Document):
    """The answers of all frameworks to one start."""

    TRY: ClassVar[str] = WorkloadAnswer.TRY

    model: str
    day: str  # "2026-11-22"
    evalsuite: str
    answers: tuple[WorkloadAnswer, ...]

    def mistakes(self) -> Iterator[Mistake]:
        for answer in self.answers:
            if not answer.settings or not all(setting.losses for setting in answer.settings):
                yield Mistake("answers", said("no_loss", framework=answer.framework))

    def answer(self, framework: str) -> WorkloadAnswer | None:
        return next((each for each in self.answers if each.framework == framework), None)
