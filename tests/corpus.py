"""The real logs in ../shared/logs: where they are, what their sources state of them, and how they read."""

import csv
from functools import cache
from pathlib import Path

import pytest

from evalsuite.core import paths
from evalsuite.logs import catalogue
from evalsuite.logs.reading import Reading, read_file
from tests.goldens import WRITE

ROOT = Path(__file__).resolve().parents[1]
LOGS = ROOT.parent / "shared" / "logs"
CASES = ROOT.parent / "shared" / "cases"
DIALECTS = catalogue.known()

with_logs = pytest.mark.skipif(not LOGS.is_dir(), reason="../shared/logs is not here")
with_cases = pytest.mark.skipif(not CASES.is_dir(), reason="../shared/cases is not here")

_NOT_LOGS = {"SOURCES.csv", "DIALECTS.md"}


def sources() -> dict[str, dict[str, str]]:
    """Name of a log → its row of SOURCES.csv."""
    return {row["file"]: row for row in paths.read_rows(LOGS / "SOURCES.csv")}


def names() -> list[str]:
    files = (path for path in LOGS.rglob("*") if path.is_file() and path.name not in _NOT_LOGS)
    return sorted(str(path.relative_to(LOGS)) for path in files)


def read(name: str, row: dict[str, str], **more) -> Reading:
    """The log *name*, with the devices and the batch that its *row* of SOURCES.csv states in numbers."""
    known = {"devices": row.get("total_gpus", ""), "batch_per_device": row.get("batch_size_per_gpu", "")}
    options = {option: int(text) for option, text in known.items() if text.isdigit()}
    return _read(name, tuple({**options, **more}.items()))


@cache
def _read(name: str, options: tuple) -> Reading:
    return read_file(LOGS / name, dialects=DIALECTS, **dict(options))


def six(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"


def compared(path: Path, rows: list[dict[str, str]]) -> None:
    """Are *rows* those of the golden file? Where golden files are written, these first (tests/goldens.py)."""
    if WRITE:
        with open(path, "w", newline="") as file:
            writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    assert paths.read_rows(path) == rows
