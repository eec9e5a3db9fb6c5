"""How every number is made again: software, commands, and a receipt for each run."""

from collections.abc import Iterable
from dataclasses import dataclass

from evalsuite import paths
from evalsuite.report.book.book import Book
from evalsuite.report.sections.common.section import Section, Subject, parts
from evalsuite.report.sections.reproduction import provenance as receipts
from evalsuite.report.sections.reproduction.provenance import SeriesReceipt, Software

OFFICIAL = "official-cpu"  # the profile that needs checkouts and data sets, which `make official` gets
MOST_RUNS = 1_500  # more would make the page heavy; their table lies beside it


@dataclass(frozen=True, kw_only=True)
class ReproductionFacts:
    """What the section shows."""

    receipts: tuple[SeriesReceipt, ...]
    software: tuple[Software, ...]
    embedded: tuple[str, ...]
    again: str | None  # the command that repeats the whole; None: no one command does

    @property
    def short_hashes(self) -> bool:
        """Whether a log's hash is cut: the whole stands in the table of runs beside the page."""
        return "runs" not in self.embedded


def sections(subject: Subject) -> Iterable[Section]:
    words = subject.words
    yield Section(
        id="reproduction",
        title=words("reproduction.title"),
        template="reproduction/reproduction.html.j2",
        facts=lambda: _facts(subject.book),
        parts=parts(words, "reproduction", ("software", "cases")),
    )


def _facts(book: Book) -> ReproductionFacts:
    return ReproductionFacts(
        receipts=receipts.receipts(book),
        software=receipts.software(book),
        embedded=embedded(book),
        again=_again(book.evaluation.profile),
    )


def _again(profile: str) -> str | None:
    """The command that repeats the evaluation, of a plan that comes with evalsuite."""
    if profile == OFFICIAL:
        return "make official"
    ours = {file.stem for file in (paths.DATA / "specs").glob("*.toml")}
    return f"make report PROFILE={profile}" if profile in ours else None


def embedded(book: Book) -> tuple[str, ...]:
    """The tables that the page can hand out itself."""
    many = book.huge or len(book.measurements) > MOST_RUNS
    return () if many else ("runs", "summaries")  # else they lie beside the page alone
