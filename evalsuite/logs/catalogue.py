"""The known dialects: built-in ones, and those of a user or an adapter."""

import functools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalsuite.contracts import author_modules
from evalsuite.contracts.dialect import Dialect, Line, Origin, Scope, Timers, step_before
from evalsuite.core import files, paths
from evalsuite.core.errors import EvalsuiteError, look_up

if TYPE_CHECKING:
    from evalsuite.contracts.adapter import Adapter, Recipe
    from evalsuite.core.documents import DialectSource, UsedRecipe

TABLES = paths.DATA / "dialects"
LINES = ("step", "final", "evaluation", "end", "facts", "scores")
HOUSE = Path(__file__).resolve().parent / "dialects"
CONTRACT = author_modules.Contract(
    option="--dialects",
    name="DIALECTS",
    example="DIALECTS = (Dialect(…), …)",
    page="docs/adding-a-dialect.md",
    fits=lambda declared: isinstance(declared, tuple | list) and all(isinstance(each, Dialect) for each in declared),
)


@dataclass(frozen=True, kw_only=True)
class Places:
    """Folders or files of dialects, and of adapters that bring some."""

    dialects: tuple[Path, ...] = ()
    adapters: tuple[Path, ...] = ()


@functools.cache
def known(places: Places = Places()) -> Mapping[str, Dialect]:
    """All dialects by name, loaded once."""
    return discover(places.dialects, places.adapters)


def discover(dialects: Iterable[Path] = (), adapters: Iterable[Path] = ()) -> dict[str, Dialect]:
    """All dialects by name, checked: built-in ones, those in *dialects*, and those of *adapters*.

    Raises EvalsuiteError if two files declare different ones under one name.
    """
    by_name = dict(_house())
    for dialect in _brought(dialects, adapters):
        before = by_name.setdefault(dialect.name, dialect)
        if before is dialect:
            continue
        given = {"path": dialect.origin.file if dialect.origin else HOUSE, "name": dialect.name}
        if before.origin is None:
            raise EvalsuiteError.of("logs.dialect_of_ours", **given, title=before.title)
        if dialect.origin is None or before.origin.file.resolve() != dialect.origin.file.resolve():
            raise EvalsuiteError.of("logs.dialect_by_two", **given, other=before.origin.file)
    for dialect in by_name.values():
        for name in dialect.yields_to:
            if name not in by_name or name == dialect.name:
                where = dialect.origin.file if dialect.origin else HOUSE
                raise EvalsuiteError.of("logs.yields_to", path=where, dialect=dialect.name, name=name)
    return by_name


@functools.cache
def _house() -> Mapping[str, Dialect]:
    modules = (dialect for file in author_modules.find_modules(HOUSE, CONTRACT) for dialect in load(file))
    return {dialect.name: dialect for dialect in (*modules, *_tables())}


def _tables() -> Iterator[Dialect]:
    for file in sorted(TABLES.glob("*.toml")):
        for facts in paths.read_data(f"dialects/{file.name}")["dialect"]:
            facts |= {name: tuple(map(_line, facts[name])) for name in LINES if name in facts}
            if timers := facts.get("timers"):
                phases = {name: (phase, parent or None) for name, (phase, parent) in timers["phases"].items()}
                facts["timers"] = Timers(**{**timers, "phases": phases, "line": _line(timers["line"])})
            yield Dialect(**{"framework": None, **facts, "yields_to": tuple(facts.get("yields_to", ()))})


def _line(facts: dict[str, Any]) -> Line:
    """`step_before`: a pattern of what stands before the literal text; `says`: fields that no group has."""
    before, says = facts.pop("step_before", None), facts.pop("says", None)
    fields = step_before(before.encode()) if before else (lambda match: says) if says else None
    return Line(**{**facts, "pattern": facts["pattern"].encode(), "sample": facts["sample"].encode(), "fields": fields})


def _brought(dialects: Iterable[Path], adapters: Iterable[Path]) -> Iterator[Dialect]:
    for file in (file for place in dialects for file in author_modules.find_modules(Path(place), CONTRACT)):
        for dialect in load(file):
            dialect.check(str(file))
            yield replace(dialect, origin=Origin(file=file, option="--dialects"))
    for place in adapters:
        from evalsuite.contracts import registry

        for file in registry.find_files(Path(place)):
            yield from _of_recipes(registry.load_author_adapters(file), file)


def _of_recipes(adapters: "Mapping[str, Adapter]", file: Path) -> Iterator[Dialect]:
    for recipe in (recipe for adapter in adapters.values() for recipe in adapter.recipes):
        if isinstance(recipe.dialect, Dialect):
            yield recipe.dialect
        elif recipe.line:
            made = _by_example(recipe.line, recipe.dialect_name, recipe.unit, recipe.scope)
            yield replace(made, origin=Origin(file=file, option="--adapters"))


def _by_example(line: str, name: str | None, unit: str | None, scope: Scope | None) -> Dialect:
    from evalsuite.logs.unknown import by_example  # slow, and few need it

    return by_example.dialect(line, name or "", unit or "", scope)


def with_example(recipe: "UsedRecipe", dialects: Mapping[str, Dialect]) -> Mapping[str, Dialect]:
    """*dialects*, and that of a run whose record has an example of its lines: its declaration need not be there."""
    if not (recipe.line and recipe.dialect) or recipe.dialect in dialects:
        return dialects
    return {**dialects, recipe.dialect: _by_example(recipe.line, recipe.dialect, recipe.unit, recipe.scope)}


def load(file: Path) -> tuple[Dialect, ...]:
    """Raises EvalsuiteError if *file* declares none or cannot be read."""
    declared = tuple(author_modules.load(file, CONTRACT))
    names = [dialect.name for dialect in declared]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise EvalsuiteError.of("logs.dialect_twice", path=file, name=twice)
    return declared


def chosen(name: str, dialects: Mapping[str, Dialect]) -> Dialect:
    """Raises EvalsuiteError with the nearest name if there is none."""
    return look_up("logs.dialect", dialects, name)


def recipe_dialect(framework: str, recipe: "Recipe", dialects: Mapping[str, Dialect]) -> Dialect | None:
    """That *recipe* prints; None: each log shows it. Raises EvalsuiteError if it is not among *dialects*."""
    if recipe.dialect_name is None:
        return None
    return look_up("logs.recipe_dialect", dialects, recipe.dialect_name, framework=framework, recipe=recipe.name)


def source(dialect: Dialect | None) -> "DialectSource | None":
    if dialect is None:
        return None
    from evalsuite.core.documents import DialectSource

    if dialect.origin is None:
        return DialectSource(by="house")
    file = dialect.origin.file.resolve()
    return DialectSource(by="author", file=str(file), sha256=files.sha256(file), option=dialect.origin.option)
