"""Finds adapters in `adapters/` and in folders of `--adapters`."""

import functools
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from evalsuite.contracts import author_modules, own_script
from evalsuite.contracts.adapter import Adapter, Command, Recipe, listed
from evalsuite.core import files, paths
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.messages import Message

_nicknames = functools.cache(functools.partial(paths.read_data, "framework_names.toml"))
CONTRACT = author_modules.Contract(
    option="--adapters",
    name="ADAPTER",
    example="ADAPTER = Adapter(…)",
    page="docs/adding-a-framework.md",
    fits=lambda declared: isinstance(declared, Adapter),
)


def discover(places: Iterable[Path] = ()) -> dict[str, Adapter]:
    """Adapters by name, built-in ones and those of *places*: folders or files. A later place wins over an earlier one.
    Raises EvalsuiteError for a name that is built in: its figures would stand under the name of the official scripts.
    Two modules of one folder may share a framework (`pytorch.py`, `pytorch_official.py`): it has the recipes of
    both."""
    adapters = dict(_house())
    for place in places:
        brought = load_author_adapters(Path(place))
        if taken := sorted(name for name in brought if framework(name) in _house()):
            raise EvalsuiteError.of("core.adapter_built_in", path=place, name=taken[0], other=f"my_{taken[0]}")
        adapters |= brought
    return adapters


@functools.cache
def _house() -> Mapping[str, Adapter]:
    package = ModuleType("adapters")  # in a wheel it lies inside evalsuite
    package.__path__ = [str(paths.ADAPTERS)]
    sys.modules.setdefault("adapters", package)
    return _join(_read(paths.ADAPTERS))


def load_author_adapters(place: Path) -> dict[str, Adapter]:
    return _join((_check_author(adapter, file), file) for adapter, file in _read(place))


def _read(place: Path) -> Iterator[tuple[Adapter, Path]]:
    """Of modules, and of the scripts that TOML declares."""
    for file in find_files(place):
        declared = own_script.read(file) if file.suffix == ".toml" else [author_modules.load(file, CONTRACT)]
        yield from ((adapter, file) for adapter in declared)


def find_files(place: Path) -> list[Path]:
    """Beside a TOML file with scripts lie these: a module that names no ADAPTER is not run."""
    modules, declared = author_modules.find_modules(place, CONTRACT), sorted(place.glob("*.toml"))
    if any("[[participant]]" in files.read_text(file) for file in declared):
        modules = [file for file in modules if "ADAPTER" in files.read_text(file)]
    return [*modules, *declared]


def _join(adapters: Iterable[tuple[Adapter, Path]]) -> dict[str, Adapter]:
    joined: dict[str, Adapter] = {}
    for adapter, file in adapters:
        before = joined[adapter.name].recipes if adapter.name in joined else ()
        ours = (replace(recipe, brought_by=file.parent) for recipe in adapter.recipes)
        joined[adapter.name] = replace(adapter, recipes=(*before, *ours))
    return joined


def _check_author(adapter: Adapter, file: Path) -> Adapter:
    author_modules.check(adapter, str(file))
    known = [rule["key"] for rule in paths.read_data("criteria/facts.toml")["fact"]]
    for recipe in adapter.recipes:
        for name in recipe.facts:
            if name not in known:
                names = listed("facts", name, known)
                raise EvalsuiteError.of("core.facts_unknown", path=file, recipe=recipe.name, name=name, known=names)
    return replace(adapter, recipes=tuple(_guard(recipe, file) for recipe in adapter.recipes))


def _guard(recipe: Recipe, file: Path) -> Recipe:
    where = Message("core.of_recipe", path=file, recipe=recipe.name)
    return replace(
        recipe,
        command=author_modules.guard(recipe.command, f"{where}: command", "Command(…)", Command),
        unsupported=author_modules.guard(
            recipe.unsupported, f"{where}: unsupported", Message("core.text_or_none"), (str, type(None))
        ),
        epoch=author_modules.guard(
            recipe.epoch, f"{where}: epoch", Message("core.items_or_data"), (int, str, type(None))
        ),
    )


@functools.cache
def framework(word: str) -> str:
    """The built-in framework that people mean by *word*, by name, title or nickname; *word* if there is none."""
    names = _nicknames() | {_plain(name): each.name for each in _house().values() for name in (each.name, each.title)}
    return word if word in _house() else names.get(_plain(word), word)


def _plain(word: str) -> str:
    return "".join(letter for letter in word.casefold() if letter.isalnum())


def choose_adapters(names: Sequence[str], adapters: Mapping[str, Adapter]) -> list[Adapter]:
    for name in names:
        if name not in adapters:
            raise EvalsuiteError.of("core.framework", name=name, known=listed("frameworks", name, adapters))
    return [adapters[name] for name in names]
