"""Whether the image or environment of each participant holds what its official script imports: `doctor --spec`."""

import functools
import sys
from collections.abc import Sequence
from pathlib import Path

from evalsuite.contracts.adapter import Recipe
from evalsuite.contracts.registry import discover
from evalsuite.core.messages import Message
from evalsuite.core.model import by_key
from evalsuite.launch import runner
from evalsuite.launch.checks import imports
from evalsuite.launch.checks.nodes import Check, State
from evalsuite.launch.programs import ask_program
from evalsuite.launch.provision import virtualenvs
from evalsuite.plan import containers, plan, repositories, spec
from evalsuite.plan.containers import Container


def checks(file: Path, folders: Sequence[Path]) -> list[Check]:
    """Each image or environment of the spec in *file* is asked once for what its scripts import."""
    asked = spec.named(str(file))
    container = containers.here(asked.container) if asked.container else None
    every = (
        (case, recipe)
        for case, recipe in plan.every_case(asked, discover((*folders, *asked.brings)))
        if case.device == "gpu"
    )
    wanted = {
        f"{case.framework}/{recipe.name}": (case, recipe)
        for case, recipe in every
        if recipe.checkout or recipe.command_of(case).folder
    }
    check, found = functools.partial(Check, group="imports"), []
    for place, names in by_key((_place(recipe, container), name) for name, (_, recipe) in wanted.items()).items():
        needed = {}
        for name in names:
            case, recipe = wanted[name]
            if not recipe.checkout or repositories.folder(recipe).is_dir():
                needed[name] = imports.packages(recipe, recipe.command_of(case))
                continue
            remedy = f"evalsuite env repositories {recipe.checkout}"
            detail = Message("launch.imports_unread", name=recipe.checkout)
            found.append(check(name=name, state="later", detail=detail, remedy=remedy))
        words = sorted({word for these in needed.values() for word in these})
        printed = _asked(place, container, words) if words else ""
        for name, these in needed.items():
            case, recipe = wanted[name]
            lacking = imports.lacking(printed, these)
            state: State = "later" if lacking is None else "missing" if lacking else "ok"
            facts = {"place": place or Message("launch.new_environment"), "names": sorted(lacking or these)}
            remedy = "" if place else f"evalsuite env create {name} --device gpu"
            detail = Message(f"launch.imports_{state}", **facts)
            found.append(check(name=name, state=state, detail=detail, remedy=remedy))
    return found


def _place(recipe: Recipe, container: Container | None) -> str:
    """An image, or the path of an interpreter; "": of an environment that is not made yet."""
    if container and recipe.environment not in ("managed", "current"):
        return recipe.image
    made = virtualenvs.existing(recipe, device="gpu") or virtualenvs.existing(recipe, device="cpu")
    return sys.executable if recipe.environment == "current" else str(made.python) if made else ""


def _asked(place: str, container: Container | None, names: Sequence[str]) -> str:
    if container and not Path(place).is_file():
        return runner.ask_image(container, place, imports.FINDING, *names)
    answer = ask_program((place, "-I", "-c", imports.FINDING, *names), runner.ASKING_S) if place else None
    return answer.stdout if answer else ""
