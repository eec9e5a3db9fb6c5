"""What the scripts of recipes import, what of it an image or environment lacks, and the layer that adds it. `campaign`
asks each image before the first run, `doctor --spec` images and environments."""

import ast
import functools
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from evalsuite.contracts.adapter import Command, Recipe
from evalsuite.contracts.registry import discover
from evalsuite.core import files, paths
from evalsuite.core.messages import Message
from evalsuite.core.model import Case, by_key
from evalsuite.launch import runner
from evalsuite.launch.checks.nodes import Check, State
from evalsuite.launch.programs import ask_program
from evalsuite.launch.provision import virtualenvs
from evalsuite.launch.provision.recipe_locks import distribution
from evalsuite.plan import containers, plan, repositories, spec
from evalsuite.plan.containers import Container

CHECKOUT = "{checkout}/"
# In a layer: what is there stays.
HELD = """RUN python3 -c "import importlib.util as u, sys; sys.exit(u.find_spec('{name}') is None)" || {adding}\n"""


def needed(framework: str, recipe: Recipe, case: Case) -> set[str]:
    """What the scripts of *case* import: as its folder or repository has it here, else as it was read at the pinned
    commit (`tools/verify_recipes.py`)."""
    command = recipe.command_of(case)
    root = Path(command.folder) if command.folder else repositories.folder(recipe) if recipe.checkout else None
    if root and root.is_dir():
        return packages(recipe, command, root)
    as_read: Any = files.parse_json((paths.DATA / "verification.json").read_text("utf-8"))
    return {*as_read.get(f"{framework}/{recipe.name}", {}).get("imports", ())}


def packages(recipe: Recipe, command: Command, root: Path) -> set[str]:
    """What loading the scripts of *command* imports, by themselves or by modules beside them, less Python's own.
    *root*: of its repository, or its own folder. An import in `try`, `if` or a function may never be made, and is not
    asked for. Scripts add folders to their path: what lies in the repository, and in no package there, is its own."""
    named = [*command.environment.get("PYTHONPATH", "").split(":"), *repositories.library_folders(recipe)]
    folders = [Path(part.replace("{checkout}", str(root))) for part in named if part]
    ours = () if command.folder else root.rglob("*.py")  # a folder of one's own may hold whole environments
    modules = (file.parent if file.stem == "__init__" else file for file in ours)
    loose = (each for each in modules if each.parent == root or not (each.parent / "__init__.py").is_file())
    own = by_key((module.stem, module.parent) for module in loose)
    started = [word for before, word in zip(command.argv, command.argv[1:], strict=False) if before == "-m"]
    found = {word: [file for folder in (*folders, root) for file in _modules(folder, word)[-1:]] for word in started}
    needed = {word.partition(".")[0] for word, of_word in found.items() if not of_word}
    seen: set[Path] = set()
    scripts = [file for of_word in found.values() for file in of_word]
    for before, word in zip(("", *command.argv), command.argv, strict=False):
        if word.startswith((CHECKOUT, "/")) and word.endswith(".py") and "config" not in before:
            scripts.append(root / word.removeprefix(CHECKOUT))
    for script in scripts:
        waiting, places = [script], [script.parent, *folders]
        while waiting:
            if (file := waiting.pop()) in seen:
                continue
            seen.add(file)
            for base, name in _imported(file):
                top = name.partition(".")[0]
                there = [each for each in places if (each / f"{top}.py").is_file() or (each / top).is_dir()]
                beside = [base] if base else there or ([] if top in sys.stdlib_module_names else own.get(top, []))
                waiting += [found for place in beside for found in _modules(place, name)]
                needed |= set() if base or beside else {top}
    written = {Path(name).stem for name in (*command.files, *command.links)}
    return (needed or {recipe.import_name} - {""}) - {*sys.stdlib_module_names} - written


