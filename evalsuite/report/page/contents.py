"""The contents: which sections this evaluation has, in the order of the outline, numbered without gaps."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evalsuite.report.book.blocks import Model
from evalsuite.report.book.book import Book
from evalsuite.report.book.tally import tally
from evalsuite.report.figures import Look
from evalsuite.report.page import embedded, parts
from evalsuite.report.sections import (
    author,
    background,
    block_figures,
    cards,
    convergence,
    effects,
    forecasts,
    latency,
    overview,
    problems,
    quality,
    receipts,
    repeats,
    steptime,
    sweeps,
    timelines,
    usage,
    variant_figures,
    variants,
)
from evalsuite.report.text import glossary
from evalsuite.report.text.words import Rendered, Words
from evalsuite.results import extrapolation


@dataclass(frozen=True, kw_only=True)
class Part:
    """A subsection."""

    id: str
    number: str
    title: Rendered


@dataclass(frozen=True, kw_only=True)
class Section:
    """A section: its template and what it shows."""

    id: str
    title: Rendered | str
    template: str
    facts: Mapping[str, Any]
    number: str = ""
    parts: tuple[Part, ...] = ()
    places: "Places" = field(default_factory=lambda: Places(""))

    def part(self, id: str) -> Part:
        return next(part for part in self.parts if part.id == id)


class Places:
    """Numbers of the tables and figures of one section: 3-1, 3-2, …"""

    def __init__(self, section: str) -> None:
        self.section = section
        self.counts = {"table": 0, "figure": 0}

    def next(self, kind: str) -> str:
        self.counts[kind] += 1
        return f"{self.section}-{self.counts[kind]}"


MOST_PANELS = 12  # of the overview's small multiples
BACKGROUND_PARTS = ("platform", "frameworks", "models", "environment", "configuration", "rules", "metrics")


def sections(book: Book, models: Sequence[Model], look: Look, words: Words) -> tuple[Section, ...]:
    """All sections after the verdict."""
    found = [
        _introduction(book, models, words),
        _background(book, models, words),
        *(_model(book, model, look, words) for model in models),
        _problems(book, words),
        *_overview(models, look, words),
        *_step_time(book, models, look, words),
        _usage(book, models, look, words),
        *_convergence(book, models, look, words),
        *_variants(book, look, words),
        *_forecasts(book, models, look, words),
        _quality(book, models, look, words),
        _reproduction(book, words),
        _glossary(words),
    ]
    return tuple(_numbered(section, str(place)) for place, section in enumerate(found, 1))


def sections_of_part(book: Book, models: Sequence[Model], look: Look, words: Words) -> tuple[Section, ...]:
    """What the page of one model has: the model, what it used of the hardware, its receipts."""
    found = [
        *(_model(book, model, look, words) for model in models),
        _usage(book, models, look, words),
        *_variants(book, look, words),
        _reproduction(book, words),
    ]
    return tuple(_numbered(section, str(place)) for place, section in enumerate(found, 1))


def _numbered(section: Section, number: str) -> Section:
    parts = tuple(
        Part(id=part.id, title=part.title, number=f"{number}.{place}") for place, part in enumerate(section.parts, 1)
    )
    return Section(**{**vars(section), "number": number, "parts": parts, "places": Places(number)})


def _parts(words: Words, section: str, keys: Sequence[str]) -> tuple[Part, ...]:
    return tuple(Part(id=f"{section}-{key}", number="", title=words(f"{section}.{key}")) for key in keys)


def _introduction(book: Book, models: Sequence[Model], words: Words) -> Section:
    facts = {"cards": cards.cards(book, words), "models": models, "kinds": _kinds(models)}
    return Section(id="intro", title=words("intro.title"), template="introduction.html.j2", facts=facts)


def _kinds(models: Sequence[Model]) -> frozenset[str]:
    return frozenset(one.kind for model in models for one in model.participants if one.kind)


def _background(book: Book, models: Sequence[Model], words: Words) -> Section:
    scales, rows = background.matrix(tuple(models))
    facts = {
        "models": models,
        "environments": background.environments(book),
        "scales": scales,
        "rows": rows,
        "methods": background.methods(book),
        "tally": tally(book),
    }
    parts = _parts(words, "background", BACKGROUND_PARTS)
    return Section(
        id="background", title=words("background.title"), template="background.html.j2", facts=facts, parts=parts
    )


def _model(book: Book, model: Model, look: Look, words: Words) -> Section:
    pairs, swept = ((), ()) if book.huge else (effects.effects(book, model), sweeps.sweeps(book, model))
    options = [option for option in effects.OPTIONS if any(one.option == option for one in pairs)]
    facts = {
        "model": model,
        "notes": author.said(book, words, model.name),
        "latency": () if book.huge else latency.rows(book, model),
        "part": parts.file_name(model.name) if book.huge else None,
        "figures": {block.id: block_figures.of_block(block, look, words) for block in model.blocks},
        "effects": pairs,
        "why": effects.why,
        "effect_figures": {option: effects.drawn(model, pairs, option, look, words) for option in options},
        "sweeps": swept,
        "sweep_figure": sweeps.drawn(model, swept, look, words) if swept else None,
    }
    return Section(id=model.id, title=model.title, template="model.html.j2", facts=facts)


def _overview(models: Sequence[Model], look: Look, words: Words) -> Iterable[Section]:
    """Scaling across models: only where there are two panels at least to compare."""
    blocks = overview.scaling_blocks(models)
    if len(blocks) > 1:
        shown = blocks[:MOST_PANELS]
        facts = {
            "figure": overview.drawn(shown, look, words),
            "ranks": overview.ranks(blocks),
            "left_out": len(blocks) - len(shown),
        }
        yield Section(id="overview", title=words("overview.title"), template="overview.html.j2", facts=facts)


def _step_time(book: Book, models: Sequence[Model], look: Look, words: Words) -> Iterable[Section]:
    """What a step is made of: only where a script prints it."""
    tables = steptime.step_times(book, models)
    if tables:
        facts = {
            "tables": tables,
            "figures": {one.id: steptime.drawn(one, look, words) for one in tables},
        }
        yield Section(id="steptime", title=words("steptime.title"), template="steptime.html.j2", facts=facts)


def _problems(book: Book, words: Words) -> Section:
    facts = {"problems": problems.problems(book, words), "notes": author.said(book, words)}
    return Section(id="problems", title=words("problems.title"), template="problems.html.j2", facts=facts)


def _usage(book: Book, models: Sequence[Model], look: Look, words: Words) -> Section:
    usages = usage.usages(book, models)
    lines = {one.block.id: timelines.drawn(one, look, words) for one in usages}
    facts = {"usages": usages, "timelines": lines}
    return Section(id="usage", title=words("usage.title"), template="usage.html.j2", facts=facts)


def _convergence(book: Book, models: Sequence[Model], look: Look, words: Words) -> Iterable[Section]:
    """Accuracy and loss: only where a log prints them."""
    tables = convergence.trained(models, book.evaluation.targets, words)
    if tables:
        facts = {"tables": tables, "figures": convergence.drawn(tables, look, words)}
        yield Section(id="convergence", title=words("convergence.title"), template="convergence.html.j2", facts=facts)


def _variants(book: Book, look: Look, words: Words) -> Iterable[Section]:
    """What one option of a script changes: only where two cases differ in one; a huge report has it in its parts."""
    found = () if book.huge else variants.families(book)
    if found:
        facts = {
            "families": found,
            "figures": variant_figures.drawn(found, look, words),
            "heading": variants.heading,
            "value": variants.value,
            "why": effects.why,
            "points": convergence.points,
            "number": convergence.number,
        }
        yield Section(id="variants", title=words("variants.title"), template="variants.html.j2", facts=facts)


def _forecasts(book: Book, models: Sequence[Model], look: Look, words: Words) -> Iterable[Section]:
    """Extrapolation: only where something was planned further than it was measured."""
    found = forecasts.forecasts(book, models, words)
    if found is not None:
        facts = {
            "found": found,
            "figures": forecasts.drawn(found, look, words),
            "sources": extrapolation.sources(),
        }
        yield Section(id="forecasts", title=words("forecasts.title"), template="forecasts.html.j2", facts=facts)


def _quality(book: Book, models: Sequence[Model], look: Look, words: Words) -> Section:
    blocks = [block for model in models for block in model.blocks]
    facts = {
        "tally": tally(book),
        "groups": quality.groups(book),
        "failures": quality.failures(book),
        "excluded": quality.excluded(book),
        "noisy": quality.noisy(book),
        "skip_groups": quality.skip_groups(book),
        "repeats": repeats.drawn(book, blocks, look, words),
    }
    parts = _parts(words, "quality", ("counts", "findings", "failures", "skips", "repeats"))
    return Section(id="quality", title=words("quality.title"), template="quality.html.j2", facts=facts, parts=parts)


def _reproduction(book: Book, words: Words) -> Section:
    facts = {
        "receipts": receipts.receipts(book),
        "software": receipts.software(book),
        "embedded": embedded.embedded(book),
    }
    parts = _parts(words, "reproduction", ("software", "cases"))
    return Section(
        id="reproduction",
        title=words("reproduction.title"),
        template="reproduction.html.j2",
        facts=facts,
        parts=parts,
    )


def _glossary(words: Words) -> Section:
    facts = {"terms": glossary.terms()}
    return Section(id="glossary", title=words("glossary.title"), template="glossary.html.j2", facts=facts)
