"""Whether what is to be run finds room: on the disk, and in the time that the allocation has left."""

import contextlib
import shutil
import time
from collections.abc import Callable, Sequence

from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.messages import Message
from evalsuite.core.model import Run
from evalsuite.plan.estimate import Estimate
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


MARGIN_S = 150.0  # SIGTERM comes 120 s before the end, and no run shall meet it


class RemainingTime:
    def __init__(self, left_s: float | None, estimate: Estimate, clock: Callable[[], float] = time.monotonic) -> None:
        self._estimate, self._clock = estimate, clock
        self._end_s = None if left_s is None else clock() + left_s - MARGIN_S
        self.refused = False

    def fits(self, run: Run) -> bool:
        """Whether *run* is expected to end in time. One without an estimate of this machine may begin."""
        if self._end_s is None:
            return True
        expected = self._estimate.expected(run)
        seconds = expected.seconds if expected else 0.0
        fits = self._clock() + seconds < self._end_s
        self.refused = self.refused or not fits
        return fits
