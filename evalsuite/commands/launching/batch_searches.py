"""The largest batch that fits, searched for: before the runs of a spec that asks for it, and by `largest-batch`."""

import argparse
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from evalsuite.commands import preflight
from evalsuite.commands.launching import prices
from evalsuite.commands.launching.found_batches import MOST, memory_bytes
from evalsuite.commands.launching.launcher import make_launcher
from evalsuite.commands.launching.request import Options, Place, Request, read_request
from evalsuite.commands.printing import i18n
from evalsuite.commands.printing.i18n import say
from evalsuite.commands.printing.terminal import note
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.messages import Message
from evalsuite.core.model import Case, Run, Skip
from evalsuite.launch import batch_search, campaign
from evalsuite.launch.batch_search import DeviceHourBudget
from evalsuite.plan import searched as plan_searched
from evalsuite.plan.largest import Largest, Tried
from evalsuite.plan.plan import Plan
from evalsuite.runs import trials


class Searched(Protocol):
    @property
    def tried(self) -> Sequence[Tried]: ...
    @property
    def at_limit(self) -> bool: ...


def find_batches(arguments: argparse.Namespace, request: Request) -> Request:
    """*request* with the batch of every case, searched for now where it is not known; the same without such cases."""
    plan, place, options = request.plan, request.place, request.options
    if not plan.to_search:
        return request
    if why := place.engine.unready(os.environ):
        raise EvalsuiteError(why)
    for sentence in prices.search_sentences(plan, prices.search_prices(plan, place, options)):
        note(sentence)
    place = preflight.choose_nodes(plan, place, options, [Run(case=case, repeat=0) for case in plan.to_search])
    budget = DeviceHourBudget(most=plan.spec.max_device_hours)
    for case, largest in search_batches(plan, place, options, lambda cases: plan.to_search, MOST, budget):
        note(say("largest.found", label=_label(case), batch=largest.batch or "–", history=history(largest)))
    again = read_request(arguments)
    left = tuple(
        Skip(case=case, reason=Message("commands.search_open"))
        for case in again.plan.cases
        if any(plan_searched.series(case) == plan_searched.series(unfound) for unfound in again.plan.to_search)
    )
    return replace(again, plan=again.plan.without(left), options=replace(again.options, spent_h=budget.spent))


def search_batches(
    plan: Plan,
    place: Place,
    options: Options,
    starts: Callable[[tuple[Case, ...]], Sequence[Case]],
    most: int,
    budget: DeviceHourBudget,
) -> list[tuple[Case, Largest]]:
    """Searches from each case that *starts* gives of those that can be run, by short runs, saying each trial; those
    that *budget* does not cover are left out, with a note."""
    ready = campaign.environments(plan, options.environment, note, place.engine.container)
    limit = memory_bytes(plan.spec, place.machine.device)
    launcher = make_launcher(plan.spec, place.engine, options, ready)
    launcher = replace(launcher, stop_after_window=False, memory_bytes=limit)
    store = trials.store(place.store.root, limit)
    searches = []
    for case in starts(plan.without(ready.skips).cases):
        if (case.framework, case.recipe) not in ready.pythons:
            continue

        def say_trial(batch: int, aim: str, label: str = _label(case)) -> None:
            note(say("largest.trying", label=label, batch=batch, aim=say(f"largest.{aim}")))

        largest = batch_search.search_batch(case, plan.recipe(case), store, launcher, most, say_trial, budget)
        if largest is None:
            note(say("largest.no_hours", label=_label(case), limit=f"{budget.most:g}"))
        else:
            searches.append((case, largest))
    return searches


def _label(case: Case) -> str:
    return f"{case.framework}/{case.recipe} {case.scale} {case.precision}"


def history(search: Searched) -> str:
    """Every trial in its order: 8 fits, 16 fits, 32 out of memory, …"""
    tried = ", ".join(f"{each.batch} {say(f'largest.{each.ends}')}" for each in search.tried)
    last = search.tried[-1].reason if search.tried and search.tried[-1].ends == "failed" else ""
    limit = say("largest.at_limit") if search.at_limit else ""
    return "; ".join(filter(None, (tried, i18n.worded(last), limit)))
