"""The words of the report: every sentence by its key, in every language, from `data/text/*.toml`.

Both files hold the same keys with the same placeholders; this is checked when they are read. A `Text` is a
sentence with its values: it renders in one language, or in all of them side by side, each marked with its
`lang`, so the page can switch without script. The files may hold inline markup; values are
data and are escaped.
"""

import functools
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from evalsuite.core import paths
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.messages import BETWEEN, LANGUAGES, PLACE, Message, places, wording
from evalsuite.report.text import names

FOLDER = paths.DATA / "text"
COLUMNS = FOLDER / "columns.toml"
QUESTIONS = paths.DATA / "questions.toml"  # with their codes and findings, in every language
TERMINAL = FOLDER / "terminal"  # what commands print
BEYOND_THE_PAGE = FOLDER / "publishing"  # site, Markdown, spreadsheet and `diff`
HTML_LANG = {"zh": "zh-CN", "en": "en"}
TAG = re.compile(r"<[^>]*>")
BETWEEN_SENTENCES = {"zh": "", "en": " "}
BETWEEN_CLAUSES = {"zh": "，", "en": ", "}
ALIKE = " ≈ "
TOGETHER = re.compile(r"\b(n) ([=≥]) ")  # "n = 5" stays on one line


# What Chinese calls a device, `{单卡}` in a sentence; the values are for reports whose devices are processes on a CPU.
ON_CPU = {"单卡批大小": "每进程批大小", "单卡": "单进程", "卡": "进程", "设备": "进程", "显存": "内存"}
TERM = re.compile(rf"\{{({'|'.join(ON_CPU)})\}}")


class WordsError(EvalsuiteError):
    """The words of the report do not fit together."""


class Words:
    def __init__(self, tables: Mapping[str, Mapping[str, str]], *, on_cpu: bool = False) -> None:
        self.tables, self.on_cpu = tables, on_cpu
        self.languages = tuple(tables)

    def __call__(self, key: str, /, **values: Any) -> "Text":
        """The sentence *key* with *values* in its places. Raises WordsError if they do not fit."""
        sentence = self.tables[self.languages[0]].get(key)
        if sentence is None:
            raise WordsError(f'data/text: "{key}" is asked for and stands in no file; add it to each language.')
        wanted, given = places(sentence), set(values)
        if wanted != given:
            raise WordsError(
                f'data/text: "{key}" has the places {sorted(wanted)} and was given {sorted(given)}; expected the same.'
            )
        return Text(words=self, key=key, values=tuple(values.items()))

    def pick(self, key: str, values: Mapping[str, Any]) -> "Text":
        """The sentence *key* with those of *values* that it has places for. Raises WordsError if one is missing."""
        wanted = places(self.tables[self.languages[0]].get(key, ""))
        return self(key, **{name: value for name, value in values.items() if name in wanted})

    def __contains__(self, key: str) -> bool:
        return key in self.tables[self.languages[0]]

    def sentence(self, key: str) -> str:
        return self.tables[self.languages[0]][key]

    def listed(self, items: Iterable[Any]) -> "Listed":
        """*items* one after the other: A、B、C in Chinese, A, B, C in English."""
        return Listed(words=self, items=tuple(items))

    def sentences(self, items: Iterable[Any]) -> "Listed":
        return Listed(words=self, items=tuple(items), separators=BETWEEN_SENTENCES)

    def same(self, text: str | Mapping[str, str]) -> "Phrase":
        return Phrase(words=self, text=text)

    def clauses(self, items: Iterable[Any]) -> "Listed":
        return Listed(words=self, items=tuple(items), separators=BETWEEN_CLAUSES)

    def duration(self, seconds: float) -> "Text":
        whole = round(seconds)
        hours, minutes, rest = whole // 3600, whole % 3600 // 60, whole % 60
        if hours:
            return self("duration.hours", hours=f"{hours}", minutes=f"{minutes:02d}", seconds=f"{rest:02d}")
        if minutes:
            return self("duration.minutes", minutes=f"{minutes}", seconds=f"{rest:02d}")
        return self("duration.seconds", seconds=f"{rest}")


class Rendered:
    words: Words

    def in_language(self, language: str) -> Markup:
        raise NotImplementedError

    def plain(self, language: str) -> str:
        """Without markup: for titles, file names and tests."""
        return Markup(TAG.sub("", self.in_language(language))).unescape()

    def __html__(self) -> Markup:
        """All languages of the report side by side, in few bytes: the page shows one. What reads alike stands once."""
        said = [self.in_language(language) for language in self.words.languages]
        if all(markup == said[0] for markup in said):
            return said[0]
        spans = (
            Markup("<i lang={}>{}</i>").format(HTML_LANG[language], text)
            for language, text in zip(self.words.languages, said, strict=True)
        )
        return Markup("").join(spans)

    def __str__(self) -> str:
        return self.__html__()


@dataclass(frozen=True, kw_only=True, eq=False)
class Text(Rendered):
    words: Words
    key: str
    values: tuple[tuple[str, Any], ...] = ()

    def in_language(self, language: str) -> Markup:
        fill = functools.partial(_filled, dict(self.values), language)
        filled = PLACE.sub(fill, self.words.tables[language][self.key])
        return Markup(TOGETHER.sub("\\1\u00a0\\2\u00a0", filled))


