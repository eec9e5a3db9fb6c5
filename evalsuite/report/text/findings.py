"""What findings and their rules say, in the languages of the report; in English for terminals and JSON."""

from collections.abc import Mapping

from evalsuite.core import findings, messages
from evalsuite.core.messages import places
from evalsuite.core.model import Finding
from evalsuite.report.text import names, numbers
from evalsuite.report.text.numbers import Form, Number
from evalsuite.report.text.words import Phrase, Text, Words, read, read_rules

ENGLISH = "en"
LEVEL = dict.fromkeys(("evaluated_before", "repeats_added", "run_made_again"), "level")  # each divides it
FORMS: Mapping[str, Form] = {
    **dict(share=numbers.percent, limit=numbers.limit, change=numbers.change, rate=numbers.throughput),
    **dict(factor=numbers.plain, bytes=numbers.memory, score=numbers.plain, points=numbers.points),
    "seconds": lambda value: numbers.quantity(value, "s"),
    "count": lambda value: numbers.count(round(value)),
}
MEASURES: Mapping[str, Form] = {
    "throughput": numbers.throughput,
    "speedup": numbers.speedup,
    "efficiency": numbers.percent,
}
TABLES: Mapping[str, str] = {  # where the words of a key are
    **{"resource": "resources", "phase": "phases", "metric": "scores", "method": "values.method"},
    **{"option": "values.what", "fact": "values.fact", "source": "values.source"},
}


def sentence(finding: Finding, words: Words) -> Text:
    """What was found and, unless it is only noted, what that costs."""
    said = cause(finding, words)
    return said if finding.noted else words(f"questions.{finding.question}.said", cause_text=said)


def cause(finding: Finding, words: Words) -> Text:
    kind_of, key = findings.kinds(type(finding)), f"findings.{finding.name}"
    told = {name: _worded(value, kind_of[name], finding, words) for name, value in findings.values(finding).items()}
    return words(key, **{place: told[place.removesuffix("_text")] for place in places(words.sentence(key))})


def english(finding: Finding) -> str:
    """With the words of the rules alone, unless its values have words too: to read all takes longer than some logs."""
    named = any(kind in TABLES for kind in findings.kinds(type(finding)).values())
    return sentence(finding, read((ENGLISH,)) if named else read_rules(ENGLISH)).plain(ENGLISH)


def document(finding: Finding) -> dict[str, object]:
    return {
        "code": finding.code,
        "question": finding.question,
        "severity": finding.severity,
        "text": english(finding),
        "where": finding.where,
        "also": list(finding.also),
        "rule": finding.name,
        "values": findings.plain(finding),
    }


def cost(rule: type[Finding], words: Words) -> Text:
    noted = "columns.partial" if rule.code in ("D05", "D07") else f"explain.{LEVEL.get(rule.name, 'noted')}"
    return words(noted if rule.noted else f"questions.{rule.question}.cost")


def limits(rule: type[Finding]) -> dict[str, Number]:
    return {name: FORMS[kind](value) for name, (value, kind) in findings.limits(rule).items()}


def _worded(value: object, kind: str, finding: Finding, words: Words) -> object:
    if isinstance(value, tuple):
        return words.listed(_worded(each, kind, finding, words) for each in value)
    if isinstance(value, int | float):
        return _form(kind, finding)(value)
    if kind == "failure":
        return messages.named("logs", f"failure_{str(value).replace(' ', '_')}") or names.visible(value)
    if kind == "said":
        return Phrase(words=words, text=value if isinstance(value, str) else str(value))
    key = f"{TABLES.get(kind)}.{value}"
    return words(key) if key in words and not places(words.sentence(key)) else names.visible(value)


def _form(kind: str, finding: Finding) -> Form:
    held = findings.values(finding)
    if kind == "reading":
        return lambda value: numbers.quantity(value, str(held["unit"]))
    return MEASURES.get(str(held["measure"]), numbers.plain) if kind == "measure" else FORMS[kind]
