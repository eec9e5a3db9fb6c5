"""Checks free disk space before the first run."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from evalsuite.errors import EvalsuiteError
from evalsuite.messages import Message
from evalsuite.model import Run
from evalsuite.runs.store import RunFolder, Store

USUAL_BYTES = 20 << 20  # of a run on one node whose size nobody knows: logs and two samples a second for an hour
MOST_WEIGHED = 20  # finished runs whose folders are added up
SPARE = 2.0  # times what is expected: logs differ, and scripts write into their working folder
LEAST_BYTES = 64 << 20


def check_disk_space(runs: Sequence[Run], store: Store) -> None:
    """Raises EvalsuiteError if the disk of *store* has not the room that *runs* are expected to need."""
    if not runs:
        return
    needed, by = needed_bytes(runs, store)
    standing = next(folder for folder in (store.root.resolve(), *store.root.resolve().parents) if folder.exists())
    free = shutil.disk_usage(standing).free
    if free < needed:
        raise EvalsuiteError.of(
            "launch.no_room", root=store.root, free=_megabytes(free), needed=_megabytes(needed), runs=len(runs), by=by
        )


def needed_bytes(runs: Sequence[Run], store: Store) -> tuple[int, str]:
    """What *runs* will take on the disk with some to spare, and by what that is told."""
    weighed = [_weight(folder) for folder in store.finished()[-MOST_WEIGHED:]]
    if weighed:
        each, by = sum(weighed) / len(weighed), Message("launch.disk_by_runs", n=len(weighed))
        return max(LEAST_BYTES, round(SPARE * each * len(runs))), by
    nodes = sum(run.case.nodes for run in runs)
    return max(LEAST_BYTES, nodes * USUAL_BYTES), Message("launch.disk_usual", size=_megabytes(USUAL_BYTES))


def _weight(folder: RunFolder) -> int:
    return sum(_size(file) for file in folder.path.rglob("*"))


def _size(file: Path) -> int:
    try:
        return file.stat().st_size if file.is_file() else 0
    except OSError:
        return 0


def _megabytes(size: float) -> str:
    return f"{size / 1e6:,.0f} MB"
