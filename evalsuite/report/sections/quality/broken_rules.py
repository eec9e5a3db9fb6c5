"""Findings collapsed by their rule: how often, from where to where, which is the worst, and every place."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass

from evalsuite import findings
from evalsuite.model import Case, Finding
from evalsuite.report.book.book import Book
from evalsuite.report.text import findings as told
from evalsuite.report.text import names, options
from evalsuite.report.text.numbers import Form, Number
from evalsuite.report.text.words import Rendered, Words
from evalsuite.results.rules import severity

SEVERITIES = ("reject", "exclude", "flag", "note")  # the gravest first


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a finding was made, with the anchor of its receipt if it is a case or a run of ours."""

    text: str
    ref: str | None
    case: Case | None = None
    run: str = ""  # "r2", of a run of the case

    def said(self, words: Words) -> Rendered:
        """What a reader calls it; what is neither a case nor a run stays as the finding has it."""
        if self.case is None:
            return words.same(self.text)
        case = self.case
        parts: list[Rendered | str] = [names.framework(case.framework)]
        parts += [names.visible(case.recipe)] * (not case.recipe.startswith("reference-"))
        parts += [names.model(case.model), names.precision(case.precision), *["XLA"] * case.xla]
        parts += [
            names.bsz(case.series_batch, strong=case.strong_batch is not None),
            *(options.option(*pair, words) for pair in case.options),
        ]
        return options.apart([*parts, names.scale(case), *[self.run] * bool(self.run)], words)


@dataclass(frozen=True, kw_only=True)
class Size:
    """How far one finding is beyond its rule, as it is printed, and how far that is from what is allowed."""

    printed: Number
    value: float
    beyond: float


@dataclass(frozen=True, kw_only=True)
class Breach:
    """One finding and where it was made."""

    finding: Finding
    place: Place | None
    others: int  # further runs of the case that have it
    size: Size | None


@dataclass(frozen=True, kw_only=True)
class BrokenRule:
    """All findings of one rule, the worst first."""

    breaches: tuple[Breach, ...]

    @property
    def worst(self) -> Breach:
        return self.breaches[0]

    @functools.cached_property
    def alike(self) -> bool:
        """Whether all say the same: then only their places are listed."""
        return len({tuple(findings.values(one.finding).values()) for one in self.breaches}) == 1

    @functools.cached_property
    def ends(self) -> tuple[Number, Number] | None:
        """The least and the greatest size, by number; None where there is one only."""
        sizes = sorted((one.size for one in self.breaches if one.size), key=lambda size: size.value)
        if len(sizes) < 2 or sizes[0].printed.text == sizes[-1].printed.text:
            return None
        return sizes[0].printed, sizes[-1].printed


def broken_rules(book: Book) -> tuple[BrokenRule, ...]:
    """One for each rule that anything breaks: the gravest first, of equal gravity the most frequent."""
    found: dict[str, list[Finding]] = {}
    for finding in book.findings:
        found.setdefault(finding.name, []).append(finding)
    rules = [_rule(book, same) for same in found.values()]
    return tuple(sorted(rules, key=_order))


def place(book: Book, where: str) -> Place:
    case = _case(book, where)
    run = where.removeprefix(case.id).removeprefix("/") if case else ""
    return Place(
        text=names.visible(where), ref=names.case_anchor(case) if case else None, case=case, run=names.visible(run)
    )


def _order(rule: BrokenRule) -> tuple[int, int, str]:
    first = rule.worst.finding
    return (SEVERITIES.index(first.severity), -len(rule.breaches), first.name)


def _rule(book: Book, same: Sequence[Finding]) -> BrokenRule:
    found = [
        Breach(finding=one, place=place(book, one.where) if one.where else None, others=len(one.also), size=_size(one))
        for one in same
    ]
    return BrokenRule(breaches=tuple(sorted(found, key=lambda one: (-_beyond(one), one.finding.where))))


def _beyond(breach: Breach) -> float:
    return breach.size.beyond if breach.size else 0.0


def _size(finding: Finding) -> Size | None:
    found = severity.size(finding)
    if found is None:
        return None
    form: Form = told.FORMS[found.kind]
    return Size(printed=form(found.value), value=found.value, beyond=found.beyond)


def _case(book: Book, where: str) -> Case | None:
    places = (where, where.rpartition("/r")[0], where.partition("/r")[0])
    return next((book.planned_of[name] for name in places if name in book.planned_of), None)
