"""What other rooms say in English (errors, why a run has no value, why a case was left out), said again in Chinese.

Run folders keep such sentences as they were said. Where one has the shape of an entry of `retold` in
`data/text/terminal`, its other language is used, with what stands in its places. A place called *quoted* holds
somebody else's words, which stay; one called *n*, or *n_* and something, a number. A sentence that no entry fits
stays as it is.
"""

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass

from markupsafe import Markup, escape

from evalsuite.messages import Message, wording
from evalsuite.report.text import names
from evalsuite.report.text.words import TERMINAL, Rendered, Words, placeholders, read

RETOLD = "retold."
ELSEWHERE = "elsewhere."  # what Python's argument parser and the system say
QUOTED = "quoted"
PATH = "path"
HEAD = f"{{{PATH}}}: "
NUMBER = r"[\d,.e+-]+"  # what a place called n, or n_ and something, holds
BETWEEN = {". ": "。", "; ": "；"}  # between two sentences → in Chinese
DEEPEST = 3  # a message in a message in a message: the answer to a wrong name, its list, its nearest
ENGLISH = "en"


@dataclass(frozen=True, kw_only=True, eq=False)
class Retold(Rendered):
    """An English sentence, in each language of a report; *longest*: characters, of a long one the beginning."""

    words: Words
    text: str
    longest: int | None = None

    def in_language(self, language: str) -> Markup:
        said = retold(self.text, language)
        if self.longest is not None and len(said) > self.longest:
            said = f"{said[: self.longest]}…"
        return escape(names.visible(said))

    def __bool__(self) -> bool:
        return bool(self.text)


def retold(text: str, language: str) -> str:
    """*text*, which came in English, in *language*; as it is where no sentence of ours fits it."""
    if isinstance(text, Message) or language == ENGLISH:
        return wording(text, language)
    return _retold(text, language, DEEPEST)


def _retold(text: str, language: str, deep: int) -> str:
    for key, pattern in _patterns():
        if found := pattern.fullmatch(text):
            given = found.groupdict()
            values = {
                name: _retold(value, language, deep - 1) if deep and not name.startswith(QUOTED) else value
                for name, value in given.items()
            }
            if _has_words(_words().tables[ENGLISH][key]) or values != given:
                return _said(key, values, language)
    return _part_by_part(text, language, deep)


def _said(key: str, values: Mapping[str, str], language: str) -> str:
    if PATH in placeholders(_words().tables[ENGLISH][key]) and PATH not in values:
        return _words()(key, **values, **{PATH: ""}).plain(language).lstrip("：")
    return _words()(key, **values).plain(language)


def _part_by_part(text: str, language: str, deep: int) -> str:
    """Sentences beside each other: how a run was ended and what its log says, what is wrong and what to try."""
    for mark, theirs in BETWEEN.items():
        first, parted, rest = text.partition(mark)
        if parted and deep and (again := _retold(first, language, 0)) != first:
            return f"{again}{theirs}{_retold(rest, language, deep - 1)}"
    return text


@functools.cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Key and shape of each English sentence that is retold, those with most words of their own first."""
    entries = [(key, text) for key, text in _words().tables[ENGLISH].items() if key.startswith((RETOLD, ELSEWHERE))]
    entries += [
        (key, text.removeprefix(HEAD)) for key, text in entries if text.startswith(HEAD)
    ]  # the path said before
    return tuple((key, _shape(text)) for key, text in sorted(entries, key=lambda pair: -len(_own(pair[1]))))


def _own(text: str) -> str:
    """A sentence without its places."""
    return re.sub(r"\{\w+\}", "", text)


def _has_words(text: str) -> bool:
    """Whether a sentence has words of its own; "{version}: {why}" is one only where what it holds is."""
    return any(character.isalpha() for character in _own(text))


def _shape(text: str) -> re.Pattern[str]:
    parts = re.split(r"\{(\w+)\}", text)
    held = ".*?" if _has_words(text) else ".*"  # without words, the last colon parts the two
    of_place = [f"(?P<{part}>{NUMBER if part.split('_')[0] == 'n' else held})" for part in parts[1::2]]
    escaped = [re.escape(part) for part in parts[::2]]
    return re.compile("".join(part for pair in zip(escaped, [*of_place, ""], strict=True) for part in pair), re.DOTALL)


@functools.cache
def _words() -> Words:
    return read(folder=TERMINAL)
