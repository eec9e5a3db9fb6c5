"""`evalsuite explain`: what a data rule checks, why it matters, and what a reader of the report can do."""

import argparse
from collections.abc import Sequence

from evalsuite.commands.printing import i18n
from evalsuite.commands.printing.terminal import aligned
from evalsuite.core import findings
from evalsuite.core.errors import EvalsuiteError, Exit, did_you_mean
from evalsuite.core.messages import PLACE
from evalsuite.report.text.findings import limits, with_limits
from evalsuite.report.text.words import Words, read

PARTS = ("checks", "matters", "remedy")
LEFT_OUT = "…"  # where a finding has its numbers and names


def run(arguments: argparse.Namespace) -> int:
    codes = _chosen(arguments.codes) if arguments.codes else findings.codes()
    words = read((i18n.language(),))
    if not arguments.codes:
        aligned([(code, _part(code, "title", words)) for code in codes])
    else:
        for place, code in enumerate(codes):
            print("\n" * (place > 0), end="")
            _show(code, words)
    return Exit.DONE


def _chosen(names: Sequence[str]) -> tuple[str, ...]:
    for name in names:
        if not findings.called(name):
            near = did_you_mean(name, (*findings.codes(), *findings.RULES), cutoff=0.5)
            raise EvalsuiteError.of("commands.rule", name=name, near=near)
    return tuple(dict.fromkeys(code for name in names for code in findings.called(name)))


def _show(code: str, words: Words) -> None:
    def label(name: str) -> str:
        return words(f"explain.{name}").plain(words.languages[0])

    severities = dict.fromkeys(rule.severity for rule in findings.of_code(code))
    rows = [(f"  {label(part)}", _part(code, part, words)) for part in PARTS]
    rows += [(f"  {label('says')}", sentence) for sentence in _says(code, words)]
    if (number := findings.number(code)) not in (None, code):
        rows.append((f"  {label('keeps')}", str(number)))
    print(
        f"{code}: {_part(code, 'title', words)}", *(f"  {label(each)}" for each in severities or ("silent",)), sep="\n"
    )
    aligned(rows)


def _part(code: str, part: str, words: Words) -> str:
    return with_limits(f"rules.{code}.{part}", code, words).plain(words.languages[0])


def _says(code: str, words: Words) -> list[str]:
    known = limits(code)
    return [
        PLACE.sub(lambda place: place[3] or str(known.get(place[1], LEFT_OUT)), words.sentence(f"findings.{rule.name}"))
        for rule in findings.of_code(code)
    ]
