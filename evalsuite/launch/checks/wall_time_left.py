"""Whether a run still fits into the time that the allocation has left."""

import time
from collections.abc import Callable

from evalsuite.core.model import Run
from evalsuite.plan.estimate import Estimate

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
        seconds = expected.seconds if expected and expected.basis != "recorded" else 0.0
        fits = self._clock() + seconds < self._end_s
        self.refused = self.refused or not fits
        return fits
