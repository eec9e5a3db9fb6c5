"""What sections are written with in Markdown, GitHub's: sentences, cells and tables.
Data is escaped, so that a framework's name or a log line cannot become markup, a link or a mention."""

import html
import re
from collections.abc import Callable
from typing import Any

from markupsafe import Markup

from evalsuite.core.messages import wording
from evalsuite.report.text import names, words
from evalsuite.report.text.words import Rendered

TAG = re.compile(r"<(/?)(\w+)[^>]*>")
SPECIAL = re.compile(r"([\\`*_\[\]#|~$])")
PARAGRAPHS = re.compile(r"\n{2,}")
MENTION = re.compile(r"@(?=\w)")
EDGES = re.compile(r"(\W*)(.*?)(\W*)", re.DOTALL)
NO_BREAK = "\u2060"  # a word joiner: invisible, and the name after it is no mention


class MarkdownWriter:
    get_template: Callable[[str], Any]

    def __init__(self, language: str, *, on_cpu: bool = False) -> None:
        self.language = language
        self.words, self.beyond = words.read((language,), on_cpu=on_cpu), words.read_beyond_the_page((language,))

    def fill(self, template: str, **facts: object) -> list[str]:
        return [*filter(None, PARAGRAPHS.split(self.get_template(template).render(facts).strip("\n")))]

    def render(self, value: object) -> str:
        if isinstance(value, Markup):
            return value
        if isinstance(value, Rendered):
            return from_markup(value.in_language(self.language))
        return text(wording(value, self.language) if isinstance(value, str) else value)


def text(value: object) -> str:
    line = " ".join(names.visible(value).split())
    line = SPECIAL.sub(r"\\\1", line).replace("<", "&lt;").replace(">", "&gt;")
    return MENTION.sub("@" + NO_BREAK, line)


def from_markup(markup: Markup) -> str:
    """HTML of a sentence as Markdown: emphasis and code stay, other tags go."""
    parts: list[str] = []
    inside_code, place, strong = False, 0, 0
    for match in TAG.finditer(markup):
        parts.append(_between(markup[place : match.start()], inside_code))
        closing, tag = match.groups()
        if tag in ("strong", "b"):
            if closing:
                parts[strong:] = [emphasised("".join(parts[strong:]))]
            strong = len(parts)
        elif tag == "code":
            inside_code = not closing
            parts.append("`")
        place = match.end()
    parts.append(_between(markup[place:], inside_code))
    return "".join(parts)


def emphasised(said: str) -> str:
    """*said* in bold: "**" opens and closes next to a letter only, so punctuation at the ends is outside."""
    match = EDGES.fullmatch(said)
    if match is None or not match[2]:
        return said
    before, inside, after = match.groups()
    return f"{before}**{inside}**{after}"


def _between(markup: str, inside_code: bool) -> str:
    plain = html.unescape(str(markup))
    if inside_code:
        return " ".join(names.visible(plain).replace("`", "'").split())
    before = " " if plain[:1].isspace() else ""
    after = " " if plain[-1:].isspace() and plain.strip() else ""
    return f"{before}{text(plain)}{after}"
