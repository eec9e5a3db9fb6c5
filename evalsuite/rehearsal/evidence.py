"""What a rehearsal proved: `data/rehearsal/evidence/<framework>-<recipe>.json`; logs in `tests/logs/rehearsed`."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, ClassVar

from evalsuite.contracts.adapter import Recipe
from evalsuite.core import files, paths
from evalsuite.core.decode import at_least
from evalsuite.core.documents import Document
from evalsuite.core.messages import Phrase
from evalsuite.core.model import Case, Device, Status
from evalsuite.plan import repositories, spec
from evalsuite.rehearsal import tables

FOLDER = paths.DATA / "rehearsal" / "evidence"
LOGS = paths.DATA.parent / "tests" / "logs" / "rehearsed"
Count = Annotated[int, at_least(0)]


@dataclass(frozen=True, kw_only=True)
class ScaleEvidence:
    date: str
    command: tuple[str, ...]  # the recipe's own, with its placeholders
    environment: Mapping[str, str]  # likewise
    launcher: str  # "torch.distributed.run", "mpirun"; "python": the script alone
    ranks: Count
    hosts: Count
    batch_per_device: Count
    steps: str  # "5+20"
    steps_seen: Count  # the last step in the log
    reports: Count  # lines with a step
    options: tuple[tuple[str, str], ...]
    status: Status  # what the log reader made of it
    reason: Phrase
    dialect: str
    unit: str | None
    logs: Mapping[str, str]  # name → SHA-256
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Evidence(Document):
    TRY: ClassVar[str] = "try_evidence"

    framework: str
    recipe: str
    model: str
    origin: str  # repository and commit, or the package that holds the script
    device: Device  # whose command line
    python: str
    pins: tuple[str, ...]
    packages: str  # all that was installed
    stand_ins: Mapping[str, str]  # name → SHA-256
    libraries: Mapping[str, str]  # name → commit
    changes: Mapping[str, object]  # of the command line
    scales: Mapping[str, ScaleEvidence] = field(default_factory=dict)

    @property
    def date(self) -> str:
        return max(scale.date for scale in self.scales.values())


def origin(recipe: Recipe) -> str:
    if not recipe.checkout:
        return recipe.source
    repository = repositories.named(recipe.checkout, repositories.of(recipe))
    return f"{repository.address} at {repository.commit}"


def case(evidence: Evidence, scale: str) -> Case:
    seen = evidence.scales[scale]
    nodes, devices = spec.scale(scale)
    return Case(
        framework=evidence.framework,
        recipe=evidence.recipe,
        model=evidence.model,
        nodes=nodes,
        devices_per_node=devices,
        batch_per_device=seen.batch_per_device,
        device=evidence.device,
        protocol=spec.steps(seen.steps),
        options=seen.options,
    )


def current(evidence: Evidence, recipe: Recipe) -> Evidence | None:
    """With the scales at which *recipe* starts the same as it did then; None if there is none."""
    how = tables.of_framework(evidence.framework).get(evidence.recipe)
    if evidence.origin != (how.release if how and how.release else origin(recipe)):
        return None
    scales = {}
    for name, then in evidence.scales.items():
        if recipe.refusal(asked := case(evidence, name)):
            continue
        now = recipe.command_of(asked)
        if (now.argv, dict(now.environment)) == (then.command, dict(then.environment)):
            scales[name] = then
    return replace(evidence, scales=scales) if scales else None


def level(evidence: Evidence) -> str:
    """It ages with its stand-ins: then they answered otherwise, as far as anybody knows."""
    return "rehearsed" if tables.stand_in_hashes(evidence.stand_ins) == evidence.stand_ins else "rehearsed earlier"


def of_recipe(framework: str, recipe: Recipe) -> Evidence | None:
    return current(seen, recipe) if (seen := read(framework, recipe.name)) else None


def read(framework: str, recipe: str, folder: Path = FOLDER) -> Evidence | None:  # None: never rehearsed
    file = folder / f"{framework}-{recipe}.json"
    return Evidence.from_json(files.read_json(file), file) if file.is_file() else None


def write(evidence: Evidence, folder: Path) -> Path:
    """With the other scales of the evidence that lies there, where all else is the same."""
    folder.mkdir(parents=True, exist_ok=True)
    before = read(evidence.framework, evidence.recipe, folder)
    if before and replace(before, scales={}) == replace(evidence, scales={}):
        evidence = replace(evidence, scales={**before.scales, **evidence.scales})
    file = folder / f"{evidence.framework}-{evidence.recipe}.json"
    evidence.write(file)
    return file
