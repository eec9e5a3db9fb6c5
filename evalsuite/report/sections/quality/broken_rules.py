"""Findings collapsed by their rule: how often, from where to where, which is the worst, and every place."""

import functools
from dataclasses import dataclass

from evalsuite.core import findings
from evalsuite.core.model import Finding
from evalsuite.report.book.book import Book
from evalsuite.report.text import names
from evalsuite.results.rules import data_rules

SEVERITIES = ("exclude", "flag", "note")


Place = tuple[str, str | None]  # and the anchor of its receipt
Breach = tuple[Finding, Place | None]


@dataclass(frozen=True, kw_only=True)
class BrokenRule:
    breaches: tuple[Breach, ...]

    @property
    def worst(self) -> Finding:
        return self.breaches[0][0]

    @functools.cached_property
    def alike(self) -> bool:
        return len({tuple(findings.values(finding).values()) for finding, _ in self.breaches}) == 1


def broken_rules(book: Book) -> tuple[BrokenRule, ...]:
    breaches: dict[str, list[Breach]] = {}
    for finding in book.findings:
        where = place(book, finding.where) if finding.where else None
        breaches.setdefault(finding.name, []).append((finding, where))
    for same in breaches.values():
        same.sort(key=lambda breach: (-data_rules.beyond(breach[0]), breach[0].where))
    rules = [BrokenRule(breaches=tuple(same)) for same in breaches.values()]
    rules.sort(key=lambda rule: (-len(rule.breaches), rule.worst.name))
    return tuple(sorted(rules, key=lambda rule: SEVERITIES.index(rule.worst.severity)))


def place(book: Book, where: str) -> Place:
    ids = (where, where.rpartition("/r")[0], where.partition("/r")[0])
    case = next((book.planned_of[each] for each in ids if each in book.planned_of), None)
    return names.visible(where), names.case_anchor(case) if case else None
