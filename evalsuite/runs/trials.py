"""Trials of batch sizes: run folders in `largest-batch/` beside the runs, with one folder for each limit of memory
(`2000MB/`).
"""

from pathlib import Path

from evalsuite.runs.store import RunFolder, Store

FOLDER = "largest-batch"
BYTES_PER_MB = 10**6


def store(root: Path, memory_bytes: int | None) -> Store:
    """Trials under another limit of memory are others."""
    folder = root / FOLDER
    return Store(folder if memory_bytes is None else folder / f"{memory_bytes // BYTES_PER_MB}MB")


def finished(root: Path) -> list[RunFolder]:
    whole = root / FOLDER
    limits = sorted(each for each in whole.glob("*MB") if each.is_dir())
    return [folder for each in (whole, *limits) for folder in Store(each).finished()]
