"""Findings collapsed by their rule: how often, from where to where, which is the worst, and every place."""

import functools
import math
from collections.abc import Sequence
from dataclasses import MISSING, dataclass, fields

from evalsuite import findings
from evalsuite.findings import Kind
from evalsuite.model import Case, Finding
from evalsuite.report.book.book import Book
from evalsuite.report.text import findings as told
from evalsuite.report.text import names, options
from evalsuite.report.text.numbers import Form, Number
from evalsuite.report.text.words import Rendered, Words

SEVERITIES = ("reject", "exclude", "flag", "note")  # the gravest first
# what tells how far a rule is broken: the first of its fields that is one of these
SIZES = (Kind.CHANGE, Kind.SHARE, Kind.RATIO, Kind.FACTOR, Kind.POINTS, Kind.SECONDS)


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
        parts += [f"bsz {case.batch_per_device:,}", *(options.option(*pair, words) for pair in case.options)]
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
    found = [Breach(finding=one, place=place(book, one.where) if one.where else None, size=_size(one)) for one in same]
    return BrokenRule(breaches=tuple(sorted(found, key=lambda one: (-_beyond(one), one.finding.where))))


def _beyond(breach: Breach) -> float:
    return breach.size.beyond if breach.size else 0.0


def _size(finding: Finding) -> Size | None:
    given = {field.name: field for field in fields(finding)}
    kinds = findings.kinds(type(finding))
    free = {name: kind for name, kind in kinds.items() if given[name].default is MISSING}
    for wanted in SIZES:
        name = next((name for name, kind in free.items() if kind is wanted), None)
        if name is not None and isinstance(value := getattr(finding, name), int | float):
            return _sized(float(value), wanted, _allowed(finding, wanted))
    rates = [float(getattr(finding, name)) for name, kind in free.items() if kind is Kind.RATE]
    if len(rates) == 2 and rates[1]:
        return _sized(rates[0] / rates[1] - 1, Kind.CHANGE, 0.0)
    counted = [name for name, kind in free.items() if kind is Kind.COUNT]
    if len(counted) == 1 and len(free) == 1:
        return _sized(float(getattr(finding, counted[0])), Kind.COUNT, _allowed(finding, Kind.COUNT))
    return None


def _allowed(finding: Finding, kind: Kind) -> float:
    """The limit of the rule; where it has none, what breaks nothing."""
    limits = [field.default for field in fields(finding) if isinstance(field.default, int | float)]
    return float(limits[0]) if limits else 1.0 if kind in (Kind.RATIO, Kind.FACTOR) else 0.0


def _sized(value: float, kind: Kind, allowed: float) -> Size | None:
    if not math.isfinite(value):
        return None
    form: Form = told.FORMS[kind]
    far = abs(value) if kind in (Kind.CHANGE, Kind.POINTS) else value  # as far below as above
    return Size(printed=form(value), value=value, beyond=abs(far - allowed))


def _case(book: Book, where: str) -> Case | None:
    places = (where, where.rpartition("/r")[0], where.partition("/r")[0])
    return next((book.planned_of[name] for name in places if name in book.planned_of), None)
