"""`report-data.zip`: every number of the report, the same bytes for the same data; `report-logs.zip`: every log.

The logs are without their secrets, and have a manifest of hashes.
"""

import hashlib
import json
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

from evalsuite.core import paths
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.files import is_file, replacing, sha256, write_atomically, zip_entry
from evalsuite.core.model import Measurement
from evalsuite.report.book.book import Book
from evalsuite.report.data import summary_json, tables
from evalsuite.report.forms.material import Material
from evalsuite.report.text import words as words_room
from evalsuite.results.publish.log_copies import LogCopy

NAME = "report-data.zip"
LOGS = "report-logs.zip"
MANIFEST = "manifest.json"
README = "README.txt"
SCHEMA = paths.DATA / "schema" / "summary.schema.json"


def write(material: Material) -> list[Path]:
    path = material.out / NAME
    write_atomically(path, zip_files(contents(material)))
    return [path]


def contents(material: Material) -> dict[str, bytes]:
    book, summary = material.book, material.out / "summary.json"
    written = summary.read_bytes() if is_file(summary) else _json(summary_json.document(book, material.build_hash))
    return {
        README: readme("bundle.readme", material),
        "summary.json": written,
        "evidence.json": _json(evidence(book)),
        "summary.schema.json": SCHEMA.read_bytes(),
        "tables.json": _json(tables.rows(book)),
        **{f"tables/{name}.csv": content for name, content in tables.csv_files(book).items()},
    }


def readme(key: str, material: Material) -> bytes:
    words = words_room.read_beyond_the_page(material.languages)
    text = words(key, hash=material.build_hash)
    return ("\n\n".join(text.plain(language) for language in material.languages) + "\n").encode()


def zip_files(files: dict[str, bytes]) -> bytes:
    into = BytesIO()
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(files):
            archive.writestr(zip_entry(name), files[name])
    return into.getvalue()


def _json(facts: object) -> bytes:
    text = json.dumps(facts, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    return text.encode("utf-8", "backslashreplace")


def evidence(book: Book) -> list[dict[str, Any]]:
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


def write_logs(material: Material) -> list[Path]:
    if material.logs is None:
        raise EvalsuiteError.of("report.logs_no_runs")
    path = material.out / LOGS
    copies = sorted(material.logs(material.book.measurements), key=lambda copy: copy.name)
    with replacing(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        manifest = {"build": material.build_hash, "logs": [_add_log(copy, archive) for copy in copies]}
        archive.writestr(zip_entry(MANIFEST), json.dumps(manifest, indent=1, ensure_ascii=False) + "\n")
        archive.writestr(zip_entry(README), readme("bundle.logs_readme", material))
    return [path]


def _add_log(copy: LogCopy, archive: zipfile.ZipFile) -> dict[str, Any]:
    facts = {"run_id": copy.run_id, "log": copy.name, "sha256": sha256(copy.file), "bytes": copy.file.stat().st_size}
    hashed = hashlib.sha256()
    with archive.open(zip_entry(copy.name), "w", force_zip64=True) as into:
        try:
            for piece in copy.pieces():
                into.write(piece)
                hashed.update(piece)
        except EvalsuiteError as error:
            facts["cut_off"] = str(error)
    return {**facts, "masked_sha256": hashed.hexdigest(), "masked_bytes": archive.getinfo(copy.name).file_size}
