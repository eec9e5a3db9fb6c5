"""`evalsuite data`: made-up data sets in every script's format, and whether what lies there serves."""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from evalsuite import paths
from evalsuite.adapter import Adapter
from evalsuite.commands.options import number_parsing
from evalsuite.commands.options.common import add_options
from evalsuite.commands.printing import i18n
from evalsuite.commands.printing.i18n import say
from evalsuite.commands.printing.terminal import line, note
from evalsuite.errors import EvalsuiteError, Exit
from evalsuite.launch.provision import data_manifest, made_data
from evalsuite.plan import data_sets, plan, spec
from evalsuite.registry import choose_adapters, discover

HELP = "make up the same data in every script's format, or check the data sets that lie there"
EXAMPLES = """  evalsuite data make imagenet imagenet-recordio
  evalsuite data make --for pytorch/examples-imagenet --for data/specs/official-cpu.toml
  evalsuite data make bert-hdf5 --size full-shape/100 --seed 7
  evalsuite data check --for ngc_tensorflow/bert-base-2020 --ranks 16
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(title="what to do", metavar="make|check", dest="action", required=True)
    make = actions.add_parser("make", help="write data sets into $EVALSUITE_DATA, one after the other")
    check = actions.add_parser(
        "check", help="hold data sets against their format and their manifest; hashes every file"
    )
    for action in (make, check):
        action.add_argument("names", nargs="*", metavar="NAME", help="as docs/recipes.md lists them")
        action.add_argument(
            *("--for", "--wanted-by"),
            metavar="SPEC_OR_RECIPE",
            dest="wanted_by",
            action="append",
            default=[],
            help="what it reads: a spec's file, a profile, or FRAMEWORK/RECIPE; repeatable",
        )
        add_options(action, "adapters", "lang")
    make.add_argument("--size", default="tiny", help="tiny (default), 10k, full-shape, or a part of it: full-shape/100")
    make.add_argument("--seed", type=number_parsing.whole, default=made_data.SEED, help="of all items (default: 1)")
    make.add_argument("--again", action="store_true", help="replace what was made with another seed or size")
    check.add_argument("--ranks", metavar="N", type=number_parsing.whole, default=1, help="that read at once (1)")
    add_options(check, "json")


def run(arguments: argparse.Namespace) -> int:
    names = list(dict.fromkeys((*arguments.names, *_wanted(arguments.wanted_by, discover(arguments.adapters)))))
    if not names:
        raise EvalsuiteError.of("commands.data_nothing")
    return _make(names, arguments) if arguments.action == "make" else _check(names, arguments)


def _wanted(asked: Sequence[str], adapters: Mapping[str, Adapter]) -> list[str]:
    return [name for one in asked for name in _of_one(one, adapters)]


def _of_one(asked: str, adapters: Mapping[str, Adapter]) -> list[str]:
    framework, slash, recipe = asked.partition("/")
    if slash and framework in adapters:
        return data_sets.of_recipe(framework, adapters[framework].recipe(recipe))
    wanted = spec.read(Path(asked)) if asked.endswith(".toml") else spec.profile(asked)
    recipes = [
        (adapter.name, recipe)
        for matrix in wanted.matrices()
        for adapter in choose_adapters(matrix.frameworks, adapters)
        for model in matrix.models
        for recipe in plan.recipes_for(adapter, model, matrix.recipes)
    ]
    return [name for framework, recipe in recipes for name in data_sets.of_recipe(framework, recipe)]


def _make(names: Sequence[str], arguments: argparse.Namespace) -> int:
    size = data_sets.size(arguments.size)
    for name in names:
        data_sets.data_set(name)  # raises before the first is made
    for name in names:
        folder = made_data.make(name, size=size, seed=arguments.seed, again=arguments.again, progress=note)
        line(f"{name} {folder}")
    note(say("data.made", n=len(names), folder=paths.data_sets()))
    return Exit.DONE


def _check(names: Sequence[str], arguments: argparse.Namespace) -> int:
    problems = {name: data_manifest.problem(name, arguments.ranks, thorough=True) for name in names}
    differing = data_manifest.differing(name for name, problem in problems.items() if problem is None)
    if arguments.json:
        found = {"folder": str(paths.data_sets()), "problems": problems, "differing": differing}
        print(json.dumps(found, indent=1, ensure_ascii=False))
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
