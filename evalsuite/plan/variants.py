"""Variants of recipes: other versions or images, variables of the environment, more arguments; and participants.

What changes how a script is run is an axis of the case, `variant=NAME`, to compare it with the plain script. What
changes the software (`versions`, an image) is a recipe of its own, `RECIPE@NAME`, with its own environment. A
participant is a variant with a name: a framework of its own in cases, rankings and figures, so that one framework can
come twice: NGC's build and the plain one.
"""

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from operator import attrgetter
from typing import Annotated, Literal

from evalsuite.contracts.adapter import Adapter, Command, Recipe, listed
from evalsuite.core import decode, redaction
from evalsuite.core.decode import Constraint, From, Many, Mistake, Word
from evalsuite.core.errors import EvalsuiteError, did_you_mean
from evalsuite.core.model import Case, by_key

AXIS = "variant"
PLAIN = "plain"
NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,39}", re.ASCII)
VARIABLE = re.compile(r"[A-Za-z_]\w*", re.ASCII)
TITLE = re.compile(r"[A-Za-z0-9][A-Za-z0-9 .+-]{0,39}", re.ASCII)
VERSION = re.compile(r"(?P<package>[A-Za-z0-9][\w.-]*)\s*==\s*(?P<version>[\w.!+-]+(?:\.\*)?)", re.ASCII)


def argument(given: object) -> str:
    """A text or a number; braces are evalsuite's own. Raises EvalsuiteError."""
    text = str(given)
    simple = isinstance(given, str | int | float) and not isinstance(given, bool)
    if not simple or not text.isprintable() or "{" in text or "}" in text:
        raise EvalsuiteError(decode.refusal(given, decode.message("argument")))
    return text


Argument = Annotated[str, From(object, argument)]
Variable = Annotated[
    str,
    Constraint("variable", lambda name: VARIABLE.fullmatch(name) and not name.startswith("EVALSUITE_")),
    Constraint("no_secret", lambda name: not redaction.is_secret_name(name)),
]
Environment = Annotated[
    tuple[tuple[str, str], ...], From(Mapping[Variable, Argument], lambda given: tuple(sorted(given.items())))
]
Image = Annotated[str, Constraint("image", lambda name: name.isprintable() and not name.startswith("-"))]


@dataclass(frozen=True, kw_only=True)
class Variant:
    name: Annotated[str, Constraint("variant", lambda name: NAME.fullmatch(name) and name != PLAIN)]
    frameworks: tuple[Argument, ...] = ()  # (): of all
    environment: Environment = ()
    arguments: tuple[Argument, ...] = ()
    image: Image = ""

    def mistakes(self) -> Iterator[Mistake]:
        if not (self.environment or self.arguments or self.image):
            yield Mistake("", decode.message("changes_nothing"))

    def of(self, framework: str) -> bool:
        return not self.frameworks or framework in self.frameworks


@dataclass(frozen=True, kw_only=True)
class Rule:
    """Cases by their axes: every named axis must have one of the values, in which * matches anything."""

    values: tuple[tuple[str, tuple[str, ...]], ...]

    def holds(self, case: Case) -> bool:
        return all(
            any(fnmatchcase(text, value) for value in values for text in _texts(case, axis))
            for axis, values in self.values
        )


AXES: Mapping[str, Callable[[Case], str]] = {
    **{name: attrgetter(name) for name in ("framework", "recipe", "model", "scale", "precision")},
    "batch_per_device": lambda case: str(case.batch_per_device),
    "xla": lambda case: "on" if case.xla else "off",
    AXIS: lambda case: case.option(AXIS, PLAIN),
}


Axis = Annotated[str, decode.one_of(*AXES)]


def _texts(case: Case, axis: str) -> tuple[str, ...]:
    text = AXES[axis](case)
    return (text, text.partition("@")[0]) if axis == "recipe" else (text,)


def version(text: str) -> tuple[str, str]:
    """`torch==2.12.*` → (package, version)."""
    match = VERSION.fullmatch(text)
    if match is None:
        raise EvalsuiteError(decode.refusal(text, decode.message("version")))
    return match["package"].lower(), match["version"]


def rule(table: Mapping[str, object]) -> Rule:
    if not table:
        raise EvalsuiteError(decode.message("no_axis"))
    values = {axis: given if isinstance(given, list) else [given] for axis, given in table.items()}
    return Rule(values=tuple((axis, tuple(map(argument, each))) for axis, each in values.items()))


