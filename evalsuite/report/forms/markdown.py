"""`report.<language>.md`: verdicts and tables for a README or an issue, in GitHub's Markdown.

Data is escaped, so that a framework's name or a log line cannot become markup, a link or a mention.
"""

import html
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from evalsuite import __version__
from evalsuite.files import write_atomically
from evalsuite.model import AuthorNote
from evalsuite.report.book import blocks, heading, identity, states
from evalsuite.report.book.blocks import Block, Row
from evalsuite.report.book.cells import Cell
from evalsuite.report.forms.material import Material
from evalsuite.report.page import render
from evalsuite.report.sections import (
    author,
    background,
    cards,
    convergence,
    effects,
    forecasts,
    headlines,
    notices,
    steptime,
    variants,
)
from evalsuite.report.sections.effects import Effect
from evalsuite.report.text import names, numbers, words
from evalsuite.report.text.numbers import Number
from evalsuite.report.text.words import Rendered

TAG = re.compile(r"<(/?)(\w+)[^>]*>")
SPECIAL = re.compile(r"([\\`*_\[\]#|~$])")
MENTION = re.compile(r"@(?=\w)")
NO_BREAK = "\u2060"  # a word joiner: invisible, and the name behind it is nobody's


def check() -> None:
    """It needs nothing beyond the standard library."""


def write(material: Material) -> list[Path]:
    return [_write(material, language) for language in material.languages]


def _write(material: Material, language: str) -> Path:
    path = material.out / f"report.{language}.md"
    write_atomically(path, document(material, language).encode("utf-8", "backslashreplace"))
    return path


def document(material: Material, language: str) -> str:
    """The whole file in one language."""
    return "\n\n".join(Sheet(material, language).parts()) + "\n"


