"""What a rehearsal proved: `data/rehearsal/evidence/<framework>-<recipe>.json`; logs in `tests/logs/rehearsed`."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, ClassVar

from evalsuite import files, paths
from evalsuite.decode import at_least
from evalsuite.documents import Document
from evalsuite.model import Status

FOLDER = paths.DATA / "rehearsal" / "evidence"
LOGS = paths.DATA.parent / "tests" / "logs" / "rehearsed"
Count = Annotated[int, at_least(0)]


@dataclass(frozen=True, kw_only=True)
class ScaleEvidence:
    """One scale: what was asked, what the log showed."""

    date: str
    launcher: str  # "torch.distributed.run", "mpirun"; "python": the script alone
    ranks: Count
    hosts: Count
    batch_per_device: Count
    steps: str  # "5+20"
    steps_seen: Count  # the last step in the log
    reports: Count  # lines with a step
    options: tuple[tuple[str, str], ...]
    status: Status  # what the log reader made of it
    reason: str
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
    device: str  # whose command line
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

    @property
    def file_name(self) -> str:
        return f"{self.framework}-{self.recipe}.json"

    def joined(self, before: "Evidence | None") -> "Evidence":
        """With the scales of *before*, if all else is the same."""
        if before is None or replace(before, scales={}) != replace(self, scales={}):
            return self
        return replace(self, scales={**before.scales, **self.scales})


def read(framework: str, recipe: str, folder: Path = FOLDER) -> Evidence | None:
    """None: never rehearsed."""
    file = folder / f"{framework}-{recipe}.json"
    return Evidence.from_json(files.read_json(file), file) if file.is_file() else None


def write(evidence: Evidence, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / evidence.file_name
    files.write_json(file, evidence.joined(read(evidence.framework, evidence.recipe, folder)).to_json())
    return file
