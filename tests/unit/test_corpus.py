"""The corpus of real logs in ../shared/logs, where it is present: each reading as it was reviewed by eye.

`EVALSUITE_GOLDEN=write python -m pytest tests/unit/test_corpus.py` writes what is read now into
`tests/golden/readings.csv` and `published.csv`; look at the difference before you commit it. The files hold
figures only, nothing of the logs.
"""

import csv
import os
import statistics
from pathlib import Path

import pytest

from evalsuite import dialect
from evalsuite.model import Protocol
from evalsuite.reading import Reading, read_file

ROOT = Path(__file__).resolve().parents[2]
LOGS = ROOT.parent / "shared" / "logs"
READINGS = ROOT / "tests" / "golden" / "readings.csv"
PUBLISHED = ROOT / "tests" / "golden" / "published.csv"
NOT_LOGS = {"SOURCES.csv", "DIALECTS.md"}
DIALECTS = dialect.discover()
EVERYTHING = Protocol(warmup_steps=0, measured_steps=10**9)
NEAR = 0.01  # a published figure this near needs no explanation
SAME = 0.003  # an explanation must meet the published figure this closely

pytestmark = pytest.mark.skipif(not LOGS.is_dir(), reason="../shared/logs is not here")


def sources() -> dict[str, dict[str, str]]:
    with open(LOGS / "SOURCES.csv", newline="") as file:
        return {row["file"]: row for row in csv.DictReader(file)}


def names() -> list[str]:
    files = (path for path in LOGS.rglob("*") if path.is_file() and path.name not in NOT_LOGS)
    return sorted(str(path.relative_to(LOGS)) for path in files)


def options(row: dict[str, str]) -> dict[str, int]:
    """Devices and batch that the source states beside the log, where it states a number."""
    known = {"devices": row.get("total_gpus", ""), "batch_per_device": row.get("batch_size_per_gpu", "")}
    return {name: int(text) for name, text in known.items() if text.isdigit()}


def read(name: str, row: dict[str, str], **more) -> Reading:
    return read_file(LOGS / name, dialects=DIALECTS, **options(row), **more)


def six(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"


def figures(name: str, reading: Reading) -> dict[str, str]:
    throughput = reading.throughput
    window = throughput.window if throughput else None
    findings = (*reading.findings, *(throughput.findings if throughput else ()))
    return {
        "file": name,
        "dialect": reading.dialect or "",
        "status": reading.status,
        "throughput": six(throughput.items_per_s if throughput else None),
        "unit": reading.unit or "",
        "method": throughput.method if throughput else "",
        "first_step": str(window.first_step) if window else "",
        "last_step": str(window.last_step) if window else "",
        "steps_reported": str(reading.steps_reported),
        "devices": str(reading.total_devices or ""),
        "batch_per_device": six(reading.batch_per_device),
        "scope": reading.scope or "",
        "reported_final": six(reading.reported_final),
        "findings": " ".join(sorted({finding.code for finding in findings})),
    }


def explanation(name: str, row: dict[str, str], published: float) -> tuple[str, float | None]:
    """Which other way of counting the same log meets the published figure, and what it gives."""
    reading = read(name, row, protocol=EVERYTHING)
    rates = [step.items_per_s for step in reading.steps if step.items_per_s]
    ways: dict[str, float | None] = {"the log's own final figure": reading.reported_final}
    if len(rates) > 2:
        ways |= {
            "arithmetic mean of all printed rates": statistics.fmean(rates),
            "harmonic mean of all printed rates": statistics.harmonic_mean(rates),
            "median of all printed rates": statistics.median(rates),
            "arithmetic mean without the first report": statistics.fmean(rates[1:]),
            "harmonic mean without the first report": statistics.harmonic_mean(rates[1:]),
            "arithmetic mean without the last report": statistics.fmean(rates[:-1]),
            "arithmetic mean of the second half": statistics.fmean(rates[len(rates) // 2 :]),
        }
    if len(rates) > 20:
        ways["arithmetic mean without the first eight reports"] = statistics.fmean(rates[8:])
    met = [(abs(value / published - 1), way, value) for way, value in ways.items() if value]
    distance, way, value = min(met, default=(1.0, "", None))
    return (way, value) if distance <= SAME else ("another window or another run of the authors", None)


def published_rows() -> list[dict[str, str]]:
    rows = []
    for name, row in sorted(sources().items()):
        if not row["published_throughput"]:
            continue
        published = float(row["published_throughput"])
        reading = read(name, row)
        ours = reading.throughput.items_per_s
        near = abs(ours / published - 1) <= NEAR
        way, value = ("", None) if near else explanation(name, row, published)
        rows.append(
            {
                "file": name,
                "published": six(published),
                "ours": six(ours),
                "difference_percent": f"{100 * (ours / published - 1):+.2f}",
                "unit": reading.unit,
                "our_method": reading.throughput.method,
                "explained_by": way,
                "which_gives": six(value),
            }
        )
    return rows


def compared(path: Path, rows: list[dict[str, str]]) -> None:
    if os.environ.get("EVALSUITE_GOLDEN") == "write":
        with open(path, "w", newline="") as file:
            writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    with open(path, newline="") as file:
        assert list(csv.DictReader(file)) == rows


def test_every_log_of_the_corpus_reads_as_it_was_reviewed():
    known = sources()

    rows = [figures(name, read(name, known.get(name, {}))) for name in names()]

    compared(READINGS, rows)


def test_every_published_figure_is_met_or_its_difference_explained():
    rows = published_rows()

    assert len(rows) == 36
    compared(PUBLISHED, rows)
    assert all(row["explained_by"] for row in rows if abs(float(row["difference_percent"])) > 100 * NEAR)


def test_a_log_without_a_throughput_says_what_is_missing():
    known = sources()

    without = [(name, reading) for name in names() if (reading := read(name, known.get(name, {}))).throughput is None]

    assert all(reading.reason for _, reading in without)
