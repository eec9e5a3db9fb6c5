"""A site takes no report that seems to hold a secret, or what evalsuite did not write: everybody reads a site."""

import fnmatch
import json
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from evalsuite import redaction
from evalsuite.errors import EvalsuiteError
from evalsuite.files import MOST_SUMMARY_BYTES, read_bytes, read_json
from evalsuite.messages import Message, message_of
from evalsuite.report.data import manifest
from evalsuite.report.page import parts
from evalsuite.site import agreement, page_check

TEXTS = frozenset({".html", ".json", ".csv", ".md", ".txt", ".svg", ".xml", ".log", ".toml"})
ARCHIVES = frozenset({".zip", ".xlsx"})
PARTS = frozenset({".rels"})  # of a workbook
MOST_BYTES = 1 << 28  # of one file, unpacked; a report of 10,000 runs has a fifth of that
ACTIVE = re.compile(rb"/(?:JavaScript|JS|Launch|EmbeddedFile|OpenAction|SubmitForm|RichMedia|ObjStm)\b")  # of a PDF
WHOLE = ("summary.json", "tables.json")  # texts of their own in them, which are judged by all signs


def check(folder: Path, files: Sequence[Path]) -> None:
    """Raises EvalsuiteError with file and place of the first secret, the secret left out, or of what no form writes.

    *files*: all in *folder*, a finished report.
    """
    summary = read_json(folder / "summary.json", MOST_SUMMARY_BYTES)
    _check_manifest(folder, files, announced="manifest" in summary)
    for file in files:
        sheets: dict[str, str] = {}
        for name, content in _contents(file):
            text = _text(file, name, content)
            if not name.isprintable() or name.startswith("/") or ".." in name.split("/"):
                raise EvalsuiteError.of("site.not_ours", path=file, error=Message("site.name", name=ascii(name)))
            if place := _place(name, text):
                raise EvalsuiteError.of("site.site_secret", path=file, place=place)
            if file.suffix == ".xlsx":
                sheets[name] = text
            _refuse(file, _mistake, name, text, summary)
        if sheets:
            _refuse(file, agreement.workbook, sheets, summary)


def _refuse(file: Path, mistake: Callable[..., Message | None], *given: object) -> None:
    try:
        wrong = mistake(*given)
    except agreement.NONE:
        wrong = Message("site.other_page")
    if wrong:
        raise EvalsuiteError.of("site.not_ours", path=file, error=wrong)


def _check_manifest(folder: Path, files: Sequence[Path], *, announced: bool) -> None:
    found = manifest.read(folder)
    if found is None and announced:
        raise EvalsuiteError.of("site.no_manifest", folder=folder, name=manifest.NAME)
    for path, wrong in manifest.mistakes(found, folder, files) if found else ():
        raise EvalsuiteError.of("site.not_ours", path=path, error=wrong)


def _mistake(name: str, text: str, summary: Mapping[str, Any]) -> Message | None:
    if name.endswith((".html", ".svg")):
        part = fnmatch.fnmatchcase(name, parts.FILES)
        return page_check.mistake(text, summary if name.endswith(".html") else None, part=part)
    return agreement.mistake(name, text, summary)


def _text(file: Path, name: str, content: bytes) -> str:
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise EvalsuiteError.of("site.not_ours", path=file, error=Message("site.no_utf8", name=name))
    return text


def _contents(file: Path) -> Iterator[tuple[str, bytes]]:
    if file.suffix in TEXTS:
        try:
            yield file.name, read_bytes(file, most=MOST_BYTES)
        except OSError as error:
            raise EvalsuiteError.of("site.not_ours", path=file, error=message_of(error)) from error
    elif file.suffix in ARCHIVES:
        try:
            with zipfile.ZipFile(file) as archive:
                inside = [one for one in archive.infolist() if not one.is_dir()]
                if sum(one.file_size for one in inside) > MOST_BYTES:
                    raise EvalsuiteError.of("site.site_large", path=file, n=MOST_BYTES >> 20)
                for one in inside:
                    if not one.filename.endswith((*TEXTS, *PARTS)):
                        raise EvalsuiteError.of("site.kind", path=file, name=one.filename, known=sorted(TEXTS))
                    yield one.filename, archive.read(one)
        except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, ValueError) as error:
            raise EvalsuiteError.of("site.archive_unreadable", path=file, error=error) from error
    elif file.suffix == ".pdf":
        if not (content := read_bytes(file, most=MOST_BYTES)).startswith(b"%PDF-") or ACTIVE.search(content):
            raise EvalsuiteError.of("site.not_ours", path=file, error=Message("site.active", name="pdf"))
    else:
        raise EvalsuiteError.of("site.kind", path=file, name=file.name, known=sorted(TEXTS | ARCHIVES | {".pdf"}))


def _place(name: str, text: str) -> str | None:
    if redaction.is_issued(text):
        line = next((number for number, one in enumerate(text.split("\n"), 1) if redaction.is_issued(one)), None)
        return Message("core.file_line", path=name, line=line) if line else name
    if name not in WHOLE:
        return None
    try:
        return redaction.find_secret(json.loads(text))
    except (ValueError, RecursionError):
        return None
