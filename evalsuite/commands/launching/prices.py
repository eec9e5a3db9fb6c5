"""What the runs to be made will take, in sentences: for `plan`, and before `run` and `compare` start anything."""

import contextlib
from collections.abc import Iterable, Iterator, Sequence

from evalsuite.commands.launching.request import Options, Place
from evalsuite.commands.printing.i18n import say
from evalsuite.commands.printing.terminal import duration
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.model import Run
from evalsuite.plan.estimate import Estimate, Job
from evalsuite.plan.plan import Plan
from evalsuite.runs.store import RunFolder, Store
from evalsuite.schedulers import SCHEDULERS

MOST_READ = 2000  # run folders that are not of the plan


def estimate(plan: Plan, store: Store, left: Iterable[Run]) -> Estimate:
    return of_runs(plan.runs, store, left, plan.spec.expected_run_s)


def of_runs(planned: Iterable[Run], store: Store, left: Iterable[Run], stated_s: float | None) -> Estimate:
    """Expected times of the runs *left*, from the finished runs of *store*: those that were *planned*, and others."""
    ended = store.ended()
    known = dict(_durations(store.folder(run) for run in planned if ended(run)))
    if {run.case for run in left} - {run.case for run in known}:
        known |= dict(_durations(store.finished()[:MOST_READ]))
    return Estimate(list(known.items()), stated_s)


def _durations(folders: Iterable[RunFolder]) -> Iterator[tuple[Run, float]]:
    for folder in folders:
        if folder.finished:
            with contextlib.suppress(EvalsuiteError):
                taken = folder.outcome().duration_s
                if taken is not None:
                    yield folder.run(), taken


def sentences(plan: Plan, place: Place, options: Options, left: Sequence[Run]) -> Iterator[str]:
    """What the runs *left* take, and what that leaves out."""
    priced = estimate(plan, place.store, left).priced(left)
    hours = sum(case.total_devices * seconds for case, seconds in priced) / 3600
    nodes = sum(case.nodes * seconds for case, seconds in priced) / 3600
    key = "plan.left_partly" if 0 < len(priced) < len(left) else "plan.left"
    cost = say("plan.cost", hours=_hours(hours), nodes=_hours(nodes)) if priced else ""
    time = duration(sum(seconds for _, seconds in priced)) if priced else say("plan.unknown_time")
    again = {*left} - {*plan.runs}
    yield say(key, missing=len(left), runs=len(plan.runs) + len(again), time=time, cost=cost)
    if again:
        yield say("plan.base_again", n=len(again), cases=", ".join(sorted(run.case.id for run in again)))
    scheduler = None if place.engine.nodes else SCHEDULERS.get(place.engine.name)
    if scheduler and scheduler.in_turn and (found := cheaper_jobs(plan, place)):
        # for an allocation that was not made yet: its nodes are held by runs on fewer
        together, by_scale, jobs = found
        facts = {"scheduler": scheduler.title, "together": _hours(together), "apart": _hours(by_scale)}
        yield say("plan.charged_apart" if jobs else "plan.charged_together", **facts)
    if plan.to_search:
        yield say("plan.searches", n=len(plan.to_search))
    limit = plan.spec.max_device_hours
    if limit is not None and hours + options.spent_h > limit:
        yield say("plan.beyond_limit", limit=f"{limit:g}")


def cheaper_jobs(plan: Plan, place: Place) -> tuple[float, float, tuple[Job, ...]] | None:
    """Node-hours of one allocation for all, those of a job for each number of nodes, and these jobs if it is less."""
    runs = place.store.missing(plan.runs)
    expected = estimate(plan, place.store, runs)
    jobs, whole = expected.jobs(runs), expected.total(runs)
    by_scale = sum(job.nodes * job.seconds for job in jobs if job.seconds is not None)
    if len(jobs) < 2 or whole is None or None in (job.seconds for job in jobs):
        return None
    together = jobs[-1].nodes * whole
    return together / 3600, by_scale / 3600, jobs if by_scale < together else ()


def _hours(value: float) -> str:
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"
