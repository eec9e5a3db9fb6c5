"""The glossary: the terms of the report in both languages, from `data/glossary.csv`."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from evalsuite import paths

FILE = paths.DATA / "glossary.csv"


@dataclass(frozen=True, kw_only=True)
class Term:
    key: str
    zh: str
    en: str
    definition_zh: str
    definition_en: str


@cache
def terms(file: Path = FILE) -> tuple[Term, ...]:
    return tuple(Term(**row) for row in paths.read_rows(file))