def is_included(case: Case, include: Sequence[Rule], exclude: Sequence[Rule]) -> bool:
    return (not include or any(rule.holds(case) for rule in include)) and not any(rule.holds(case) for rule in exclude)


def check_rules(rules: Sequence[Rule], cases: Sequence[Case], stated: Sequence[str]) -> None:
    """Raises EvalsuiteError for a value that no case has, nor *stated*: it is misspelt."""
    for rule in rules:
        for axis, values in rule.values:
            there = sorted({text for case in cases for text in _texts(case, axis)})
            for value in values:
                if not any(fnmatchcase(text, value) for text in (*there, *stated)):
                    raise EvalsuiteError.of(
                        "plan.selection_none",
                        axis=axis,
                        name=value,
                        names=there,
                        near=did_you_mean(value, there, cutoff=0.5),
                    )


def varied(
    adapters: Mapping[str, Adapter],
    asked: Sequence[Variant],
    asked_versions: Sequence[tuple[str, str]],
    frameworks: Sequence[str],
) -> dict[str, Adapter]:
    for variant in asked:
        for name in variant.frameworks:
            if name not in adapters:
                raise EvalsuiteError.of(
                    "plan.variant_framework",
                    variant=variant.name,
                    name=name,
                    known=listed("frameworks", name, adapters),
                )
    axes = {name: _varied(adapter, asked, asked_versions) for name, adapter in adapters.items()}
    packages = {_package(recipe) for name in frameworks if name in adapters for recipe in adapters[name].recipes}
    for package, version in asked_versions:
        if package not in packages:
            known = sorted(each for each in packages if each)
            raise EvalsuiteError.of(
                "plan.version_package", package=package, version=version, names=known, near=did_you_mean(package, known)
            )
    return axes


def _varied(adapter: Adapter, asked: Sequence[Variant], asked_versions: Sequence[tuple[str, str]]) -> Adapter:
    recipes: list[Recipe] = []
    ours = [variant for variant in asked if variant.of(adapter.name)]
    for recipe in adapter.recipes:
        theirs = [version for package, version in asked_versions if package == _package(recipe)]
        based = [
            replace(
                recipe,
                name=f"{recipe.name}@{version.removesuffix('.*')}",
                requirements=_pinned(recipe.requirements, version),
                requirements_gpu=None if recipe.requirements_gpu is None else _pinned(recipe.requirements_gpu, version),
                other_wheels=(),
            )
            for version in theirs
        ] or [recipe]
        based += [
            replace(recipe, name=f"{recipe.name}@{each.name}", image=each.image)
            for each in ours
            if each.image
            for recipe in based
        ]
        recipes += [_with_axis(recipe, ours) for recipe in based]
    return replace(adapter, recipes=tuple(recipes))


def _package(recipe: Recipe) -> str:
    return recipe.requirements[0].partition("==")[0].strip().lower() if recipe.requirements else ""


def _pinned(pins: Sequence[str], version: str) -> tuple[str, ...]:
    """The framework's pin with *version*; the others without a version, so that fitting ones are found."""
    if not pins:
        return ()
    first = pins[0].partition("==")[0].strip()
    return (
        f"{first}=={version}",
        *(pin if pin.startswith("-") else pin.partition("==")[0].strip() for pin in pins[1:]),
    )


def _with_axis(recipe: Recipe, asked: Sequence[Variant]) -> Recipe:
    ways = {variant.name: variant for variant in asked if variant.environment or variant.arguments}
    if not ways:
        return recipe
    plain = recipe.command

    def command(case: Case) -> Command:
        made, way = plain(_without_axis(case)), ways.get(case.option(AXIS, PLAIN))
        return made if way is None else _extended(made, way)

    declared = recipe.options if recipe.options is None else {**recipe.options, AXIS: (PLAIN, *ways)}
    own = recipe.unsupported
    return replace(recipe, command=command, options=declared, unsupported=lambda case: own(_without_axis(case)))


def _extended(command: Command, way: "Variant | Launch") -> Command:
    environment = {**command.environment, **dict(way.environment)}
    return replace(command, argv=(*command.argv, *way.arguments), environment=environment)


def _without_axis(case: Case) -> Case:
    return replace(case, options=tuple(option for option in case.options if option[0] != AXIS))


def ways(recipe: Recipe, framework: str, asked: Sequence[Variant]) -> tuple[str, ...]:
    """The plain script, and each variant that changes how it is run; one with an image in that image alone."""
    ours = [variant for variant in asked if variant.of(framework)]
    image = recipe.name.rpartition("@")[2]
    with_image = {variant.name for variant in ours if variant.image}
    if image in with_image:
        own = next(variant for variant in ours if variant.name == image)
        return (own.name,) if own.environment or own.arguments else (PLAIN,)
    return (PLAIN, *(variant.name for variant in ours if not variant.image))


