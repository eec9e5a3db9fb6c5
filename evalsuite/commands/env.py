"""`evalsuite env`: environments of the recipes with their locks, and the official repositories that they run."""

import argparse
import functools
import shutil
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evalsuite.commands.printing import i18n
from evalsuite.commands.printing.terminal import note, print_json, table
from evalsuite.contracts import registry
from evalsuite.contracts.adapter import Adapter, Recipe
from evalsuite.contracts.registry import discover
from evalsuite.core.errors import EvalsuiteError, Exit
from evalsuite.core.model import Case, Device
from evalsuite.launch.checks import imports
from evalsuite.launch.provision import checkouts, made_data, virtualenvs
from evalsuite.launch.provision.checkouts import State
from evalsuite.launch.provision.git import CannotFetch
from evalsuite.launch.provision.installer import CannotInstall
from evalsuite.launch.provision.recipe_locks import PinnedEnvironment, find_mistakes, read_lock, write_lock
from evalsuite.plan import data_sets, plan, spec
from evalsuite.plan.repositories import Repository, known, named
from evalsuite.rehearsal import tables as rehearsal

Recipes = list[tuple[str, "Recipe"]]  # "pytorch/reference-resnet50", and the recipe


def run(arguments: argparse.Namespace) -> int:
    adapters = discover(arguments.adapters)
    if arguments.action == "repositories":
        return _repositories(arguments)
    recipes = _recipes(adapters, arguments.names)
    if arguments.action == "remove":
        return _remove(recipes, arguments.device)
    if arguments.action == "image":
        return _print_layers(recipes)
    if arguments.action == "lock":
        pinned = environments(recipes, with_data=not arguments.names)
        unlike = {name: each for name, each in pinned.items() if find_mistakes(each)}
        failed = _print_each(unlike, write_lock)
    else:
        made = functools.partial(virtualenvs.ensure, device=arguments.device, progress=note)
        failed = _print_each(dict(recipes), lambda recipe: made(recipe).parent.parent)
    return Exit.SOME_FAILED if failed else Exit.DONE


def _print_each(things: Mapping[str, Any], make: Callable[[Any], object]) -> int:
    """Name and what was made of it, a line each; gives how many could not be made."""
    failed = 0
    for name, thing in things.items():
        try:
            print(f"{name} {make(thing)}")
        except (CannotInstall, CannotFetch) as error:
            failed += 1
            note(f"{name}: {i18n.worded(error.message)}")
    return failed


def _recipes(adapters: Mapping[str, Adapter], names: Sequence[str]) -> Recipes:
    every = {f"{adapter.name}/{recipe.name}": recipe for adapter in adapters.values() for recipe in adapter.recipes}
    wanted: dict[str, Recipe] = {}
    for given in names:
        framework, slash, recipe = given.partition("/")
        name = f"{registry.framework(framework)}{slash}{recipe}"
        named = {key: recipe for key, recipe in every.items() if key == name or key.startswith(f"{name}/")}
        if not named:
            raise EvalsuiteError.of("commands.env_unknown", name=name)
        wanted |= named
    return list((wanted if names else every).items())


def environments(recipes: Recipes, *, with_data: bool) -> dict[str, PinnedEnvironment]:
    """By name: those of *recipes* on a CPU and on each kind of GPU, and in a rehearsal."""
    every: list[tuple[Recipe, Device, tuple[str, ...]]] = []
    for name, recipe in recipes:
        how = rehearsal.of_framework(name.partition("/")[0]).get(recipe.name)
        in_rehearsal = rehearsal.rehearsed(recipe, how) if how and not how.impossible else recipe
        every += [(each, "cpu", each.requirements) for each in (recipe, in_rehearsal)]
        every += [(recipe, "gpu", pins) for pins in (recipe.pins("gpu"), *recipe.other_wheels)]
    writers = map(made_data.environment_of, data_sets.declared().data_sets.values()) if with_data else ()
    every += [(each, "cpu", each.requirements) for each in writers]
    pinned = (PinnedEnvironment(recipe=recipe, device=device, pins=pins) for recipe, device, pins in every if pins)
    return {each.name: each for each in pinned}


