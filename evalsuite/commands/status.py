"""`evalsuite status`: how far an evaluation is, and what failed in it. Whether a run goes on is seen by its growing
files: to try its lock could take it away from the evaluation."""

import argparse
import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from evalsuite.commands.launching import prices
from evalsuite.commands.options import DEFAULT_RUNS
from evalsuite.commands.printing import i18n
from evalsuite.commands.printing.i18n import say
from evalsuite.commands.printing.terminal import duration, line, print_json, table
from evalsuite.core.errors import EvalsuiteError, Exit
from evalsuite.core.model import Attempt, Case, Run, by_key
from evalsuite.logs.formatting import rate
from evalsuite.runs.endings import Outcome
from evalsuite.runs.store import RunFolder, Store

DAY_S = 86_400.0
GROWS_S = 90.0  # samples come twice a second; a network file system may show it late
MOST_FAILURES = 10  # listed one by one; --json has all


@dataclass(frozen=True, kw_only=True)
class RunState:
    run: Run
    outcome: Outcome | None
    begun_s: float | None = None  # seconds since its begin, if it goes on
    quiet_s: float | None = None
    waits_for: str | None = None
    items_per_s: float | None = None  # as the journal noted it
    unit: str | None = None
    counts: bool | None = None  # likewise; None: not noted

    @property
    def running(self) -> bool:
        return self.quiet_s is not None and self.quiet_s < GROWS_S


@dataclass(frozen=True, kw_only=True)
class EvaluationState:
    runs: tuple[RunState, ...]
    made_again: int  # starts that the infrastructure failed
    estimated_s: float | None  # for what is left; None: nothing has ended yet

    @property
    def done(self) -> int:
        return sum(state.outcome is not None for state in self.runs)

    @property
    def failures(self) -> list[tuple[Run, Outcome]]:
        return [(state.run, state.outcome) for state in self.runs if state.outcome and not state.outcome.ended_well]

    @property
    def running(self) -> list[RunState]:
        return [state for state in self.runs if state.running]

    @property
    def cases(self) -> dict[Case, list[RunState]]:
        return by_key((state.run.case, state) for state in self.runs)


def read_state(store: Store, now_s: float) -> EvaluationState:
    """*now_s*: Unix time. Raises EvalsuiteError if no evaluation was begun."""
    plan = store.plan()
    if plan is None and any(store.root.glob("evaluation.*")):  # its job was submitted and has not begun
        return EvaluationState(runs=(), made_again=0, estimated_s=None)
    if plan is None:
        raise EvalsuiteError.of("launch.none_begun", path=store.root)
    attempts = {state.run: state for state in store.journal.attempts()}  # the last of each run
    runs = [Run(case=case, repeat=repeat) for repeat in range(plan.repeats) for case in plan.cases]
    further = range(plan.repeats, plan.most_repeats or plan.repeats)  # made only where needed
    runs += filter(store.ended(), (Run(case=case, repeat=repeat) for repeat in further for case in plan.cases))
    states = [_run_state(run, store.folder(run), now_s, attempts.get(run.id)) for run in runs]
    left = sorted((state for state in states if state.outcome is None), key=lambda state: not state.running)
    begun_s = left[0].begun_s if left and left[0].running else None
    undone = [state.run for state in left]
    return EvaluationState(
        runs=tuple(states),
        made_again=len(list(store.root.glob("*/infrastructure-r*"))),
        estimated_s=prices.of_runs(runs, store, undone, plan.expected_run_s).left(undone, begun_s),
    )


def _run_state(run: Run, folder: RunFolder, now_s: float, last: Attempt | None) -> RunState:
    if folder.finished:
        noted = {name: getattr(last, name) for name in ("items_per_s", "unit", "counts")} if last else {}
        return RunState(run=run, outcome=folder.outcome(), **noted)
    times = []
    for file in folder.path.glob("*"):
        with contextlib.suppress(OSError):  # it was taken away meanwhile
            times.append(file.stat().st_mtime)
    if not times:
        return RunState(run=run, outcome=None)
    begun_s, quiet_s = now_s - min(times), max(0.0, now_s - max(times))
    return RunState(run=run, outcome=None, begun_s=begun_s, quiet_s=quiet_s, waits_for=folder.waiting())


