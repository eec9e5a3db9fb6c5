"""`evalsuite env`: the virtual environments of the recipes, one for each set of pins."""

import argparse
import json
import shutil
from collections.abc import Mapping, Sequence
from typing import Any

from evalsuite.adapter import Adapter, Recipe
from evalsuite.commands.printing import i18n
from evalsuite.commands.printing.terminal import note, table
from evalsuite.errors import EvalsuiteError, Exit
from evalsuite.launch.provision import virtualenvs
from evalsuite.model import Device
from evalsuite.registry import discover

Recipes = list[tuple[str, "Recipe"]]  # "pytorch/reference-resnet50", and the recipe
Row = dict[str, Any]  # one element of `env list --json`


def run(arguments: argparse.Namespace) -> int:
    adapters = discover(arguments.adapters)
    if arguments.action == "list":
        return _list(_recipes(adapters, ()), arguments)
    chosen = _recipes(adapters, arguments.names)
    return (_create if arguments.action == "create" else _remove)(chosen, arguments.device)


def _recipes(adapters: Mapping[str, Adapter], names: Sequence[str]) -> Recipes:
    known = {f"{adapter.name}/{recipe.name}": recipe for adapter in adapters.values() for recipe in adapter.recipes}
    found: dict[str, Recipe] = {}
    for name in names:
        named = {key: recipe for key, recipe in known.items() if key == name or key.startswith(f"{name}/")}
        if not named:
            raise EvalsuiteError.of("commands.env_unknown", name=name)
        found |= named
    return list((found if names else known).items())


def _list(recipes: Recipes, arguments: argparse.Namespace) -> int:
    rows = [_facts(name, recipe, arguments.device) for name, recipe in recipes]
    if arguments.json:
        print(json.dumps(rows, indent=1))
        return Exit.DONE
    cells = [(row["recipe"], row["python"], " ".join(row["pins"][:2]) or row["image"], _size(row)) for row in rows]
    heads = [i18n.say("columns.recipe"), "Python", i18n.say("env.pins"), i18n.say("env.here")]
    title = i18n.say("env.title", n=len(rows), device=arguments.device)
    table(title, [(head, "right" if head == heads[-1] else "left") for head in heads], cells)
    once = {row["folder"]: row["size_bytes"] for row in rows if row["folder"]}
    print(i18n.say("env.in_all", n=len(once), megabytes=f"{sum(once.values()) / 1e6:,.0f}"))
    return Exit.DONE


def _facts(name: str, recipe: Recipe, device: Device) -> Row:
    pins = [*virtualenvs.pins(recipe, device), *recipe.built]
    made = virtualenvs.existing(recipe, device=device)
    return {
        "recipe": name,
        "python": recipe.python if pins else "",
        "pins": pins,
        "image": recipe.image,
        "folder": str(made.folder) if made else None,
        "size_bytes": made.size_bytes if made else None,
    }


def _size(row: Row) -> str:
    if row["size_bytes"] is not None:
        return f"{row['size_bytes'] / 1e6:,.0f} MB"
    return i18n.say("env.absent" if row["pins"] else "env.image_only")


def _create(recipes: Recipes, device: Device) -> int:
    """Makes each; one that cannot be made does not stop the others."""
    failed = 0
    for name, recipe in recipes:
        try:
            print(f"{name} {virtualenvs.ensure(recipe, device=device, progress=note).parent.parent}")
        except virtualenvs.CannotInstall as error:
            failed += 1
            note(f"{name}: {i18n.worded(error.message)}")
    return Exit.SOME_FAILED if failed else Exit.DONE


def _remove(recipes: Recipes, device: Device) -> int:
    for name, recipe in recipes:
        made = virtualenvs.existing(recipe, device=device)
        if made is None:
            note(i18n.say("env.nothing", name=name))
            continue
        shutil.rmtree(made.folder)
        size = f"{made.size_bytes / 1e6:,.0f}"
        print(i18n.say("env.removed", name=name, folder=made.folder, megabytes=size))
    return Exit.DONE
