"""One page per language."""

from pathlib import Path

from evalsuite.files import write_atomically
from evalsuite.report.forms.material import Material
from evalsuite.report.page import render
from evalsuite.report.text import words


def write(material: Material) -> list[Path]:
    paths = {language: material.out / f"report.{language}.html" for language in material.languages}
    for language, path in paths.items():
        write_atomically(path, page(material, language))
    return list(paths.values())


def page(material: Material, language: str) -> bytes:
    text = render.page(material.book, words.read((language,), on_cpu=material.book.on_cpu), material.build_hash)
    return text.encode("utf-8", "backslashreplace")
