"""`evalsuite explain`: a word or sign of a page; of a finding its question, cost and limits, and what to do."""

import argparse
from collections.abc import Iterator, Sequence

from evalsuite.commands.printing import i18n
from evalsuite.commands.printing.terminal import aligned
from evalsuite.core import findings
from evalsuite.core.errors import EvalsuiteError, Exit, did_you_mean
from evalsuite.core.messages import PLACE
from evalsuite.core.model import CONSEQUENCES, Finding, by_key
from evalsuite.report.sections.glossary import glossary
from evalsuite.report.text.findings import LEVEL, cost, limits
from evalsuite.report.text.numbers import NARROW_SPACE
from evalsuite.report.text.words import Words, read

LEFT_OUT = "…"  # where a finding has its numbers and names


def run(arguments: argparse.Namespace) -> int:
    codes, words = findings.codes(), read((i18n.language(),))
    if arguments.codes:
        for place, said in enumerate(dict.fromkeys(_chosen(arguments.codes, words))):
            print("\n" * (place > 0), end="")
            print(said) if isinstance(said, str) else _show(said, words)
        return Exit.DONE
    for question in CONSEQUENCES:
        print(f"{question}. {_in_words(f'questions.{question}.title', words)}")
        own = [code for code in codes if findings.of_code(code)[0].question == question]
        aligned([(f"  {code}", _in_words(f"rules.{code}.title", words)) for code in own])
    return Exit.DONE


def _chosen(names: Sequence[str], words: Words) -> Iterator[str | tuple[type[Finding], ...]]:
    """Rules of a code, and what other words and signs mean: with blanks and without quotation marks they are one."""
    titles = {table[f"rules.{code}.title"]: code for code in findings.codes() for table in read().tables.values()}
    unknown = [name for name in names if not (findings.called(name) or name in titles or glossary.meant(name, words))]
    for name in [" ".join(names)] if unknown else names:
        if rules := findings.called(titles.get(name, name)):
            yield from map(tuple, by_key((rule.code, rule) for rule in rules).values())
        elif term := glossary.meant(name, words):
            yield f"{term[i18n.language()]}: {term[f'definition_{i18n.language()}']}"
        else:
            name = unknown[0] if len(unknown) < len(names) else name
            near = did_you_mean(name, (*findings.codes(), *findings.RULES), cutoff=0.5)
            raise EvalsuiteError.of("commands.rule", name=name, near=near)


def _show(rules: Sequence[type[Finding]], words: Words) -> None:
    """All of a code, or one of several alone, by its own name."""
    code, question = rules[0].code, f"questions.{rules[0].question}"
    whole = len(rules) == len(findings.of_code(code))
    print(f"{code}: {_in_words(f'rules.{code}.title', words)}" if whole else f"{rules[0].name} ({code})")
    remedy = "explain.of_level" if all(rule.name in LEVEL for rule in rules) else f"{question}.remedy"
    rows = [
        ("question", f"{rules[0].question}. {_in_words(f'{question}.title', words)}"),
        *(("costs", each) for each in dict.fromkeys(cost(rule, words).plain(words.languages[0]) for rule in rules)),
        *(("says", said) for rule in rules if (said := _says(rule, words)).strip(f"{LEFT_OUT} ")),
        *(
            ("limits", f"{value}: {_in_words(key, words)}")
            for rule in rules
            for name, value in limits(rule).items()
            if (key := f"limits.{rule.name}.{name}") in words  # the sentences above name the others
        ),
        ("remedy", _in_words(remedy, words)),
    ]
    aligned([(f"  {_in_words(f'explain.{label}', words)}", said.replace(NARROW_SPACE, " ")) for label, said in rows])


def _in_words(key: str, words: Words) -> str:
    return words(key).plain(words.languages[0])


def _says(rule: type[Finding], words: Words) -> str:
    known, sentence = limits(rule), words.sentence(f"findings.{rule.name}")
    said = PLACE.sub(lambda place: place[3] or str(known.get(place[1], LEFT_OUT)), sentence)
    return f"{said} ({cost(rule, words).plain(words.languages[0])})" if rule.noted else said
