"""A linter for the Chinese words: punctuation, blanks, and the glossary's own terms (docs/architecture.md#words)."""

import re
from collections.abc import Iterable, Mapping

from tests import sources

HAN = "\u4e00-\u9fff"
FULL_WIDTH = "，。；：？！（）、《》“”"
CODE = re.compile(r"<(code|var|kbd)>.*?</\1>")
TAG = re.compile(r"<[^>]*>")
SENTENCE_PLACE = re.compile(r"\{\w+_text\}")  # a whole sentence will stand there
PLACE = re.compile(r"\{[^}]*\}")  # a number or a name will stand there

RULES: Mapping[str, re.Pattern] = {
    "a blank is missing between Han and Latin": re.compile(rf"[{HAN}][A-Za-z0-9]|[A-Za-z0-9][{HAN}]"),
    "half-width punctuation beside Han": re.compile(rf"[{HAN}][,;:?!()]|[,;:?!()][{HAN}]|[{HAN}]\.(?!\w)"),
    "a blank beside full-width punctuation": re.compile(rf" [{FULL_WIDTH}]|[{FULL_WIDTH}] "),
    "a blank before % or °": re.compile(r"\s[%°]"),
    "a blank between Han": re.compile(rf"[{HAN}] [{HAN}]"),
    "straight quotes around Han": re.compile(rf"\"[{HAN}]|[{HAN}]\""),
}
ITALICS = re.compile(r"<(i|em)\b")

# What the glossary has another word for: key of the glossary → ways it must not be written.
NOT_THE_TERM = sources.table("typography.toml")["not_the_term"]


def faults(sentence: str) -> list[str]:
    """What is wrong with one Chinese sentence; empty if nothing is."""
    found = ["italics in Chinese"] if ITALICS.search(sentence) else []
    bare = PLACE.sub("X1", SENTENCE_PLACE.sub("", TAG.sub("", CODE.sub("X", sentence))))
    for fault, pattern in RULES.items():
        match = pattern.search(bare)
        if match:
            found.append(f"{fault}: {match[0]!r}")
    found += [f"not the glossary's term: {word}" for words in NOT_THE_TERM.values() for word in words if word in bare]
    return found


def all_faults(table: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    """(key, fault) for each fault in the sentences of a Chinese file."""
    return ((key, fault) for key, sentence in table.items() for fault in faults(sentence))
