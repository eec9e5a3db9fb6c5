"""`evalsuite preflight`: looks at every node before anything is spent. `compare` and `run` do it first on a cluster."""

import argparse
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from evalsuite.commands.launching import engine_choice
from evalsuite.commands.launching.request import MANAGED, Options, Place
from evalsuite.commands.printing.i18n import say, worded
from evalsuite.commands.printing.terminal import note, print_json, table
from evalsuite.core.errors import EvalsuiteError, Exit
from evalsuite.core.model import Run, by_key
from evalsuite.launch.checks import node_check, preflight
from evalsuite.launch.provision import virtualenvs
from evalsuite.plan.engines import Engine
from evalsuite.plan.plan import Plan
from evalsuite.runs.preflight import Preflight


def run(arguments: argparse.Namespace) -> int:
    if arguments.on_node is not None:
        return _on_node(arguments.on_node, arguments.token or "", arguments.program)
    preflight = look(_engine(arguments), arguments.runs, arguments.nodes, arguments.devices_per_node)
    if arguments.json:
        print_json(preflight.to_json())
    else:
        _print_table(preflight)
        for sentence in sentences(preflight):
            print(sentence)
    return Exit.DONE if preflight.enough else Exit.USAGE


def _on_node(folder: Path, token: str, programs: Sequence[str]) -> int:
    node_check.report(folder, token, programs, lambda line: print(line, flush=True))
    return Exit.DONE


def _engine(arguments: argparse.Namespace) -> Engine:
    engine = engine_choice.engine(arguments)
    if why := engine.unready(os.environ):
        raise EvalsuiteError(why)
    if engine.name == "local":
        return replace(engine, nodes=("localhost",))
    if not engine.nodes:
        raise EvalsuiteError.of("commands.preflight_nodes", name=engine.name)
    return engine


def look(engine: Engine, runs: Path, nodes: int | None, devices: int | None, programs: Sequence[str] = ()) -> Preflight:
    """What is found on the nodes of *engine*, of which *nodes* are wanted (all) with so many accelerators each, and
    with these *programs*."""
    return preflight.look_at_nodes(
        engine, runs, preflight.Wanted(nodes=nodes or len(engine.nodes), devices=devices, programs=tuple(programs))
    )


def choose_nodes(plan: Plan, place: Place, options: Options, missing: Sequence[Run]) -> Place:
    """*place* on the nodes that are fit for the *missing* runs, saying what was found. As it is where the engine knows
    no nodes. Raises EvalsuiteError if too few are fit: before anything is spent."""
    engine = place.engine
    if not engine.nodes or engine.on is None or not missing:
        return place
    nodes, devices = _largest(missing)
    note(say("preflight.begins", nodes=len(engine.nodes)))
    facts = look(engine, place.store.root, nodes, devices, interpreters(plan, options, missing))
    for sentence in sentences(facts):
        note(sentence)
    if not facts.enough:
        raise EvalsuiteError.of(
            "commands.preflight_too_few", name=engine.name, fit=len(facts.chosen), nodes=len(facts.nodes), wanted=nodes
        )
    return replace(place, engine=engine.limited_to(facts.chosen))


def replace_nodes(root: Path, missing: Sequence[Run], programs: Sequence[str]) -> Callable[[Engine], Engine]:
    """What looks at the nodes again once the infrastructure has failed a run, and gives the engine on those that are
    fit. Where too few are left for the largest of the *missing* runs, the smaller ones go on with them."""
    wanted = _largest(missing)

    def on_fit_nodes(engine: Engine) -> Engine:
        if not engine.nodes or engine.on is None:
            return engine
        preflight = look(engine, root, *wanted, programs)
        names = (*preflight.chosen, *(node.name for node in preflight.nodes if not node.fit))
        if names == engine.nodes:
            return engine
        for sentence in sentences(preflight):
            note(sentence)
        note(say("preflight.mended", nodes=_list_names(preflight.chosen) or "—"))
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


def sentences(preflight: Preflight) -> list[str]:
    """What is not as it should be, a sentence each, the same of several nodes in one."""
    alike = by_key(
        ((trouble.kind, tuple(sorted(trouble.values.items()))), trouble.node)
        for node in preflight.nodes
        for trouble in node.troubles
    )
    told = [
        say(
            "preflight.line",
            nodes=_list_names(names),
            what=say(f"preflight.{kind}", **{k: worded(v) for k, v in values}),
        )
        for (kind, values), names in alike.items()
    ]
    left_out = [node.name for node in preflight.nodes if not node.fit]
    if left_out and preflight.enough:
        told.append(say("preflight.left_out", nodes=_list_names(left_out)))
    return told


def _list_names(names: Sequence[str], most: int = 8) -> str:
    more = f", … ({len(names)})" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _print_table(preflight: Preflight) -> None:
    sides = {"node": "left", "fit": "left", "clock": "right", "cores": "right", "accelerators": "right",
             "free": "right", "probe": "right"}  # fmt: skip
    columns = [(say(f"preflight.column_{name}"), side) for name, side in sides.items()]
    rows = []
    for node in preflight.nodes:
        facts = node.facts
        room = None if facts is None or facts.free_bytes is None else facts.free_bytes / 2**30
        cells = (
            (node.clock_offset_s, "{:+.1f} s"),
            (facts and facts.cores, "{:g}"),
            (facts and facts.devices, "{}"),
            (room, "{:.1f} GiB"),
            (facts and facts.probe_s, "{:.2f} s"),
        )
        shown = ["—" if value is None else form.format(value).replace("-0.0 s", "+0.0 s") for value, form in cells]
        rows.append((node.name, say("preflight.yes" if node.fit else "preflight.no"), *shown))
    table(say("preflight.title", nodes=len(preflight.nodes)), columns, rows)
