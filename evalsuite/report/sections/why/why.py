"""Why beside who: the efficiency of all models side by side; of each framework where it loses and how it differs."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from evalsuite.core.model import by_key
from evalsuite.report.book import heading
from evalsuite.report.book.blocks import Model
from evalsuite.report.book.book import Book
from evalsuite.report.text import names, numbers, options
from evalsuite.report.text.numbers import Number
from evalsuite.report.text.words import Rendered, Text, Words
from evalsuite.results.judge.breaks import Ladder, stage

DRAWN = ("within", "crossing", "between", "data", "allreduce")


def cards(book: Book, model: Model, words: Words) -> list[Mapping[str, Any]]:
    """Of each framework."""
    block_of = {case.id: block for block in model.blocks for case in block.cases}
    own = [each for each in book.ladders if each.last.case.model == model.name]
    ladders = sorted(own, key=lambda ladder: ladder.left)
    shown = [block for block in model.blocks if any(block_of[ladder.last.case.id] is block for ladder in ladders)]
    called = {block.id: heading.setting(block, words, shown) for block in shown}
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
            high, low = (numbers.percent(lost) for lost, _ in (drops[0], drops[-1]))
            said = words(
                f"why.{at}",
                precision=names.precision(after.case.precision),
                loss=(high if low.text == high.text else numbers.span(low.raw, high.raw, numbers.percent)),
                before=names.scale(before.case),
                after=names.scale(after.case),
            )
            if len(alike) > 1:
                n, all_ = (numbers.count(count) for count in (len(drops), len(alike)))
                said = words("why.of_settings", said_text=said, n=n, all=all_)
            yield words("answers.closed", said_text=said)
