"""Whether what is to be run finds room: on the disk, and in the time that the allocation has left."""

import shutil
import time
from collections.abc import Callable, Sequence

from evalsuite.core import files
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.model import Run
from evalsuite.plan.estimate import Estimate
from evalsuite.runs.store import Store

NODE_BYTES, DEVICE_HOUR_BYTES = 100_000, 100_000  # a run of 125 nodes × 8 devices × 10 min took 16.4 MB: half of these
USUAL_S = 600.0  # a run, before one like it has ended
LEAST_BYTES = 64 << 20


def check_disk_space(runs: Sequence[Run], store: Store, estimate: Estimate) -> None:
    if not runs:
        return
    device_h = sum(run.case.total_devices * (estimate.of(run) or USUAL_S) for run in runs) / 3600
    needed = max(LEAST_BYTES, NODE_BYTES * sum(run.case.nodes for run in runs) + DEVICE_HOUR_BYTES * device_h)
    free = shutil.disk_usage(files.existing(store.root.resolve())).free
    if free < needed:
        sizes = {"free": f"{free / 1e6:,.0f} MB", "needed": f"{needed / 1e6:,.0f} MB"}
        raise EvalsuiteError.of("launch.no_room", root=store.root, **sizes, runs=len(runs))


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
        fits = self._clock() + (self._estimate.of(run) or 0.0) < self._end_s
        self.refused = self.refused or not fits
        return fits
