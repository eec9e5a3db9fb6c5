"""A hash of our sources and data: caches of other versions are never used."""

import contextlib
import functools
import hashlib
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from evalsuite import files, paths

KINDS = ("*.py", "*.toml", "*.csv", "*.json")
UNUSED_S = 30 * 86_400  # caches of other versions go after that


@functools.cache
def version_folder(cache: Path) -> Path:
    """This version's folder in *cache*. Removes long unused ones of others."""
    own = cache / fingerprint()
    with contextlib.suppress(OSError):  # it only costs time
        files.remove_unused(cache, UNUSED_S)
        own.mkdir(parents=True, exist_ok=True)
        os.utime(own)
    return own


@functools.cache
def fingerprint() -> str:
    """Changes with code, data and interpreter."""
    hashed = hashlib.sha256(sys.version.encode())
    for path in _all((paths.PACKAGE, paths.ADAPTERS, paths.DATA / "criteria"), paths.DATA.glob("*.*")):
        hashed.update(f"{path}\0".encode("utf-8", "backslashreplace"))
        hashed.update(path.read_bytes())
    return hashed.hexdigest()[:16]


def _all(folders: Iterable[Path], alone: Iterable[Path]) -> list[Path]:
    found = (path for folder in folders for kind in KINDS for path in folder.rglob(kind))
    return sorted(path for path in {*found, *alone} if path.is_file())
