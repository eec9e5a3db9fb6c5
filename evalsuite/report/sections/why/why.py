"""Why beside who: the efficiency of all models side by side; of each framework where it loses and how it differs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from evalsuite.core.model import by_key
from evalsuite.report import figures
from evalsuite.report.book import heading
from evalsuite.report.book.blocks import Block, Model
from evalsuite.report.book.book import Book
from evalsuite.report.sections.common import figure_titles
from evalsuite.report.sections.common.captioned_figure import CaptionedFigure, label, series_of_block
from evalsuite.report.sections.common.section import Section, Subject
from evalsuite.report.text import names, numbers, options
from evalsuite.report.text.numbers import Number
from evalsuite.report.text.words import Rendered, Text, Words
from evalsuite.results.judge.breaks import Ladder, stage

MOST_PANELS = 12
DRAWN = ("within", "crossing", "between", "data", "allreduce")


def sections(subject: Subject) -> Iterable[Section]:
    blocks = scaling_blocks(subject.models)
    shown = ([block for block in blocks if len({row.case.series for row in block.valid}) > 1] or blocks)[:MOST_PANELS]
    if len(blocks) > 1:
        yield Section(
            id="overview",
            title=subject.words("overview.title"),
            template="why/overview.html.j2",
            facts=lambda: {
                "figure": _draw_blocks(shown, figure_titles.of_blocks(blocks, subject.words), subject),
                "left_out": len(blocks) - len(shown),
            },
            markdown=lambda writer: writer.fill(
                "why/overview.md.j2", cards=[(of, cards(subject.book, of, writer.words)) for of in subject.models]
            ),
            finding=lambda facts: facts["figure"].title,
        )


def scaling_blocks(models: Sequence[Model]) -> tuple[Block, ...]:
    blocks = [block for model in models for block in model.blocks if block.has_scaling and not block.strong]
    return tuple(sorted(blocks, key=lambda block: (names.model_order(block.model), block.batch)))


def _draw_blocks(blocks: Sequence[Block], title: Text, subject: Subject) -> CaptionedFigure:
    words = subject.words
    panels, tables = list[figures.LinePanel](), list[tuple[str, Rendered]]()
    for block, setting in zip(blocks, heading.settings(blocks, words), strict=True):
        panels.append(
            figures.LinePanel(
                lines=series_of_block(block, "efficiency"),
                label=names.model(block.model),
                detail=label(setting),
                share=True,
                target=block.efficiency_threshold,
                valued=True,
            )
        )
        place = f"{block.id}-{'s' if block.book.huge else 'e'}"
        tables.append((place, options.apart([names.model(block.model), setting], words)))
    figure = figures.lines(tuple(panels), subject.look, id="f-overview", value="efficiency")
    return CaptionedFigure(figure=figure, title=title, help=words("overview.see"), tables=tuple(tables))


def cards(book: Book, model: Model, words: Words) -> list[Mapping[str, Any]]:
    """Of each framework."""
    block_of = {case.id: block for block in model.blocks for case in block.cases}
    own = [each for each in book.ladders if each.last.case.model == model.name]
    ladders = sorted(own, key=lambda ladder: ladder.left)
    shown = [block for block in model.blocks if any(block_of[ladder.last.case.id] is block for ladder in ladders)]
    called = {block.id: name for block, name in zip(shown, heading.settings(shown, words), strict=True)}
    rows: dict[str, list[Mapping[str, Any]]] = {}
    for ladder in ladders:
        case, block = ladder.last.case, block_of[ladder.last.case.id]
        column = block.column_of(case)
        beside = column.label.removeprefix(column.title).removeprefix(" · ")
        parts: list[Rendered | str] = [called[block.id], *([beside] if beside else []), names.scale(case)]
        ends: list[Number | None] = []
        for row in (ladder.scales[0], ladder.last):
            ranked = book.answer_of[row.case.id].ranked
            of = next((each.ratio for each in ranked if each.summary.case == row.case), None)
            ends.append(numbers.percent(of).to(names.case_anchor(row.case)) if of and len(ranked) > 1 else None)
        apart = any(each.summary.case == case for each in book.answer_of[case.id].apart)
        lost = [(key if key in DRAWN else "rest", share) for key, share in ladder.losses if share > 0]
        why = {
            "ladder": ladder,
            "setting": options.apart(parts, words),
            "of_fastest": ends,  # at the smallest and at the largest scale
            "unranked": apart,
            "parts": [("left", ladder.left), *lost],  # of the throughput that ideal scaling would give
        }
        rows.setdefault(case.framework, []).append(why)
    return [
        {
            "id": names.anchor("why", f"{model.name} {name}"),
            "title": names.framework(name),
            "rows": rows[name],
            "said": list(losses((row["ladder"] for row in rows[name]), words)),
        }
        for name in book.frameworks
        if name in rows
    ]


def keys(cards: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    used = {key for card in cards for row in card["rows"] for key, _ in row["parts"]}
    return tuple(key for key in ("left", *DRAWN, "rest") if key in used)


def losses(ladders: Iterable[Ladder], words: Words) -> Iterator[Text]:
    """The breaks of each precision that lie between the same scales, and of how many settings; the worst first."""
    for alike in by_key((ladder.last.case.precision, ladder) for ladder in ladders).values():
        each = [
            (1 - drop[1].items_per_s_per_device / drop[0].items_per_s_per_device, drop)
            for ladder in alike
            if (drop := ladder.broken)
        ]
        each.sort(key=lambda lost: -lost[0])
        groups = by_key(((stage(*drop), *(row.case.scale for row in drop)), (lost, drop)) for lost, drop in each)
        for (at, *_), drops in groups.items():
            before, after = drops[0][1]
            ref = names.case_anchor(after.case)
            high, low = (numbers.percent(lost) for lost, _ in (drops[0], drops[-1]))
            said = words(
                f"why.{at}",
                precision=names.precision(after.case.precision),
                loss=(high if low.text == high.text else numbers.span(low.raw, high.raw, numbers.percent)).about(ref),
                before=names.scale(before.case),
                after=names.scale(after.case),
            )
            if len(alike) > 1:
                n, all_ = (numbers.count(count).about(ref) for count in (len(drops), len(alike)))
                said = words("why.of_settings", said_text=said, n=n, all=all_)
            yield words("answers.closed", said_text=said)
