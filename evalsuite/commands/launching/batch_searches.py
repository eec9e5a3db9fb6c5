"""The largest batch that fits, searched for before the runs of a spec that asks for it."""

import argparse
from dataclasses import replace

from evalsuite.commands.launching import fit_nodes
from evalsuite.commands.launching.request import Options, Place, Request, make_launcher, read_request
from evalsuite.commands.printing import i18n
from evalsuite.commands.printing.i18n import say
from evalsuite.commands.printing.terminal import note
from evalsuite.core.messages import Message
from evalsuite.core.model import Case, Run, Skip
from evalsuite.launch import batch_search, campaign
from evalsuite.launch.batch_search import MOST, DeviceHourBudget
from evalsuite.plan.largest import Largest, series
from evalsuite.plan.plan import Plan
from evalsuite.runs.store import TRIALS, Store


def find_batches(arguments: argparse.Namespace, request: Request) -> Request:
    """*request* with the batch of every case, searched for now where it is not known; the same without such cases."""
    plan, place, options = request.plan, request.place, request.options
    if not plan.to_search:
        return request
    note(say("plan.searches", n=len(plan.to_search)))
    place = fit_nodes.choose_nodes(plan, place, options, [Run(case=case, repeat=0) for case in plan.to_search])
    budget = DeviceHourBudget(most=plan.spec.max_device_hours)
    _search_batches(plan, place, options, budget)
    again = read_request(arguments)
    left = tuple(
        Skip(case=case, reason=Message("commands.search_open"))
        for case in again.plan.cases
        if any(series(case) == series(unfound) for unfound in again.plan.to_search)
    )
    return replace(again, plan=again.plan.without(left), options=replace(again.options, spent_h=budget.spent))


def _search_batches(plan: Plan, place: Place, options: Options, budget: DeviceHourBudget) -> None:
    """By short runs, saying each trial; a case that *budget* does not cover is left out, with a note."""
    ready = campaign.environments(plan, options.environment, note, place.engine.container)
    launcher = make_launcher(plan.spec, place.engine, options, ready)
    launcher = replace(launcher, stop_after_window=False)
    store = Store(place.store.root / TRIALS)
    for case in plan.to_search:
        if (case.framework, case.recipe) not in ready.pythons:
            continue

        def say_trial(batch: int, aim: str, label: str = _label(case)) -> None:
            note(say("largest.trying", label=label, batch=batch, aim=say(f"largest.{aim}")))

        largest = batch_search.search_batch(
            case, plan.recipe(case), store, launcher.dialects, MOST, launcher, say_trial, budget
        )
        if largest is None:
            note(say("largest.no_hours", label=_label(case), limit=f"{budget.most:g}"))
        else:
            note(say("largest.found", label=_label(case), batch=largest.batch or "–", history=history(largest)))


def _label(case: Case) -> str:
    return f"{case.framework}/{case.recipe} {case.scale} {case.precision}"


def history(search: Largest) -> str:
    """Every trial in its order: 8 fits, 16 fits, 32 out of memory, …"""
    tried = ", ".join(f"{each.batch} {say(f'largest.{each.ends}')}" for each in search.tried)
    last = search.tried[-1].reason if search.tried and search.tried[-1].ends == "failed" else ""
    limit = say("largest.at_limit") if search.at_limit else ""
    return "; ".join(filter(None, (tried, i18n.worded(last), limit)))