class Sheet:
    """A report being written down in one language."""

    def __init__(self, material: Material, language: str) -> None:
        self.book = material.book
        self.words, self.more = words.read((language,)), words.read_beyond_the_page((language,))
        self.language = language
        self.build = material.build_hash[: identity.SHOWN_DIGITS]
        self.models = blocks.models(self.book)

    def parts(self) -> Iterable[str]:
        """The paragraphs and tables, one after the other."""
        t = self.words
        yield f"# {self.said(render.title(self.book.evaluation, t))}"
        yield self.about()
        yield from (f"> {self.said(notice)}" for _, notice in notices.notices(self.book, t))
        yield f"## {self.said(t('verdict.title'))}"
        yield from self.verdicts()
        sentences = [*headlines.headlines(self.book, self.models, t), notices.coverage(self.book, t)]
        yield "\n".join(f"- {self.said(sentence)}" for sentence in sentences)
        for model in self.models:
            yield f"## {text(model.title)}"
            for block in model.blocks:
                yield from self.block(block)
        yield from self.authors()
        yield from self.step_times()
        yield from self.trainings()
        yield from self.varied()
        yield from self.expectations()
        yield from self.quality()
        yield "---"
        yield self.said(self.more("markdown.made_by", version=__version__, build=self.build))

    def about(self) -> str:
        nothing = self.words("words.not_recorded")
        period = render.period(self.book)
        return self.said(
            self.more(
                "markdown.about",
                period=" – ".join(dict.fromkeys(period)) if period else nothing,
                machine=background.one_line(self.book, self.words) or nothing,
            )
        )

    def verdicts(self) -> Iterable[str]:
        found = cards.cards(self.book, self.words)
        if not found:
            yield self.said(self.words("verdict.none"))
            return
        heads = [self.words(f"verdict.{key}") for key in ("title", "measured", "interval", "threshold", "n")]
        yield table(
            ["", *map(self.said, heads), self.said(self.words("words.reason"))],
            [self.card(card) for card in found],
            right=(2, 3, 4, 5),
        )

    def card(self, card) -> list[str]:
        t, verdict = self.words, card.verdict
        noise = f" · {self.said(t('verdict.within_noise'))}" if verdict.within_noise else ""
        key = f"criteria_short.{verdict.criterion}"
        name = t(key) if key in t else t("criteria_short.other", name=names.visible(verdict.criterion))
        return [
            f"**{text(verdict.criterion)}** {self.said(name)}",
            f"{self.said(t(f'verdict.{verdict.outcome}'))}{noise}",
            *(self.said(value) if value else "—" for value in (card.value, card.interval, card.threshold)),
            str(verdict.n) if card.value else "—",
            self.said(card.reason) if card.reason else "—",
        ]

    def block(self, block: Block) -> Iterable[str]:
        t = self.words
        yield f"### {self.said(heading.heading(block, t))}"
        if block.valid:
            yield f"**{self.said(t('models.throughput_caption', unit=names.visible(block.unit)))}**"
        else:
            yield self.said(t("models.no_valid"))
        yield self.rows(block, block.throughput)
        if block.has_scaling:
            yield f"**{self.said(t('models.speedup_caption'))}**"
            yield self.rows(block, block.speedup)
        if block.legend:
            yield "<br>\n".join(
                f"{_sign(key)} {self.said(t(f'status.{key}'))}" for key in block.legend if key != "value"
            )

    def rows(self, block: Block, found: Sequence[Row]) -> str:
        heads = [self.said(self.words(f"words.{key}")) for key in ("nodes", "devices")]
        columns = [text(column.label) for column in block.columns]
        lines = [[str(row.nodes), str(row.devices), *map(self.cell, row.cells)] for row in found]
        return table([*heads, *columns], lines, right=range(2 + len(columns)))

    def step_times(self) -> Iterable[str]:
        t, found = self.words, steptime.step_times(self.book, self.models)
        if found:
            yield f"## {self.said(t('steptime.title'))}"
            yield self.said(t("steptime.intro"))
        for one in found:
            about = {"model": names.model(one.block.model), "block": heading.heading(one.block, t)}
            yield f"**{self.said(t(f'steptime.caption_{one.of}', **about))}**"
            keys = (f"phases.{name}" for name, _ in one.phases)
            phases = [self.said(t(key)) if key in t else text(key.partition(".")[2]) for key in keys]
            heads = [self.said(t(key)) for key in ("words.framework", "words.devices", f"steptime.whole_{one.of}")]
            behind = [self.said(t(key)) for key in ("phases.rest", "steptime.ratio")]
            yield table(
                [*heads, *phases, *behind], [self.step_time(row) for row in one.rows], right=range(1, 5 + len(phases))
            )

    def trainings(self) -> Iterable[str]:
        t, found = self.words, convergence.trained(self.models, self.book.evaluation.targets, self.words)
        if found:
            yield f"## {self.said(t('convergence.title'))}"
            yield self.said(t("convergence.intro"))
        for one in found:
            about = {"model": names.model(one.block.model), "block": heading.heading(one.block, t)}
            yield f"**{self.said(t('convergence.caption', **about))}**"
            keys = ("words.framework", "words.devices", "convergence.global_batch", "convergence.epochs")
            scores = [t(f"scores.{split}_{metric}") for split, metric in one.metrics]
            time = t("convergence.time")
            if one.target:
                time = t("convergence.solution", epochs=numbers.count(one.target.epochs))
            heads = [*map(t, keys), *scores, time, t("convergence.judgement")]
            rows = [self.trained(row, row.solution if one.target else row.time) for row in one.rows]
            yield table([*map(self.said, heads)], rows, right=range(1, 5 + len(scores)))

    def trained(self, row: convergence.TrainedRow, time: Number | None) -> list[str]:
        missing, case = text(states.GLYPHS["missing"]), row.summary.case
        values = [missing if value is None else text(value.text) for value in (*row.values, time)]
        place = [row.column.label, names.scale(case), numbers.count(case.global_batch).text, str(row.epochs)]
        return [*map(text, place), *values, self.said(row.judgement) if row.judgement else "—"]

    def varied(self) -> Iterable[str]:
        """What single options change, and what that costs."""
        t, found = self.words, variants.families(self.book)
        if found:
            yield f"## {self.said(t('variants.title'))}"
            yield self.said(t("variants.intro"))
        for family in found:
            about = {"family_text": variants.heading(family, t), "unit": names.visible(family.unit)}
            yield f"**{self.said(t('variants.caption', **about))}**"
            keys = ("effects.option", "variants.change", "words.devices", "filter.batch_per_device")
            keys += ("filter.ratio", "effects.significance", "variants.accuracy", "columns.before", "columns.after")
            rows = [self.change(one) for one in family.changes]
            yield table([self.said(t(key)) for key in keys], rows, right=(2, 3, 4, 6, 7, 8))
            if family.levels:
                yield f"**{self.said(t('variants.level_caption', family_text=about['family_text']))}**"
                yield self.levels(family)

    def change(self, one: Effect) -> list[str]:
        t, lacking = self.words, text(states.GLYPHS[one.lacking])
        before, after = (self.said(variants.value(given, t)) for given in one.values)
        ratio, judged = lacking, lacking
        if one.obstacles:
            ratio, judged = "—", self.said(effects.why(one, t))
        elif one.shown:
            ratio, judged = text(one.shown), self.said(t(f"filter.{one.judged}"))
        cost = "—"
        if one.cost:
            pair = " → ".join(convergence.number(score).text for score in (one.cost.before, one.cost.after))
            cost = f"{text(pair)} ({text(convergence.points(one.cost.difference))})"
        return [
            self.option(one.option),
            f"{before} → {after}",
            text(names.scale(one.after)),
            str(one.after.batch_per_device),
            ratio,
            judged,
            cost,
            self.cell(one.before_cell),
            self.cell(one.after_cell),
        ]

    def option(self, name: str) -> str:
        key = f"options.{name}"
        return self.said(self.words(key)) if key in self.words else text(name)

    def levels(self, family: variants.Family) -> str:
        heads = [self.said(self.words(key)) for key in ("filter.batch_per_device", "words.devices")]
        default = self.words("variants.default")
        columns = [self.said(each.given or default) for each in family.settings]
        rows = [[str(one.batch_per_device), str(one.devices), *map(self.cell, one.cells)] for one in family.levels]
        return table([*heads, *columns], rows, right=range(2 + len(columns)))

    def expectations(self) -> Iterable[str]:
        t, found = self.words, forecasts.forecasts(self.book, self.models, self.words)
        if found is None:
            return
        yield f"## {self.said(t('forecasts.title'))}"
        yield self.said(t("forecasts.intro"))
        if found.rows:
            keys = (
                "words.framework",
                "words.model",
                "forecasts.measured_to",
                "forecasts.planned",
                "columns.efficiency",
            )
            rows = [self.forecast(row) for row in found.rows]
            yield table([self.said(t(key)) for key in keys], rows, right=(2, 3, 4))
        if found.refusals:
            yield "\n".join(map(self.refusal, found.refusals))

    def refusal(self, row: forecasts.RefusalRow) -> str:
        series = f"{row.column.label} {names.model(row.block.model)} {names.scale(row.refusal.case)}"
        return f"- {text(series)} — {self.said(row.reason)}"

    def forecast(self, row: forecasts.ForecastRow) -> list[str]:
        place = [row.column.label, names.model(row.block.model), names.scale(row.outlook.largest.case)]
        value = f"{row.efficiency} ({row.efficiency_interval})"
        return [*map(text, place), text(names.scale(row.forecast.case)), text(value)]

    def step_time(self, row: steptime.StepRow) -> list[str]:
        missing = text(states.GLYPHS["missing"])
        parts = [missing if part is None else text(f"{part.time} ({part.share})") for part in row.parts]
        rest = self.said(self.words("words.none")) if row.rest is None else text(row.rest.time)
        whole = text(row.whole.text) + (states.MARKS["flagged"] if row.overlaps else "")
        case, ratio = row.summary.case, text(row.ratio[0]) if row.ratio else missing
        return [text(names.framework(case.framework)), text(names.scale(case)), whole, *parts, rest, ratio]

    def cell(self, cell: Cell) -> str:
        if cell.state != "value":
            return text(cell.glyph)
        value = f"**{text(cell.number.text)}**" if cell.best else text(cell.number.text)
        small = [text(cell.interval.text)] if cell.interval else []
        if cell.n is not None:
            small.append(f"({cell.n})")
        if cell.base_devices:
            small.append(f"· {self.said(self.words('models.base_in_cell', devices=cell.base_devices))}")
        below = f"<br><sub>{' '.join(small)}</sub>" if small else ""
        return f"{value}{cell.signs}{below}"

    def authors(self) -> Iterable[str]:
        """What people found, with whose it is and whether a verdict depends on it."""
        found = author.said(self.book, self.words)
        if found:
            yield f"## {self.said(self.words('problems.author'))}"
            yield "\n".join(f"- {self.author(note, said)}" for note, said in found)

    def author(self, note: AuthorNote, said: Rendered) -> str:
        parts = [f"<strong>{self.said(self.words(f'severity.{note.severity}'))}</strong>", self.said(said)]
        parts += [self.said(self.words("problems.owner", name=names.visible(note.owner)))] if note.owner else []
        parts += [self.said(self.words("problems.decides"))] if note.decides else []
        return " ".join(parts)

    def quality(self) -> Iterable[str]:
        found = len(self.book.findings)
        if found:
            yield self.said(self.more("markdown.findings", n=numbers.count(found)))

    def said(self, value: Any) -> str:
        """A sentence or a number as Markdown: our own emphasis and code are kept, data is escaped."""
        if isinstance(value, Rendered):
            return from_markup(value.in_language(self.language))
        return text(str(value))


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], right: Iterable[int] = ()) -> str:
    """A table; the columns in *right* are aligned to the right."""
    rule = ["--:" if place in set(right) else "---" for place in range(len(heads))]
    return "\n".join("| " + " | ".join(line) + " |" for line in (heads, rule, *rows))


