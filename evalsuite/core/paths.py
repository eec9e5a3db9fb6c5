"""Where adapters, templates and data are."""

import functools
import os
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).resolve().parents[1]


def _house() -> Path:
    """Inside the package in a wheel; beside it in a checkout and an editable install."""
    return PACKAGE if (PACKAGE / "adapters").is_dir() else PACKAGE.parent


ADAPTERS = _house() / "adapters"
TEMPLATES = _house() / "templates"
SECTIONS = PACKAGE / "report" / "sections"  # templates beside their modules
DATA = _house() / "data"
SCRATCH = "scratch"  # in a run folder: where its processes are started
ENTER = "enter.sh"  # in SCRATCH: starts mpirun, and its daemons, in the container of each node
FIRST_ENDED = "first-node.ended"  # in a run folder: tells the agents of the other nodes to end too


@functools.cache
def read_data(name: str) -> dict[str, Any]:
    """A file of ours below `data/`; nobody changes it."""
    import tomllib  # slow, and rarely needed

    return tomllib.loads((DATA / name).read_text(encoding="utf-8"))


def read_rows(file: Path) -> list[dict[str, str]]:
    """Of a table of ours; a line of its head may be a remark."""
    import csv

    with file.open(encoding="utf-8-sig", newline="") as lines:
        return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def cache() -> Path:
    """Environments, checkouts, fonts, figures: all can be made again."""
    if named := os.environ.get("EVALSUITE_CACHE"):
        return Path(named).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "evalsuite"


def data_sets() -> Path:
    """The user's (`imagenet`, …): `{data}` in command lines."""
    named = os.environ.get("EVALSUITE_DATA")
    return Path(named).expanduser() if named else cache() / "data"
