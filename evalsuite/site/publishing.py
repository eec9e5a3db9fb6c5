"""The published site: a folder of finished reports, and the pages made from them.

`reports/<id>/` is named by the hash of its content and never changed. Everything else is made again each time.
"""

import contextlib
import json
import os
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evalsuite.audit import own_files
from evalsuite.core import files, locks, redaction
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.files import write_atomically
from evalsuite.core.messages import Message
from evalsuite.finished import finished, manifest
from evalsuite.finished.history import MARKER, REPORTS, History, StoredReport, content_id, history, read_reports
from evalsuite.site.pages import pages

WHOLE = ("summary.json", "tables.json")  # texts of their own in them, which are judged by all signs
LOCK = ".publish.lock"
INCOMING = ".incoming-"
MODE_FOLDER, MODE_FILE = 0o755, 0o644  # a web server reads them as another user


@dataclass(frozen=True, kw_only=True)
class Published:
    added: tuple[str, ...]  # ids
    known: tuple[str, ...]  # ids that were there already
    removed: tuple[str, ...]  # ids, by *keep*
    stored: tuple[StoredReport, ...]
    history: History = field(repr=False)

    @property
    def uncompared(self) -> dict[str, int]:
        """Of added reports beside others: how many results no report before has, or that are older than those."""
        first = (point.report for line in self.history.lines for point in line.points if not point.change)
        return {id: n for id, n in Counter(first).items() if id in self.added and len(self.added) < len(self.stored)}


def publish(reports: Sequence[Path], site: Path, keep: int | None = None) -> Published:
    """Adds *reports* to *site* and makes its pages again. *keep*: of so many of the newest sets of data reports
    stay. Raises EvalsuiteError before anything is written: no finished report, a *site* that is none."""
    site = Path(site)
    sources = [_source(Path(folder), site) for folder in reports]
    _check_ours(site, new=bool(reports))
    (site / REPORTS).mkdir(parents=True, exist_ok=True)
    with _alone(site):
        outcomes = [(name, _add(folder, name, site)) for folder, name in sources]
        stored = read_reports(site)
        data = {entry.id: entry.report.input_sha256 for entry in stored if entry.report}
        staying = {*list(dict.fromkeys(data.values()))[:keep]}
        removed = [id for id, hashed in data.items() if keep and hashed not in staying]
        for name in removed:  # half removed it is none
            shutil.rmtree((site / REPORTS / name).rename(site / REPORTS / f"{INCOMING}{name}"))
        stored = [entry for entry in stored if entry.id not in removed]
        past = history((entry.id, entry.report) for entry in stored if entry.report)
        _write_pages(site, pages(stored, past))
    added = dict.fromkeys(name for name, new in outcomes if new)
    known = dict.fromkeys(name for name, _ in outcomes if name not in added)
    return Published(added=tuple(added), known=tuple(known), removed=(*removed,), stored=(*stored,), history=past)


def _source(folder: Path, site: Path) -> tuple[Path, str]:
    """*folder* and its id. Raises EvalsuiteError of what no form writes, or of file and place of a secret in it."""
    finished.read(folder)
    for wrong in own_files.mistakes(folder, manifest.files_of(folder), _secret):
        raise EvalsuiteError(wrong.message)
    if site.resolve().is_relative_to(folder.resolve()):
        raise EvalsuiteError.of("site.site_inside", site=site, folder=folder)
    return folder, content_id(folder)


def _check_ours(site: Path, new: bool) -> None:
    """The marker is looked for last: another publisher may be writing it and, after it, the pages."""
    if new and not site.exists():
        return
    foreign = not new or not site.is_dir() or any(path.name != REPORTS for path in site.glob("[!.]*"))
    if foreign and not (site / MARKER).is_file():
        raise EvalsuiteError.of("site.no_site", site=site, marker=MARKER)


@contextlib.contextmanager
def _alone(site: Path) -> Iterator[None]:
    """Another process waits. What a killed one left half-copied is removed."""
    with locks.hold_lock(site / LOCK):
        for half in (site / REPORTS).glob(f"{INCOMING}*"):
            shutil.rmtree(half)
        yield


def _add(folder: Path, name: str, site: Path) -> bool:
    place = site / REPORTS / name
    if place.is_dir():
        return False
    incoming = site / REPORTS / f"{INCOMING}{name}"
    for file in manifest.files_of(folder):
        _copy(file, incoming / file.relative_to(folder))
    if content_id(incoming) != name:
        shutil.rmtree(incoming)
        raise EvalsuiteError.of("site.site_changed", path=folder)
    incoming.rename(place)
    return True


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.parent.chmod(MODE_FOLDER)
    with files.open_file(source) as given, open(target, "wb") as taken:
        shutil.copyfileobj(given, taken)
        taken.flush()
        os.fsync(taken.fileno())
    target.chmod(MODE_FILE)


def _write_pages(site: Path, written: Mapping[str, bytes]) -> None:
    for left in {site / "history.html", *(site / "history").glob("*.html")} - {site / name for name in written}:
        files.refuse_other(left)
        left.unlink(missing_ok=True)
    for name, content in written.items():
        file = site / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if not files.is_file(file) or file.stat().st_size != len(content) or file.read_bytes() != content:
            write_atomically(file, content)


def _secret(file: Path, name: str, text: str) -> EvalsuiteError | None:
    place: str | None = None
    if (at := redaction.find_issued(text)) is not None:
        place = Message("core.file_line", path=name, line=text.count("\n", 0, at) + 1)
    elif name in WHOLE:
        with contextlib.suppress(ValueError, RecursionError):
            place = redaction.find_secret(json.loads(text))
    return EvalsuiteError.of("site.site_secret", path=file, place=place) if place else None
