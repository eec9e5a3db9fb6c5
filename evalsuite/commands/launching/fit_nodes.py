"""Every node is looked at before anything is spent: the runs go on those that are fit."""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from evalsuite.commands.launching.request import MANAGED, Options, Place
from evalsuite.commands.printing.i18n import say, worded
from evalsuite.commands.printing.terminal import note
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.model import Run, by_key
from evalsuite.launch.checks.nodes import Node, chosen, look_at_nodes
from evalsuite.launch.provision import virtualenvs
from evalsuite.plan.engines import Engine
from evalsuite.plan.plan import Plan

MOST_NAMED = 8


def choose_nodes(plan: Plan, place: Place, options: Options, missing: Sequence[Run]) -> Place:
    """*place* on the nodes that are fit for the *missing* runs, saying what was found. As it is where the engine knows
    no nodes. Raises EvalsuiteError if it is not ready or too few are fit: before anything is spent."""
    engine = place.engine
    if why := engine.unready(os.environ):
        raise EvalsuiteError(why)
    if not engine.nodes or engine.on is None or not missing:
        return place
    wanted, devices = _largest(missing)
    note(say("nodes.begins", nodes=len(engine.nodes)))
    programs = interpreters(plan, options, missing)
    nodes = look_at_nodes(engine, place.store.root, devices=devices, programs=programs)
    fit = chosen(nodes)
    for sentence in sentences(nodes, enough=len(fit) >= wanted):
        note(sentence)
    if len(fit) < wanted:
        raise EvalsuiteError.of(
            "commands.too_few_nodes", name=engine.name, fit=len(fit), nodes=len(nodes), wanted=wanted
        )
    return replace(place, engine=engine.limited_to(fit))


def replace_nodes(root: Path, missing: Sequence[Run], programs: Sequence[str]) -> Callable[[Engine], Engine]:
    """What looks at the nodes again once the infrastructure has failed a run, and gives the engine on those that are
    fit. Where too few are left for the largest of the *missing* runs, the smaller ones go on with them."""
    wanted, devices = _largest(missing)

    def on_fit_nodes(engine: Engine) -> Engine:
        if not engine.nodes or engine.on is None:
            return engine
        nodes = look_at_nodes(engine, root, devices=devices, programs=programs)
        fit = chosen(nodes)
        names = (*fit, *(node.name for node in nodes if not node.fit))
        if names == engine.nodes:
            return engine
        for sentence in sentences(nodes, enough=len(fit) >= wanted):
            note(sentence)
        note(say("nodes.mended", nodes=_list_names(fit) or "—"))
        return engine.limited_to(names)

    return on_fit_nodes


def _largest(missing: Sequence[Run]) -> tuple[int, int | None]:
    devices = [run.case.devices_per_node for run in missing if run.case.device != "cpu"]
    return max(run.case.nodes for run in missing), max(devices, default=None)


def interpreters(plan: Plan, options: Options, missing: Sequence[Run]) -> list[str]:
    if options.environment != MANAGED:
        return []
    cases = {(run.case.device, run.case.framework, run.case.recipe): run.case for run in missing}.values()
    made = [virtualenvs.existing(plan.recipe(case), device=case.device) for case in cases]
    return sorted({str(environment.python) for environment in made if environment})


def sentences(nodes: Sequence[Node], enough: bool) -> list[str]:
    """What is not as it should be, a sentence each, the same of several nodes in one."""
    alike = by_key(((check.detail, check.remedy), check.name) for node in nodes for check in node.checks)
    told = [
        say("nodes.line", nodes=_list_names(names), what=" → ".join(worded(each) for each in texts if each))
        for texts, names in alike.items()
    ]
    left_out = [node.name for node in nodes if not node.fit]
    return [*told, say("nodes.left_out", nodes=_list_names(left_out))] if left_out and enough else told


def _list_names(names: Sequence[str]) -> str:
    more = f", … ({len(names)})" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more
