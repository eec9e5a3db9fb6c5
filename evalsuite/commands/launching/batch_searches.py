"""The largest batch that fits, searched for: before the runs of a spec that asks for it, and by `largest-batch`."""

import argparse
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from evalsuite.commands import speech
from evalsuite.commands.launching.found_batches import MOST, memory_bytes
from evalsuite.commands.speech import say
from evalsuite.errors import EvalsuiteError
from evalsuite.model import Case, Skip
from evalsuite.plan import searched as plan_searched
from evalsuite.plan.largest import Largest, Tried

if TYPE_CHECKING:
    from evalsuite.commands.launching.request import Asked
    from evalsuite.launch.batch_search import Purse


class Searched(Protocol):
    """What a search tried, in whichever form it is kept."""

    @property
    def tried(self) -> Sequence[Tried]: ...
    @property
    def at_limit(self) -> bool: ...


def with_batches(arguments: argparse.Namespace, asked: "Asked") -> "Asked":
    """*asked* with the batch of every case, searched for now where it is not known; the same without such cases."""
    from evalsuite.commands import preflight
    from evalsuite.commands.launching import prices
    from evalsuite.commands.launching.request import planned
    from evalsuite.commands.printing.terminal import note
    from evalsuite.launch.batch_search import Purse
    from evalsuite.model import Run

    if not asked.plan.to_search:
        return asked
    if why := asked.engine.unready(os.environ):
        raise EvalsuiteError(why)
    for sentence in prices.of_searches(asked, prices.searches(asked)):
        note(sentence)
    searches = [Run(case=case, repeat=0) for case in asked.plan.to_search]
    fit = preflight.fit(asked, searches, arguments.environment)
    purse = Purse(most=asked.plan.spec.max_device_hours)
    for case, one in searched(fit, arguments.environment, lambda cases: fit.plan.to_search, MOST, purse):
        label = f"{case.framework}/{case.recipe} {case.scale} {case.precision}"
        note(say("largest.found", label=label, batch=one.batch or "–", history=history(one)))
    again = planned(arguments)
    left = tuple(
        Skip(case=case, reason="the search for its largest batch has not ended")
        for case in again.plan.cases
        if any(plan_searched.series(case) == plan_searched.series(one) for one in again.plan.to_search)
    )
    return replace(again, plan=again.plan.without(left), searched_h=purse.spent)


def searched(
    asked: "Asked",
    environment: str,
    starts: Callable[[tuple[Case, ...]], Sequence[Case]],
    most: int,
    purse: "Purse",
) -> list[tuple[Case, Largest]]:
    """Searches from each case that *starts* gives of those that can be run, by short runs, saying each trial; those
    that *purse* does not pay to the end are left out, and said."""
    from evalsuite.commands.printing.terminal import note
    from evalsuite.launch import batch_search, campaign, runner
    from evalsuite.logs import catalogue
    from evalsuite.runs import trials

    ready = campaign.environments(
        asked.plan, asked.adapters, asked.environment(environment), note, asked.engine.container
    )
    launcher = runner.Launcher(
        engine=asked.engine,
        timeout_s=asked.plan.spec.timeout_s,
        pythons=ready.pythons,
        packages=ready.packages,
        dialects=catalogue.known(asked.places),
        sandboxed=asked.sandboxed,
        memory_bytes=memory_bytes(asked.plan.spec, asked.machine.device),
        share=asked.share,
        waits=lambda words: note(say("run.waiting", who=words)),
    )
    store = trials.store(asked.store.root, launcher.memory_bytes)
    runnable = asked.plan.without(ready.skips)
    found = []
    for case in starts(runnable.cases):
        if (case.framework, case.recipe) not in ready.pythons:
            continue
        label = f"{case.framework}/{case.recipe} {case.scale} {case.precision}"

        def told(batch: int, aim: str, label: str = label) -> None:
            note(say("largest.trying", label=label, batch=batch, aim=say(f"largest.{aim}")))

        one = batch_search.search(case, asked.recipe(case), store, launcher, most, told, purse)
        if one is None:
            note(say("largest.no_hours", label=label, limit=f"{purse.most:g}"))
        else:
            found.append((case, one))
    return found


def history(one: Searched) -> str:
    """Every trial in its order: 8 fits, 16 fits, 32 out of memory, …"""
    tried = ", ".join(f"{each.batch} {say(f'largest.{each.ends}')}" for each in one.tried)
    last = one.tried[-1].reason if one.tried and one.tried[-1].ends == "failed" else ""
    limit = say("largest.at_limit") if one.at_limit else ""
    return "; ".join(filter(None, (tried, speech.retold(last), limit)))