def text(value: object) -> str:
    """Data as Markdown text on one line."""
    line = " ".join(names.visible(value).split())
    line = SPECIAL.sub(r"\\\1", line).replace("<", "&lt;").replace(">", "&gt;")
    return MENTION.sub("@" + NO_BREAK, line)


def from_markup(markup: Markup) -> str:
    """HTML of a sentence as Markdown: emphasis and code stay, other tags go."""
    parts, inside_code, place = [], False, 0
    for match in TAG.finditer(markup):
        parts.append(_between(markup[place : match.start()], inside_code))
        closing, tag = match.groups()
        if tag in ("strong", "b"):
            parts.append(f"<{closing}strong>")  # "**" is no emphasis between a full stop and a Han character
        elif tag == "code":
            inside_code = not closing
            parts.append("`")
        place = match.end()
    parts.append(_between(markup[place:], inside_code))
    return "".join(parts)


def _between(markup: str, inside_code: bool) -> str:
    found = html.unescape(str(markup))
    if inside_code:
        return " ".join(names.visible(found).replace("`", "'").split())
    before = " " if found[:1].isspace() else ""
    after = " " if found[-1:].isspace() and found.strip() else ""
    return f"{before}{text(found)}{after}"


def _sign(key: str) -> str:
    return text(states.MARKS.get(key) or states.GLYPHS[key])
