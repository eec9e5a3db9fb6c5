"""Networks and algorithms: what one option of a script changes, and what that costs (docs/report.md#variants)."""

from collections.abc import Iterable

from evalsuite.report.sections.common.markdown import NOTHING, MarkdownWriter, table, text
from evalsuite.report.sections.common.section import Section, Subject
from evalsuite.report.sections.convergence import convergence
from evalsuite.report.sections.variants import effects, families, variant_figures
from evalsuite.report.sections.variants.effects import Effect
from evalsuite.report.sections.variants.families import Family
from evalsuite.report.text import names, options


def sections(subject: Subject) -> Iterable[Section]:
    if found := () if subject.in_parts else families.families(subject.book):
        yield Section(
            id="variants",
            title=subject.words("variants.title"),
            template="variants/variants.html.j2",
            facts=lambda: {
                "families": found,
                "headings": {family.id: families.heading(family, subject.words) for family in found},
                "figures": variant_figures.draw_families(found, subject.look, subject.words),
                "score": convergence.number,
                "points": convergence.points,
            },
            markdown=lambda writer: _markdown(found, writer),
        )


def _markdown(found: Iterable[Family], writer: MarkdownWriter) -> Iterable[str]:
    words = writer.words
    yield f"## {writer.word('variants.title')}"
    yield writer.word("variants.intro")
    for family in found:
        heading = families.heading(family, words)
        caption = words("variants.caption", family_text=heading, unit=names.visible(family.unit))
        yield f"**{writer.render(caption)}**"
        keys = (
            *("effects.option", "variants.change", "words.scale", "filter.batch_per_device"),
            *("filter.ratio", "effects.significance", "variants.accuracy", "columns.before", "columns.after"),
        )
        rows = [_change(one, writer) for one in family.changes]
        yield from writer.of_all(family.of_changes)
        yield table([*map(writer.word, keys)], rows, right=(2, 3, 4, 6, 7, 8))
        if family.levels:
            yield f"**{writer.render(words('variants.level_caption', family_text=heading))}**"
            yield from writer.of_all(family.of_levels)
            yield _levels(family, writer)


def _change(one: Effect, writer: MarkdownWriter) -> list[str]:
    words, lacking = writer.words, writer.state(one.lacking)
    before, after = (writer.render(families.value(one.option, given, words)) for given in one.values)
    ratio, judged, cost = lacking, lacking, NOTHING
    if one.obstacles:
        ratio, judged = NOTHING, writer.render(effects.why(one, words))
    elif one.shown:
        ratio, judged = text(one.shown), writer.word(f"effects.{one.judged}")
    if one.cost:
        ends = " → ".join(str(convergence.number(score)) for score in (one.cost.before, one.cost.after))
        cost = f"{text(ends)} ({text(convergence.points(one.cost.difference))})"
    return [
        writer.render(options.title(one.option, words)),
        f"{before} → {after}",
        text(names.scale(one.after)),
        str(one.after.batch_per_device),
        ratio,
        judged,
        cost,
        writer.cell(one.before_cell),
        writer.cell(one.after_cell),
    ]


def _levels(family: Family, writer: MarkdownWriter) -> str:
    heads = [writer.word(key) for key in ("filter.batch_per_device", "words.devices")]
    columns = [writer.render(each.name(writer.words)) for each in family.settings]
    rows = [[str(one.batch_per_device), str(one.devices), *map(writer.cell, one.cells)] for one in family.levels]
    return table([*heads, *columns], rows, right=range(2 + len(columns)))
