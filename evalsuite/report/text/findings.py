"""What a finding says, in the languages of the report."""

from evalsuite.model import Finding
from evalsuite.report.text import names
from evalsuite.report.text.words import Rendered, Text, Words, placeholders


def sentence(finding: Finding, words: Words) -> Text:
    """What *finding* says in the languages of the report; its own English text where no sentence fits it."""
    key = f"findings.{finding.code}"
    values = {name: _worded(name, value, words) for name, value in finding.values}
    if finding.code == "D18" and dict(finding.values).get("coverage") == "":
        key = "findings.D18_rejected"  # the other half of the rule: samples out of range
    if key in words:
        wanted = placeholders(words.sentence(key))
        given = {name: values.get(name, values.get(name.removesuffix("_text"))) for name in wanted}
        if None not in given.values():
            return words(key, **given)
    return words("findings.other", text=names.visible(finding.text))


def _worded(name: str, value: str, words: Words) -> Rendered | str:
    """A value of a finding in the reader's language, where it is a word of ours."""
    if name == "resources":
        found = (f"resources.{each}" for each in value.split(", "))
        return words.listed(words(key) if key in words else names.visible(key.partition(".")[2]) for key in found)
    key = f"values.{'method' if name == 'other_method' else name}.{value}"
    return words(key) if key in words else names.visible(value)


def rule(code: str, words: Words) -> Text:
    """The rule behind a finding's code, in words."""
    key = f"rules.{code}"
    return words(key) if key in words else words("rules.other", code=names.visible(code))
