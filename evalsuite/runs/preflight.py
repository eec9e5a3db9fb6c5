"""What each node reported before the first run."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from evalsuite.core.documents import Document
from evalsuite.core.files import write_json
from evalsuite.core.messages import Phrase

FOLDER = "preflight"
Severity = Literal["error", "warning"]
Area = Literal["network", "infiniband", "clocks", "numa"]
AREAS = get_args(Area)


@dataclass(frozen=True, kw_only=True)
class DeviceProcess:
    """A program on an accelerator. None: the driver or the machine does not say it."""

    device: int
    pid: int
    name: str | None = None
    memory_bytes: int | None = None


@dataclass(frozen=True, kw_only=True)
class Pitfall:
    """What makes training slower on a machine than it could be."""

    area: Area
    seen: Phrase
    remedy: Phrase


@dataclass(frozen=True, kw_only=True)
class NodeFacts:
    """None: the node did not say."""

    evalsuite: str | None = None
    sources_sha256: str | None = None  # of evalsuite's own files
    folder: Literal["shared", "another", "read_only"] | None = None  # the runs folder, as the node sees it
    folder_said: str | None = None  # why it cannot be written
    free_bytes: int | None = None  # on the runs folder's file system
    cores: float | None = None
    devices: int | None = None  # accelerators
    busy: Mapping[str, float] | None = None  # other programs → cores
    on_devices: tuple[DeviceProcess, ...] | None = None  # on its accelerators
    probe_s: float | None = None  # of a fixed computation on all cores
    machine: str | None = None  # the same for two names of one machine
    absent: tuple[str, ...] | None = None  # missing programs
    pitfalls: tuple[Pitfall, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class Trouble:
    node: str
    kind: str  # of a sentence: "unreached", "clock"
    severity: Severity
    values: Mapping[str, Phrase] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class CheckedNode:
    name: str
    facts: NodeFacts | None  # None: unreached
    clock_offset_s: float | None = None  # ahead of this machine's, about
    troubles: tuple[Trouble, ...] = ()

    @property
    def fit(self) -> bool:
        return not any(trouble.severity == "error" for trouble in self.troubles)

    @property
    def slow(self) -> bool:
        return any(trouble.kind == "slow" for trouble in self.troubles)


@dataclass(frozen=True, kw_only=True)
class Preflight(Document):
    at: str  # ISO 8601 with zone
    engine: str
    evalsuite: str
    wanted: int  # nodes of the largest scale
    nodes: tuple[CheckedNode, ...]

    @property
    def chosen(self) -> tuple[str, ...]:
        """The fit nodes in their order; slow ones last."""
        fit = [node for node in self.nodes if node.fit]
        return tuple(node.name for node in sorted(fit, key=lambda node: node.slow))

    @property
    def enough(self) -> bool:
        return len(self.chosen) >= self.wanted


def write(preflight: Preflight, runs: Path) -> Path:
    folder = runs / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    stamp = "".join(character for character in preflight.at[:23] if character.isalnum())
    file = folder / f"{stamp}.json"
    write_json(file, preflight.to_json())
    return file
