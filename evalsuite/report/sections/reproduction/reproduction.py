"""How every number is made again: software, commands, and where the number of each run comes from."""

from collections.abc import Iterable, Mapping

from evalsuite.core import paths
from evalsuite.report.book.book import Book
from evalsuite.report.sections.common.section import Section, Subject, parts
from evalsuite.report.sections.reproduction import against, provenance
from evalsuite.report.text import numbers

OFFICIAL = "official-cpu"  # the profile that needs checkouts and data sets, which `make official` gets
MOST_RUNS = 1_500


def sections(subject: Subject) -> Iterable[Section]:
    words, texts = subject.words, against.sentences(subject.book, subject.words)
    yield Section(
        id="reproduction",
        title=words("reproduction.title"),
        template="reproduction/reproduction.html.j2",
        facts=lambda: {**_facts(subject.book), "against": texts},
        markdown=lambda writer: writer.fill("reproduction/reproduction.md.j2", against=texts),
        parts=parts(words, "reproduction", ("software", "cases")),
        finding=lambda facts: words("reproduction.all_series", n=numbers.count(len(facts["series"]))),
    )


def _facts(book: Book) -> Mapping[str, object]:
    software = provenance.software(book)
    return {
        "series": provenance.series(book),
        "software": software if any(row["version"] or row["source"] or row["packages"] for row in software) else (),
        "again": _again(book.evaluation.profile),
        "short_hashes": book.huge or len(book.measurements) > MOST_RUNS,
    }


def _again(profile: str) -> str | None:
    if profile == OFFICIAL:
        return "make official"
    ours = {file.stem for file in (paths.DATA / "specs").glob("*.toml")}
    return f"make report PROFILE={profile}" if profile in ours else None