# Participants


@dataclass(frozen=True, kw_only=True)
class Launch:
    environment: Environment = ()
    arguments: tuple[Argument, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Participant:
    framework: Word
    recipes: Many[Word]  # of each model one
    title: Annotated[str, Constraint("participant", TITLE.fullmatch)] | None = None  # None: the framework's
    image: Image = ""
    environment: Literal["managed", "current"] | None = None
    data: Argument | None = None
    optimiser: Argument | None = None
    options: Mapping[Word, Argument] | None = None
    launch: Launch = Launch()

    def mistakes(self) -> Iterator[Mistake]:
        if bool(self.image) == bool(self.environment):
            yield Mistake("", decode.message("image_or_environment", participant=self.called))

    @property
    def called(self) -> str:
        return self.title or self.framework

    @property
    def name(self) -> str:
        return self.title.replace(" ", "_") if self.title else self.framework

    @property
    def axes(self) -> dict[str, str]:
        own = {"data": self.data, "optimiser": self.optimiser, **(self.options or {})}
        return {name: value for name, value in own.items() if value is not None}


def check_shared(asked: Sequence[Participant], cases: Iterable[Case], models: Set[str]) -> None:
    """Raises EvalsuiteError where no two participants make one of *cases* alike: nothing could be compared."""
    by = by_key(
        ((case.model, case.scale, case.batch_policy or case.batch_per_device, case.precision), case.framework)
        for case in cases
    )
    if len(asked) > 1 and all(len({*frameworks}) == 1 for frameworks in by.values()):
        names = [each.called for each in asked]
        raise EvalsuiteError.of("plan.participants_apart", names=names, models=sorted(models))


def with_participants(adapters: Mapping[str, Adapter], asked: Sequence[Participant]) -> dict[str, Adapter]:
    joined, names = dict(adapters), [each.name for each in asked]
    for each in asked:
        if names.count(each.name) > 1:
            raise EvalsuiteError.of("plan.participants_twice", name=each.called)
        if each.framework not in adapters:
            known = listed("frameworks", each.framework, adapters)
            raise EvalsuiteError.of("plan.participant_framework", name=each.framework, known=known)
        if each.title and each.name in adapters and each.name != each.framework:
            raise EvalsuiteError.of("plan.participant_taken", name=each.title)
        joined[each.name] = _adapter(adapters[each.framework], each)
    return joined


def _adapter(adapter: Adapter, asked: Participant) -> Adapter:
    recipes = tuple(_entered(adapter.recipe(name), asked) for name in asked.recipes)
    models = Counter(recipe.model for recipe in recipes)
    if twice := next((model for model, n in models.items() if n > 1), None):
        raise EvalsuiteError.of("plan.participant_model", name=asked.title or adapter.title, model=twice)
    declared = [recipe.options for recipe in recipes if recipe.options is not None]
    for option, value in asked.axes.items() if len(declared) == len(recipes) else ():
        values, wanted = [each[option] for each in declared if option in each], {"name": asked.called, "option": option}
        if not values:
            raise EvalsuiteError.of("plan.participant_option", **wanted, names=sorted({*itertools.chain(*declared)}))
        if all(each and value not in each for each in values):
            known = sorted({*itertools.chain(*values)})
            raise EvalsuiteError.of("plan.participant_value", **wanted, value=value, names=known)
    return replace(adapter, name=asked.name, title=asked.title or adapter.title, recipes=recipes)


def _entered(recipe: Recipe, asked: Participant) -> Recipe:
    plain = recipe.command
    return replace(
        recipe,
        command=lambda case: _extended(plain(case), asked.launch),
        image=asked.image or recipe.image,
        environment=asked.environment or "container",
        participant=asked.called,
    )


def choose_participants(asked: Sequence[Participant], words: Sequence[str]) -> tuple[Participant, ...]:
    """Of *asked* those whose title or framework is among *words*; all without words. Raises EvalsuiteError."""
    called = [{each.title, each.name, each.framework} for each in asked]
    for word in words:
        if not any(word in names for names in called):
            raise EvalsuiteError.of("plan.participant_none", name=word, names=[each.called for each in asked])
    return tuple(each for each, names in zip(asked, called, strict=True) if not words or names & {*words})
