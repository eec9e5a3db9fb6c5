"""`manifest.json`: the hash of every file of a report, written last: of a report that was not finished none fits."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from evalsuite import __version__
from evalsuite.core import decode
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.files import is_file, read_json, refuse_other, sha256, write_json
from evalsuite.core.messages import LANGUAGES, Message

UNSEALED = "0" * 64
MOST_PAGE_BYTES = 1 << 28  # a report of 10,000 runs has a fifth of that
NAME, SIGNATURE = "manifest.json", "manifest.json.sig"  # of all hashes


@dataclass(frozen=True, kw_only=True)
class Manifest:
    evalsuite: str
    input_sha256: str
    files: dict[str, str] = field(default_factory=dict)  # path in the report → SHA-256
    languages: tuple[str, ...] = LANGUAGES  # of the page


def read(folder: Path) -> Manifest | None:
    path = Path(folder) / NAME
    return decode.decode(Manifest, read_json(path), path, "try_report") if path.is_symlink() or path.exists() else None


def add(out: Path, input_sha256: str, written: Iterable[Path], languages: Sequence[str]) -> None:
    hashes = sealed(out, input_sha256, languages) | {path.relative_to(out).as_posix(): sha256(path) for path in written}
    files = dict(sorted(hashes.items()))
    whole = Manifest(evalsuite=__version__, input_sha256=input_sha256, files=files, languages=tuple(languages))
    write_json(out / NAME, decode.encode(whole))


def put(new: Path, out: Path) -> None:
    """Moves the report that lies in *new* into *out*, its manifest last; forms of the same data stay part of it."""
    whole = read(new)
    if whole is None:
        raise FileNotFoundError(new / NAME)
    files = sealed(out, whole.input_sha256, whole.languages) | whole.files
    write_json(new / NAME, decode.encode(replace(whole, files=dict(sorted(files.items())))))
    for name in (*whole.files, NAME, SIGNATURE):
        refuse_other(out / name)
    for name in (*whole.files, NAME):
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        os.replace(new / name, out / name)


def sealed(out: Path, input_sha256: str, languages: Sequence[str]) -> dict[str, str]:
    """The files of this data and *languages* as they were written; none without a readable manifest."""
    try:
        manifest = read(out)
    except EvalsuiteError:
        return {}
    same = manifest and (manifest.input_sha256, manifest.languages) == (input_sha256, tuple(languages))
    files = manifest.files if manifest and same else {}
    return {name: hashed for name, hashed in files.items() if is_file(out / name) and sha256(out / name) == hashed}


def files_of(folder: Path) -> list[Path]:
    """In one order, hidden ones too: a web server obeys `.htaccess`."""
    paths = []
    for path in sorted(folder.rglob("*")):
        if is_file(path):
            paths.append(path)
        elif path.is_symlink() or not path.is_dir():
            raise EvalsuiteError.of("site.site_link", path=path)
    return paths


def mistakes(manifest: Manifest, folder: Path, files: Iterable[Path]) -> Iterator[tuple[Path, Message]]:
    """Which of *files*, all that lie in *folder*, are not as the manifest says, and which lack."""
    beside = (folder / NAME, folder / SIGNATURE)
    hashes = {file.relative_to(folder).as_posix(): sha256(file) for file in files if file not in beside}
    for name in sorted({*hashes, *manifest.files}):
        if name not in manifest.files:
            yield folder / name, Message("report.not_listed", name=NAME)
        elif name not in hashes:
            yield folder / name, Message("report.lacks", name=NAME)
        elif hashes[name] != manifest.files[name]:
            yield folder / name, Message("report.not_as_written", name=NAME)
