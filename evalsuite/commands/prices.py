"""What the runs to be made will take, in sentences: for `plan`, and before `run` and `compare` start anything."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from evalsuite.commands.speech import say
from evalsuite.commands.terminal import duration
from evalsuite.model import Run
from evalsuite.plan.estimate import Price

if TYPE_CHECKING:
    from evalsuite.commands.asked import Asked


def sentences(asked: "Asked", left: Sequence[Run]) -> Iterator[str]:
    """What the runs *left* take: a line for each framework where there are several, the sum, and what it leaves out."""
    found = asked.estimate(left).prices(left)
    if len(found) > 1:
        yield from map(_of_framework, found)
    runs = len(asked.plan.runs)
    seconds = [one.seconds for one in found if one.seconds is not None]
    hours = sum(one.device_hours or 0.0 for one in found)
    if seconds and len(seconds) == len(found):
        cost = say("plan.cost", hours=_hours(hours))
        yield say("plan.left", missing=len(left), runs=runs, time=duration(sum(seconds)), cost=cost)
    elif seconds:
        cost = say("plan.cost", hours=_hours(hours))
        yield say("plan.left_partly", missing=len(left), runs=runs, time=duration(sum(seconds)), cost=cost)
    else:
        yield say("plan.left", missing=len(left), runs=runs, time=say("plan.unknown_time"), cost="")
    limit = asked.plan.spec.max_device_hours
    if limit is not None and hours > limit:
        yield say("plan.beyond_limit", limit=f"{limit:g}")
    if unmade := asked.not_made_yet(left):
        yield say("plan.not_made_yet", frameworks=", ".join(unmade))


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


def _hours(value: float) -> str:
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"
