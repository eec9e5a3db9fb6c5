"""What was found on each node before the first run, as it is kept beside the runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from evalsuite.documents import Document
from evalsuite.files import write_json

FOLDER = "preflight"
Severity = Literal["error", "warning"]


@dataclass(frozen=True, kw_only=True)
class DeviceProcess:
    """A program that has something on an accelerator. None: the driver or the machine does not say it."""

    device: int
    pid: int
    name: str | None = None
    memory_bytes: int | None = None


@dataclass(frozen=True, kw_only=True)
class NodeFacts:
    """What one node says of itself. None: it did not say."""

    evalsuite: str | None = None  # its version
    sources_sha256: str | None = None  # of evalsuite's own files
    folder: Literal["shared", "another", "read_only"] | None = None  # the runs folder, as the node sees it
    folder_said: str | None = None  # why it cannot be written
    free_bytes: int | None = None  # of the runs folder's file system
    cores: float | None = None
    devices: int | None = None  # accelerators
    busy: Mapping[str, float] | None = None  # programs that are not ours → the cores that they take
    on_devices: tuple[DeviceProcess, ...] | None = None  # programs on its accelerators before any run is there
    probe_s: float | None = None  # what a fixed computation took on all cores
    machine: str | None = None  # the same for two names of one machine
    absent: tuple[str, ...] | None = None  # programs of the runs to come that it cannot start


@dataclass(frozen=True, kw_only=True)
class Trouble:
    """One thing that is not as it should be on a node; *kind* and *values* make the sentence."""

    node: str
    kind: str  # a key of the sentences: "unreached", "clock", …
    severity: Severity
    values: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class CheckedNode:
    """One node and what is known of it."""

    name: str
    facts: NodeFacts | None  # None: it was not reached
    clock_offset_s: float | None = None  # ahead of ours, as far as the way of its words lets it be told
    troubles: tuple[Trouble, ...] = ()

    @property
    def fit(self) -> bool:
        return not any(trouble.severity == "error" for trouble in self.troubles)


@dataclass(frozen=True, kw_only=True)
class Preflight(Document):
    """All nodes of an allocation, as they were found before the runs that follow."""

    at: str  # ISO 8601 with zone
    engine: str
    evalsuite: str
    wanted: int  # nodes of the largest scale
    nodes: tuple[CheckedNode, ...]

    @property
    def chosen(self) -> tuple[str, ...]:
        """The nodes that are fit, in their order; a slow one after those that are not."""
        fit = [node for node in self.nodes if node.fit]
        return tuple(node.name for node in sorted(fit, key=_is_slow))

    @property
    def enough(self) -> bool:
        return len(self.chosen) >= self.wanted


def _is_slow(node: CheckedNode) -> bool:
    return any(trouble.kind == "slow" for trouble in node.troubles)


def write(found: Preflight, runs: Path) -> Path:
    """Keeps *found* beside the runs; where it lies."""
    folder = runs / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    stamp = "".join(character for character in found.at[:23] if character.isalnum())
    file = folder / f"{stamp}.json"
    write_json(file, found.to_json())
    return file
