"""How far an evaluation is, by the files in its folder. Nothing is held or changed.

Whether a run goes on is seen by its growing files: to try its lock could take it away from the evaluation.
"""

from dataclasses import dataclass
from pathlib import Path

from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.model import Attempt, Case, Run
from evalsuite.plan.estimate import Estimate
from evalsuite.runs.endings import Outcome
from evalsuite.runs.store import RunFolder, Store

GROWS_S = 90.0  # samples come twice a second; a network file system may show it late


@dataclass(frozen=True, kw_only=True)
class RunState:
    run: Run
    outcome: Outcome | None
    begun_s: float | None = None  # seconds since its begin, if it goes on
    quiet_s: float | None = None
    waits_for: str | None = None
    items_per_s: float | None = None  # as the journal noted it
    unit: str | None = None

    @property
    def running(self) -> bool:
        return self.quiet_s is not None and self.quiet_s < GROWS_S

    @property
    def failed(self) -> bool:
        return self.outcome is not None and not self.outcome.ended_well


@dataclass(frozen=True, kw_only=True)
class EvaluationState:
    runs: tuple[RunState, ...]
    made_again: int  # starts that the infrastructure failed
    estimated_s: float | None  # for what is left; None: nothing has ended yet

    @property
    def done(self) -> int:
        return sum(state.outcome is not None for state in self.runs)

    @property
    def failures(self) -> tuple[RunState, ...]:
        return tuple(state for state in self.runs if state.failed)

    @property
    def running(self) -> tuple[RunState, ...]:
        return tuple(state for state in self.runs if state.running)

    def of(self, case: Case) -> tuple[RunState, ...]:
        return tuple(state for state in self.runs if state.run.case == case)


NOT_BEGUN = EvaluationState(runs=(), made_again=0, estimated_s=None)


def read(store: Store, now_s: float) -> EvaluationState:
    """*now_s*: Unix time. Raises EvalsuiteError if no evaluation was begun."""
    plan = store.plan()
    if plan is None:
        raise EvalsuiteError.of("launch.none_begun", path=store.root)
    attempts = {state.run: state for state in store.journal.attempts()}  # the last of each run
    runs = [Run(case=case, repeat=repeat) for repeat in range(plan.repeats) for case in plan.cases]
    further = range(plan.repeats, plan.most_repeats or plan.repeats)  # made only where needed
    runs += filter(store.ended(), (Run(case=case, repeat=repeat) for repeat in further for case in plan.cases))
    states = [_state(run, store.folder(run), now_s, attempts.get(run.id)) for run in runs]
    estimate = Estimate([(state.run, state.outcome.duration_s or 0.0) for state in states if state.outcome])
    return EvaluationState(
        runs=tuple(states),
        made_again=len(list(store.root.glob("*/infrastructure-r*"))),
        estimated_s=estimate.total([state.run for state in states if state.outcome is None]),
    )


def _state(run: Run, folder: RunFolder, now_s: float, last: Attempt | None) -> RunState:
    if folder.finished:
        value, unit = (last.items_per_s, last.unit) if last else (None, None)
        return RunState(run=run, outcome=folder.outcome(), items_per_s=value, unit=unit)
    times = _times(folder.path)
    if not times:
        return RunState(run=run, outcome=None)
    begun_s, quiet_s = now_s - min(times), max(0.0, now_s - max(times))
    return RunState(run=run, outcome=None, begun_s=begun_s, quiet_s=quiet_s, waits_for=folder.waiting())


def _times(folder: Path) -> list[float]:
    times = []
    for file in folder.iterdir() if folder.is_dir() else ():
        try:
            times.append(file.stat().st_mtime)
        except OSError:  # it was taken away meanwhile
            continue
    return times
