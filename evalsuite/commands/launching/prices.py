"""What the runs to be made will take, in sentences: for `plan`, and before `run` and `compare` start anything."""

import contextlib
from collections.abc import Iterable, Iterator, Sequence

from evalsuite.commands.launching.request import Options, Place
from evalsuite.commands.printing.i18n import say
from evalsuite.commands.printing.terminal import duration
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.model import Run
from evalsuite.plan.estimate import Estimate, Price
from evalsuite.plan.plan import Plan
from evalsuite.runs.store import RunFolder, Store

MOST_READ = 2000  # run folders that are not of the plan


def estimate(plan: Plan, store: Store, left: Iterable[Run]) -> Estimate:
    """Expected times of the runs *left*, from the finished runs of *store*: those of the plan, and others."""
    ended = store.ended()
    known = dict(_durations(store.folder(run) for run in plan.runs if ended(run)))
    if {run.case for run in left} - {run.case for run in known}:
        known |= dict(_durations(store.finished()[:MOST_READ]))
    return Estimate(list(known.items()), plan.spec.expected_run_s)


def _durations(folders: Iterable[RunFolder]) -> Iterator[tuple[Run, float]]:
    for folder in folders:
        if folder.finished:
            with contextlib.suppress(EvalsuiteError):
                taken = folder.outcome().duration_s
                if taken is not None:
                    yield folder.run(), taken


def sentences(plan: Plan, place: Place, options: Options, left: Sequence[Run]) -> Iterator[str]:
    """What the runs *left* take: each framework (unless that is the sum), the sum, and what it leaves out."""
    prices = estimate(plan, place.store, left).prices(left)
    if len(prices) > 1:
        yield from map(_of_framework, prices)
    seconds = [price.seconds for price in prices if price.seconds is not None]
    hours = sum(price.device_hours or 0.0 for price in prices)
    key = "plan.left" if not seconds or len(seconds) == len(prices) else "plan.left_partly"
    nodes = sum(price.node_hours or 0.0 for price in prices)
    cost = say("plan.cost", hours=_hours(hours), nodes=_hours(nodes)) if seconds else ""
    time = duration(sum(seconds)) if seconds else say("plan.unknown_time")
    again = {*left} - {*plan.runs}
    yield say(key, missing=len(left), runs=len(plan.runs) + len(again), time=time, cost=cost)
    if again:
        yield say("plan.base_again", n=len(again), cases=", ".join(sorted(run.case.id for run in again)))
    if plan.to_search:
        yield say("plan.searches", n=len(plan.to_search))
    limit = plan.spec.max_device_hours
    if limit is not None and hours + options.spent_h > limit:
        yield say("plan.beyond_limit", limit=f"{limit:g}")


def _of_framework(price: Price) -> str:
    if price.seconds is None or price.device_hours is None or price.basis is None:
        return say("plan.price_unknown", framework=price.framework, runs=price.runs)
    return say(
        "plan.price",
        framework=price.framework,
        runs=price.runs,
        time=duration(price.seconds),
        hours=_hours(price.device_hours),
        basis=say(f"plan.by_{price.basis}"),
    )


def _hours(value: float) -> str:
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"
