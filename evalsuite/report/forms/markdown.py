"""`report.<language>.md`: verdicts and tables for a README or an issue, in GitHub's Markdown.

What a section says here stands in the section's own module, beside what it shows on the page.
"""

from collections.abc import Iterable
from pathlib import Path

from evalsuite import __version__
from evalsuite.files import write_atomically
from evalsuite.report.book import blocks, heading, identity
from evalsuite.report.forms.material import Material
from evalsuite.report.page import contents
from evalsuite.report.sections import background, drawn, verdict
from evalsuite.report.sections.markdown import MarkdownWriter
from evalsuite.report.sections.section import Subject
from evalsuite.report.text import times


def check() -> None:
    """It needs nothing beyond the standard library."""


def write(material: Material) -> list[Path]:
    return [_write(material, language) for language in material.languages]


def _write(material: Material, language: str) -> Path:
    path = material.out / f"report.{language}.md"
    write_atomically(path, document(material, language).encode("utf-8", "backslashreplace"))
    return path


def document(material: Material, language: str) -> str:
    """The whole file in one language."""
    return "\n\n".join(_paragraphs(material, MarkdownWriter(language, on_cpu=material.book.on_cpu))) + "\n"


def _paragraphs(material: Material, writer: MarkdownWriter) -> Iterable[str]:
    book, words = material.book, writer.words
    subject = Subject(book=book, models=blocks.models(book), look=drawn.look(book), words=words)
    yield f"# {writer.said(heading.title(book.evaluation, words))}"
    yield _about(subject, writer)
    for section in (verdict.section(subject), *contents.sections(subject)):
        yield from section.markdown(writer)
    yield "---"
    build = material.build_hash[: identity.SHOWN_DIGITS]
    yield writer.said(writer.beyond("markdown.made_by", version=__version__, build=build))


def _about(subject: Subject, writer: MarkdownWriter) -> str:
    """When and on which machines it was measured."""
    nothing, period = subject.words("words.not_recorded"), subject.book.period
    return writer.said(
        writer.beyond(
            "markdown.about",
            period=times.text(period, subject.words) if period else nothing,
            machine=background.one_line(subject.book, subject.words) or nothing,
        )
    )
