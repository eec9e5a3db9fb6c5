"""One page per language."""

from pathlib import Path

from evalsuite.core.files import is_file, sha256, write_atomically
from evalsuite.report.forms.material import Material
from evalsuite.report.page import render
from evalsuite.report.text import words


def write(material: Material) -> list[Path]:
    paths = {language: material.out / f"report.{language}.html" for language in material.languages}
    for language, path in paths.items():
        write_atomically(path, page(material, language))
    return list(paths.values())


def page(material: Material, language: str) -> bytes:
    spoken = words.read((language,), on_cpu=material.book.on_cpu)
    summary = material.out / "summary.json"
    text = render.page(material.book, spoken, material.build_hash, sha256(summary) if is_file(summary) else None)
    return text.encode("utf-8", "backslashreplace")
