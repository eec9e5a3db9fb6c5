"""The language of the terminal: that of `--lang zh` or `--lang en`, else that of the locale, else English. Sentences of
the commands are in `data/text/terminal`. What other rooms say (errors, reasons, the details of `doctor`) comes as
messages (`evalsuite/core/messages.py`)."""

import argparse
import gettext
import os
import sys
import unicodedata
from collections.abc import Mapping
from typing import TYPE_CHECKING

from evalsuite.core.messages import ENGLISH, LANGUAGES, wording

if TYPE_CHECKING:
    from evalsuite.core.model import Finding
    from evalsuite.report.text.words import Words

VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")  # the first that is set counts, as in gettext

_chosen = ENGLISH


def of_locale(variables: Mapping[str, str]) -> str:
    """`zh` for a Chinese locale; English for any other, and where there is none."""
    locale = next((value for name in VARIABLES if (value := variables.get(name))), "")
    return "zh" if locale.lower().startswith("zh") else ENGLISH


def choose(arguments: argparse.Namespace | None, variables: Mapping[str, str] = os.environ) -> None:
    """From here on prints in the one language that *arguments* ask for, else in that of the locale."""
    global _chosen
    asked = getattr(arguments, "lang", None)
    _chosen = asked if asked in LANGUAGES else of_locale(variables)
    argparse.__dict__["_"] = gettext.gettext if _chosen == ENGLISH else of_argparse  # the parser has no catalogue
    if _chosen != ENGLISH:
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="replace")  # a sign that the terminal's encoding lacks stops nothing


def language() -> str:
    return _chosen


def say(key: str, **values: object) -> str:
    return spoken()(key, **values).plain(_chosen)


def status(name: str) -> str:
    return known("statuses", name)


def known(section: str, name: str, words: "Words | None" = None) -> str:
    """The terminal's or other *words* for one of the names that *section* knows; the name itself where it has none."""
    key, of = f"{section}.{name}", words or spoken()
    return of(key).plain(_chosen) if key in of else name


def finding(finding: "Finding") -> str:
    from evalsuite.report.text import findings, words

    return findings.sentence(finding, words.read()).plain(_chosen)


def report_word(section: str, name: str) -> str:
    from evalsuite.report.text import words

    page = words.table(words.FOLDER / f"{_chosen}.toml")  # without the rules, whose hundred files take as long as a log
    return known(section, name, words.Words({_chosen: page}))


def worded(text: str) -> str:
    """*text*, where it is a message, in the terminal's language."""
    return wording(text, _chosen)


def of_argparse(text: str) -> str:
    """What Python's argument parser says, in the terminal's language; as it is where we have no words for it."""
    from evalsuite.report.text import words

    tables = words.read((ENGLISH, _chosen), words.TERMINAL).tables
    keys = (key for key, english in tables[ENGLISH].items() if key.startswith("argparse.") and english == text)
    return next((tables[_chosen][key] for key in keys), text)


def spoken() -> "Words":
    from evalsuite.report.text import words

    return words.read((_chosen,), words.TERMINAL)


def padded(text: str, width: int, *, right: bool = False) -> str:
    """*text* with blanks up to *width* columns, before it if *right*; a Chinese character takes two."""
    blanks = " " * max(0, width - columns(text))
    return blanks + text if right else text + blanks


def columns(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)
