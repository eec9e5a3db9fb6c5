"""Makes finished reports for the tests: evaluations with chosen speeds, days and versions, as report folders."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import pages
import synthetic

from evalsuite import report
from evalsuite.core import paths
from evalsuite.core.messages import LANGUAGES
from evalsuite.core.model import Evaluation, Summary
from evalsuite.finished import manifest
from evalsuite.report.book import identity
from evalsuite.report.book.book import Book
from evalsuite.report.data import summary_json
from evalsuite.report.page import assets
from evalsuite.report.text import numbers

STEADY = (100.0, 100.4, 99.8, 100.9, 99.5)
SLOWER = (90.0, 90.3, 89.9, 90.6, 89.6)
FASTER = (110.2, 110.0, 109.7, 110.8, 110.4)


def summary(speeds: Sequence[float] = STEADY, *, day: int = 1, version: str = "2.0", of=None, **changes) -> Summary:
    of = of or synthetic.case(protocol=synthetic.FULL)
    runs = [
        replace(
            synthetic.measured(of, repeat, speed),
            started_at=f"2026-11-{day:02d}T{10 + repeat:02d}:00:00+08:00",
            framework_version=version,
            campaign=f"day {day}",
            log_sha256=hashlib.sha256(f"{of.id} {day} {repeat} {speed}".encode()).hexdigest(),
            **changes,
        )
        for repeat, speed in enumerate(speeds)
    ]
    return synthetic.summary(runs)


def evaluation(*summaries: Summary, **changes) -> Evaluation:
    return synthetic.evaluation(summaries, **changes)


PAGE = """<!doctype html><meta http-equiv="Content-Security-Policy" content="{policy}"><title>a page</title>{hash}
<script type="application/json">{{"cases": {{"values": {{"value": {values}}}}}}}</script>{cells}"""


def written(folder: Path, of: Evaluation, page: str = PAGE) -> Path:
    """*of* as a finished report in *folder*; the page is a stand-in, for drawing the real one takes seconds."""
    folder.mkdir(parents=True, exist_ok=True)
    book = Book(evaluation=identity.ordered(of))
    facts = summary_json.document(book, identity.build_hash(of))
    text = json.dumps(facts, ensure_ascii=False, allow_nan=False, indent=1)
    (folder / "summary.json").write_bytes(text.encode("utf-8", "backslashreplace"))
    values = [summary["throughput"]["value"] for summary in facts["summaries"] if summary["throughput"]]
    cells = "".join(f"<table><tr><td>{numbers.throughput(value).text}</table>" for value in values)
    seal = hashlib.sha256((folder / "summary.json").read_bytes()).hexdigest()
    page = page.format(policy=assets.policy((), ()), hash=facts["input_sha256"] + seal, values=values, cells=cells)
    (folder / "report.html").write_text(page, encoding="utf-8")
    return sealed(folder)


def sealed(folder: Path) -> Path:
    """*folder* with a manifest of all that lies in it now."""
    facts = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    files = [path for path in folder.rglob("*.*") if path.name not in (manifest.NAME, manifest.SIGNATURE)]
    manifest.add(folder, facts["input_sha256"], files, LANGUAGES)
    return folder


@dataclass(frozen=True, kw_only=True)
class Built:
    """A finished report and what tests look at: its text, its page as a tree, its facts. Nobody changes it."""

    folder: Path
    evaluation: Evaluation

    @cached_property
    def html(self) -> str:
        return (self.folder / "report.html").read_text(encoding="utf-8")

    @cached_property
    def page(self) -> pages.Element:
        return pages.read(self.html)

    @cached_property
    def ids(self) -> frozenset[str]:
        return frozenset(element["id"] for element in self.page.all() if element["id"])

    @cached_property
    def book(self) -> Book:
        return Book(evaluation=identity.ordered(self.evaluation))

    @cached_property
    def summary(self) -> dict:
        return json.loads((self.folder / "summary.json").read_text(encoding="utf-8"))

    def section(self, id: str) -> pages.Element:
        return self.page.one("section", id=id)

    def table(self, name: str) -> list[dict[str, str]]:
        return paths.read_rows(self.folder / "tables" / f"{name}.csv")


def built(name: str, folder: Path) -> Built:
    """The report of the synthetic evaluation *name*, in *folder*. Tests ask the fixture `built` for it."""
    evaluation = synthetic.PAGES[name]()
    if not (folder / manifest.NAME).exists():
        report.build(evaluation, folder)
    return Built(folder=folder, evaluation=evaluation)
