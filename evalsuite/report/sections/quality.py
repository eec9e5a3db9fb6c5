"""Data quality: counts, findings grouped by what they say, failed and excluded runs, skips, problems."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from evalsuite.findings import NoisyRepeats
from evalsuite.model import Attempt, CampaignStart, Case, Finding, Measurement, Skip, Summary
from evalsuite.report.book import states
from evalsuite.report.book.blocks import Block
from evalsuite.report.book.book import Book
from evalsuite.report.book.states import State
from evalsuite.report.book.tally import Counts, tally
from evalsuite.report.sections import repeats
from evalsuite.report.sections.drawn import Drawn
from evalsuite.report.sections.markdown import MarkdownWriter
from evalsuite.report.sections.section import Section, Subject, parts
from evalsuite.report.text import names, numbers
from evalsuite.report.text.numbers import Number
from evalsuite.results.summary import counts

COUNTS = "counts-table"  # the anchor of the table that holds what sentences count


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a finding was made, with the anchor of its receipt if it is a case or a run of ours."""

    text: str
    ref: str | None


@dataclass(frozen=True, kw_only=True)
class FindingGroup:
    """Findings that say the same, and all the places they were made at."""

    finding: Finding
    places: tuple[Place, ...]


@dataclass(frozen=True, kw_only=True)
class FailedRun:
    """One run that counts for nothing."""

    run: Measurement
    state: State

    @property
    def ref(self) -> str:
        return names.case_anchor(self.run.run.case)


@dataclass(frozen=True, kw_only=True)
class LostAttempt:
    """An attempt at a run that counts for nothing: another one, or none, stands in its place."""

    attempt: Attempt
    place: Place
    value: Number | None


@dataclass(frozen=True, kw_only=True)
class SkipGroup:
    """Cases that were skipped for one reason."""

    framework: str
    kind: str
    reason: str
    cases: tuple[Case, ...]


@dataclass(frozen=True, kw_only=True)
class QualityFacts:
    """What the section shows."""

    tally: Counts
    groups: tuple[FindingGroup, ...]
    failures: tuple[FailedRun, ...]
    excluded: tuple[Measurement, ...]
    noisy: tuple[Summary, ...]
    noisy_limit: Number
    skip_groups: tuple[SkipGroup, ...]
    campaigns: tuple[CampaignStart, ...]
    lost: tuple[LostAttempt, ...]
    repeats: tuple[tuple[Block, Drawn], ...]


def sections(subject: Subject) -> Iterable[Section]:
    words = subject.words
    yield Section(
        id="quality",
        title=words("quality.title"),
        template="quality.html.j2",
        facts=lambda: _facts(subject),
        markdown=lambda writer: _markdown(subject.book, writer),
        parts=parts(words, "quality", ("counts", "findings", "failures", "attempts", "skips", "repeats")),
    )


def _facts(subject: Subject) -> QualityFacts:
    book = subject.book
    return QualityFacts(
        tally=tally(book),
        groups=groups(book),
        failures=failures(book),
        excluded=excluded(book),
        noisy=noisy(book),
        noisy_limit=numbers.limit(NoisyRepeats.limit),
        skip_groups=skip_groups(book),
        campaigns=book.evaluation.campaigns,
        lost=lost_attempts(book),
        repeats=repeats.drawn(book, subject.blocks, subject.look, subject.words),
    )


def _markdown(book: Book, writer: MarkdownWriter) -> Iterable[str]:
    if book.findings:
        yield writer.said(writer.beyond("markdown.findings", n=numbers.count(len(book.findings))))


def groups(book: Book) -> tuple[FindingGroup, ...]:
    """Findings by what they say; the gravest first."""
    found: dict[Finding, list[Finding]] = {}
    for finding in book.findings:
        found.setdefault(replace(finding, where=""), []).append(finding)
    return tuple(FindingGroup(finding=same[0], places=tuple(_places(book, same))) for same in found.values())


def _places(book: Book, same: Iterable[Finding]) -> Iterable[Place]:
    for where in sorted({finding.where for finding in same}):
        if where:
            yield Place(text=names.visible(where), ref=_ref(book, where))


def _ref(book: Book, where: str) -> str | None:
    for name in (where, where.rpartition("/r")[0], where.partition("/r")[0]):
        if name in book.planned_ids:
            return names.anchor("c", name)
    return None


def failures(book: Book) -> tuple[FailedRun, ...]:
    bad = (run for run in book.measurements if not counts(run) and run.value is None)
    return tuple(FailedRun(run=run, state=states.how(run)) for run in bad)


def excluded(book: Book) -> tuple[Measurement, ...]:
    """Runs with a value that a data rule keeps out of the median: shown with it."""
    return tuple(run for run in book.measurements if run.value is not None and not counts(run))


def lost_attempts(book: Book) -> tuple[LostAttempt, ...]:
    """The attempts that were made again or taken away, in the order in which they were started."""
    return tuple(
        LostAttempt(
            attempt=one,
            place=Place(text=names.visible(one.run), ref=_ref(book, one.run)),
            value=None if one.items_per_s is None else numbers.throughput(one.items_per_s),
        )
        for one in book.evaluation.superseded
    )


def noisy(book: Book) -> tuple[Summary, ...]:
    """Cases whose repeats vary by more than 5 %."""
    return tuple(one for one in book.valid if one.cv is not None and one.cv > NoisyRepeats.limit)


def skip_groups(book: Book) -> tuple[SkipGroup, ...]:
    found: dict[tuple[str, str, str], list[Skip]] = {}
    for skip in book.skips:
        found.setdefault((skip.case.framework, skip.kind, skip.reason), []).append(skip)
    return tuple(
        SkipGroup(framework=names.framework(key[0]), kind=key[1], reason=key[2], cases=tuple(s.case for s in same))
        for key, same in found.items()
    )
