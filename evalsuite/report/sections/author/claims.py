"""What an author claims outside braces, where the numbers of the evaluation contradict it (D23).

A claim is contradicted where no number of the report can be meant. Aims, questions and denials claim nothing.
"""

import dataclasses
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from evalsuite.author_document import PLACE, BothLanguages
from evalsuite.findings import AuthorContradicted
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
_SENTENCE = re.compile(r"(?:[^.!?。！？；;\n]|\.(?=\S))+[.!?。！？]?")
_NO_CLAIM = re.compile(
    r"\?$|？$|\b(no|not|none|nobody|neither|nor|cannot|whether|if|aim|goal|target|threshold|criteri|require|expect)"
    r"|不|无|没有|并非|未|是否|目标|要求|指标|阈值|期望|预期",
    re.IGNORECASE,
)
_COUNT = {"two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9"}
_COUNT |= {"ten": "10", **dict(zip("两二三四五六七八九十", map(str, (2, 2, 3, 4, 5, 6, 7, 8, 9, 10)), strict=True))}
_COUNTED = {"framework": "frameworks", "框架": "frameworks", "model": "models", "模型": "models", "case": "cases",
            "用例": "cases", "run": "runs", "运行": "runs"}  # fmt: skip
_MULTIPLE = {"twice": 2, "double": 2, "thrice": 3, "triple": 3, "快一倍": 2, "高一倍": 2, "翻倍": 2, "翻番": 2}
_MULTIPLE |= {f"{one}倍": int(number) for one, number in _COUNT.items() if not one.isascii()}
_ROUGHLY = 0.1  # of a multiple in words
_N = r"(?P<n>\d+(?:\.\d+)?)"
_LEAST = r"(?P<least>over|above|more than|at least|超过|高于|不低于|至少|≥|>)?\s*"


class _Numbers(NamedTuple):
    book: Book
    sentence: str

    def efficiencies(self) -> Iterator[float]:
        return (100 * one.efficiency.value for one in self.book.valid if one.efficiency)

    def ratios(self) -> Iterator[float]:
        """Speed-ups, and of any two results of one model with as many devices."""
        yield from (one.speedup.value for one in self.book.valid if one.speedup)
        for a, b in itertools.permutations(self.book.valid, 2):
            if (a.case.model, a.case.total_devices) == (b.case.model, b.case.total_devices):
                yield a.items_per_s.value / b.items_per_s.value

    def leads(self) -> Iterator[float]:
        return (100 * abs(ratio - 1) for ratio in self.ratios())

    def rates(self) -> Iterator[float]:
        for one in self.book.valid:
            yield from (one.items_per_s.value, one.items_per_s.value / one.case.total_devices)


def _is_counted(found: re.Match[str], known: _Numbers) -> bool:
    """Fewer may be meant than there are, more cannot be."""
    counted = COUNTS[_COUNTED[found["what"].lower()]](known.book)
    return int(_COUNT.get(found["n"].lower(), found["n"])) <= counted


def _is_first(found: re.Match[str], known: _Numbers) -> bool:
    cells = verdicts.fastest(known.book.valid).cells
    first = {dict(one.values)["first"] for one in cells if one.reason in ("faster", "faster_in_rounds")}
    named = {one for one in known.book.frameworks if names.framework(one).lower() in known.sentence.lower()}
    return bool(first & (named or first))


def _is_multiple(found: re.Match[str], known: _Numbers) -> bool:
    multiple = _MULTIPLE[found["word"].lower()]
    return any(abs(ratio / multiple - 1) <= _ROUGHLY for ratio in known.ratios())


def _among(numbers: Callable[[_Numbers], Iterable[float]]) -> Callable[[re.Match[str], _Numbers], bool]:
    def holds(found: re.Match[str], known: _Numbers) -> bool:
        written = data_rules.written(found["n"])
        if written is None:
            return True
        bound = found.groupdict().get("least")
        return any(
            number >= float(written) if bound else data_rules.rounds_to(written, number) for number in numbers(known)
        )

    return holds


CLAIMS: tuple[tuple[str, Callable[[re.Match[str], _Numbers], bool]], ...] = (
    (rf"{_LEAST}{_N}\s*%\s*(?:的)?\s*(?:linear|scaling|efficien|线性|扩展效率|效率)\w*", _among(_Numbers.efficiencies)),
    (rf"(?:efficiency of|效率[为达到]*)\s*{_LEAST}{_N}\s*%", _among(_Numbers.efficiencies)),
    (rf"{_N}\s*%\s*(?:faster|slower|ahead|higher)", _among(_Numbers.leads)),
    (rf"(?:快|领先|高出)\s*{_N}\s*%", _among(_Numbers.leads)),
    (rf"{_LEAST}(?<![\d.x×]){_N}(?:\s*(?:times as fast|times faster|-fold|倍)|[x×](?!\d))", _among(_Numbers.ratios)),
    (rf"{_LEAST}(?<![\d.])(?P<n>\d+\.\d+)\s*times", _among(_Numbers.ratios)),
    (r"(?P<n>[\d,]+(?:\.\d+)?)\s*(?:images|sentences|sequences|samples|tokens)/s", _among(_Numbers.rates)),
    (rf"\b(?P<n>\d+|{'|'.join(one for one in _COUNT if one.isascii())})\s+(?P<what>framework|model|case|run)s\b",
     _is_counted),
    (r"(?P<n>\d+|[两二三四五六七八九十])\s*[个种次]\s*(?P<what>框架|模型|用例|运行)", _is_counted),
    (r"\b(?P<word>twice|thrice)\s+(?:as fast|the (?:speed|throughput|rate))", _is_multiple),
    (r"\b(?P<word>double|triple)s?d?\s+the\s+(?:speed|throughput|rate)", _is_multiple),
    (rf"(?<![二三四五六七八九十百])(?P<word>{'|'.join(one for one in _MULTIPLE if not one.isascii())})", _is_multiple),
    (r"\bfastest\b|最快", _is_first),
)  # fmt: skip


def contradicted(book: Book, text: str) -> Iterator[str]:
    for sentence in _SENTENCE.findall(PLACE.sub("\0", text)):
        if _NO_CLAIM.search(sentence):
            continue
        for pattern, holds in CLAIMS:
            for found in re.finditer(pattern, sentence, re.IGNORECASE):
                if not holds(found, _Numbers(book, sentence)):
                    yield found[0].strip()


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
        parts: Mapping[str, Any] = {one.name: getattr(value, one.name) for one in dataclasses.fields(value)}
        return replace(value, **{name: within(part) for name, part in parts.items() if name not in UNCLAIMED})

    found: Authored = within(written)
    return found, tuple(findings.values())
