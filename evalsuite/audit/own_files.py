"""The files of a report against each other: what evalsuite did not write, or not as `summary.json` has it."""

import fnmatch
import hashlib
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from evalsuite.audit import agreement, page_check
from evalsuite.core.errors import Contradicts, EvalsuiteError, Gone
from evalsuite.core.files import MOST_SUMMARY_BYTES, is_file, read_bytes, read_json, sha256
from evalsuite.core.messages import Message, message_of
from evalsuite.report import forms
from evalsuite.report.data import manifest, tables
from evalsuite.report.data.finished import PAGE, SUMMARY
from evalsuite.report.forms import log_bundle
from evalsuite.report.page import parts

BESIDE = (manifest.NAME, manifest.SIGNATURE, PAGE, SUMMARY, parts.FILES, "tables/*.csv")
NAMES = (*BESIDE, forms.DRAWN, *forms.FILES.values())
TEXTS = frozenset({".html", ".json", ".csv", ".md", ".txt", ".svg", ".xml", ".log", ".toml"})  # in an archive
ARCHIVES, BINARY = frozenset({".zip", ".xlsx"}), frozenset({".pdf", ".parquet"})
PARTS = frozenset({".rels"})  # of a workbook
MOST_BYTES = 1 << 28  # of one file, unpacked; a report of 10,000 runs has a fifth of that
UNREADABLE = (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError, zlib.error)
WHOLE_PAGES = ("report.html", "report.??.html")  # which show the seal
Look = Callable[[Path, str, str], EvalsuiteError | None]  # at a text of a file, by its name


def files_of(folder: Path) -> list[Path]:
    """In one order; names that begin with a dot are scratch and left out."""
    paths = []
    for path in sorted(folder.rglob("*")):
        if any(part.startswith(".") for part in path.relative_to(folder).parts):
            continue
        if is_file(path):
            paths.append(path)
        elif path.is_symlink() or not path.is_dir():
            raise EvalsuiteError.of("site.site_link", path=path)
    return paths


def mistakes(
    folder: Path, files: Sequence[Path], look: Look = lambda file, name, text: None
) -> Iterator[EvalsuiteError]:
    """What does not hold of *files*, all in *folder*, a finished report. *look* finds what else is wrong in a text."""
    summary = read_json(folder / SUMMARY, MOST_SUMMARY_BYTES)
    listed = manifest.read(folder)
    if listed is None and "manifest" in summary:
        yield Gone.of("site.no_manifest", folder=folder, name=manifest.NAME)
    if listed and listed.input_sha256 != summary["input_sha256"]:
        yield Contradicts.of("site.not_ours", path=folder / manifest.NAME, error=Message("site.other_page"))
    for path, wrong in manifest.mistakes(listed, folder, files) if listed else ():
        kind = Contradicts if path.exists() else Gone
        yield kind.of("site.not_ours", path=path, error=wrong)
    seal = sha256(folder / SUMMARY) if "journal_sha256" in summary else ""
    known = {file for name in NAMES for file in folder.glob(name)}
    for file in files:
        try:
            if file not in known or (file.suffix == ".csv" and file.stem not in tables.COLUMNS):
                raise EvalsuiteError.of("site.kind", path=file, name=file.name, known=NAMES)
            yield from _of_file(file, summary, seal, look)
        except EvalsuiteError as error:
            yield error


def _of_file(file: Path, summary: Mapping[str, Any], seal: str, look: Look) -> Iterator[EvalsuiteError]:
    texts, hashes = {}, {}
    for name, content in _contents(file):
        text = _text(file, name, content)
        if not name.isprintable() or name.startswith("/") or ".." in name.split("/"):
            yield EvalsuiteError.of("site.not_ours", path=file, error=Message("site.name", name=ascii(name)))
        if wrong := look(file, name, text):
            yield wrong
        if name.endswith(".csv") and is_file(beside := file.parent / name) and read_bytes(beside) != content:
            yield Contradicts.of("audit.not_alike", path=file, name=name)
        if file.suffix == ".xlsx" or name == log_bundle.MANIFEST:
            texts[name] = text
        hashes[name] = hashlib.sha256(content).hexdigest() if file.name == log_bundle.NAME else ""
        yield from _wrong(file, _mistake, name, text, summary, seal)
    if file.suffix == ".xlsx":
        yield from _wrong(file, agreement.workbook, texts, summary)
    if file.suffix == ".parquet":
        yield from _wrong(file, agreement.parquet, file, summary)
    if file.name == log_bundle.NAME:
        yield from _wrong(file, agreement.logs, texts.get(log_bundle.MANIFEST, ""), hashes, summary)


def _wrong(file: Path, mistake: Callable[..., Message | None], *given: object) -> Iterator[EvalsuiteError]:
    try:
        wrong = mistake(*given)
    except agreement.NONE:
        wrong = Message("site.other_page")
    if wrong:
        yield EvalsuiteError.of("site.not_ours", path=file, error=wrong)


def _mistake(name: str, text: str, summary: Mapping[str, Any], seal: str) -> Message | None:
    if not name.endswith((".html", ".svg")):
        return agreement.mistake(name, text, summary)
    if seal not in text and any(fnmatch.fnmatchcase(name, each) for each in WHOLE_PAGES):
        return Message("site.other_page")
    part = fnmatch.fnmatchcase(name, parts.FILES)
    return page_check.mistake(text, summary if name.endswith(".html") else None, part=part)


def _text(file: Path, name: str, content: bytes) -> str:
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise EvalsuiteError.of("site.not_ours", path=file, error=Message("site.no_utf8", name=name))
    return text


def _contents(file: Path) -> Iterator[tuple[str, bytes]]:
    if file.suffix in ARCHIVES:
        yield from members(file)
        return
    try:
        content = read_bytes(file, most=MOST_BYTES)
    except OSError as error:
        raise EvalsuiteError.of("site.not_ours", path=file, error=message_of(error)) from error
    if file.suffix not in BINARY:
        yield file.name, content
    elif file.suffix == ".pdf" and (not content.startswith(b"%PDF-") or page_check.PDF.search(content)):
        raise EvalsuiteError.of("site.not_ours", path=file, error=Message("site.active", name="pdf"))


def members(file: Path) -> Iterator[tuple[str, bytes]]:
    """The texts of an archive of ours. Raises EvalsuiteError."""
    try:
        with zipfile.ZipFile(file) as archive:
            inside = [member for member in archive.infolist() if not member.is_dir()]
            if sum(member.file_size for member in inside) > MOST_BYTES:
                raise EvalsuiteError.of("site.site_large", path=file, n=MOST_BYTES >> 20)
            for member in inside:
                if not member.filename.endswith((*TEXTS, *PARTS)):
                    raise EvalsuiteError.of("site.kind", path=file, name=member.filename, known=sorted(TEXTS))
                yield member.filename, archive.read(member)
    except UNREADABLE as error:
        raise EvalsuiteError.of("site.archive_unreadable", path=file, error=error) from error
