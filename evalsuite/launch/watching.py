"""Whether a run can be ended before its script ends: its measured steps are done, or it hangs."""

import time
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from evalsuite.contracts.adapter import Recipe
from evalsuite.contracts.dialect import Dialect
from evalsuite.core.model import Run, Step
from evalsuite.runs.endings import Enough
from evalsuite.runs.store import RunFolder

SILENT_S = 120.0  # after the last step
MIDWAY_S = 600.0  # between steps, at least
MIDWAY_TIMES = 30  # times the longest silence before: an evaluation, a checkpoint


def make_enough(
    run: Run, recipe: Recipe, folder: RunFolder, dialects: Mapping[str, Dialect], *, stop_after_window: bool = False
) -> Callable[[], Enough | None]:
    """Says why the run can be ended, if it can.

    "no_limit": its measured steps are done and the script has no limit; "window": they are done and
    *stop_after_window*; "hung": they are done and nothing was printed for SILENT_S, as of process groups that hang when
    taken down; "silent": it was silent for far longer than ever before. Before its first step a script may compile or
    index data.
    """
    from evalsuite.logs import reading

    endless = recipe.step_bound == "none"
    planned: Enough | None = "no_limit" if endless else "window" if stop_after_window else None

    def find_end() -> Enough | None:
        logs = folder.logs()
        silent_s = (time.time() - max(log.path.stat().st_mtime for log in logs)) if logs else 0.0
        if not logs or not (planned or silent_s > min(SILENT_S, MIDWAY_S)):
            return None
        steps = reading.read_run(logs, run.case, recipe.dialect_name, dialects=dialects).steps
        if not steps:
            return None
        if steps[-1].index >= run.case.protocol.total_steps:
            return planned or ("hung" if silent_s > SILENT_S else None)
        longest = longest_silence_s(steps)
        if longest is not None and silent_s > max(MIDWAY_S, MIDWAY_TIMES * longest):
            return "silent"
        return None

    return find_end


def longest_silence_s(steps: Sequence[Step]) -> float | None:
    """The longest time without a step, also before the first; None where no arrival is known."""
    arrivals = [step.arrival_s for step in steps if step.arrival_s is not None]
    return max(after - before for before, after in pairwise([0.0, *arrivals])) if arrivals else None
