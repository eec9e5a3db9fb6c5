"""The headlines of all runs beside those of the undisturbed ones."""

from dataclasses import dataclass

from evalsuite.report.book.book import Book
from evalsuite.report.sections.verdict import answers
from evalsuite.report.text import names, numbers, options
from evalsuite.report.text.numbers import Number
from evalsuite.report.text.words import Rendered, Text, Words
from evalsuite.results.rules.machine_noise import with_and_without


@dataclass(frozen=True, kw_only=True)
class TwoHeadlines:
    """What is found of one model, with and without its disturbed runs."""

    model: str
    setting: Rendered
    disturbed: Number
    runs: Number
    every: Text
    undisturbed: Text
    changes: bool


def headlines(book: Book, words: Words) -> tuple[TwoHeadlines, ...]:
    """Of the models whose headline rests on a disturbed run."""
    labels = answers.settings(book, words)
    found = with_and_without(answers.headlines(book), book.summaries, book.planned, book.skips)
    return tuple(
        TwoHeadlines(
            model=names.model(one.every.setting.model),
            setting=options.apart([labels[one.every.setting], answers.scale(one.every)], words),
            disturbed=numbers.count(one.disturbed_runs),
            runs=numbers.count(one.runs),
            every=answers.sentence(one.every, words),
            undisturbed=answers.sentence(one.undisturbed, words),
            changes=one.changes,
        )
        for one in found
    )
