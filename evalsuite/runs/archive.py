"""The run folders of an evaluation as one ZIP."""

import atexit
import functools
import shutil
import stat
import tempfile
import zipfile
from pathlib import Path, PurePosixPath

from evalsuite.errors import EvalsuiteError

MOST_FILES, MOST_BYTES = 1_000_000, 1 << 36  # unpacked


def unpack(runs: Path) -> Path:
    """*runs*, unpacked for this process if it is a ZIP.

    Raises EvalsuiteError if it is no ZIP, or a file would leave its folder.
    """
    return _unpacked(runs) if runs.suffix.lower() == ".zip" and runs.is_file() else runs


@functools.cache
def _unpacked(file: Path) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="evalsuite-runs-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    try:
        with zipfile.ZipFile(file) as archive:
            _check(file, archive.infolist())
            archive.extractall(folder)
    except (OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
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
    for member in members:
        path = PurePosixPath(member.filename)
        if path.is_absolute() or ".." in path.parts or stat.S_ISLNK(member.external_attr >> 16):
            raise EvalsuiteError.of("runs.archive_outside", path=file, name=member.filename)
