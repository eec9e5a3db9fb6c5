"""Variants of recipes that a spec asks for: other versions or images, variables of the environment, more arguments.

What changes how a script is run is an axis of the case, `variant=NAME`, so that each is compared with the script as it
is. What changes the software it runs on (`versions`, an image) is a recipe of its own, `RECIPE@NAME`: it has its own
environment, packages and image.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from evalsuite import redaction
from evalsuite.adapter import Adapter, Command, Recipe, listed
from evalsuite.errors import EvalsuiteError, did_you_mean
from evalsuite.model import Case

AXIS = "variant"
PLAIN = "plain"  # the script as it is
NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,39}", re.ASCII)
VARIABLE = re.compile(r"[A-Za-z_]\w*", re.ASCII)
VERSION = re.compile(r"(?P<package>[A-Za-z0-9][\w.-]*)\s*==\s*(?P<version>[\w.!+-]+(?:\.\*)?)", re.ASCII)
KEYS = ("name", "frameworks", "environment", "arguments", "image")


@dataclass(frozen=True, kw_only=True)
class Variant:
    """One way to run scripts otherwise."""

    name: str
    frameworks: tuple[str, ...] = ()  # whose scripts; (): those of all
    environment: tuple[tuple[str, str], ...] = ()
    arguments: tuple[str, ...] = ()  # behind the script's own
    image: str = ""

    def of(self, framework: str) -> bool:
        return not self.frameworks or framework in self.frameworks


@dataclass(frozen=True, kw_only=True)
class Rule:
    """Cases by their axes: every axis that is named must have one of the values, in which * stands for anything."""

    values: tuple[tuple[str, tuple[str, ...]], ...]

    def holds(self, case: Case) -> bool:
        return all(
            any(fnmatchcase(text, value) for value in values for text in _texts(case, axis))
            for axis, values in self.values
        )


AXES: Mapping[str, Callable[[Case], str]] = {
    "framework": lambda case: case.framework,
    "recipe": lambda case: case.recipe,
    "model": lambda case: case.model,
    "scale": lambda case: case.scale,
    "batch_per_device": lambda case: str(case.batch_per_device),
    "precision": lambda case: case.precision,
    "xla": lambda case: "on" if case.xla else "off",
    AXIS: lambda case: case.option(AXIS, PLAIN),
}


def _texts(case: Case, axis: str) -> tuple[str, ...]:
    """What a rule may say of *case*; a recipe is also known by its name without the version or image."""
    text = AXES[axis](case)
    return (text, text.partition("@")[0]) if axis == "recipe" else (text,)


def variants(tables: object) -> tuple[Variant, ...]:
    """The `[[variants]]` of a spec. Raises EvalsuiteError for what stands there and is no variant."""
    found = tuple(_variant(table, place) for place, table in enumerate(_tables(tables, "variants"), 1))
    names = [one.name for one in found]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise EvalsuiteError(f'[[variants]]: "{twice}" stands there twice; expected each name once.')
    return found


def _variant(table: Mapping[str, object], place: int) -> Variant:
    where = f"[[variants]] {place}"
    _known(table, KEYS, where)
    name = table.get("name")
    if not isinstance(name, str) or not NAME.fullmatch(name) or name == PLAIN:
        raise EvalsuiteError(
            f"{where}: name = {name!r}; expected letters, digits and _ . - (and not {PLAIN}, which is the script as it "
            'is), such as name = "onednn-off".'
        )
    found = Variant(
        name=name,
        frameworks=_words(table.get("frameworks", []), f"{where}: frameworks"),
        environment=_environment(table.get("environment", {}), f"{where}: environment"),
        arguments=_words(table.get("arguments", []), f"{where}: arguments"),
        image=_image(table.get("image", ""), f"{where}: image"),
    )
    if not (found.environment or found.arguments or found.image):
        raise EvalsuiteError(
            f"{where}: {name} changes nothing; expected environment, arguments or image. Try "
            'environment = { TF_ENABLE_ONEDNN_OPTS = "0" }.'
        )
    return found


def _environment(table: object, where: str) -> tuple[tuple[str, str], ...]:
    if not isinstance(table, Mapping):
        raise EvalsuiteError(f'{where} = {table!r}; expected a table, such as {{ OMP_NUM_THREADS = "1" }}.')
    for name, value in table.items():
        if not VARIABLE.fullmatch(name) or name.startswith("EVALSUITE_"):
            raise EvalsuiteError(
                f"{where}: {name!r} is no variable for a script; expected a name such as OMP_NUM_THREADS."
            )
        if redaction.is_secret_name(name):
            raise EvalsuiteError(
                f"{where}: {name} looks like a secret, and a spec stands in the report; expected another variable. "
                "Try to export it before evalsuite is started: scripts inherit it."
            )
        _check_text(value, f"{where}: {name}")
    return tuple(sorted((name, str(value)) for name, value in table.items()))


def _words(given: object, where: str) -> tuple[str, ...]:
    if not isinstance(given, list):
        raise EvalsuiteError(f'{where} = {given!r}; expected a list of texts, such as ["--channels-last"].')
    for word in given:
        _check_text(word, where)
    return tuple(map(str, given))


def _image(given: object, where: str) -> str:
    if not isinstance(given, str) or given.startswith("-") or not given.isprintable():
        raise EvalsuiteError(f"{where} = {given!r}; expected the name of an image.")
    return given


def _check_text(given: object, where: str) -> None:
    """Raises EvalsuiteError for what no command line takes as it stands; braces are evalsuite's own."""
    if isinstance(given, bool) or not isinstance(given, str | int | float):
        raise EvalsuiteError(f'{where} = {given!r}; expected a text, such as "1".')
    text = str(given)
    if not text.isprintable() or "{" in text or "}" in text:
        raise EvalsuiteError(f"{where} = {text[:60]!r}; expected a text on one line without braces.")


