"""`evalsuite data`: made-up data sets in every script's format, and whether what lies there serves."""

import argparse
import shutil
from collections.abc import Iterator, Mapping, Sequence

from evalsuite.commands.printing import i18n
from evalsuite.commands.printing.i18n import say
from evalsuite.commands.printing.terminal import line, note, print_json
from evalsuite.contracts import registry
from evalsuite.contracts.adapter import Adapter
from evalsuite.contracts.registry import discover
from evalsuite.core import paths
from evalsuite.core.errors import EvalsuiteError, Exit
from evalsuite.launch.provision import data_manifest, made_data
from evalsuite.plan import data_sets, plan, spec


def run(arguments: argparse.Namespace) -> int:
    adapters = discover(arguments.adapters)
    names = dict.fromkeys(arguments.names, 0)
    for asked in arguments.wanted_by:
        for name, files in _wanted(asked, adapters):
            names[name] = max(files, names.get(name, 0))
    if not names:
        raise EvalsuiteError.of("commands.data_nothing", names=sorted(data_sets.declared().data_sets))
    return _make(names, arguments) if arguments.action == "make" else _check([*names], arguments)


def _wanted(asked: str, adapters: Mapping[str, Adapter]) -> Iterator[tuple[str, int]]:
    """Data set, and how many of its files a script is told of: 0 where none is."""
    word, slash, recipe = asked.partition("/")
    framework = registry.framework(word)
    if slash and framework in adapters:
        yield from ((name, 0) for name in data_sets.of_recipe(framework, adapters[framework].recipe(recipe)))
        return
    for case, each in plan.every_case(spec.named(asked), adapters):
        named = {} if each.refusal(case) else data_sets.parts(each, case)
        yield from ((name, named.get(name, 0)) for name in data_sets.read_in(each, [case]))


def _make(names: Mapping[str, int], arguments: argparse.Namespace) -> int:
    asked = data_sets.size(arguments.size)
    sizes = {name: data_sets.fitting(name, asked, arguments.parts, files) for name, files in names.items()}
    if asked.times > 1 and not any(size.times > 1 for size in sizes.values()):
        raise EvalsuiteError.of("commands.data_no_longer", names=[*names], size=str(asked))
    if asked.name != "tiny":  # how large and how long, of what is not there yet, before the first is begun
        root = paths.data_sets()
        missing = [(data_sets.data_set(name), size) for name, size in sizes.items() if not (root / name).exists()]
        needed = sum(data_sets.needed_bytes(*each) for each in missing)
        root.mkdir(parents=True, exist_ok=True)
        room = {"gigabytes": f"{needed / 1e9:,.0f}", "free": f"{shutil.disk_usage(root).free / 1e9:,.0f}"}
        hours = sum(data_sets.core_seconds(*each) for each in missing) / 3600
        note(say("data.in_all", n=len(missing), hours=f"{hours:,.1f}", **room))
    for name, size in sizes.items():
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
            made = None if problem else data_manifest.read(name)
            facts = {"size": made.size, "seed": made.seed, "items": sum(made.items.values())} if made else {}
            whole = say("data.whole", **facts) if made else say("data.not_made")
            line(f"{name}: {i18n.worded(problem) if problem else whole}")
        if differing:
            line(i18n.worded(differing))
    return Exit.USAGE if differing or any(problems.values()) else Exit.DONE
