"""Variants of recipes, and participants.

What changes how a script is run (variables of the environment, more arguments) is an axis of the case, `variant=NAME`,
to compare it with the plain script. What changes the software (a version, an image) is a participant: a framework of
its own in cases, rankings and figures, so that one framework can come twice: NGC's build and the plain one.
"""

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from operator import attrgetter
from typing import Annotated, Literal

from evalsuite.contracts import registry
from evalsuite.contracts.adapter import Adapter, Command, Recipe, listed
from evalsuite.contracts.own_script import TITLE, Variable
from evalsuite.core import decode
from evalsuite.core.decode import Constraint, From, Many, Mistake, Word
from evalsuite.core.errors import EvalsuiteError, did_you_mean
from evalsuite.core.model import Case, by_key

AXIS = "variant"
PLAIN = "plain"
NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,39}", re.ASCII)
VERSION = re.compile(r"[\w.!+-]+(?:\.\*)?", re.ASCII)


def argument(given: object) -> str:
    """A text or a number; braces are evalsuite's own. Raises EvalsuiteError."""
    text = str(given)
    simple = isinstance(given, str | int | float) and not isinstance(given, bool)
    if not simple or not text.isprintable() or "{" in text or "}" in text:
        raise EvalsuiteError(decode.refusal(given, decode.message("argument")))
    return text


Argument = Annotated[str, From(object, argument)]
Environment = Annotated[
    tuple[tuple[str, str], ...], From(Mapping[Variable, Argument], lambda given: tuple(sorted(given.items())))
]


