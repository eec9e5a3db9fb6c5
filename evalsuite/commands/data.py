"""`evalsuite data`: made-up data sets in every script's format, and whether what lies there serves."""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import get_args

from evalsuite.commands.printing import i18n
from evalsuite.commands.printing.i18n import say
from evalsuite.commands.printing.terminal import line, note, print_json
from evalsuite.contracts import registry
from evalsuite.contracts.adapter import Adapter
from evalsuite.contracts.registry import discover
from evalsuite.core import paths
from evalsuite.core.errors import EvalsuiteError, Exit
from evalsuite.core.model import Device
from evalsuite.launch.provision import data_manifest, made_data
from evalsuite.plan import data_sets, plan, spec, variants


def run(arguments: argparse.Namespace) -> int:
    adapters = discover(arguments.adapters)
    wanted = (name for framework in arguments.wanted_by for name in _wanted(framework, adapters))
    names = list(dict.fromkeys((*arguments.names, *wanted)))
    if not names:
        raise EvalsuiteError.of("commands.data_nothing", names=sorted(data_sets.declared().data_sets))
    return _make(names, arguments) if arguments.action == "make" else _check(names, arguments)


def _wanted(asked: str, adapters: Mapping[str, Adapter]) -> list[str]:
    word, slash, recipe = asked.partition("/")
    framework = registry.framework(word)
    if slash and framework in adapters:
        return data_sets.of_recipe(framework, adapters[framework].recipe(recipe))
    wanted = spec.read(Path(asked)) if asked.endswith(".toml") else spec.profile(asked)
    known = variants.with_participants(adapters, wanted.participants)
    machines = [plan.Machine(cores=None, accelerators=None, device=device) for device in get_args(Device)]
    return [
        name
        for matrix in wanted.matrices()
        for machine in machines
        for case, recipe in plan.of_matrix(matrix, known, machine, None)
        for name in (data_sets.read_in(recipe, [case]) if recipe else ())
    ]


def _make(names: Sequence[str], arguments: argparse.Namespace) -> int:
    size = data_sets.size(arguments.size)
    for name in names:
        data_sets.data_set(name)  # raises before the first is made
    for name in names:
        line(f"{name} {made_data.make(name, size=size, again=arguments.again, progress=note)}")
    note(say("data.made", n=len(names), folder=paths.data_sets()))
    return Exit.DONE


def _check(names: Sequence[str], arguments: argparse.Namespace) -> int:
    problems = {name: data_manifest.problem(name, 1, thorough=True) for name in names}
    differing = data_manifest.differing(name for name, problem in problems.items() if problem is None)
    if arguments.json:
        print_json({"folder": str(paths.data_sets()), "problems": problems, "differing": differing})
    else:
        for name, problem in problems.items():
            line(f"{name}: {i18n.worded(problem) if problem else _described(name)}")
        if differing:
            line(i18n.worded(differing))
    return Exit.USAGE if differing or any(problems.values()) else Exit.DONE


def _described(name: str) -> str:
    manifest = data_manifest.read(name)
    if manifest is None:
        return say("data.not_made")
    return say("data.whole", size=manifest.size, seed=manifest.seed, items=sum(manifest.items.values()))
