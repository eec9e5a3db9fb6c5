"""Who takes part in a ranking: the frameworks of a model or, where one framework alone was asked for, its variants.

Variants are the ways in which one framework was run: its scripts, and the options that change how they do the same
work (a link, half precision in the all-reduce, overlap, a variant of the spec). An option that changes the work itself
is a question of its own.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from evalsuite.model import Case, Summary
from evalsuite.results.compare import fairness
from evalsuite.results.compare.fairness import Purpose

WORK = ("image_size", "sequence_length", "network")  # options that change what an item costs: no variant of the work
SIZES = ("num_layers", "hidden_size", "deep_vocabulary")  # of the model itself: no variant of the work either
BETWEEN_NODES = ("link_mbit",)  # options that nothing of a job on one node passes
Among = Literal["frameworks", "variants"]


@dataclass(frozen=True, kw_only=True)
class Entrant:
    """One of those that are ranked, by what tells it from the others."""

    framework: str
    recipe: str | None = None  # None: its scripts stand for one another
    options: tuple[tuple[str, str | None], ...] = ()  # those that tell variants apart; None: not given


@dataclass(frozen=True, kw_only=True)
class Contest:
    """What is ranked in all questions about one model."""

    among: Among = "frameworks"
    scripts: bool = False  # of variants: whether there are several scripts
    options: tuple[tuple[str, tuple[str | None, ...]], ...] = ()  # of variants: in what they differ, with all values

    def entrant(self, case: Case) -> Entrant:
        """Who *case* is a result of."""
        if self.among == "frameworks":
            return Entrant(framework=case.framework)
        return Entrant(
            framework=case.framework,
            recipe=case.recipe if self.scripts else None,
            options=tuple((name, case.option(name)) for name in self.names),
        )

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The options in which variants differ."""
        return tuple(name for name, _ in self.options)

    @cached_property
    def purpose(self) -> Purpose:
        """What may differ between two that are ranked."""
        if self.among == "frameworks":
            return fairness.FRAMEWORKS
        scripts = ("recipe", "framework_version") if self.scripts else ("recipe",)
        return Purpose(
            free=frozenset({*scripts, "origin", *(f"options.{name}" for name in self.names)}), facts="of_scripts"
        )

    def unknown_facts(self, a: Summary, b: Summary) -> tuple[str, ...]:
        """The facts that nobody states of both, for which the order of *a* and *b* is indicative only."""
        return fairness.unknown_facts(a, b, self.purpose)


FRAMEWORKS = Contest()


def contests(cases: Iterable[Case]) -> dict[str, Contest]:
    """Model → what is ranked in it."""
    of_model: dict[str, list[Case]] = {}
    for case in cases:
        of_model.setdefault(case.model, []).append(case)
    return {model: _contest(own) for model, own in of_model.items()}


def _contest(cases: list[Case]) -> Contest:
    if len({case.framework for case in cases}) > 1:
        return FRAMEWORKS
    values: dict[str, dict[str | None, None]] = {}
    for name in sorted({name for case in cases for name, _ in case.options}):
        if name not in (*WORK, *SIZES):
            values[name] = dict.fromkeys(case.option(name) for case in cases)
    differing = tuple((name, tuple(sorted(found, key=_given))) for name, found in values.items() if len(found) > 1)
    scripts = len({case.recipe for case in cases}) > 1
    return Contest(among="variants", scripts=scripts, options=differing) if scripts or differing else FRAMEWORKS


def _given(value: str | None) -> tuple[bool, str]:
    return (value is not None, value or "")
