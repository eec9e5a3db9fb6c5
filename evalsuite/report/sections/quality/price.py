"""What the runs took, and which further ones would decide something open: the price of this report and of the next."""

import shlex
from collections.abc import Iterable, Mapping, Sequence

from evalsuite.messages import dotted
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


def steps(found: Iterable[NextRepeats], words: Words) -> list[tuple[Text, str]]:
    return [(_sentence(one, words), shlex.join(one.command)) for one in found]


def _sentence(one: NextRepeats, words: Words) -> Text:
    ref = names.case_anchor(one.cases[0])
    named = [candidates.in_sentence(each, one.scope, words).about(ref) for each in one.candidates[:MOST_NAMED]]
    shown: list[object] = [*named, *(["…"] if len(one.candidates) > MOST_NAMED else [])]
    values = {"frameworks": words.listed(shown), "about": words.same(_about(one)).about(ref)}
    if one.criterion is None:
        needs = [(answers.scale(each), answers.deciding(each, words)) for each in one.answers]
        parts = [words("price.at_scale", scale=scale, needs_text=found) for scale, found in needs if found]
        return words("price.order", needs_text=words.sentences(parts), **values)
    time: Rendered = words("price.no_time")
    if one.seconds is not None:
        time = words("price.time", time=answers.roughly(one.seconds, words).about(ref))
    counts = {"runs": numbers.count(one.runs).about(ref), "cases": numbers.count(len(one.cases)).about(ref)}
    return words("price.criterion", criterion=names.visible(one.criterion), time=time, **counts, **values)


def _about(one: NextRepeats) -> str:
    case = one.cases[0]
    scales = [] if one.answers else [", ".join(dict.fromkeys(map(names.scale, one.cases)))]
    batch = names.bsz(case.series_batch, strong=case.strong_batch is not None)
    return dotted(names.model(case.model), *scales, names.precision(case.precision), batch)


def line(found: Sequence[Spent], words: Words) -> Text:
    every = total(found)
    values = {
        "runs": numbers.count(every.runs),
        "time": words.duration(every.seconds),
        "hours": device_hours(every.device_hours),
    }
    if every.trials:
        return words("price.line_trials", trials=numbers.count(every.trials), **values)
    return words("price.line", **values)
