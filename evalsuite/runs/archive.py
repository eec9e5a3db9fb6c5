"""The run folders of an evaluation as one ZIP."""

import atexit
import functools
import shutil
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from evalsuite.core import files
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.paths import SCRATCH

MOST_FILES, MOST_BYTES = 1_000_000, 1 << 36  # unpacked


def pack(root: Path, file: Path, leave_out: Callable[[Path], bool]) -> tuple[int, list[str]]:
    """How many files, without scratch, and those left out. The same files give the same archive."""
    names = sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if files.is_file(path))
    left, packed = [], 0
    with files.replacing(file) as into, zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name in names:
            if any(part.startswith(".") or part == SCRATCH for part in name.split("/")):
                continue
            if leave_out(root / name):
                left.append(name)
                continue
            with files.open_file(root / name) as raw, archive.open(files.zip_entry(name), "w", force_zip64=True) as to:
                shutil.copyfileobj(raw, to)
            packed += 1
    return packed, left


def unpack(runs: Path) -> Path:
    """Raises EvalsuiteError if it is no ZIP, or a file would leave its folder."""
    return _unpacked(runs) if runs.suffix.lower() == ".zip" and runs.is_file() else runs


@functools.cache
def _unpacked(file: Path) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="evalsuite-runs-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    try:
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            _check(file, members)
            archive.extractall(folder, members)
    except (OSError, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError) as error:
        raise EvalsuiteError.of("runs.archive_unread", path=file, error=error) from error
    inside = list(folder.iterdir())
    return inside[0] if len(inside) == 1 and any(inside[0].glob("*/r*")) else folder  # packed with its own name


def _check(file: Path, members: list[zipfile.ZipInfo]) -> None:
    size = sum(member.file_size for member in members)
    if len(members) > MOST_FILES or size > MOST_BYTES:
        raise EvalsuiteError.of(
            "runs.archive_too_large",
            path=file,
            files=len(members),
            gigabytes=size / 1000000000.0,
            most=MOST_FILES,
            most_gigabytes=MOST_BYTES / 1000000000.0,
        )
    paths = set[PurePosixPath]()
    for member in members:
        path = PurePosixPath(member.filename)
        if path in paths or path.is_absolute() or ".." in path.parts or stat.S_ISLNK(member.external_attr >> 16):
            raise EvalsuiteError.of("runs.archive_outside", path=file, name=member.filename)
        paths.add(path)
