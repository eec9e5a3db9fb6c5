"""A site takes no report that seems to hold a secret: everybody reads a site."""

import json
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from evalsuite import files, redaction
from evalsuite.errors import EvalsuiteError
from evalsuite.messages import Message

TEXTS = frozenset({".html", ".json", ".csv", ".md", ".txt", ".svg", ".xml", ".log", ".toml"})
ARCHIVES = frozenset({".zip", ".xlsx"})
MOST_BYTES = 1 << 28  # of one file, unpacked; a report of 10,000 runs has a fifth of that
WHOLE = ("summary.json", "tables.json")  # texts of their own in them, which are judged by all signs


def check(files: Sequence[Path]) -> None:
    """Raises EvalsuiteError with file and place of the first secret, the secret left out."""
    for file in files:
        for name, content in _contents(file):
            if place := _place(name, content):
                raise EvalsuiteError.of("site.site_secret", path=file, place=place)


def _contents(file: Path) -> Iterator[tuple[str, bytes]]:
    """(name, bytes) of a text, or of those in an archive."""
    if file.suffix in TEXTS:
        yield file.name, files.read_bytes(file, most=MOST_BYTES)
    elif file.suffix in ARCHIVES:
        try:
            with zipfile.ZipFile(file) as archive:
                if sum(one.file_size for one in archive.infolist()) > MOST_BYTES:
                    raise _too_large(file)
                yield from ((one.filename, archive.read(one)) for one in archive.infolist() if not one.is_dir())
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError) as error:
            raise EvalsuiteError.of("site.archive_unreadable", path=file, error=error) from error


def _too_large(file: Path) -> EvalsuiteError:
    return EvalsuiteError.of("site.site_large", path=file, n=MOST_BYTES >> 20)


def _place(name: str, content: bytes) -> str | None:
    """None: no secret."""
    text = content.decode("utf-8", "replace")
    if redaction.is_issued(text):
        line = next((number for number, one in enumerate(text.split("\n"), 1) if redaction.is_issued(one)), None)
        return Message("core.file_line", path=name, line=line) if line else name
    if name not in WHOLE:
        return None
    try:
        return redaction.find_secret(json.loads(text))
    except (ValueError, RecursionError):
        return None
