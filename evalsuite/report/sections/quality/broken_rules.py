"""Findings collapsed by their rule: how often, from where to where, which is the worst, and every place."""

import functools
from dataclasses import dataclass

from evalsuite.core import findings
from evalsuite.core.model import Case, Finding
from evalsuite.report.book.book import Book
from evalsuite.report.text import findings as told
from evalsuite.report.text import names, options
from evalsuite.report.text.numbers import Number
from evalsuite.report.text.words import Rendered, Words
from evalsuite.results.rules import severity

SEVERITIES = ("exclude", "flag", "note")


@dataclass(frozen=True, kw_only=True)
class Place:
    text: str
    ref: str | None
    case: Case | None = None
    run: str = ""

    def name(self, words: Words) -> Rendered:
        if self.case is None:
            return words.same(self.text)
        case = self.case
        parts: list[Rendered | str] = [names.framework(case.framework)]
        parts += [names.visible(case.recipe)] * (case.kind == "official")
        parts += [names.model(case.model), names.precision(case.precision), *["XLA"] * bool(case.xla)]
        parts.append(names.bsz(case.series_batch, strong=case.strong_batch is not None))
        parts += [options.option(*pair, words) for pair in case.options]
        return options.apart([*parts, names.scale(case), *[self.run] * bool(self.run)], words)


@dataclass(frozen=True, kw_only=True)
class Size:
    printed: Number
    beyond: float


@dataclass(frozen=True, kw_only=True)
class Breach:
    finding: Finding
    place: Place | None
    others: int  # further runs of the case that have it
    size: Size | None


@dataclass(frozen=True, kw_only=True)
class BrokenRule:
    breaches: tuple[Breach, ...]

    @property
    def worst(self) -> Breach:
        return self.breaches[0]

    @functools.cached_property
    def alike(self) -> bool:
        return len({tuple(findings.values(breach.finding).values()) for breach in self.breaches}) == 1

    @functools.cached_property
    def ends(self) -> tuple[Number, Number] | None:
        sizes = sorted((breach.size.printed for breach in self.breaches if breach.size), key=lambda number: number.raw)
        return (sizes[0], sizes[-1]) if sizes and sizes[0].text != sizes[-1].text else None


def broken_rules(book: Book) -> tuple[BrokenRule, ...]:
    breaches: dict[str, list[Breach]] = {}
    for finding in book.findings:
        where, excess = place(book, finding.where) if finding.where else None, severity.size(finding)
        size = Size(printed=told.FORMS[excess.kind](excess.value), beyond=excess.beyond) if excess else None
        breach = Breach(finding=finding, place=where, others=len(finding.also), size=size)
        breaches.setdefault(finding.name, []).append(breach)
    for same in breaches.values():
        same.sort(key=lambda breach: (-breach.size.beyond if breach.size else 0.0, breach.finding.where))
    rules = [BrokenRule(breaches=tuple(same)) for same in breaches.values()]
    rules.sort(key=lambda rule: (-len(rule.breaches), rule.worst.finding.name))
    return tuple(sorted(rules, key=lambda rule: SEVERITIES.index(rule.worst.finding.severity)))


def place(book: Book, where: str) -> Place:
    ids = (where, where.rpartition("/r")[0], where.partition("/r")[0])
    case = next((book.planned_of[each] for each in ids if each in book.planned_of), None)
    if case is None:
        return Place(text=names.visible(where), ref=None)
    run = where.removeprefix(case.id).removeprefix("/")
    return Place(text=names.visible(where), ref=names.case_anchor(case), case=case, run=names.visible(run))