@dataclass(frozen=True, kw_only=True)
class Launch:
    """How else a script is run."""

    environment: Environment = ()
    arguments: tuple[Argument, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Variant(Launch):
    name: Annotated[str, Constraint("variant", lambda name: NAME.fullmatch(name) and name != PLAIN)]
    frameworks: tuple[Argument, ...] = ()  # (): of all

    def mistakes(self) -> Iterator[Mistake]:
        if not (self.environment or self.arguments):
            yield Mistake("", decode.message("changes_nothing"))


@dataclass(frozen=True, kw_only=True)
class Rule:
    """Cases by their axes: every named axis must have one of the values, in which * matches anything."""

    values: tuple[tuple[str, tuple[str, ...]], ...]

    def holds(self, case: Case) -> bool:
        return all(any(fnmatchcase(AXES[axis](case), value) for value in values) for axis, values in self.values)


AXES: Mapping[str, Callable[[Case], str]] = {
    **{name: attrgetter(name) for name in ("framework", "recipe", "model", "scale", "precision")},
    "batch_per_device": lambda case: str(case.batch_per_device),
    "xla": lambda case: "on" if case.xla else "off",
    AXIS: lambda case: case.option(AXIS, PLAIN),
}


Axis = Annotated[str, decode.one_of(*AXES)]


def rule(table: Mapping[str, object]) -> Rule:
    if not table:
        raise EvalsuiteError(decode.message("no_axis"))
    values = {axis: given if isinstance(given, list) else [given] for axis, given in table.items()}
    return Rule(values=tuple((axis, tuple(map(argument, each))) for axis, each in values.items()))


def check_rules(rules: Sequence[Rule], cases: Sequence[Case], stated: Sequence[str], spec: str) -> None:
    """Raises EvalsuiteError for a value that no case of *spec* has, nor *stated*: it is misspelt."""
    for rule in rules:
        for axis, values in rule.values:
            there = sorted({AXES[axis](case) for case in cases})
            for value in values:
                if not any(fnmatchcase(text, value) for text in (*there, *stated)):
                    raise EvalsuiteError.of(
                        "plan.selection_none",
                        **{"spec": spec, "axis": axis, "name": value, "names": there},
                        near=did_you_mean(value, there, cutoff=0.5),
                    )


def varied(adapters: Mapping[str, Adapter], asked: Sequence[Variant]) -> dict[str, Adapter]:
    for variant in asked:
        for name in variant.frameworks:
            if name not in adapters:
                known = listed("frameworks", name, adapters)
                raise EvalsuiteError.of("plan.variant_framework", variant=variant.name, name=name, known=known)
    made = {}
    for name, adapter in adapters.items():
        ours = of_framework(name, asked)
        made[name] = replace(adapter, recipes=tuple(_with_axis(recipe, ours) for recipe in adapter.recipes))
    return made


def of_framework(name: str, asked: Sequence[Variant]) -> list[Variant]:
    return [variant for variant in asked if not variant.frameworks or name in variant.frameworks]


def _with_axis(recipe: Recipe, asked: Sequence[Variant]) -> Recipe:
    if not asked:
        return recipe
    ways, plain = {variant.name: variant for variant in asked}, recipe.command

    def command(case: Case) -> Command:
        made, way = plain(_without_axis(case)), ways.get(case.option(AXIS, PLAIN))
        return made if way is None else _extended(made, way)

    declared = recipe.options if recipe.options is None else {**recipe.options, AXIS: (PLAIN, *ways)}
    own = recipe.unsupported
    return replace(recipe, command=command, options=declared, unsupported=lambda case: own(_without_axis(case)))


def _extended(command: Command, way: Launch) -> Command:
    environment = {**command.environment, **dict(way.environment)}
    return replace(command, argv=(*command.argv, *way.arguments), environment=environment)


def _without_axis(case: Case) -> Case:
    return replace(case, options=tuple(option for option in case.options if option[0] != AXIS))


# Participants


@dataclass(frozen=True, kw_only=True)
class Participant:
    framework: Annotated[str, From(Word, registry.framework)]
    recipes: Many[Word]  # of each model one
    title: Annotated[str, Constraint("participant", TITLE.fullmatch)] | None = None  # None: the framework's
    image: Annotated[str, Constraint("image", lambda name: name.isprintable() and not name.startswith("-"))] = ""
    environment: Literal["managed", "current"] | None = None
    version: Annotated[str, Constraint("version", VERSION.fullmatch)] | None = None  # in place of the pinned one
    data: Argument | None = None
    optimiser: Argument | None = None
    options: Mapping[Word, Argument] | None = None
    launch: Launch = Launch()

    def mistakes(self) -> Iterator[Mistake]:
        if bool(self.image) == bool(self.environment):
            yield Mistake("", decode.message("image_or_environment", participant=self.called))
        if self.version and self.environment != "managed":
            yield Mistake("version", decode.message("version_managed"))

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
    if asked.version:
        pins, gpu = _pinned(recipe.requirements, asked.version), recipe.requirements_gpu
        gpu = gpu if gpu is None else _pinned(gpu, asked.version)
        recipe = replace(recipe, requirements=pins, requirements_gpu=gpu, other_wheels=())
    return replace(
        recipe,
        command=lambda case: _extended(plain(case), asked.launch),
        image=asked.image or recipe.image,
        environment=asked.environment or "container",
        participant=asked.called,
    )


def _pinned(pins: Sequence[str], version: str) -> tuple[str, ...]:
    """The framework's pin with *version*; the others without a version, so that fitting ones are found."""
    names = [pin if pin.startswith("-") else pin.partition("==")[0].strip() for pin in pins]
    return (f"{names[0]}=={version}", *names[1:]) if names else ()


def choose_participants(asked: Sequence[Participant], words: Sequence[str]) -> tuple[Participant, ...]:
    """Of *asked* those whose title or framework is among *words*; all without words. Raises EvalsuiteError."""
    called = [{each.title, each.name, each.framework} for each in asked]
    for word in words:
        if not any(word in names for names in called):
            raise EvalsuiteError.of("plan.participant_none", name=word, names=[each.called for each in asked] or "–")
    return tuple(each for each, names in zip(asked, called, strict=True) if not words or names & {*words})