@dataclass(frozen=True, kw_only=True, eq=False)
class Listed(Rendered):
    words: Words
    items: tuple[Any, ...]
    separators: Mapping[str, str] | str | None = None  # by language

    def in_language(self, language: str) -> Markup:
        usual = self.words.tables[language].get("list.separator", BETWEEN[language])
        separator = usual if self.separators is None else self.separators
        separator = separator if isinstance(separator, str) else separator[language]
        return Markup(separator).join(_shown(item, language) for item in self.items)


@dataclass(frozen=True, kw_only=True, eq=False)
class Phrase(Rendered):
    """A message, what an author wrote in each language, or the text of a log or tool, cut to *longest* characters."""

    words: Words
    text: str | Mapping[str, str]
    longest: int | None = None

    def in_language(self, language: str) -> Markup:
        said = wording(self.text, language) if isinstance(self.text, str) else self.text[language]
        if self.longest is not None and len(said) > self.longest:
            said = f"{said[: self.longest]}…"
        return escape(names.visible(said))

    def __bool__(self) -> bool:
        return bool(self.text)


def _filled(values: Mapping[str, Any], language: str, place: re.Match[str]) -> Markup:
    value = values[place[1]]
    if place[3] is None:
        return _shown(value, language)
    text = value.plain(language) if isinstance(value, Rendered) else str(value)
    return escape(place[3] if text == "1" else place[4])


def _shown(value: Any, language: str) -> Markup:
    if isinstance(value, Rendered):
        return value.in_language(language)
    return escape(wording(value, language) if isinstance(value, Message) else value)


def read(languages: Iterable[str] = LANGUAGES, folder: Path = FOLDER, *, on_cpu: bool = False) -> Words:
    """The words of *languages*. Raises WordsError if a file, a key or a placeholder is missing in one of them; one
    language alone is read in half the time. *on_cpu*: devices are processes on a CPU, where Chinese has no 卡. Each set
    is read once, so that what is made for its words (the compiled templates) is made once too."""
    return _read(tuple(languages), folder, on_cpu)


@functools.cache
def _read(languages: tuple[str, ...], folder: Path, on_cpu: bool) -> Words:
    known = sorted(HTML_LANG)
    if not languages or any(language not in HTML_LANG for language in languages):
        raise WordsError.of("core.unknown", where="--lang", name=",".join(languages), names=known, near="")
    tables = {language: table(folder / f"{language}.toml") for language in languages}
    if folder == FOLDER:
        for language, own in tables.items():
            totals = {f"totals.{name}": texts[language] for name, texts in _parsed(COLUMNS).items()}
            beside = {**table(FOLDER / "alike.toml"), **rule_sentences(language), **totals}
            tables[language] = {key: of_devices(text, on_cpu) for key, text in {**own, **beside}.items()}
    check(tables)
    return Words(tables, on_cpu=on_cpu)


def of_devices(sentence: str, on_cpu: bool) -> str:
    return TERM.sub(lambda term: ON_CPU[term[1]] if on_cpu else term[1], sentence)


def read_beyond_the_page(languages: Iterable[str] = LANGUAGES) -> Words:
    """The words of the other forms and doors in *languages*, under the same rules as those of the page."""
    return read(languages, BEYOND_THE_PAGE)


@functools.cache
def table(file: Path) -> Mapping[str, str]:
    return dict(_flat(_parsed(file)))


@functools.cache
def read_rules(language: str) -> Words:
    return Words({language: {key: of_devices(text, False) for key, text in rule_sentences(language).items()}})


def rule_sentences(language: str) -> dict[str, str]:
    """Of each question, code and finding: `questions.<number>.<part>`, `rules.<code>.title`, `findings.<name>`."""
    end = f".{language}"
    return {key.removesuffix(end): said for key, said in _flat(_parsed(QUESTIONS)) if key.endswith(end)}


@functools.cache
def _parsed(file: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise WordsError(f"{file}: {error}; expected sentences in TOML.") from error


def check(tables: Mapping[str, Mapping[str, str]]) -> None:
    """Raises WordsError at the first key that the languages do not share, or whose places differ."""
    (first, ours), *others = tables.items()
    for second, theirs in others:
        for key in sorted(set(ours) ^ set(theirs)):
            lacking = second if key in ours else first
            raise WordsError(f'data/text/{lacking}.toml: "{key}" is missing; every language has every key.')
        for key, sentence in ours.items():
            if places(sentence) != places(theirs[key]):
                raise WordsError(
                    f'data/text: "{key}" has the places {sorted(places(sentence))} in {first} and '
                    f"{sorted(places(theirs[key]))} in {second}; expected the same."
                )


def _flat(tree: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, str]]:
    for name, value in tree.items():
        key = f"{prefix}{name}"
        if isinstance(value, Mapping):
            yield from _flat(value, f"{key}.")
        elif isinstance(value, str) and value.strip():
            yield key, value
        else:
            raise WordsError(f'data/text: "{key}" is {value!r}; expected a sentence.')
