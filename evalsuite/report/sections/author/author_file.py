"""Reads the author document: what people write about an evaluation, in one TOML file."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from evalsuite.core import redaction
from evalsuite.core.author_document import AuthorNote, BothLanguages, KeptProblem, LabDocument, WrittenFinding
from evalsuite.core.decode import Mistake, decode, message, read_toml, refusal
from evalsuite.core.errors import EvalsuiteError, did_you_mean
from evalsuite.report.book.outline import ORDERED, TIANSHU_FIXED

SEE = "try_author"


@dataclass(frozen=True, kw_only=True)
class Authored:
    source: str
    notes: tuple[AuthorNote, ...] = ()
    document: LabDocument | None = None
    problems: tuple[KeptProblem, ...] = ()


@dataclass(frozen=True, kw_only=True)
class _AuthorFile:
    document: LabDocument | None = None
    finding: tuple[WrittenFinding, ...] = ()
    problems: tuple[KeptProblem, ...] = ()

    def mistakes(self) -> Iterator[Mistake]:
        if not (self.document or self.finding or self.problems):
            yield Mistake("", message("author_empty"))
        if self.document:
            known = [key for key in ORDERED if self.document.outline == "free" or key not in TIANSHU_FIXED]
            for key in self.document.order:
                if key not in known:
                    hint = message("fixed_by_outline") if key in ORDERED else did_you_mean(key, known, cutoff=0.4)
                    yield Mistake("document.order", refusal(key, message("one_of", names=known), hint))


def read(file: Path) -> Authored:
    """What *file* holds. Raises EvalsuiteError with all mistakes in it."""
    row = read_toml(file, "docs/publishing.md", SEE)
    if secret := redaction.find_secret(row):
        raise EvalsuiteError(message("secret_of_author", file=file, key=secret, see=message(SEE)))
    written = decode(_AuthorFile, row, file, SEE, strict=True)
    source = Path(file).name
    return Authored(
        source=source,
        notes=tuple(
            AuthorNote(**vars(note), source=f"{source}:{place}") for place, note in enumerate(written.finding, 1)
        ),
        document=written.document,
        problems=written.problems,
    )


def texts(document: LabDocument | None, problems: Iterable[KeptProblem]) -> Iterator[BothLanguages]:
    if document:
        yield from document.expected
        if document.platform and document.platform.text:
            yield document.platform.text
        yield from (section.text for section in document.sections)
    for problem in problems:
        yield problem.question
        if problem.answer:
            yield problem.answer
