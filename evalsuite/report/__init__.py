"""The report of an evaluation: `report.html`, `summary.json`, tidy tables as CSV.
The same evaluation gives the same bytes: rows are ordered, nothing asks the time, random choices have fixed seeds."""

import contextlib
import importlib
import io
import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from evalsuite.core.messages import LANGUAGES
from evalsuite.core.model import Evaluation

if TYPE_CHECKING:
    from evalsuite.report.book.book import Book


BESIDE = ".new"  # in which a report is written before it takes its place
LOCK = "lock"  # of a report that is being written
WORTH_PROCESSES = 100  # runs; below, starting them costs more than it saves


def make_ready(languages: Sequence[str] = LANGUAGES) -> None:
    from evalsuite.report.page import render

    for room in ("forms", "book.identity", "data.summary_json", "data.tables"):
        importlib.import_module(f"evalsuite.report.{room}")
    render.make_ready(languages)


@contextlib.contextmanager
def renewed(out: Path) -> Iterator[Path]:
    """A folder for a report, which takes the place of that in *out* once all of it is written."""
    from evalsuite.core.locks import hold_lock
    from evalsuite.finished import manifest

    beside = out / BESIDE
    beside.mkdir(parents=True, exist_ok=True)
    for path in beside.glob("[!.]*"):  # of a process that was killed
        with contextlib.suppress(OSError), hold_lock(path / LOCK, wait=False) as dead:
            if dead:
                shutil.rmtree(path, ignore_errors=True)
    own = Path(tempfile.mkdtemp(prefix=".", dir=beside))  # has its lock before others see it
    with hold_lock(own / LOCK):
        new = own.rename(beside / own.name.removeprefix("."))
        try:
            yield new
            manifest.put(new, out)
        finally:
            shutil.rmtree(new, ignore_errors=True)
            with contextlib.suppress(OSError):
                beside.rmdir()  # unless another writes here


def build(
    evaluation: Evaluation, out: Path, languages: Sequence[str] = LANGUAGES, book: "Book | None" = None
) -> list[Path]:
    """Writes page, `summary.json`, tables and a manifest into *out* and returns the files but the last.
    *book*: that of *evaluation*."""
    from evalsuite.core import processes
    from evalsuite.core.files import sha256, write_atomically
    from evalsuite.finished import manifest
    from evalsuite.report.book import identity
    from evalsuite.report.book.book import Book
    from evalsuite.report.data import summary_json, tables
    from evalsuite.report.page import render
    from evalsuite.report.text import words

    book = book or Book(evaluation=identity.ordered(evaluation))
    build_hash = identity.build_hash(evaluation)
    page, folder, drawn = out / "report.html", out / "tables", list[str]()
    folder.mkdir(parents=True, exist_ok=True)

    def write_text(file: Path, text: str) -> Path:
        write_atomically(file, text.encode("utf-8", "backslashreplace"))
        return file

    files = [page, *(folder / f"{name}.csv" for name in tables.COLUMNS)]
    sealed = {file.relative_to(out).as_posix(): f"sha256 of {file.name} of {build_hash}" for file in files}

    def write_part(name: str) -> str:
        if name in tables.COLUMNS:
            tables.write(book, folder, name)
            return ""
        facts, into = summary_json.document(book, build_hash, sealed), io.StringIO()  # which does not keep each piece
        json.dump(facts, into, indent=1, ensure_ascii=False, allow_nan=False)
        return into.getvalue() + "\n"

    said, *_ = words.read(languages, on_cpu=book.on_cpu), book.answers, book.findings  # so that each process has them
    text, *_ = processes.shared(
        write_part,
        ("summary", *tables.COLUMNS),
        lambda: drawn.append(render.page(book, said, build_hash, manifest.UNSEALED)),
        worth=len(book.measurements) > WORTH_PROCESSES,
    )
    write_text(page, drawn[0])
    for file, place in zip(files, sealed.values(), strict=True):
        text = text.replace(f'"{place}"', f'"{sha256(file)}"', 1)
    seal = sha256(write_text(out / "summary.json", text))
    written = [write_text(page, drawn[0].replace(manifest.UNSEALED, seal)), out / "summary.json", *files[1:]]
    manifest.add(out, build_hash, written, languages)
    return written
