"""Makes finished reports for the tests: evaluations with chosen speeds, days and versions, as report folders."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import synthetic

from evalsuite.model import Evaluation, Summary
from evalsuite.report.book import identity
from evalsuite.report.book.book import Book
from evalsuite.report.data import summary_json

STEADY = (100.0, 100.4, 99.8, 100.9, 99.5)
SLOWER = (90.0, 90.3, 89.9, 90.6, 89.6)
FASTER = (110.2, 110.0, 109.7, 110.8, 110.4)


def summary(speeds: Sequence[float] = STEADY, *, day: int = 1, version: str = "2.0", of=None, **changes) -> Summary:
    """One case with the given run values, measured on the given day of November with the given version."""
    of = of or synthetic.case(protocol=synthetic.FULL)
    runs = [
        replace(
            synthetic.measured(of, repeat, speed),
            started_at=f"2026-11-{day:02d}T{10 + repeat:02d}:00:00+08:00",
            framework_version=version,
            log_sha256=hashlib.sha256(f"{of.id} {day} {repeat} {speed}".encode()).hexdigest(),
            **changes,
        )
        for repeat, speed in enumerate(speeds)
    ]
    return synthetic.summary(runs)


def evaluation(*summaries: Summary, **changes) -> Evaluation:
    return synthetic.evaluation(summaries, **changes)


def written(folder: Path, of: Evaluation, page: str = "<!doctype html><title>a page</title>") -> Path:
    """*of* as a finished report in *folder*; the page is a stand-in, for drawing the real one takes seconds."""
    folder.mkdir(parents=True, exist_ok=True)
    book = Book(evaluation=identity.ordered(of))
    facts = summary_json.document(book, identity.build_hash(of))
    text = json.dumps(facts, ensure_ascii=False, allow_nan=False, indent=1)
    (folder / "summary.json").write_bytes(text.encode("utf-8", "backslashreplace"))
    (folder / "report.html").write_text(page, encoding="utf-8")
    return folder
