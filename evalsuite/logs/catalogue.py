"""The known dialects: built-in ones, and those of a user or an adapter."""

import functools
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalsuite.contracts import author_modules
from evalsuite.contracts.dialect import Dialect, Line, Timers, step_before
from evalsuite.core import files, paths
from evalsuite.core.errors import EvalsuiteError, look_up

if TYPE_CHECKING:
    from evalsuite.contracts.adapter import Recipe
    from evalsuite.core.documents import DialectSource, UsedRecipe

Places = tuple[Path, ...]  # folders or files of dialects
LINES = ("step", "final", "evaluation", "end", "facts", "scores")
HOUSE = Path(__file__).resolve().parent / "dialects"
CONTRACT = author_modules.Contract(
    option="--dialects",
    name="DIALECTS",
    example="DIALECTS = (Dialect(…), …)",
    page="docs/adding-a-dialect.md",
    fits=lambda declared: isinstance(declared, tuple | list) and all(isinstance(each, Dialect) for each in declared),
)


@functools.cache
def known(places: Places = ()) -> Mapping[str, Dialect]:
    """All dialects by name, checked: built-in ones, and those in *places*.

    Raises EvalsuiteError if two files declare different ones under one name.
    """
    by_name = dict(_house())
    for file in (file for place in places for file in author_modules.find_modules(place, CONTRACT)):
        for dialect in load(file):
            dialect.check(str(file))
            before = by_name.setdefault(dialect.name, replace(dialect, origin=file))
            given = {"path": file, "name": dialect.name}
            if before.origin is None:
                raise EvalsuiteError.of("logs.dialect_of_ours", **given, title=before.title)
            if before.origin.resolve() != file.resolve():
                raise EvalsuiteError.of("logs.dialect_by_two", **given, other=before.origin)
    for dialect in by_name.values():
        for name in dialect.yields_to:
            if name not in by_name or name == dialect.name:
                raise EvalsuiteError.of("logs.yields_to", path=dialect.origin or HOUSE, dialect=dialect.name, name=name)
    return by_name


@functools.cache
def _house() -> Mapping[str, Dialect]:
    modules = (dialect for file in author_modules.find_modules(HOUSE, CONTRACT) for dialect in load(file))
    return {dialect.name: dialect for dialect in (*modules, *_tables())}


def _tables() -> Iterator[Dialect]:
    """`common`: what all dialects of a file have where they say nothing else; `like`: one above, for the rest."""
    for file in sorted((paths.DATA / "dialects").glob("*.toml")):
        table = paths.read_data(f"dialects/{file.name}")
        above: dict[str, Any] = {}
        for own in table["dialect"]:
            facts = above[own["name"]] = {**table.get("common", {}), **above.get(own.pop("like", ""), {}), **own}
            lines: dict[str, Any] = {name: tuple(map(_line, facts[name])) for name in LINES if name in facts}
            if timers := facts.get("timers"):
                phases = {name: (phase, parent or None) for name, (phase, parent) in timers["phases"].items()}
                lines["timers"] = Timers(**{**timers, "phases": phases, "line": _line(timers["line"])})
            yield Dialect(**{"framework": None, **facts, **lines, "yields_to": tuple(facts.get("yields_to", ()))})


def _line(facts: dict[str, Any]) -> Line:
    """`step_before`: a pattern of what stands before the literal text; `says`: fields that no group has."""
    before, says = facts.get("step_before"), facts.get("says")
    fields = step_before(before.encode()) if before else (lambda match: says) if says else None
    told = {name: facts[name].encode() for name in ("pattern", "sample")}
    return Line(**told, source=facts["source"], telling=facts.get("telling", True), fields=fields)


def with_example(recipe: "Recipe | UsedRecipe", dialects: Mapping[str, Dialect]) -> Mapping[str, Dialect]:
    """*dialects*, and that of a recipe which has an example of its lines."""
    if not (recipe.line and recipe.dialect) or recipe.dialect in dialects:
        return dialects
    from evalsuite.logs.unknown import by_example  # slow, and few need it

    made = by_example.dialect(recipe.line, recipe.dialect, recipe.unit or "", recipe.scope)
    return {**dialects, made.name: made}


def load(file: Path) -> tuple[Dialect, ...]:
    """Raises EvalsuiteError if *file* declares none or cannot be read."""
    declared = tuple(author_modules.load(file, CONTRACT))
    names = [dialect.name for dialect in declared]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise EvalsuiteError.of("logs.dialect_twice", path=file, name=twice)
    return declared


def recipe_dialect(framework: str, recipe: "Recipe", dialects: Mapping[str, Dialect]) -> Dialect | None:
    """That *recipe* prints; None: each log shows it. Raises EvalsuiteError if it is not among *dialects*."""
    if recipe.dialect is None:
        return None
    known = with_example(recipe, dialects)
    return look_up("logs.recipe_dialect", known, recipe.dialect, framework=framework, recipe=recipe.name)


def source(dialect: Dialect | None) -> "DialectSource | None":
    if dialect is None:
        return None
    from evalsuite.core.documents import DialectSource

    if dialect.origin is None:
        return DialectSource(by="house")
    file = dialect.origin.resolve()
    return DialectSource(by="author", file=str(file), sha256=files.sha256(file))
