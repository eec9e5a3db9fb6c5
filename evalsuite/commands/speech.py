"""The language of the terminal: that of `--lang zh` or `--lang en`, else that of the locale, else English.

Sentences of the commands stand in `data/text/terminal`. What other rooms say (errors, reasons, the details of
`doctor`) comes as English text: where the table `retold` has it, it is said again in Chinese.
"""

import argparse
import functools
import os
import re
import sys
import unicodedata
from collections.abc import Mapping
from typing import TYPE_CHECKING

from evalsuite.model import LANGUAGES

if TYPE_CHECKING:
    from evalsuite.model import Finding
    from evalsuite.report.text.words import Words

VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")  # the first that is set counts, as in gettext
RETOLD = "retold."
ELSEWHERE = "elsewhere."  # what Python's argument parser and the system say
DEEPEST = 3  # a message in a message in a message: the answer to a wrong name, its list, its nearest

_chosen = "en"


def add_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--lang", choices=LANGUAGES, help="language of what is printed (default: that of the locale)")


def of_locale(variables: Mapping[str, str]) -> str:
    """`zh` for a Chinese locale; English for any other, and where there is none."""
    locale = next((value for name in VARIABLES if (value := variables.get(name))), "")
    return "zh" if locale.lower().startswith("zh") else "en"


def choose(arguments: argparse.Namespace | None, variables: Mapping[str, str] = os.environ) -> None:
    """From here on prints in the one language that *arguments* ask for, else in that of the locale."""
    global _chosen
    asked = getattr(arguments, "lang", None)
    _chosen = asked if asked in LANGUAGES else of_locale(variables)
    if _chosen != "en":
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="replace")  # a sign that the terminal's encoding lacks stops nothing


def language() -> str:
    return _chosen


def say(key: str, **values: object) -> str:
    """The sentence *key* in the terminal's language."""
    return _words()(key, **values).plain(_chosen)


def status(name: str) -> str:
    """A status of a run or a log in words."""
    return known("statuses", name)


def known(section: str, name: str) -> str:
    """The words for one of the names that *section* knows; the name itself where it has none."""
    key = f"{section}.{name}"
    return say(key) if key in _words() else name


def finding(one: "Finding") -> str:
    """A finding as a sentence."""
    from evalsuite.report.text import findings, words

    return findings.sentence(one, words.read()).plain(_chosen)


def retold(text: str) -> str:
    """*text*, which came in English, in the terminal's language; as it is where no sentence of ours fits it."""
    return text if _chosen == "en" else _retold(text, _chosen, DEEPEST)


def _retold(text: str, language: str, deep: int) -> str:
    for key, pattern in _patterns():
        if found := pattern.fullmatch(text):
            given = found.groupdict()
            values = {name: _retold(value, language, deep - 1) if deep else value for name, value in given.items()}
            if _has_words(_words().tables["en"][key]) or values != given:
                return _words()(key, **values).plain(language)
    return text


@functools.cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Key and shape of each English sentence that is retold, those with most words of their own first."""
    found = {key: text for key, text in _words().tables["en"].items() if key.startswith((RETOLD, ELSEWHERE))}
    return tuple((key, _shape(text)) for key, text in sorted(found.items(), key=lambda pair: -len(_own(pair[1]))))


def _own(text: str) -> str:
    """A sentence without its places."""
    return re.sub(r"\{\w+\}", "", text)


def _has_words(text: str) -> bool:
    """Whether a sentence has words of its own; "{version}: {why}" is one only where what it holds is."""
    return any(character.isalpha() for character in _own(text))


def _shape(text: str) -> re.Pattern[str]:
    parts = re.split(r"\{(\w+)\}", text)
    held = ".*?" if _has_words(text) else ".*"  # without words, the last colon parts the two
    return re.compile(
        "".join(f"(?P<{part}>{held})" if place % 2 else re.escape(part) for place, part in enumerate(parts)), re.DOTALL
    )


@functools.cache
def _words() -> "Words":
    from evalsuite.report.text import words

    return words.read(folder=words.TERMINAL)


def padded(text: str, width: int) -> str:
    """*text* with blanks up to *width* columns; a Chinese character takes two."""
    return text + " " * max(0, width - columns(text))


def columns(text: str) -> int:
    """How many columns of a terminal *text* takes."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)
