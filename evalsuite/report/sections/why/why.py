"""Why beside who: the efficiency of all models side by side; of each framework where it loses and how it differs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from evalsuite.core.model import by_key
from evalsuite.report.book import heading
from evalsuite.report.book.answers import SEVERAL
from evalsuite.report.book.blocks import Model
from evalsuite.report.book.board import DRAWN, LOST_FROM, STAGES, shares_cores
from evalsuite.report.book.book import Book
from evalsuite.report.text import names, numbers, options
from evalsuite.report.text.words import Rendered, Text, Words
from evalsuite.results.compare.decisions import PUBLISHED
from evalsuite.results.judge.breaks import Ladder, stage
from evalsuite.results.samples.utilisation import BITS_PER_BYTE, MEGA

BUSY = ("gpu", "job_cpu", "cpu")  # what computes, as it was sampled
NETWORK = ("network_send", "network_receive")
FULL_FROM, MORE_THAN_ALL = 90.0, 110.0  # % of the cores
BUSY_LINK = 0.5  # of its speed, as a mean over steps that also compute


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
        lost = [(key if key in DRAWN else "rest", share) for key, share in ladder.losses if share > 0]
        why = {
            "ladder": ladder,
            "setting": options.apart(parts, words),
            "parts": [("left", ladder.left), *lost],  # of the throughput that ideal scaling would give
        }
        rows.setdefault(case.framework, []).append(why)
    return [
        {
            "id": names.anchor("why", f"{model.name} {name}"),
            "title": names.framework(name),
            "rows": rows[name],
            "said": [*losses((row["ladder"] for row in rows[name]), words), *_reasons(rows[name], words)],
        }
        for name in book.frameworks
        if name in rows
    ]


def _reasons(rows: Sequence[Mapping[str, Any]], words: Words) -> Iterator[Rendered]:
    """Of each setting, the worst first: a reader comes from any. What holds of several is said once."""
    known = [(row["setting"], said) for row in rows if (said := reason(row["ladder"], words))]
    for of in by_key((said.plain(words.languages[0]), (setting, said)) for setting, said in known).values():
        name, said = options.apart((setting for setting, _ in of), words, SEVERAL), of[0][1]
        yield words("models.option", name_text=name, value=said) if len(of) < len(rows) else said


def reason(ladder: Ladder, words: Words) -> Rendered | None:
    """What makes its step longer, as far as the samples of its smallest and largest scale tell."""
    first, last = ladder.scales[0], ladder.last
    before, after = ({used.resource: used for used in row.utilisation} for row in (first, last))
    timed = any(key not in STAGES for key, _ in ladder.losses)  # its parts tell
    if timed or ladder.left > 1 - LOST_FROM or first.disturbed or last.disturbed or last.origin in PUBLISHED:
        return None
    busy = next((name for name in BUSY if name in before and name in after), None)
    if busy is None:
        return words("why.unsampled")
    case, beside = last.case, last.case.devices_per_node / first.case.devices_per_node
    if shares_cores(case) and before[busy].mean * beside > MORE_THAN_ALL:
        own = numbers.quantity(before[busy].mean, unit="%")
        return words("why.shared", busy=own, n=numbers.count(case.devices_per_node))
    worked = (after[busy].mean / ladder.left - before[busy].mean) / (100 / ladder.left - 100)  # of what a step grew by
    works, waits = (numbers.percent(min(max(share, 0.0), 1.0)) for share in (worked, 1 - worked))
    what = words("why.gpu" if busy == "gpu" else "why.cpu")
    said = {"what_text": what, "scale": names.scale(case), "base": names.scale(first.case)}
    parts: list[Rendered] = [words("why.grown", works=works, waits=waits, **said)]
    if worked < 0.5 and busy == "gpu" and "cpu" in after and after["cpu"].mean >= FULL_FROM:
        parts.append(words("why.host_full", busy=numbers.quantity(after["cpu"].mean, unit="%")))
    used = max((after[name] for name in NETWORK if name in after), key=lambda used: used.mean, default=None)
    if worked < 1 - LOST_FROM and used and used.capacity and used.mean >= BUSY_LINK * used.capacity:
        speed = numbers.count(round(used.capacity * BITS_PER_BYTE / MEGA / case.nodes))
        parts.append(words("why.network", share=numbers.percent(used.mean / used.capacity), speed=speed))
    if len(parts) == 1 and worked < 1 - LOST_FROM:
        parts.append(words("why.untimed"))
    return words("answers.closed", said_text=replace(words.listed(parts), separators=SEVERAL))


def keys(cards: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    used = {key for card in cards for row in card["rows"] for key, _ in row["parts"]}
    return tuple(key for key in ("left", *DRAWN, "rest") if key in used)


def losses(ladders: Iterable[Ladder], words: Words) -> Iterator[Text]:
    """The breaks of each precision that lie between the same scales, and of how many settings, in points of ideal
    scaling as the bars are; the worst first."""
    for alike in by_key((ladder.last.case.precision, ladder) for ladder in ladders).values():
        each = [
            (drop[0].efficiency.value - drop[1].efficiency.value, drop)
            for ladder in alike
            if (drop := ladder.broken) and drop[0].efficiency and drop[1].efficiency
        ]
        each.sort(key=lambda lost: -lost[0])
        groups = by_key(((stage(*drop), *(row.case.scale for row in drop)), (lost, drop)) for lost, drop in each)
        for (at, *_), drops in groups.items():
            before, after = drops[0][1]
            said = words(
                f"why.{at}",
                precision=names.precision(after.case.precision),
                loss=numbers.least_and_most([lost for lost, _ in drops], numbers.percent),
                before=names.scale(before.case),
                after=names.scale(after.case),
            )
            if len(alike) > 1:
                n, all_ = (numbers.count(count) for count in (len(drops), len(alike)))
                said = words("why.of_settings", said_text=said, n=n, all=all_)
            yield words("answers.closed", said_text=said)
