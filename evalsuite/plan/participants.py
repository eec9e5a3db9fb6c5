"""Participants: who takes part, each with its own script, image or environment, data and options.

A participant is a framework of its own in cases, rankings and figures. Where its title is not that of its framework it
has a name of its own, so that one framework can come twice: NGC's build and the plain one.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from evalsuite.contracts.adapter import Adapter, Command, Recipe, listed
from evalsuite.core import decode
from evalsuite.core.decode import Constraint, Many, Mistake, Word
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.model import Case, by_key
from evalsuite.plan import variants

TITLE = re.compile(r"[A-Za-z0-9][A-Za-z0-9 .+-]{0,39}", re.ASCII)
OPTION = "option."


@dataclass(frozen=True, kw_only=True)
class Launch:
    environment: variants.Environment = ()
    arguments: tuple[variants.Argument, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Participant:
    framework: Word
    recipes: Many[Word]  # of each model one
    title: Annotated[str, Constraint("participant", TITLE.fullmatch)] | None = None  # None: the framework's
    image: variants.Image = ""
    environment: Literal["managed", "current"] | None = None
    data: variants.Argument | None = None
    optimiser: variants.Argument | None = None
    options: Mapping[Word, variants.Argument] | None = None
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


def read_text(text: str, where: str) -> Participant:
    """`title=NGC PyTorch,framework=ngc_pytorch,recipe=resnet50,image=IMAGE,option.NAME=VALUE`."""
    pairs = [(name.strip(), value) for name, _, value in (part.partition("=") for part in text.split(","))]
    options = {name.removeprefix(OPTION): value for name, value in pairs if name.startswith(OPTION)}
    facts: dict[str, object] = {name: value for name, value in pairs if not name.startswith((OPTION, "recipe"))}
    facts["recipes"] = [value for name, value in pairs if name == "recipe"]
    return decode.decode(Participant, {**facts, **({"options": options} if options else {})}, where, strict=True)


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


def _check_options(asked: Participant, recipes: Sequence[Recipe]) -> None:
    for option, value in asked.axes.items():
        if any(recipe.options is None for recipe in recipes):
            continue
        values = [recipe.options[option] for recipe in recipes if recipe.options and option in recipe.options]
        if not values:
            known = sorted({name for recipe in recipes for name in recipe.options or ()})
            raise EvalsuiteError.of("plan.participant_option", name=asked.called, option=option, names=known)
        if all(each and value not in each for each in values):
            known = sorted({word for each in values for word in each})
            raise EvalsuiteError.of(
                "plan.participant_value", name=asked.called, option=option, value=value, names=known
            )


def _adapter(adapter: Adapter, asked: Participant) -> Adapter:
    recipes = tuple(_entered(adapter.recipe(name), asked) for name in asked.recipes)
    models = Counter(recipe.model for recipe in recipes)
    if twice := next((model for model, n in models.items() if n > 1), None):
        raise EvalsuiteError.of("plan.participant_model", name=asked.title or adapter.title, model=twice)
    _check_options(asked, recipes)
    return replace(adapter, name=asked.name, title=asked.title or adapter.title, recipes=recipes)


def _entered(recipe: Recipe, asked: Participant) -> Recipe:
    plain, launch = recipe.command, asked.launch

    def command(case: Case) -> Command:
        return variants.extended(plain(case), launch.arguments, launch.environment)

    return replace(
        recipe,
        command=command,
        image=asked.image or recipe.image,
        environment=asked.environment or "container",
        participant=asked.called,
    )


def chosen(asked: Sequence[Participant], words: Sequence[str]) -> tuple[Participant, ...]:
    """Of *asked* those whose title or framework is among *words*; all without words. Raises EvalsuiteError."""
    for word in words:
        if not any(_is_called(each, word) for each in asked):
            names = [each.called for each in asked]
            raise EvalsuiteError.of("plan.participant_none", name=word, names=names)
    return tuple(each for each in asked if not words or any(_is_called(each, word) for word in words))


def _is_called(asked: Participant, word: str) -> bool:
    return word in (asked.title, asked.name, asked.framework)
