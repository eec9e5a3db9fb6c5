"""Whether the image or environment of each participant holds what its official script imports: `doctor --spec`."""

import functools
import shlex
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
from evalsuite.launch.provision.recipe_locks import distribution
from evalsuite.plan import containers, plan, repositories, spec
from evalsuite.plan.containers import Container
from evalsuite.rehearsal import tables as rehearsal


def checks(file: Path, folders: Sequence[Path]) -> list[Check]:
    """Each image or environment of the spec in *file* is asked once for what its scripts import."""
    asked = spec.named(str(file))
    frameworks = {each.name: each.framework for each in asked.participants}
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
            if lacking and container:
                remedy = _layer(frameworks.get(case.framework, case.framework), recipe, lacking)
            said = "absent" if state == "missing" and not container else state
            found.append(
                check(name=name, state=state, detail=Message(f"launch.imports_{said}", **facts), remedy=remedy)
            )
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


def _layer(framework: str, recipe: Recipe, names: Sequence[str]) -> str:
    """The line that makes an image with *names* over that of *recipe*, by the pins with which its script has run."""
    how = rehearsal.of_framework(framework).get(recipe.name)
    pins = [*recipe.requirements, *(how.pins if how else ())]
    of = {virtualenvs.module(distribution(pin)): pin for pin in reversed(pins)}
    for name in how.libraries if how else ():
        source = repositories.named(name, repositories.of(recipe))
        of[name] = f"git+{source.address}@{source.commit}"
    known, unknown = ([name for name in names if (name in of) is there] for there in (True, False))
    lines = [f"FROM {recipe.image}"]
    lines += ["RUN pip install --no-cache-dir " + " ".join(of[name] for name in known)] if known else []
    lines += [f"# {' '.join(unknown)}: ?"] if unknown else []
    return f"printf '%s\\n' {shlex.join(lines)} | docker build -t {framework}-{recipe.name.lower()}:own -"
