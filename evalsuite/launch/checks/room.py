"""Whether what is to be run finds room: on the disk, and in the time that the allocation has left."""

import shutil
import time
from collections.abc import Callable, Sequence

from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.model import Run
from evalsuite.plan.estimate import Estimate
from evalsuite.runs.store import Store

USUAL_BYTES = 20 << 20  # a node: logs and two samples a second for an hour
LEAST_BYTES = 64 << 20


def check_disk_space(runs: Sequence[Run], store: Store) -> None:
    if not runs:
        return
    needed = max(LEAST_BYTES, USUAL_BYTES * sum(run.case.nodes for run in runs))
    standing = next(folder for folder in (store.root.resolve(), *store.root.resolve().parents) if folder.exists())
    free = shutil.disk_usage(standing).free
    if free < needed:
        sizes = {"free": _megabytes(free), "needed": _megabytes(needed), "each": _megabytes(USUAL_BYTES)}
        raise EvalsuiteError.of("launch.no_room", root=store.root, **sizes, runs=len(runs))


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
