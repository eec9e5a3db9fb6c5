"""Folders into which agents recorded, by the names of their files: `parse` looks for them, and needs no more."""

import os
import re
from pathlib import Path

_AGENT_LOG = re.compile(r"(?s)log\.(?P<whose>.+)\.txt")
BY_AGENT = re.compile(r"(?s)(?:agent|environment)\..+\.json|arrivals\..+\.csv|samples\..+\.(?:jsonl|columns)")


def arrivals_of(log: Path) -> Path | None:
    """What an agent noted beside a log that it wrote."""
    name = _AGENT_LOG.fullmatch(log.name)
    return log.with_name(f"arrivals.{name['whose']}.csv") if name else None


def is_recording(folder: Path) -> bool:
    try:
        return any(map(BY_AGENT.fullmatch, os.listdir(folder)))
    except OSError:
        return False


def units(root: Path) -> list[Path]:
    """The files below *root*; a folder into which agents recorded is one."""
    paths: list[Path] = []
    for place, folders, names in os.walk(root):
        if any(map(BY_AGENT.fullmatch, [*folders, *names])):
            folders.clear()
            paths.append(Path(place))
        else:
            links = (name for name in folders if Path(place, name).is_symlink())
            paths += [Path(place, name) for name in (*names, *links)]
    return sorted(paths)
