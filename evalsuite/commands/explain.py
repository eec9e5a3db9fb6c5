"""`evalsuite explain`: what a data rule checks, why it matters, and what a reader of the report can do."""

import argparse
import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from evalsuite.commands.printing import i18n
from evalsuite.commands.printing.terminal import print_json
from evalsuite.commands.report import check_languages
from evalsuite.core import findings
from evalsuite.core.errors import EvalsuiteError, Exit, did_you_mean
from evalsuite.core.messages import PLACE
from evalsuite.core.model import Finding
from evalsuite.report.text.findings import limits, rule, with_limits
from evalsuite.report.text.words import Words, read

WIDTH = 100
HAN = r"\u2e80-\u9fff\uff00-\uffef"
BEFORE_A_BREAK = re.compile(rf"(?:[{HAN}]|[^\s{HAN}]+)[，。；：、？）”]*\s*")  # those signs never begin a line

PARTS = ("checks", "matters", "remedy")
LEFT_OUT = "…"  # where a finding has its numbers and names


@dataclass(frozen=True, kw_only=True)
class Explained:
    code: str
    title: str
    levels: tuple[str, ...]  # a sentence for each severity that its findings may have
    parts: Mapping[str, str]  # checks, matters, remedy
    says: tuple[str, ...]  # the sentences of its findings


def run(arguments: argparse.Namespace) -> int:
    languages = check_languages(arguments.lang or i18n.language())
    listing = not arguments.codes
    codes = findings.codes() if listing else _chosen(arguments.codes)
    if arguments.json:
        print_json([_facts(code, languages) for code in codes])
    elif listing:
        width = max(map(len, codes))
        for language, code in itertools.product(languages, codes):
            print(f"{code.ljust(width)}  {explained(code, language).title}")
    else:
        blocks = [_block(explained(code, language), language) for code in codes for language in languages]
        print("\n\n".join("\n".join(block) for block in blocks))
    return Exit.DONE


def _chosen(names: Sequence[str]) -> tuple[str, ...]:
    for name in names:
        if not findings.called(name):
            near = did_you_mean(name, (*findings.codes(), *findings.RULES), cutoff=0.5)
            raise EvalsuiteError.of("commands.rule", name=name, near=near)
    return tuple(dict.fromkeys(code for name in names for code in findings.called(name)))


def _block(explained: Explained, language: str) -> list[str]:
    number = findings.number(explained.code)
    rows = [(label(part, language), text) for part, text in explained.parts.items()]
    rows += [(label("says", language), sentence) for sentence in explained.says]
    if number is not None and number != explained.code:
        rows.append((label("keeps", language), number))
    width = max(i18n.columns(name) for name, _ in rows)
    lines = [f"{explained.code}: {explained.title}", *(f"  {level}" for level in explained.levels)]
    for name, text in rows:
        first, *others = _wrapped(text, WIDTH - width - 4)
        lines.append(f"  {i18n.padded(name, width)}  {first}")
        lines += [f"{' ' * (width + 4)}{each}" for each in others]
    return lines


def _wrapped(text: str, width: int) -> list[str]:
    lines, line = [], ""
    for word in BEFORE_A_BREAK.findall(text):
        if line and i18n.columns(line + word.rstrip()) > width:
            lines.append(line.rstrip())
            line = ""
        line += word
    return [*lines, line.rstrip()]


def _facts(code: str, languages: Sequence[str]) -> dict[str, object]:
    words = {language: explained(code, language) for language in languages}
    return {
        "code": code,
        "data_rule": findings.number(code),
        "limits": {name: limit for name, (limit, _) in findings.limits(code).items()},
        "rules": [
            {"name": rule.name, "severity": rule.severity, "fields": findings.kinds(rule)}
            for rule in findings.of_code(code)
        ],
        "words": {
            language: {"title": each.title, **each.parts, "says": list(each.says)} for language, each in words.items()
        },
    }


def explained(code: str, language: str) -> Explained:
    words, rules = _words(language), findings.of_code(code)
    severities = dict.fromkeys(rule.severity for rule in rules)
    return Explained(
        code=code,
        title=rule(code, words).plain(language),
        levels=tuple(label(each, language) for each in severities or ("silent",)),
        parts={part: with_limits(f"rules.{code}.{part}", code, words).plain(language) for part in PARTS},
        says=tuple(_without_values(each, words) for each in rules),
    )


def label(name: str, language: str) -> str:
    return _words(language)(f"explain.{name}").plain(language)


@cache
def _words(language: str) -> Words:
    return read((language,))


def _without_values(kind: type[Finding], words: Words) -> str:
    known = limits(kind.code)
    return PLACE.sub(
        lambda place: place[3] or str(known.get(place[1], LEFT_OUT)), words.sentence(f"findings.{kind.name}")
    )
