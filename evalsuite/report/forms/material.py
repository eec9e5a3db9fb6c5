"""What a form of the report is made from, and where it goes."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evalsuite.core.files import is_file, sha256
from evalsuite.core.model import Evaluation
from evalsuite.finished.finished import SUMMARY
from evalsuite.finished.manifest import UNSEALED
from evalsuite.report.book import identity
from evalsuite.report.book.book import Book
from evalsuite.results.publish.log_copies import Logs


@dataclass(frozen=True, kw_only=True)
class Material:
    book: Book
    build_hash: str
    out: Path
    languages: tuple[str, ...]
    logs: Logs | None = None  # None: no run folders are at hand

    @property
    def seal(self) -> str:
        """SHA-256 of the `summary.json` that was written into *out*, which every form shows."""
        return sha256(self.out / SUMMARY) if is_file(self.out / SUMMARY) else UNSEALED


def material_of(evaluation: Evaluation, out: Path, languages: Sequence[str], logs: Logs | None = None) -> Material:
    book, build_hash = Book(evaluation=identity.ordered(evaluation)), identity.build_hash(evaluation)
    return Material(book=book, build_hash=build_hash, out=Path(out), languages=tuple(languages), logs=logs)