@functools.cache
def _imported(file: Path) -> list[tuple[Path | None, str]]:
    """The folder that a relative import starts at, and the name."""
    try:
        body = ast.parse(file.read_bytes()).body
    except (OSError, SyntaxError, ValueError):
        return []
    found: list[tuple[Path | None, str]] = []
    for node in body:
        if isinstance(node, ast.Import):
            found += [(None, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base, module = file.parents[node.level - 1] if node.level else None, node.module or ""
            found += [(base, f"{module}.{alias.name}".strip(".")) for alias in node.names]
    return found


def _modules(folder: Path, name: str) -> list[Path]:
    """The files that importing *name* from *folder* loads: packages on the way, and the module."""
    parts = name.split(".")
    ways = [folder.joinpath(*parts[:n]) for n in range(1, len(parts) + 1)]
    return [file for way in ways for file in (way / "__init__.py", way.with_suffix(".py")) if file.is_file()]


def layer(recipe: Recipe, names: Iterable[str], pins: Iterable[str]) -> str:
    """The Dockerfile of an image with *names*, over that of *recipe*: what is there stays as it is, and what neither
    *pins* nor our repositories hold ends the build with its name."""
    of = {name: f"git+{each.address}@{each.commit}" for name, each in repositories.of(recipe).items()}
    of |= {virtualenvs.module(distribution(pin)): pin for pin in pins}
    lines = f"FROM {recipe.image}\n"
    for name in sorted(names):
        pin = of.get(name)
        adding = f"python3 -m pip install --no-cache-dir {pin}" if pin else f"{{ echo lacking: {name} >&2; exit 1; }}"
        lines += HELD.format(name=name, adding=adding)
    return lines


def checks(file: Path, folders: Sequence[Path]) -> list[Check]:
    """Each image or environment of the spec in *file* is asked once for what its scripts import."""
    asked = spec.named(str(file))
    container = containers.here(asked.container) if asked.container else None
    every = (
        (case, recipe)
        for case, recipe in plan.every_case(asked, discover((*folders, *asked.brings)))
        if case.device == "gpu"
    )
    names = {each.name: each.framework for each in asked.participants}
    wanted = {(case.framework, recipe.name): (case, recipe) for case, recipe in every}
    read = {key: needed(names.get(key[0], key[0]), recipe, case) for key, (case, recipe) in wanted.items()}
    check, found = functools.partial(Check, group="imports"), []
    for place, keys in by_key((_place(wanted[key][1], container), key) for key, of_it in read.items() if of_it).items():
        absent = _absent(place, container, sorted({word for key in keys for word in read[key]}))
        for key in keys:
            recipe, name = wanted[key][1], f"{names.get(key[0], key[0])}/{key[1]}"
            lacking = None if absent is None else sorted(read[key] & {*absent})
            state: State = "later" if lacking is None else "missing" if lacking else "ok"
            facts = {"place": place or Message("launch.new_environment"), "names": lacking or sorted(read[key])}
            remedy = "" if place else f"evalsuite env create {name} --device gpu"
            if lacking and container and place == recipe.image:
                remedy = f"evalsuite env image {name}"
            detail = Message(f"launch.imports_{state}", **facts)
            found.append(check(name="/".join(key), state=state, detail=detail, remedy=remedy))
    return found


def _place(recipe: Recipe, container: Container | None) -> str:
    """An image, or the path of an interpreter; "": of an environment that is not made yet."""
    if container and recipe.environment not in ("managed", "current"):
        return recipe.image
    made = virtualenvs.existing(recipe, device="gpu")
    return sys.executable if recipe.environment == "current" else str(made.python) if made else ""


def _absent(place: str, container: Container | None, names: Sequence[str]) -> list[str] | None:
    if container and not Path(place).is_file():
        return runner.image_packages(container, place, tuple(names))[1]
    words = (place, "-I", "-c", virtualenvs.LISTING.read_text("utf-8"), *names)
    return virtualenvs.listing(ask_program(words, runner.ASKING_S))[1] if place else None
