"""The page: Jinja templates filled with facts; what each template is given."""

import functools
import re
from collections.abc import Callable, Sequence

from markupsafe import Markup, escape

from evalsuite import __version__
from evalsuite.core import findings as rules
from evalsuite.core import paths
from evalsuite.core.messages import Message
from evalsuite.report import figures
from evalsuite.report.book import board, heading, identity
from evalsuite.report.book.book import Book
from evalsuite.report.book.states import GLYPHS, MARKS
from evalsuite.report.page import assets, contents, templates
from evalsuite.report.sections.background import machines
from evalsuite.report.sections.common.section import Subject
from evalsuite.report.sections.glossary import glossary
from evalsuite.report.sections.verdict import verdict
from evalsuite.report.sections.why import why as why_cards
from evalsuite.report.text import findings, names, numbers, options, times
from evalsuite.report.text import words as words_room
from evalsuite.report.text.words import HTML_LANG, Phrase, Text, Words

UNBROKEN = 20  # characters of a text that needs no place to break at
AS_WRITTEN = re.compile(r"((?s:<pre\b.*?</pre>|<style>.*?</style>|<script>.*?</script>))")
UNQUOTED = re.compile(r"(?<=[a-z])=\"([^\s\"'`=<>]*[^\s\"'`=<>/])\"(?=[ >])")
CELL_END = re.compile(r"\s*</(?:td|th|li)>\s*(?=</?(?:td|th|tr|li|ul|ol)\b)")
ROW_END = re.compile(r"(?:\s*</(?:tr|thead|tbody)>)+\s*(?=</?(?:tr|thead|tbody|table)\b)")
WORD_ENDS = re.compile(r"(?<=[._/=+])(?=\w)|(?<=-)(?=\d)")  # after other hyphens a line breaks by itself


def make_ready(languages: Sequence[str]) -> None:
    environment = _environment(words_room.read(languages))
    for folder, of_it in ((paths.TEMPLATES, "*.html.j2"), (paths.SECTIONS, "*/*.html.j2")):
        for file in folder.glob(of_it):
            environment.get_template(file.relative_to(folder).as_posix())
    _sheets()


def page(book: Book, words: Words, build_hash: str, seal: str | None = None) -> str:
    """The report as one HTML file. *seal*: SHA-256 of `summary.json`."""
    subject = Subject(book=book, words=words)
    environment = _environment(words)
    (style, boot, script), lab = _sheets(), book.evaluation.document
    html = environment.get_template(
        "report.html.j2"
    ).render(
        book=book,
        evaluation=book.evaluation,
        title=heading.title(book.evaluation, words),
        above_title=words.same(vars(lab.organisation)) if lab and lab.organisation else "",  # whose words follow
        period=book.period,
        machine=machines.one_line(book, words),
        build_hash=build_hash,
        seal=seal,
        build_id=build_hash[: identity.SHOWN_DIGITS],
        version=__version__,
        style=Markup(style),
        boot=Markup(boot),
        script=Markup(script),
        policy=assets.policy((style,), (boot, script)),
        look=subject.look,
        explained=_each_once(),
        verdict=verdict.facts(subject),
        sections=contents.chapters(subject),
    )
    return names.without_unseen(_short(html))


def _short(html: str) -> str:
    """*html* without the quotes and the end tags that HTML does not ask for: a tenth of a page of many tables."""
    pieces = AS_WRITTEN.split(html)
    return "".join(
        piece if at % 2 else UNQUOTED.sub(r"=\1", ROW_END.sub("", CELL_END.sub("", piece)))
        for at, piece in enumerate(pieces)
    )


@functools.cache
def _sheets() -> tuple[str, str, str]:
    return assets.style("report.css") + figures.css(), assets.script("boot.js"), assets.script("report.js")


def _each_once() -> Callable[[Text | None], tuple[Text, ...]]:
    seen: set[str] = set()

    def first(text: Text | None) -> tuple[Text, ...]:
        if text is None or text.key in seen:
            return ()
        seen.add(text.key)
        return (text,)

    return first


@functools.lru_cache(maxsize=4)
def _environment(words: Words) -> templates.Environment:
    def shown(value: object) -> object:
        return Phrase(words=words, text=value) if isinstance(value, Message) else templates.refuse_none(value)

    terms = {term["key"]: term for term in glossary.terms(words)}
    environment = templates.environment([paths.TEMPLATES, paths.SECTIONS], shown)
    environment.globals |= {
        "t": words,
        "words": words,
        "names": names,
        "numbers": numbers,
        "stamp": times.stamp,
        "option": lambda name, value: options.option(name, value, words),
        "option_title": lambda name: options.title(name, words),
        "option_value_of": lambda name, value: options.value_of(name, value, words),
        "GLYPHS": GLYPHS,
        "MARKS": MARKS,
        "HTML_LANG": HTML_LANG,
        "setting": lambda block, among=(): heading.setting(block, words, among),
        "shared_setting": lambda blocks: heading.shared(blocks, words),
        "why_keys": why_cards.keys,
        "sentence": lambda finding: findings.sentence(finding, words),
        "options": options,
        "at": verdict.at,
        "outline": figures.outline,
        "board_runs": board.runs,
        "spark_of": verdict.spark,
        "phrase": lambda text: Phrase(words=words, text=text),
        "rule": lambda code: words(f"rules.{code}.title"),
        "cost": lambda finding: findings.cost(type(finding), words),
        "limits": findings.limits(rules.ClockDisagrees),
        "known": lambda room, name: words(key) if (key := f"{room}.{name}") in words else words.same(name),
        "both": lambda zh, en: words.same({"zh": zh, "en": en}),
        "term": lambda key: Markup('<a class="term" href="#term-{}">{}</a>').format(key, words.same(terms[key])),
        "Markup": Markup,
    }
    environment.filters |= {
        "visible": names.visible,
        "breakable": breakable,
        "framework_name": names.framework,
        "model_name": names.model,
        "kinds": frozenset,
        "protocols": lambda cases, field: sorted({getattr(case.protocol, field) for case in cases}),
    }
    return environment


def breakable(text: str) -> Markup:
    if len(text) <= UNBROKEN:
        return escape(text)
    return Markup("<wbr>").join(escape(part) for part in WORD_ENDS.split(text) if part)