def versions(given: Iterable[object]) -> tuple[tuple[str, str], ...]:
    """`["torch==2.12.*"]` → ((package, version)). Raises EvalsuiteError for what is no version of a package."""
    found = []
    for text in given:
        match = VERSION.fullmatch(text) if isinstance(text, str) else None
        if match is None:
            raise EvalsuiteError(f'{text!r} is no version; expected PACKAGE==VERSION, such as "torch==2.12.*".')
        found.append((match["package"].lower(), match["version"]))
    if not found:
        raise EvalsuiteError("the list is empty; expected one version or more, or no such key.")
    return tuple(dict.fromkeys(found))


def rules(tables: object, key: str) -> tuple[Rule, ...]:
    """The `[[include]]` or `[[exclude]]` of a spec."""
    return tuple(_rule(table, f"[[{key}]] {place}") for place, table in enumerate(_tables(tables, key), 1))


def _rule(table: Mapping[str, object], where: str) -> Rule:
    _known(table, tuple(AXES), where)
    if not table:
        raise EvalsuiteError(f'{where}: it names no axis; expected one at least, such as framework = "mxnet".')
    values = []
    for axis, given in table.items():
        each = given if isinstance(given, list) else [given]
        for value in each:
            _check_text(value, f"{where}: {axis}")
        values.append((axis, tuple(map(str, each))))
    return Rule(values=tuple(values))


def kept(case: Case, include: Sequence[Rule], exclude: Sequence[Rule]) -> bool:
    """Whether the rules of a spec leave *case* in: it is in some include, if there is any, and in no exclude."""
    return (not include or any(rule.holds(case) for rule in include)) and not any(rule.holds(case) for rule in exclude)


def check_rules(found: Sequence[Rule], cases: Sequence[Case]) -> None:
    """Raises EvalsuiteError for a rule with a value that no case of the matrix has: it is misspelt."""
    for rule in found:
        for axis, values in rule.values:
            there = sorted({text for case in cases for text in _texts(case, axis)})
            for value in values:
                if not any(fnmatchcase(text, value) for text in there):
                    raise EvalsuiteError(
                        f'[[include]] or [[exclude]]: {axis} = "{value}"; no case of the matrix has it, expected some '
                        f"of {', '.join(there)}.{did_you_mean(value, there, cutoff=0.5)}"
                    )


