"""Data quality: counts, findings grouped by what they say, failed and excluded runs, skips."""

from collections.abc import Iterable, Mapping
from functools import partial

from evalsuite.core.model import by_key
from evalsuite.report.book import states
from evalsuite.report.book.book import Book
from evalsuite.report.book.tally import tally, unseen
from evalsuite.report.sections.common.section import Section, Subject, parts
from evalsuite.report.sections.quality.broken_rules import broken_rules, place
from evalsuite.report.text import names, numbers
from evalsuite.report.text.words import Text, Words

PARTS = ("counts", "findings", "failures", "attempts", "skips")
OF_MADE_HERE = ("runs_made", "runs_sampled", "runs_disturbed")
OF_CASES = ("cases_planned", "cases_valid", "cases_partial", "cases_skipped", "cases_without")
OF_PLAN = ("runs_planned", "runs_gone")  # known by its journal alone
COUNTED = (*OF_CASES, "runs_planned", "runs_made", "runs_gone", "runs_valid", "runs_sampled", "runs_disturbed")


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
        "tally": tally(book),
        "counted": [key for key in COUNTED if key not in unknown],
        "broken": broken_rules(book),
        "place": partial(place, book),
        "state_of": states.how,
        "failures": failures,
        "unwatched": by_key((of.run.case, of) for of in book.measurements if of.origin == "measured" and unseen(of)),
        "called": names.labels(run.run.case for run in failures),
        "skips": by_key(
            ((names.framework(skip.case.framework), skip.kind, skip.reason), skip.case) for skip in book.skips
        ),
        "campaigns": book.evaluation.campaigns,
        "superseded": book.evaluation.superseded,
    }


def found(book: Book, words: Words) -> Text | None:
    """How many rules found something that is more than noted, and in how many places."""
    broken = [rule for rule in broken_rules(book) if rule.worst.severity != "note"]
    places = numbers.count(sum(len(rule.breaches) for rule in broken))
    return words("quality.found", n=numbers.count(len(broken)), places=places) if broken else None
