"""Trials of batch sizes beside the runs: `largest-batch/` in the runs folder, and in it a folder for each limit of
memory (`2000MB/`); below, run folders like any others."""

from pathlib import Path

from evalsuite.runs.store import RunFolder, Store

FOLDER = "largest-batch"  # below the run folders
BYTES_PER_MB = 10**6


def store(root: Path, memory_bytes: int | None) -> Store:
    """Where the trials of a runs folder lie: those under another limit of memory are others."""
    folder = root / FOLDER
    return Store(folder if memory_bytes is None else folder / f"{memory_bytes // BYTES_PER_MB}MB")


def finished(root: Path) -> list[RunFolder]:
    """All finished trials beside the runs in *root*, under whatever limit of memory."""
    whole = root / FOLDER
    limits = sorted(each for each in whole.glob("*MB") if each.is_dir())
    return [folder for each in (whole, *limits) for folder in Store(each).finished()]
