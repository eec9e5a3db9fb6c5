"""`report-data.zip`: every number of the report, the same bytes for the same data."""

import json
import zipfile
from io import BytesIO
from pathlib import Path

from evalsuite import paths
from evalsuite.files import write_atomically, zip_entry
from evalsuite.report.data import evidence, summary_json, tables
from evalsuite.report.forms.material import Material
from evalsuite.report.text import words as words_room

NAME = "report-data.zip"
README = "README.txt"
SCHEMA = paths.DATA / "schema" / "summary.schema.json"


def write(material: Material) -> list[Path]:
    path = material.out / NAME
    write_atomically(path, zip_files(contents(material)))
    return [path]


def contents(material: Material) -> dict[str, bytes]:
    book, build_hash = material.book, material.build_hash
    return {
        README: readme("bundle.readme", material),
        "summary.json": _json(summary_json.document(book, build_hash)),
        "evidence.json": _json(evidence.document(book)),
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
