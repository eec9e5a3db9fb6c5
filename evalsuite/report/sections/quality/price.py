"""What the runs took, and which further ones would decide something open: the price of this report and of the next."""

import shlex
from collections.abc import Iterable, Mapping, Sequence

from evalsuite.core.messages import dotted
from evalsuite.report.book.book import Book
from evalsuite.report.sections.verdict import answers
from evalsuite.report.text import candidates, names, numbers
from evalsuite.report.text.numbers import Number
from evalsuite.report.text.words import Rendered, Text, Words
from evalsuite.results.judge.next_repeats import NextRepeats
from evalsuite.results.judge.spending import Spent, total

MOST_NAMED = 4


def facts(book: Book, words: Words) -> Mapping[str, object] | None:
    if not book.spent:
        return None
    return {
        "rows": [*book.spent, *([total(book.spent)] if len(book.spent) > 1 else [])],
        "adaptive": describe_further_repeats(book, words),
        "steps": steps(book.next_repeats, words),
        "hours": device_hours,
    }


def describe_further_repeats(book: Book, words: Words) -> Text | None:
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


def device_hours(value: float) -> Number:
    return numbers.significant(value, 2 if value < 1 else 3)


def steps(repeats: Iterable[NextRepeats], words: Words) -> list[tuple[Text, str]]:
    return [(_sentence(repeats, words), shlex.join(repeats.command)) for repeats in repeats]


def _sentence(repeats: NextRepeats, words: Words) -> Text:
    ref = names.case_anchor(repeats.cases[0])
    named = [candidates.in_sentence(each, repeats.scope, words).about(ref) for each in repeats.candidates[:MOST_NAMED]]
    shown: list[object] = [*named, *(["…"] if len(repeats.candidates) > MOST_NAMED else [])]
    values = {"frameworks": words.listed(shown), "about": words.same(_about(repeats)).about(ref)}
    if repeats.criterion is None:
        needs = [(answers.scale(each), answers.deciding(each, words)) for each in repeats.answers]
        parts = [words("price.at_scale", scale=scale, needs_text=text) for scale, text in needs if text]
        return words("price.order", needs_text=words.sentences(parts), **values)
    time: Rendered = words("price.no_time")
    if repeats.seconds is not None:
        time = words("price.time", time=answers.roughly(repeats.seconds, words).about(ref))
    counts = {"runs": numbers.count(repeats.runs).about(ref), "cases": numbers.count(len(repeats.cases)).about(ref)}
    return words("price.criterion", criterion=names.visible(repeats.criterion), time=time, **counts, **values)


def _about(repeats: NextRepeats) -> str:
    case = repeats.cases[0]
    scales = [] if repeats.answers else [", ".join(dict.fromkeys(map(names.scale, repeats.cases)))]
    batch = names.bsz(case.series_batch, strong=case.strong_batch is not None)
    return dotted(names.model(case.model), *scales, names.precision(case.precision), batch)


def line(spents: Sequence[Spent], words: Words) -> Text:
    every = total(spents)
    values = {
        "runs": numbers.count(every.runs),
        "time": words.duration(every.seconds),
        "hours": device_hours(every.device_hours),
    }
    if every.trials:
        return words("price.line_trials", trials=numbers.count(every.trials), **values)
    return words("price.line", **values)
