"""One page per language: smaller than the page with both, for printing and for archives."""

from pathlib import Path

from evalsuite.files import write_atomically
from evalsuite.report.forms.material import Material
from evalsuite.report.page import render
from evalsuite.report.text import words


def check() -> None:
    """It needs nothing beyond the page."""


def write(material: Material) -> list[Path]:
    return [_write(material, language) for language in material.languages]


def _write(material: Material, language: str) -> Path:
    path = material.out / f"report.{language}.html"
    write_atomically(path, page(material, language))
    return path


def page(material: Material, language: str) -> bytes:
    text = render.page(material.book, words.read((language,), on_cpu=material.book.on_cpu), material.build_hash)
    return text.encode("utf-8", "backslashreplace")
