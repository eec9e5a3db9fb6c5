"""What was shown of reference workloads that train from one start: the answers of all frameworks, and their receipt.

A receipt holds everything that the verdicts are computed from, so that they can be computed again, and the hash of
each file of each workload: a proof is about those files and about no others.
"""

import ast
import functools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from evalsuite import files, paths
from evalsuite.documents import Document

FOLDER = paths.DATA / "equivalence"  # the receipts of the house, one for each model


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

    TRY: ClassVar[str] = "Was it written by another version? Run `evalsuite equivalence` again."

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

    def answer(self, framework: str) -> WorkloadAnswer | None:
        return next((each for each in self.answers if each.framework == framework), None)


def write(receipt: EquivalenceReceipt, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{receipt.model}.json"
    files.write_json(file, receipt.to_json())
    return file


@functools.cache
def receipts(folder: Path = FOLDER) -> Mapping[str, EquivalenceReceipt]:
    """Those in *folder*, by model."""
    found = [EquivalenceReceipt.from_json(files.read_json(file), file) for file in sorted(folder.glob("*.json"))]
    return {receipt.model: receipt for receipt in found}


def hashes(script: Path) -> dict[str, str]:
    """The SHA-256 of *script* and of every file beside it that it imports, however far round, by name."""
    return {file.name: files.sha256(file) for file in sorted(_imported(script))}


def _imported(script: Path) -> set[Path]:
    found: set[Path] = set()
    left = {script}
    while left:
        file = left.pop()
        found.add(file)
        left |= {beside for name in _names(file) if (beside := script.parent / f"{name}.py").is_file()} - found
    return found


def _names(file: Path) -> Iterator[str]:
    """The modules that *file* imports by one name, as those beside a script are; none where this Python reads none."""
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
