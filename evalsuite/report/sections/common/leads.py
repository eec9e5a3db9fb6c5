"""A lead as it is printed: never without those who are as fast and are not ranked, nor a flagged value without ⚠."""

from evalsuite.report.book import why_not_comparable
from evalsuite.report.text import candidates, names, numbers
from evalsuite.report.text.numbers import Number
from evalsuite.report.text.words import Text, Words
from evalsuite.results.compare.answers import Answer, Apart, Ranked


def value(answer: Answer, item: Ranked | Apart, words: Words, devices: int = 1) -> Number | Text:
    beside = answer.ranked[0].summary.items_per_s.value / devices
    number = numbers.rounded(item.summary.items_per_s.value / devices, beside).to(names.case_anchor(item.summary.case))
    return words("answers.flagged_value", value=number) if item.flags else number


def passed(answer: Answer, words: Words, devices: int = 1) -> Text:
    first, *others = answer.passed_over
    name = candidates.name(answer.candidate(first.summary), answer.scope, words)
    why = why_not_comparable.briefly(first.obstacles, words)
    text = words("answers.passed", framework=name, value=value(answer, first, words, devices), why_text=why)
    return words("answers.passed_more", passed_text=text, n=numbers.count(len(others))) if others else text
