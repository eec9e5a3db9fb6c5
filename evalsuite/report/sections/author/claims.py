"""What an author claims outside braces, where the numbers of the evaluation contradict it (D23).

A claim is contradicted where no number of the report can be meant. Aims, questions and denials claim nothing.
"""

import dataclasses
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from evalsuite.core import paths
from evalsuite.core.author_document import PLACE, BothLanguages
from evalsuite.core.findings import AuthorContradicted
from evalsuite.report.book.book import Book
from evalsuite.report.sections.author.author_file import Authored
from evalsuite.report.text import names
from evalsuite.report.text.words import read
from evalsuite.results.judge import verdicts
from evalsuite.results.rules import data_rules

COUNTS: Mapping[str, Callable[[Book], int]] = {
    "frameworks": lambda book: len(book.frameworks),
    "models": lambda book: len(book.models),
    "cases": lambda book: len(book.planned),
    "valid": lambda book: len(book.valid),
    "runs": lambda book: len(book.measurements),
    "nodes": lambda book: max((case.nodes for case in book.planned), default=0),
    "devices": lambda book: max((case.total_devices for case in book.planned), default=0),
}
UNCLAIMED = ("expected", "organisation", "platform")  # hopes, and what the lab says of itself
_WORDS = paths.read_data("claims.toml")
_SENTENCE, _NO_CLAIM = re.compile(_WORDS["sentence"]), re.compile("".join(_WORDS["no_claim"]), re.IGNORECASE)
_COUNT, _COUNTED, _MULTIPLE = (_WORDS[name] for name in ("count", "counted", "multiple"))
_ROUGHLY = 0.1  # of a multiple in words


class _Numbers(NamedTuple):
    book: Book
    sentence: str

    def efficiencies(self) -> Iterator[float]:
        return (100 * summary.efficiency.value for summary in self.book.valid if summary.efficiency)

    def ratios(self) -> Iterator[float]:
        """Speed-ups, and of any two results of one model with as many devices."""
        yield from (summary.speedup.value for summary in self.book.valid if summary.speedup)
        for a, b in itertools.permutations(self.book.valid, 2):
            if (a.case.model, a.case.total_devices) == (b.case.model, b.case.total_devices):
                yield a.items_per_s.value / b.items_per_s.value

    def leads(self) -> Iterator[float]:
        return (100 * abs(ratio - 1) for ratio in self.ratios())

    def rates(self) -> Iterator[float]:
        for summary in self.book.valid:
            yield from (summary.items_per_s.value, summary.items_per_s.value / summary.case.total_devices)


def _is_counted(match: re.Match[str], known: _Numbers) -> bool:
    counted = COUNTS[_COUNTED[match["what"].lower()]](known.book)
    return int(_COUNT.get(match["n"].lower(), match["n"])) <= counted


def _is_first(match: re.Match[str], known: _Numbers) -> bool:
    cells = verdicts.fastest(known.book.valid).cells
    first = {dict(cell.values)["first"] for cell in cells if cell.reason in ("faster", "faster_in_rounds")}
    named = {
        framework for framework in known.book.frameworks if names.framework(framework).lower() in known.sentence.lower()
    }
    return bool(first & (named or first))


def _is_multiple(match: re.Match[str], known: _Numbers) -> bool:
    multiple = _MULTIPLE[match["word"].lower()]
    return any(abs(ratio / multiple - 1) <= _ROUGHLY for ratio in known.ratios())


def _among(numbers: Callable[[_Numbers], Iterable[float]]) -> Callable[[re.Match[str], _Numbers], bool]:
    def holds(match: re.Match[str], known: _Numbers) -> bool:
        written = data_rules.written(match["n"])
        if written is None:
            return True
        bound = match.groupdict().get("least")
        return any(
            number >= float(written) if bound else data_rules.rounds_to(written, number) for number in numbers(known)
        )

    return holds


HOLDS: Mapping[str, Callable[[re.Match[str], _Numbers], bool]] = {
    "counted": _is_counted,
    "efficiencies": _among(_Numbers.efficiencies),
    "first": _is_first,
    "leads": _among(_Numbers.leads),
    "multiple": _is_multiple,
    "rates": _among(_Numbers.rates),
    "ratios": _among(_Numbers.ratios),
}


def contradicted(book: Book, text: str) -> Iterator[str]:
    for sentence in _SENTENCE.findall(PLACE.sub("\0", text)):
        if _NO_CLAIM.search(sentence):
            continue
        for kind, pattern in _WORDS["claims"]:
            for match in re.finditer(pattern, sentence, re.IGNORECASE):
                if not HOLDS[kind](match, _Numbers(book, sentence)):
                    yield match[0].strip()


def marked(book: Book, written: Authored) -> tuple[Authored, tuple[AuthorContradicted, ...]]:
    """*written* with a mark behind each claim that the numbers contradict, and a finding for each."""
    findings: dict[str, AuthorContradicted] = {}
    words = read()("outline.contradicted")

    def in_text(text: str, language: str) -> str:
        for claim in dict.fromkeys(contradicted(book, text)):
            findings[claim] = AuthorContradicted(claim=claim, where=written.source)
            text = text.replace(claim, f"{claim}{words.plain(language)}")
        return text

    def within(value: Any) -> Any:
        if isinstance(value, BothLanguages):
            return replace(value, zh=in_text(value.zh, "zh"), en=in_text(value.en, "en"))
        if isinstance(value, tuple):
            return tuple(map(within, value))
        if not dataclasses.is_dataclass(value) or isinstance(value, type):
            return value
        parts: Mapping[str, Any] = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return replace(value, **{name: within(part) for name, part in parts.items() if name not in UNCLAIMED})

    authored: Authored = within(written)
    return authored, tuple(findings.values())
