"""What the runs to be made will take, in sentences: for `plan`, and before `run` and `compare` start anything."""

import contextlib
from collections.abc import Iterable, Iterator, Sequence

from evalsuite.commands.launching.request import MANAGED, Options, Place
from evalsuite.commands.printing.i18n import say
from evalsuite.commands.printing.terminal import duration
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.model import Run
from evalsuite.launch import batch_search
from evalsuite.launch.batch_search import MOST
from evalsuite.launch.provision import virtualenvs
from evalsuite.logs import catalogue
from evalsuite.plan.estimate import Estimate, Price
from evalsuite.plan.plan import Plan
from evalsuite.runs.store import TRIALS, RunFolder, Store

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
    hours = _device_hours(prices)
    key = "plan.left" if not seconds or len(seconds) == len(prices) else "plan.left_partly"
    cost = _cost(prices) if seconds else ""
    time = duration(sum(seconds)) if seconds else say("plan.unknown_time")
    yield say(key, missing=len(left), runs=len(plan.runs), time=time, cost=cost)
    trial_prices = search_prices(plan, place, options)
    yield from search_sentences(plan, trial_prices)
    limit = plan.spec.max_device_hours
    if limit is not None and hours + options.spent_h + _device_hours(trial_prices) > limit:
        yield say("plan.beyond_limit", limit=f"{limit:g}")
    if unmade := _unmade_environments(plan, options, left):
        yield say("plan.not_made_yet", frameworks=", ".join(unmade))


def _cost(prices: Sequence[Price]) -> str:
    nodes = sum(price.node_hours or 0.0 for price in prices)
    return say("plan.cost", hours=_hours(_device_hours(prices))) + say("plan.node_hours", hours=_hours(nodes))


def search_sentences(plan: Plan, prices: Sequence[Price]) -> Iterator[str]:
    if not prices:
        return
    known = [price.seconds for price in prices if price.seconds is not None]
    whole = len(known) == len(prices)
    yield say(
        "plan.searches",
        n=len(plan.to_search),
        trials=sum(price.runs for price in prices),
        time=duration(sum(known)) if whole else say("plan.unknown_trial"),
        cost=say("plan.cost", hours=_hours(_device_hours(prices))) if whole else "",
    )


def search_prices(plan: Plan, place: Place, options: Options) -> tuple[Price, ...]:
    """The price of the trials that are still to be made, by those that have ended; framework by framework."""
    if not plan.to_search:
        return ()
    store = Store(place.store.root / TRIALS)
    dialects = catalogue.known(options.search_paths)
    left = [
        run
        for case in plan.to_search
        for run in batch_search.remaining_trials(case, plan.recipe(case), store, dialects, MOST)
    ]
    return Estimate(list(_durations(store.finished()))).prices(left)


def _unmade_environments(plan: Plan, options: Options, left: Iterable[Run]) -> list[str]:
    if options.environment != MANAGED:
        return []
    cases = {(run.case.framework, run.case.recipe, run.case.device): run.case for run in left}.values()
    return list(
        dict.fromkeys(
            case.framework
            for case in cases
            if plan.recipe(case).pins(case.device)
            and virtualenvs.existing(plan.recipe(case), device=case.device) is None
        )
    )


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


def _device_hours(prices: Sequence[Price]) -> float:
    return sum(price.device_hours or 0.0 for price in prices)


def _hours(value: float) -> str:
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"
