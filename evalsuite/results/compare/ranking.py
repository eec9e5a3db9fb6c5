"""What a ranking is of: the frameworks of a model or, of one framework alone, its variants.

Variants are its scripts and the options that change how the same work is done. An option that changes the work is
another question.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from evalsuite.core.model import Case, Summary, by_key
from evalsuite.results.compare import fairness
from evalsuite.results.compare.fairness import Purpose

WORK = ("image_size", "sequence_length", "network")
SIZES = ("num_layers", "hidden_size", "deep_vocabulary", "classes")
BETWEEN_NODES = ("link_mbit",)
Among = Literal["frameworks", "variants"]


@dataclass(frozen=True, kw_only=True)
class Candidate:
    framework: str
    recipe: str | None = None  # None: its scripts are equivalent
    options: tuple[tuple[str, str | None], ...] = ()  # those that tell variants apart; None: not given


@dataclass(frozen=True, kw_only=True)
class RankingScope:
    among: Among = "frameworks"
    scripts: bool = False  # of variants: whether there are several scripts
    options: tuple[tuple[str, tuple[str | None, ...]], ...] = ()  # of variants: in what they differ, with all values

    def candidate(self, case: Case) -> Candidate:
        if self.among == "frameworks":
            return Candidate(framework=case.framework)
        return Candidate(
            framework=case.framework,
            recipe=case.recipe if self.scripts else None,
            options=tuple((name, case.option(name)) for name in self.names),
        )

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.options)

    @cached_property
    def purpose(self) -> Purpose:
        if self.among == "frameworks":
            return fairness.FRAMEWORKS
        scripts = ("recipe", "framework_version") if self.scripts else ("recipe",)
        return Purpose(
            free=frozenset({*scripts, "origin", *(f"options.{name}" for name in self.names)}), facts="of_scripts"
        )

    def unknown_facts(self, a: Summary, b: Summary) -> tuple[str, ...]:
        return fairness.unknown_facts(a, b, self.purpose)


FRAMEWORKS = RankingScope()


def ranking_scopes(cases: Iterable[Case]) -> dict[str, RankingScope]:
    of_model = by_key((case.model, case) for case in cases)
    return {model: _scope_of(own) for model, own in of_model.items()}


def _scope_of(cases: list[Case]) -> RankingScope:
    if len({case.framework for case in cases}) > 1:
        return FRAMEWORKS
    values: dict[str, dict[str | None, None]] = {}
    for name in sorted({name for case in cases for name, _ in case.options}):
        if name not in (*WORK, *SIZES):
            values[name] = dict.fromkeys(case.option(name) for case in cases)
    differing = tuple((name, tuple(sorted(given, key=_given))) for name, given in values.items() if len(given) > 1)
    scripts = len({case.recipe for case in cases}) > 1
    return RankingScope(among="variants", scripts=scripts, options=differing) if scripts or differing else FRAMEWORKS


def _given(value: str | None) -> tuple[bool, str]:
    return (value is not None, value or "")