def run(arguments: argparse.Namespace) -> int:
    roots = arguments.runs or [DEFAULT_RUNS]
    if arguments.prune is not None:
        _prune(roots, arguments)
        return Exit.DONE
    states = {root: read_state(Store(root), time.time()) for root in roots}
    if arguments.json:
        facts = [{"folder": str(root), **_facts(state)} for root, state in states.items()]
        print_json(facts if len(roots) > 1 else _facts(states[roots[0]]))
    else:
        for root, state in states.items():
            if len(roots) > 1:
                line(f"{root}:")
            if state.runs:
                _print(state)
            else:
                line(say("status.not_begun", runs=root))
    return Exit.DONE


def _prune(roots: Sequence[Path], arguments: argparse.Namespace) -> None:
    """Lists the attempts that count for nothing and in which nothing has changed for long; removes them if asked."""
    now, count = datetime.now(UTC), 0
    since_s = now.timestamp() - arguments.prune * DAY_S
    for store in map(Store, roots):
        aside, finished = store.aside(), [folder.path for folder in store.finished()]
        if not aside and not finished:
            raise EvalsuiteError.of("launch.none_begun", path=store.root)
        for path in aside + (finished if arguments.finished else []):
            with contextlib.suppress(FileNotFoundError):  # another takes it away meanwhile
                if max(each.lstat().st_mtime for each in (path, *path.rglob("*"))) < since_s:
                    if arguments.go:
                        store.remove(path, now.isoformat())
                    count += 1
                    line(str(path))
    line(say("status.removed" if arguments.go else "status.would_go", n=count))


def _rows(state: EvaluationState) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for case, own in state.cases.items():
        given = next((run for run in reversed(own) if run.items_per_s is not None and run.counts is not False), None)
        last = f"{rate(given.items_per_s)} {given.unit}" if given and given.items_per_s is not None else "—"
        done, failed = _count(own)
        precision = case.precision + ("+XLA" if case.xla else "")
        rows.append((case.framework, case.model, case.scale, precision, str(case.batch_per_device),
                     f"{done}/{len(own)}", str(failed or "—"), last))  # fmt: skip
    return rows


def _count(runs: Sequence[RunState]) -> tuple[int, int]:
    """Those that are done, and of these the failed ones."""
    ended = [run.outcome.ended_well for run in runs if run.outcome]
    return len(ended), ended.count(False)


def _print(state: EvaluationState) -> None:
    sides = {"framework": "left", "model": "left", "scale": "left", "precision": "left", "batch": "right",
             "done": "right", "failed": "right", "last": "right"}  # fmt: skip
    columns = [(say(f"columns.{name}"), side) for name, side in sides.items()]
    table(say("status.title", done=state.done, runs=len(state.runs), failed=len(state.failures)), columns, _rows(state))
    for run in state.running:
        said = {"run": run.run.id, "time": duration(run.begun_s)}
        whom = {"whom": i18n.worded(run.waits_for)} if run.waits_for else {}
        line(say("status.waits" if whom else "status.running", **said, **whom))
    for run in state.runs:
        if run.quiet_s is not None and not run.running:
            line(say("status.stopped", run=run.run.id, time=duration(run.quiet_s)))
    for failed, outcome in state.failures[:MOST_FAILURES]:
        whose = say("status.of_platform" if outcome.fault else "status.of_framework")
        line(say("status.failure", run=failed.id, whose=whose, reason=i18n.worded(outcome.reason)))
    if (more := len(state.failures) - MOST_FAILURES) > 0:
        line(say("status.more_failures", n=more))
    if without := sum(run.counts is False for run in state.runs if run.outcome and run.outcome.ended_well):
        line(say("status.without", n=without))
    if state.made_again:
        line(say("status.made_again", n=state.made_again))
    if left := len(state.runs) - state.done:
        time = duration(state.estimated_s) if state.estimated_s is not None else say("plan.unknown_time")
        line(say("status.left", n=left, time=time))


def _facts(state: EvaluationState) -> dict[str, object]:
    return {
        **{"runs": len(state.runs), "done": state.done, "failed": len(state.failures), "made_again": state.made_again},
        "estimated_seconds": state.estimated_s,
        "running": [{"run": run.run.id, "seconds": run.begun_s, "waits_for": run.waits_for} for run in state.running],
        "failures": [
            {"run": run.id, "status": outcome.status, "fault": outcome.fault, "reason": outcome.reason}
            for run, outcome in state.failures
        ],
        "cases": [
            {
                "id": case.id,
                **dict(zip(("done", "failed"), _count(own), strict=True)),
                "repeats": len(own),
                "items_per_s": [run.items_per_s for run in own],
            }
            for case, own in state.cases.items()
        ],
    }
