"""What the runs to be made will take, in sentences: for `plan`, and before `run` and `compare` start anything."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from evalsuite.commands.printing.terminal import duration
from evalsuite.commands.speech import say
from evalsuite.model import Run
from evalsuite.plan.estimate import Estimate, Price

if TYPE_CHECKING:
    from evalsuite.commands.launching.request import Asked


def sentences(asked: "Asked", left: Sequence[Run]) -> Iterator[str]:
    """What the runs *left* take: a line for each framework where there are several, the sum, and what it leaves out."""
    found = asked.estimate(left).prices(left)
    if len(found) > 1:
        yield from map(_of_framework, found)
    runs = len(asked.plan.runs)
    seconds = [one.seconds for one in found if one.seconds is not None]
    hours = _device_hours(found)
    if seconds and len(seconds) == len(found):
        cost = say("plan.cost", hours=_hours(hours))
        yield say("plan.left", missing=len(left), runs=runs, time=duration(sum(seconds)), cost=cost)
    elif seconds:
        cost = say("plan.cost", hours=_hours(hours))
        yield say("plan.left_partly", missing=len(left), runs=runs, time=duration(sum(seconds)), cost=cost)
    else:
        yield say("plan.left", missing=len(left), runs=runs, time=say("plan.unknown_time"), cost="")
    trials = searches(asked)
    yield from of_searches(asked, trials)
    limit = asked.plan.spec.max_device_hours
    if limit is not None and hours + asked.searched_h + _device_hours(trials) > limit:
        yield say("plan.beyond_limit", limit=f"{limit:g}")
    if unmade := asked.not_made_yet(left):
        yield say("plan.not_made_yet", frameworks=", ".join(unmade))


def of_searches(asked: "Asked", found: Sequence[Price]) -> Iterator[str]:
    """What the searches for the largest batch will take, by the prices *found*, where a batch is still to be found."""
    if not found:
        return
    trials = sum(one.runs for one in found)
    known = [one.seconds for one in found if one.seconds is not None]
    whole = len(known) == len(found)
    yield say(
        "plan.searches",
        n=len(asked.plan.to_search),
        trials=trials,
        time=duration(sum(known)) if whole else say("plan.unknown_trial"),
        cost=say("plan.cost", hours=_hours(_device_hours(found))) if whole else "",
    )


def searches(asked: "Asked") -> tuple[Price, ...]:
    """The price of the trials that are still to be made, by those that have ended; framework by framework."""
    if not asked.plan.to_search:
        return ()
    from evalsuite.commands.launching.found_batches import MOST, memory_bytes
    from evalsuite.commands.launching.request import timed
    from evalsuite.launch import batch_search
    from evalsuite.logs import catalogue
    from evalsuite.runs import trials

    store = trials.store(asked.store.root, memory_bytes(asked.plan.spec, asked.machine.device))
    dialects = catalogue.known(asked.places)
    left = [
        run
        for case in asked.plan.to_search
        for run in batch_search.left(case, asked.recipe(case), store, dialects, MOST)
    ]
    return Estimate(list(timed(trials.finished(asked.store.root)))).prices(left)


def _of_framework(one: Price) -> str:
    if one.seconds is None or one.device_hours is None or one.basis is None:
        return say("plan.price_unknown", framework=one.framework, runs=one.runs)
    return say(
        "plan.price",
        framework=one.framework,
        runs=one.runs,
        time=duration(one.seconds),
        hours=_hours(one.device_hours),
        basis=say(f"plan.by_{one.basis}"),
    )


def _device_hours(prices: Sequence[Price]) -> float:
    return sum(one.device_hours or 0.0 for one in prices)


def _hours(value: float) -> str:
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"
