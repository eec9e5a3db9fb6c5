"""The reports of a site."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.files import sha256
from evalsuite.core.messages import Message, message_of
from evalsuite.finished import finished, manifest
from evalsuite.finished.finished import Finished

REPORTS = "reports"
ID_DIGITS = 16  # 64 bits of the content's SHA-256


@dataclass(frozen=True, kw_only=True)
class StoredReport:
    id: str
    report: Finished | None = None
    broken: str = ""  # why it cannot be read, where it is None
    seal: str = ""  # SHA-256 of its summary.json

    @property
    def folder(self) -> str:
        return f"{REPORTS}/{self.id}"


def content_id(folder: Path) -> str:
    lines = (f"{file.relative_to(folder).as_posix()}\0{sha256(file)}\n" for file in manifest.files_of(folder))
    return hashlib.sha256("".join(lines).encode("utf-8", "surrogateescape")).hexdigest()[:ID_DIGITS]


def read_reports(site: Path) -> list[StoredReport]:
    """The newest data first; those without dates stand behind the others, and what cannot be read last."""
    folders = sorted(path for path in (site / REPORTS).iterdir() if path.is_dir() and path.name[0] != ".")
    return sorted(map(_read_report, folders), key=_when, reverse=True)


def _read_report(folder: Path) -> StoredReport:
    try:
        report = finished.read(folder)
        return StoredReport(id=folder.name, report=report, seal=sha256(folder / finished.SUMMARY))
    except EvalsuiteError as error:
        text = message_of(error)
        place, short = str(folder), f"{REPORTS}/{folder.name}"
        named = text.map(lambda part: part.replace(place, short)) if isinstance(text, Message) else text
        return StoredReport(id=folder.name, broken=named)


def _when(entry: StoredReport) -> tuple[bool, str]:
    period = entry.report.period if entry.report else None
    return entry.report is not None, finished.instant(period[1]).isoformat() if period else ""
