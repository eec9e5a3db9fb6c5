"""A data rule explained: what it checks, why it matters, what to do, and how its findings read."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from evalsuite.core import findings
from evalsuite.core.model import Finding
from evalsuite.report.text.findings import limits, rule, with_limits
from evalsuite.report.text.words import PLACEHOLDER, Words, read

PARTS = ("checks", "matters", "remedy")
LEFT_OUT = "…"  # where a finding has its numbers and names


@dataclass(frozen=True, kw_only=True)
class Explained:
    code: str
    title: str
    levels: tuple[str, ...]  # a sentence for each severity that its findings may have
    parts: Mapping[str, str]  # checks, matters, remedy
    says: tuple[str, ...]  # the sentences of its findings


def explained(code: str, language: str) -> Explained:
    words, rules = _words(language), findings.of_code(code)
    severities = dict.fromkeys(rule.severity for rule in rules)
    return Explained(
        code=code,
        title=rule(code, words).plain(language),
        levels=tuple(label(each, language) for each in severities or ("silent",)),
        parts={part: with_limits(f"rules.{code}.{part}", code, words).plain(language) for part in PARTS},
        says=tuple(_without_values(each, words) for each in rules),
    )


def label(name: str, language: str) -> str:
    return _words(language)(f"explain.{name}").plain(language)


@cache
def _words(language: str) -> Words:
    return read((language,))


def _without_values(kind: type[Finding], words: Words) -> str:
    known = limits(kind.code)
    return PLACEHOLDER.sub(
        lambda place: place[3] or str(known.get(place[1], LEFT_OUT)), words.sentence(f"findings.{kind.name}")
    )
