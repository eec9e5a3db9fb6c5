"""The published site: a folder of finished reports that only grows, and the pages made from them.

`reports/<id>/` holds each report as it was, named by the hash of its content; everything else on the site is
made again from these folders each time, so publishing twice changes nothing and a lost page comes back.
Nothing in `reports/` is ever removed or written over.
"""

import contextlib
import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evalsuite import finished
from evalsuite.errors import EvalsuiteError
from evalsuite.files import sha256, write_atomically
from evalsuite.finished import Finished
from evalsuite.history import History, history

REPORTS = "reports"
MARKER = "site.json"  # its presence tells a site of ours from any other folder
LOCK = ".publish.lock"
INCOMING = ".incoming-"
ID_DIGITS = 16  # 64 bits of the content's SHA-256
MODE_FOLDER, MODE_FILE = 0o755, 0o644  # a web server reads them as somebody else


@dataclass(frozen=True, kw_only=True)
class Shelved:
    """One report on the site."""

    id: str
    report: Finished | None  # None: it stands there, and its summary cannot be read
    broken: str = ""  # why not
    superseded: bool = False  # a later build of the same data stands there too

    @property
    def folder(self) -> str:
        return f"{REPORTS}/{self.id}"


@dataclass(frozen=True, kw_only=True)
class Published:
    """What one call of `publish` did."""

    added: tuple[str, ...]  # ids
    known: tuple[str, ...]  # ids that stood there already
    shelf: tuple[Shelved, ...]
    history: History = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class About:
    """What the site is called and where it will be served; both may be open."""

    title: str | None = None
    url: str | None = None  # with a slash at the end


def publish(reports: Sequence[Path], site: Path, about: About | None = None) -> Published:
    """Adds *reports* to *site* and makes its pages again. With no reports, only the pages are made again.

    Raises EvalsuiteError, before anything is written, if a folder holds no finished report or *site* is a
    folder of something else.
    """
    site = Path(site)
    sources = [_source(Path(folder), site) for folder in reports]
    _check_ours(site)
    (site / REPORTS).mkdir(parents=True, exist_ok=True)
    with _alone(site):
        outcomes = [(name, _add(folder, name, site)) for folder, name in sources]
        shelf = shelved(site)
        found = history((one.id, one.report) for one in shelf if one.report and not one.superseded)
        _write_pages(site, shelf, found, about or About())
    added = dict.fromkeys(name for name, new in outcomes if new)
    known = dict.fromkeys(name for name, _ in outcomes if name not in added)
    return Published(added=tuple(added), known=tuple(known), shelf=tuple(shelf), history=found)


def content_id(folder: Path) -> str:
    """The name of a report on the site: the hash of its files' names and bytes."""
    lines = (f"{file.relative_to(folder).as_posix()}\0{sha256(file)}\n" for file in files_of(folder))
    return hashlib.sha256("".join(lines).encode("utf-8", "surrogateescape")).hexdigest()[:ID_DIGITS]


def files_of(folder: Path) -> list[Path]:
    """The files of a report in one order; names that begin with a dot are somebody's scratch and left out."""
    found = []
    for path in sorted(folder.rglob("*")):
        if any(part.startswith(".") for part in path.relative_to(folder).parts):
            continue
        if path.is_symlink():
            raise EvalsuiteError(
                f"{path}: a link stands there; a published report holds plain files only. Try `cp -rL` of the report."
            )
        if path.is_file():
            found.append(path)
    return found


def shelved(site: Path) -> list[Shelved]:
    """All reports on *site*: the newest data first, the undated ones after them, the unreadable ones last."""
    names = sorted(path.name for path in (site / REPORTS).iterdir() if path.is_dir() and path.name[0] != ".")
    found = [_shelved(site / REPORTS / name) for name in names]
    newest = _newest_builds(found)
    found = [
        one if one.report is None else Shelved(id=one.id, report=one.report, superseded=one.id not in newest)
        for one in found
    ]
    return sorted(sorted(found, key=lambda one: one.id), key=_when, reverse=True)


def _shelved(folder: Path) -> Shelved:
    try:
        return Shelved(id=folder.name, report=finished.read(folder))
    except EvalsuiteError as error:
        return Shelved(id=folder.name, report=None, broken=str(error).replace(f"{folder}", f"{REPORTS}/{folder.name}"))


def _newest_builds(found: Sequence[Shelved]) -> set[str]:
    """Of the reports over the same input, the one that the newest evalsuite wrote."""
    newest: dict[str, Shelved] = {}
    for one in found:
        if one.report is None:
            continue
        other = newest.get(one.report.input_sha256)
        if other is None or _build(one) > _build(other):
            newest[one.report.input_sha256] = one
    return {one.id for one in newest.values()}


def _build(one: Shelved) -> tuple:
    numbers = [int(part) for part in one.report.evalsuite.split(".") if part.isdigit()]
    return (numbers, one.id)


def _when(one: Shelved) -> tuple:
    if one.report is None:
        return (0, "")
    if one.report.period is None:
        return (1, "")
    return (2, finished.moment(one.report.period[1]).isoformat())


def _source(folder: Path, site: Path) -> tuple[Path, str]:
    finished.read(folder)
    if site.resolve().is_relative_to(folder.resolve()):
        raise EvalsuiteError(f"{site}: the site lies inside the report {folder}; expected a folder of its own.")
    return folder, content_id(folder)


def _check_ours(site: Path) -> None:
    """A folder with something else in it is not written into."""
    if not site.exists() or (site / MARKER).is_file():
        return
    if not site.is_dir() or any(path.name[0] != "." and path.name != REPORTS for path in site.iterdir()):
        raise EvalsuiteError(
            f"{site}: something stands there and it is no site of evalsuite (it has no {MARKER}); expected an empty "
            "or a new folder. Try --site with another name."
        )


@contextlib.contextmanager
def _alone(site: Path) -> Iterator[None]:
    """This process alone writes the site; another one waits. What a killed one left half-copied is removed."""
    with open(site / LOCK, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for half in (site / REPORTS).glob(f"{INCOMING}*"):
            shutil.rmtree(half)
        yield


def _add(folder: Path, name: str, site: Path) -> bool:
    """Copies the report beside its place and renames it into it; False if it stands there already."""
    place = site / REPORTS / name
    if place.is_dir():
        return False
    incoming = site / REPORTS / f"{INCOMING}{name}"
    for file in files_of(folder):
        _copy(file, incoming / file.relative_to(folder))
    if content_id(incoming) != name:
        shutil.rmtree(incoming)
        raise EvalsuiteError(
            f"{folder}: the report changed while it was copied; expected a finished one. Publish it again."
        )
    incoming.rename(place)
    return True


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.parent.chmod(MODE_FOLDER)
    with open(source, "rb") as given, open(target, "wb") as taken:
        shutil.copyfileobj(given, taken)
        taken.flush()
        os.fsync(taken.fileno())
    target.chmod(MODE_FILE)


def _write_pages(site: Path, shelf: Sequence[Shelved], found: History, about: About) -> None:
    from evalsuite.report.site import pages

    for name, content in pages(shelf, found, about).items():
        file = site / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.is_file() or file.read_bytes() != content:
            write_atomically(file, content)
