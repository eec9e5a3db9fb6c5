"""`evidence.json`: of every run the log lines and numbers that its value rests on, to compute it elsewhere."""

from typing import Any

from evalsuite.model import Measurement
from evalsuite.report.book.book import Book


def document(book: Book) -> list[dict[str, Any]]:
    """An entry for each run with lines or steps: its value is the sum of `items` ÷ the sum of `seconds`."""
    return [_run(run) for run in book.measurements if run.lines or (run.throughput and run.throughput.counted)]


def _run(run: Measurement) -> dict[str, Any]:
    speed = run.throughput
    counted = speed.counted if speed else None
    return {
        "run_id": run.run.id,
        "items_per_s": run.value,
        "method": speed.method if speed else None,
        "printers": run.printers,
        "log": run.log,
        "log_sha256": run.log_sha256,
        "lines": [
            {"number": line.number, "text": line.text, "read": [list(part) for part in line.read]} for line in run.lines
        ],
        "items": list(counted.items) if counted else [],
        "seconds": list(counted.seconds) if counted else [],
    }
