"""The reports of a site and which of them count."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from evalsuite.audit.own_files import files_of
from evalsuite.core.decode import whole
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.files import is_file, sha256
from evalsuite.core.messages import Message, message_of
from evalsuite.report.data import finished, manifest
from evalsuite.report.data.finished import Finished

REPORTS = "reports"
ID_DIGITS = 16  # 64 bits of the content's SHA-256


@dataclass(frozen=True, kw_only=True)
class _Place:
    id: str

    @property
    def folder(self) -> str:
        return f"{REPORTS}/{self.id}"


@dataclass(frozen=True, kw_only=True)
class StoredReport(_Place):
    report: Finished
    seal: str  # SHA-256 of its summary.json
    unchecked: bool = False  # of an older evalsuite, which wrote no manifest
    superseded: bool = False  # a later build of the same data is there too


@dataclass(frozen=True, kw_only=True)
class BrokenReport(_Place):
    broken: str  # why it cannot be read


Stored = StoredReport | BrokenReport


@dataclass(frozen=True, kw_only=True)
class About:
    title: str | None = None


def content_id(folder: Path) -> str:
    lines = (f"{file.relative_to(folder).as_posix()}\0{sha256(file)}\n" for file in files_of(folder))
    return hashlib.sha256("".join(lines).encode("utf-8", "surrogateescape")).hexdigest()[:ID_DIGITS]


def read_reports(site: Path) -> list[Stored]:
    names = sorted(path.name for path in (site / REPORTS).iterdir() if path.is_dir() and path.name[0] != ".")
    entries = [_read_report(site / REPORTS / name) for name in names]
    newest = _newest_builds(entries)
    entries = [
        replace(item, superseded=item.id not in newest) if isinstance(item, StoredReport) else item for item in entries
    ]
    return sorted(sorted(entries, key=lambda entry: entry.id), key=_when, reverse=True)


def _read_report(folder: Path) -> Stored:
    try:
        unchecked = not is_file(folder / manifest.NAME)
        report = finished.read(folder)
        seal = sha256(folder / finished.SUMMARY)
        return StoredReport(id=folder.name, report=report, seal=seal, unchecked=unchecked)
    except EvalsuiteError as error:
        return BrokenReport(id=folder.name, broken=_under_site(message_of(error), folder))


def _under_site(text: str, folder: Path) -> str:
    def change(part: str) -> str:
        return part.replace(f"{folder}", f"{REPORTS}/{folder.name}")

    return text.map(change) if isinstance(text, Message) else change(text)


def _newest_builds(entries: Sequence[Stored]) -> set[str]:
    newest: dict[str, StoredReport] = {}
    for entry in entries:
        if isinstance(entry, BrokenReport):
            continue
        other = newest.get(entry.report.input_sha256)
        if other is None or _build(entry) > _build(other):
            newest[entry.report.input_sha256] = entry
    return {entry.id for entry in newest.values()}


def _build(entry: StoredReport) -> tuple[list[int], str]:
    numbers = [number for part in entry.report.evalsuite.split(".") if (number := whole(part)) is not None]
    return (numbers, entry.id)


def _when(entry: Stored) -> tuple[int, str]:
    if isinstance(entry, BrokenReport):
        return (0, "")
    if entry.report.period is None:
        return (1, "")
    return (2, finished.instant(entry.report.period[1]).isoformat())