def _print_layers(recipes: Recipes) -> int:
    """A Dockerfile each: the recipe's image, with what its scripts import, of the versions in its locks."""
    for name, recipe in recipes:
        if not recipe.image:
            raise EvalsuiteError.of("commands.env_no_image", name=name)
        framework, _, of_it = name.partition("/")
        case = Case(framework=framework, recipe=of_it, model=recipe.model, batch_per_device=1, device="gpu")
        pinned = environments([(name, recipe)], with_data=False).values()
        locked = (line for each in pinned if (lock := read_lock(each)) for line in lock.lines.values())
        pins = {*(line.split()[0] for line in locked), *(pin for each in pinned for pin in each.every_pin)}
        others = pins - {each.pins[0] for each in pinned}  # the framework is the image's
        print(imports.layer(recipe, imports.needed(framework, recipe, case), sorted(others)), end="")
    return Exit.DONE


def _remove(recipes: Recipes, device: Device) -> int:
    for name, recipe in recipes:
        made = virtualenvs.existing(recipe, device=device)
        if made is None or made.given:  # somebody else has made it: it is theirs
            note(i18n.say("env.nothing", name=name))
            continue
        shutil.rmtree(made.folder)
        print(i18n.say("env.removed", name=name, folder=made.folder, megabytes=f"{made.size_bytes / 1e6:,.0f}"))
    return Exit.DONE


def _repositories(arguments: argparse.Namespace) -> int:
    repositories = known(arguments.adapters)
    wanted = [*arguments.names, *(_needed(arguments) if arguments.profile else ())]
    if wanted:
        names = repositories if wanted == ["all"] else wanted
        return _fetch([named(name, repositories) for name in names], arguments)
    states = [(repository, checkouts.state(repository)) for repository in repositories.values()]
    if arguments.json:
        print_json([_repository_facts(*each) for each in states])
        return Exit.DONE
    rows = [
        (each.name, "/".join(each.owner_and_name), each.commit[:10], each.licence, _words(state))
        for each, state in states
    ]
    keys = ("columns.name", "repositories.repository", "repositories.commit", "repositories.licence", "env.here")
    table(i18n.say("repositories.title", n=len(rows)), [(i18n.say(key), "left") for key in keys], rows)
    return Exit.DONE


def _needed(arguments: argparse.Namespace) -> list[str]:
    cases = plan.every_case(spec.named(arguments.profile), discover(arguments.adapters))
    wanted = (name for _, recipe in cases for name in (recipe.checkout, *recipe.libraries) if name)
    names = list(dict.fromkeys(wanted))
    if not names:
        raise EvalsuiteError.of("commands.profile_not_official", name=arguments.profile)
    return names


def _fetch(repositories: Sequence[Repository], arguments: argparse.Namespace) -> int:
    fetch = functools.partial(checkouts.get, mirror=arguments.mirror, incomplete=arguments.incomplete, progress=note)
    failed = _print_each({each.name: each for each in repositories}, fetch)
    if failed == len(repositories):
        return Exit.USAGE
    return Exit.SOME_FAILED if failed else Exit.DONE


def _words(state: State) -> str:
    if not state.present:
        return i18n.say("env.absent")
    if state.changed:
        return i18n.say("repositories.changed", files=", ".join(state.changed[:2]))
    return i18n.say("repositories.without", n=len(state.absent)) if state.absent else i18n.say("repositories.whole")


def _repository_facts(repository: Repository, state: State) -> dict[str, object]:
    return {
        **{"name": repository.name, "repository": repository.address, "commit": repository.commit},
        **{"licence": repository.licence, "folder": str(repository.folder) if state.present else None},
        **{"commit_here": state.commit, "clean": state.clean if state.present else None, "absent": [*state.absent]},
    }