def varied(
    adapters: Mapping[str, Adapter],
    asked: Sequence[Variant],
    asked_versions: Sequence[tuple[str, str]],
    frameworks: Sequence[str],
) -> dict[str, Adapter]:
    """*adapters* with the variants and versions that are asked for of *frameworks*."""
    for one in asked:
        for name in one.frameworks:
            if name not in adapters:
                raise EvalsuiteError(
                    f'[[variants]] {one.name}: unknown framework "{name}"; {listed("frameworks", name, adapters)}'
                )
    found = {name: _varied(adapter, asked, asked_versions) for name, adapter in adapters.items()}
    packages = {_package(recipe) for name in frameworks if name in adapters for recipe in adapters[name].recipes}
    for package, version in asked_versions:
        if package not in packages:
            known = sorted(each for each in packages if each)
            raise EvalsuiteError(
                f'versions: "{package}=={version}"; no framework of the spec is that package, expected some of '
                f"{', '.join(known)}.{did_you_mean(package, known)}"
            )
    return found


def _varied(adapter: Adapter, asked: Sequence[Variant], asked_versions: Sequence[tuple[str, str]]) -> Adapter:
    recipes: list[Recipe] = []
    ours = [one for one in asked if one.of(adapter.name)]
    for recipe in adapter.recipes:
        theirs = [version for package, version in asked_versions if package == _package(recipe)]
        based = [_of_version(recipe, version) for version in theirs] or [recipe]
        based += [
            replace(one, name=f"{one.name}@{each.name}", image=each.image)
            for each in ours
            if each.image
            for one in based
        ]
        recipes += [_with_axis(one, ours) for one in based]
    return replace(adapter, recipes=tuple(recipes))


def _package(recipe: Recipe) -> str:
    """The distribution whose version is that of the framework."""
    return recipe.requirements[0].partition("==")[0].strip().lower() if recipe.requirements else ""


def _of_version(recipe: Recipe, version: str) -> Recipe:
    """*recipe* in an environment with another version of its framework; what is pinned beside it follows."""
    name = f"{recipe.name}@{version.removesuffix('.*')}"
    return replace(
        recipe,
        name=name,
        requirements=_pinned(recipe.requirements, version),
        requirements_gpu=_pinned(recipe.requirements_gpu, version),
    )


def _pinned(pins: Sequence[str], version: str) -> tuple[str, ...]:
    """The framework's pin with *version*; the others without theirs, so that what fits it can be found."""
    if not pins:
        return ()
    first = pins[0].partition("==")[0].strip()
    return (
        f"{first}=={version}",
        *(pin if pin.startswith("-") else pin.partition("==")[0].strip() for pin in pins[1:]),
    )


def _with_axis(recipe: Recipe, asked: Sequence[Variant]) -> Recipe:
    """*recipe* with the axis of the variants that change how it is run."""
    ways = {one.name: one for one in asked if one.environment or one.arguments}
    if not ways:
        return recipe
    plain = recipe.command

    def command(case: Case) -> Command:
        made, way = plain(_without_axis(case)), ways.get(case.option(AXIS, PLAIN))
        if way is None:
            return made
        return replace(
            made, argv=(*made.argv, *way.arguments), environment={**made.environment, **dict(way.environment)}
        )

    declared = recipe.options if recipe.options is None else {**recipe.options, AXIS: (PLAIN, *ways)}
    own = recipe.unsupported
    return replace(recipe, command=command, options=declared, unsupported=lambda case: own(_without_axis(case)))


def _without_axis(case: Case) -> Case:
    return replace(case, options=tuple(option for option in case.options if option[0] != AXIS))


def ways(recipe: Recipe, framework: str, asked: Sequence[Variant]) -> tuple[str, ...]:
    """The values of the axis for *recipe*: the script as it is, and each variant that changes how it is run.

    A variant with an image of its own is run in that image, and only there.
    """
    ours = [one for one in asked if one.of(framework)]
    image = recipe.name.rpartition("@")[2]
    with_image = {one.name for one in ours if one.image}
    if image in with_image:
        own = next(one for one in ours if one.name == image)
        return (own.name,) if own.environment or own.arguments else (PLAIN,)
    return (PLAIN, *(one.name for one in ours if not one.image))


def _tables(given: object, key: str) -> list[Mapping[str, object]]:
    if not isinstance(given, list) or not all(isinstance(table, Mapping) for table in given):
        raise EvalsuiteError(f"{key} is no list of tables; expected tables that begin with [[{key}]].")
    return given


def _known(table: Mapping[str, object], keys: Sequence[str], where: str) -> None:
    for key in table:
        if key not in keys:
            raise EvalsuiteError(
                f'{where}: unknown key "{key}"; the keys are {", ".join(keys)}.{did_you_mean(key, keys)}'
            )
