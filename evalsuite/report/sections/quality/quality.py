"""Data quality: counts, findings grouped by what they say, failed and excluded runs, skips."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial

from evalsuite.core import findings
from evalsuite.core.model import Finding, by_key
from evalsuite.report.book import states
from evalsuite.report.book.book import Book
from evalsuite.report.book.tally import tally, unseen
from evalsuite.report.sections.common.section import Section, Subject, parts
from evalsuite.report.text import names, numbers
from evalsuite.report.text.words import Text, Words
from evalsuite.results.rules import data_rules

PARTS = ("counts", "findings", "failures", "attempts", "skips")
OF_MADE_HERE = ("runs_made", "runs_sampled", "runs_disturbed")
OF_CASES = ("cases_planned", "cases_valid", "cases_partial", "cases_skipped", "cases_without")
OF_PLAN = ("runs_planned", "runs_gone")  # known by its journal alone
COUNTED = (*OF_CASES, "runs_planned", "runs_made", "runs_gone", "runs_valid", "runs_sampled", "runs_disturbed")
Breach = tuple[Finding, tuple[str, str | None] | None]  # its place, and the anchor of its receipt


def sections(subject: Subject) -> Iterable[Section]:
    words, book = subject.words, subject.book
    there = {
        "failures": any(not run.counts for run in book.measurements),
        "attempts": bool(book.evaluation.campaigns or book.evaluation.superseded),
        "skips": bool(book.skips),
    }
    shown = [part for part in PARTS if there.get(part, True)]
    yield Section(
        id="quality",
        title=words("quality.title"),
        template="quality/quality.html.j2",
        facts=lambda: _facts(subject),
        parts=parts(words, "quality", shown),
        finding=lambda _: found(subject.book, words),
    )


def _facts(subject: Subject) -> Mapping[str, object]:
    book, failures = subject.book, [run for run in subject.book.measurements if not run.counts]
    unknown = (*(OF_MADE_HERE if book.published else ()), *(() if book.evaluation.campaigns else OF_PLAN))
    return {
        **{"tally": tally(book), "broken": broken_rules(book), "failures": failures, "state_of": states.how},
        "counted": [key for key in COUNTED if key not in unknown],
        "place": partial(place, book),
        "unwatched": by_key((of.run.case, of) for of in book.measurements if of.origin == "measured" and unseen(of)),
        "called": names.labels(run.run.case for run in failures),
        "skips": by_key(((names.framework(of.case.framework), of.kind, of.reason), of.case) for of in book.skips),
        **{"campaigns": book.evaluation.campaigns, "superseded": book.evaluation.superseded},
    }


def found(book: Book, words: Words) -> Text | None:
    """How many rules found something that is more than noted, and in how many places."""
    broken = [rule for rule in broken_rules(book) if rule.worst.severity != "note"]
    places = numbers.count(sum(len(rule.breaches) for rule in broken))
    return words("quality.found", n=numbers.count(len(broken)), places=places) if broken else None


@dataclass(frozen=True, kw_only=True)
class BrokenRule:
    breaches: tuple[Breach, ...]

    @property
    def worst(self) -> Finding:
        return self.breaches[0][0]

    @cached_property
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
    return tuple(sorted(rules, key=lambda rule: rule.worst.severity))  # exclude, flag, note


def place(book: Book, where: str) -> tuple[str, str | None]:
    ids = (where, where.rpartition("/r")[0], where.partition("/r")[0])
    case = next((book.planned_of[each] for each in ids if each in book.planned_of), None)
    return names.visible(where), names.case_anchor(case) if case else None
