"""What the runs took, and which further ones would decide something open: the price of this report and of the next."""

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evalsuite.report.book.book import Book
from evalsuite.report.sections.common import markdown
from evalsuite.report.sections.common.markdown import MarkdownWriter
from evalsuite.report.sections.verdict.answers import roughly
from evalsuite.report.text import entrants, names, numbers
from evalsuite.report.text.numbers import Number
from evalsuite.report.text.words import Rendered, Text, Traced, Words
from evalsuite.results.judge.next_repeats import NextRepeats
from evalsuite.results.judge.spending import Spent

MOST_NAMED = 4  # names in a sentence


@dataclass(frozen=True, kw_only=True)
class SpentRow:
    """One framework of the table, or all of them."""

    name: str | None  # None: all
    runs: int
    lost: int
    time: Rendered
    device_hours: Number
    seconds: float  # to sort by
    untimed: int
    trials: int


@dataclass(frozen=True, kw_only=True)
class NextStep:
    """A sentence, and the command line that does it."""

    sentence: Text
    command: str


@dataclass(frozen=True, kw_only=True)
class PriceFacts:
    """What is shown."""

    rows: tuple[SpentRow, ...]
    adaptive: Text | None  # of a plan that made more repeats where fewer left something open
    steps: tuple[NextStep, ...]


def facts(book: Book, words: Words) -> PriceFacts | None:
    """None where nothing was measured: other people's figures have no price."""
    if not book.spent:
        return None
    rows = [_row(names.framework(one.framework), [one], words) for one in book.spent]
    rows += [_row(None, book.spent, words)] if len(rows) > 1 else []
    return PriceFacts(rows=tuple(rows), adaptive=_adaptive(book, words), steps=steps(book.next_repeats, words))


def _adaptive(book: Book, words: Words) -> Text | None:
    """How many runs beyond the least repeats an evaluation needed that could make more."""
    asked = book.evaluation
    if asked.most_repeats is None:
        return None
    further = sum(run.run.repeat >= asked.repeats for run in book.measurements)
    all_ = len(book.summaries) * (asked.most_repeats - asked.repeats)
    return words(
        "price.adaptive",
        least=numbers.count(asked.repeats),
        most=numbers.count(asked.most_repeats),
        further=numbers.count(further),
        spared=numbers.count(max(0, all_ - further)),
    )


def _row(name: str | None, of: Sequence[Spent], words: Words) -> SpentRow:
    seconds = sum(one.seconds for one in of)
    return SpentRow(
        name=name,
        runs=sum(one.runs for one in of),
        lost=sum(one.lost for one in of),
        time=words.duration(seconds),
        device_hours=device_hours(sum(one.device_hours for one in of)),
        seconds=seconds,
        untimed=sum(one.untimed for one in of),
        trials=sum(one.trials for one in of),
    )


def device_hours(value: float) -> Number:
    """Device-hours with as many digits as a price needs: 0.042, 1.25, 310."""
    return numbers.significant(value, 2 if value < 1 else 3)


def steps(found: Iterable[NextRepeats], words: Words) -> tuple[NextStep, ...]:
    return tuple(NextStep(sentence=_sentence(one, words), command=shlex.join(one.command)) for one in found)


def _sentence(one: NextRepeats, words: Words) -> Text:
    ref = names.case_anchor(one.cases[0])
    first, *others = (entrants.in_sentence(each, one.contest, words) for each in one.entrants[: MOST_NAMED + 1])
    shown: list[object] = [*others[: MOST_NAMED - 1], *(["…"] if len(one.entrants) > MOST_NAMED else [])]
    time: Rendered = words("price.no_time")
    if one.seconds is not None:
        time = words("price.time", time=Traced(words=words, inside=roughly(one.seconds, words), ref=ref))
    values = {
        "runs": numbers.count(one.runs).about(ref),
        "cases": numbers.count(len(one.cases)).about(ref),
        "time": time,
        "first": Traced(words=words, inside=first, ref=ref),
        "about": Traced(words=words, inside=words.same(_about(one)), ref=ref),
    }
    if one.criterion is not None:
        return words("price.criterion", criterion=names.visible(one.criterion), **values)
    rivals = Traced(words=words, inside=words.listed(shown), ref=ref)
    return words("price.longer" if one.longer else "price.order", others=rivals, **values)


def _about(one: NextRepeats) -> str:
    case = one.cases[0]
    scales = ", ".join(dict.fromkeys(map(names.scale, one.cases)))
    return " · ".join(
        [
            names.model(case.model),
            scales,
            names.precision(case.precision),
            names.bsz(case.series_batch, strong=case.strong_batch is not None),
        ]
    )


def line(found: Sequence[Spent], words: Words) -> Text:
    """What all runs took, in a sentence."""
    values = {
        "runs": numbers.count(sum(one.runs for one in found)),
        "time": words.duration(sum(one.seconds for one in found)),
        "hours": device_hours(sum(one.device_hours for one in found)),
    }
    if trials := sum(one.trials for one in found):
        return words("price.line_trials", trials=numbers.count(trials), **values)
    return words("price.line", **values)


def written(book: Book, writer: MarkdownWriter) -> Iterable[str]:
    """In Markdown: what would decide, with its commands."""
    found = steps(book.next_repeats, writer.words)
    if found:
        title = writer.word("price.next")
        yield f"## {title}"
        yield markdown.listed(f"{writer.said(one.sentence)} `{names.visible(one.command)}`" for one in found)
