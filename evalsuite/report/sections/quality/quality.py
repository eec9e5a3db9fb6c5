"""Data quality: counts, findings grouped by what they say, failed and excluded runs, skips, problems."""

from collections.abc import Iterable
from dataclasses import dataclass

from evalsuite.findings import NoisyRepeats
from evalsuite.model import Attempt, CampaignStart, Case, Measurement, Skip, Summary
from evalsuite.report.book import states
from evalsuite.report.book.blocks import Block
from evalsuite.report.book.book import Book
from evalsuite.report.book.states import State
from evalsuite.report.book.tally import Counts, tally
from evalsuite.report.sections.common import markdown
from evalsuite.report.sections.common.drawn import Drawn
from evalsuite.report.sections.common.markdown import MarkdownWriter
from evalsuite.report.sections.common.section import Section, Subject, parts
from evalsuite.report.sections.quality import machine_noise as quietness
from evalsuite.report.sections.quality import price, repeats, undisturbed
from evalsuite.report.sections.quality.broken_rules import BrokenRule, Place, broken_rules, place
from evalsuite.report.sections.quality.price import PriceFacts
from evalsuite.report.sections.quality.undisturbed import TwoHeadlines
from evalsuite.report.text import findings, names, numbers
from evalsuite.report.text.numbers import Number
from evalsuite.report.text.words import Rendered, Words
from evalsuite.results.measure.summary import counts

PARTS = ("counts", "findings", "failures", "attempts", "skips", "repeats", "cost")
OF_MADE_HERE = ("runs_planned", "runs_made")
COUNTED = (
    "cases_planned",
    "cases_valid",
    "cases_partial",
    "cases_skipped",
    "cases_without",
    *OF_MADE_HERE,
    "runs_valid",
)
COUNTS = "counts-table"  # the anchor of the table that holds what sentences count


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
class NoisyCase:
    """A case whose repeats vary too much."""

    place: Place
    n: int
    cv: float


@dataclass(frozen=True, kw_only=True)
class QualityFacts:
    """What the section shows."""

    tally: Counts
    counted: tuple[str, ...]  # what of the tally is shown
    nothing_of: Rendered | None  # the parts that have nothing to show, in a line
    broken: tuple[BrokenRule, ...]
    failures: tuple[FailedRun, ...]
    excluded: tuple[Measurement, ...]
    noisy: tuple[NoisyCase, ...]
    noisy_limit: Number
    skip_groups: tuple[SkipGroup, ...]
    campaigns: tuple[CampaignStart, ...]
    lost: tuple[LostAttempt, ...]
    repeats: tuple[tuple[Block, Drawn], ...]
    quietness: Drawn | None
    two_headlines: tuple[TwoHeadlines, ...]  # of all runs, and without the disturbed ones
    price: PriceFacts | None


def sections(subject: Subject) -> Iterable[Section]:
    words = subject.words
    empty = _nothing_of(subject.book)
    shown = [part for part in PARTS if part not in empty and (part != "cost" or subject.book.spent)]
    yield Section(
        id="quality",
        title=words("quality.title"),
        template="quality/quality.html.j2",
        facts=lambda: _facts(subject),
        markdown=lambda writer: _markdown(subject.book, writer),
        parts=parts(words, "quality", shown),
    )


def _facts(subject: Subject) -> QualityFacts:
    book = subject.book
    return QualityFacts(
        tally=tally(book),
        counted=_counted(book),
        nothing_of=_said_of_nothing(book, subject.words),
        broken=broken_rules(book),
        failures=failures(book),
        excluded=excluded(book),
        noisy=tuple(
            NoisyCase(place=place(book, one.case.id), n=one.n, cv=one.cv) for one in noisy(book) if one.cv is not None
        ),
        noisy_limit=numbers.limit(NoisyRepeats.limit),
        skip_groups=skip_groups(book),
        campaigns=book.evaluation.campaigns,
        lost=lost_attempts(book),
        repeats=repeats.drawn(book, subject.blocks, subject.look, subject.words),
        quietness=quietness.drawn(book, subject.look, subject.words),
        two_headlines=undisturbed.headlines(book, subject.words),
        price=price.facts(book, subject.words),
    )


def _markdown(book: Book, writer: MarkdownWriter) -> Iterable[str]:
    if broken := broken_rules(book):
        yield f"## {writer.word('quality.findings')}"
        heads = ("words.rule", "words.level", "quality.count", "quality.range", "quality.worst")
        rows = [_finding_row(one, writer) for one in broken]
        yield markdown.table([writer.word(key) for key in heads], rows, right=(2,))
        yield writer.said(writer.beyond("markdown.findings", n=numbers.count(len(book.findings))))
    yield from price.written(book, writer)


def _finding_row(broken: BrokenRule, writer: MarkdownWriter) -> list[str]:
    """How often a rule is broken, from where to where, and the worst of it."""
    worst = broken.worst
    where = f"{writer.said(worst.place.said(writer.words))}: " if worst.place else ""
    return [
        f"{markdown.text(worst.finding.code)}: {writer.said(findings.rule(worst.finding.code, writer.words))}",
        writer.word(f"severity.{worst.finding.severity}"),
        str(len(broken.breaches)),
        " … ".join(markdown.text(end.text) for end in broken.ends) if broken.ends else markdown.NOTHING,
        where + writer.said(findings.sentence(worst.finding, writer.words)),
    ]


def _nothing_of(book: Book) -> tuple[str, ...]:
    """The parts of the section that have nothing to show."""
    shown = {
        "failures": failures(book) or excluded(book),
        "attempts": book.evaluation.campaigns or book.evaluation.superseded,
        "skips": book.skips,
    }
    return tuple(part for part, found in shown.items() if not found)


def _said_of_nothing(book: Book, words: Words) -> Rendered | None:
    """A sentence for each of them; published figures have no journal that could be missed."""
    said = [words(f"quality.no_{key}") for key in _nothing_of(book) if key != "attempts" or not book.published]
    return words.sentences(said) if said else None


def _counted(book: Book) -> tuple[str, ...]:
    """The counts that are shown: nobody planned the runs of published figures, or made them here."""
    return tuple(key for key in COUNTED if not (book.published and key in OF_MADE_HERE))


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
            place=place(book, one.run),
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
