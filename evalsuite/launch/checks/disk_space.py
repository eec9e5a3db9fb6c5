"""Checks free disk space before the first run."""

import contextlib
import shutil
from collections.abc import Sequence

from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.messages import Message
from evalsuite.core.model import Run
from evalsuite.runs.store import RunFolder, Store

USUAL_BYTES = 20 << 20  # a node: logs and two samples a second for an hour
MOST_WEIGHED = 20
SPARE = 2.0  # logs differ, and scripts write files
LEAST_BYTES = 64 << 20


def check_disk_space(runs: Sequence[Run], store: Store) -> None:
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
    """Bytes that *runs* will take with some to spare, and what the estimate rests on."""
    weighed = [_weight(folder) for folder in store.finished()[-MOST_WEIGHED:]]
    if weighed:
        each, by = sum(weighed) / len(weighed), Message("launch.disk_by_runs", n=len(weighed))
        return max(LEAST_BYTES, round(SPARE * each * len(runs))), by
    nodes = sum(run.case.nodes for run in runs)
    return max(LEAST_BYTES, nodes * USUAL_BYTES), Message("launch.disk_usual", size=_megabytes(USUAL_BYTES))


def _weight(folder: RunFolder) -> int:
    total = 0
    for file in folder.path.rglob("*"):
        with contextlib.suppress(OSError):  # it may go meanwhile
            total += file.stat().st_size if file.is_file() else 0
    return total


def _megabytes(size: float) -> str:
    return f"{size / 1e6:,.0f} MB"
