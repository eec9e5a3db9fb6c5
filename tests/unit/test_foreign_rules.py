"""A second opinion on secrets: an example of what each rule of gitleaks finds (tests/data/gitleaks) is blanked."""

import random
import re
import string
import tomllib
from pathlib import Path
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]

import pytest

from evalsuite.core import redaction
from tests import sources

FILE = Path(__file__).parents[1] / "data" / "gitleaks" / "rules.toml"
RULES = {rule["id"]: rule["regex"] for rule in tomllib.loads(FILE.read_text(encoding="utf-8"))["rules"]}
BEHIND_A_NAME = r"""(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)[\x60'"\s=]{0,5}"""
FEW = 3  # of what may come any number of times
LETTERS = string.ascii_letters + string.digits
CLASSES = {
    sre.CATEGORY_DIGIT: string.digits, sre.CATEGORY_WORD: LETTERS + "_", sre.CATEGORY_SPACE: "\n",
    sre.CATEGORY_NOT_SPACE: LETTERS,
}  # fmt: skip
NOT_BLANKED = sources.table("foreign_rules.toml")["not_blanked"]


def in_python(shape):
    """RE2's *shape* as Python's `re` takes it: flags that begin in the middle hold for all of it."""
    shape = (
        shape.replace("[:alnum:]", "A-Za-z0-9").replace(r"\z", r"\Z").replace("hooks.slack.com", r"hooks\.slack\.com")
    )
    return f"(?i){shape.replace('(?i)', '')}" if "(?i)" in shape else shape


def text_of(parsed, chance):
    """A text that the *parsed* expression finds, by chance."""
    return "".join(_part(kind, given, chance) for kind, given in parsed)


def _part(kind, given, chance):
    match kind:
        case sre.LITERAL:
            return chr(given)
        case sre.ANY | sre.NOT_LITERAL:
            return chance.choice(LETTERS)
        case sre.IN:
            return chance.choice(_letters(given))
        case sre.BRANCH:
            return text_of(chance.choice(given[1]), chance)
        case sre.SUBPATTERN:
            return text_of(given[-1], chance)
        case sre.MAX_REPEAT | sre.MIN_REPEAT:
            least, most, inner = given
            return "".join(text_of(inner, chance) for _ in range(chance.randint(least, min(most, least + FEW))))
    return ""  # a place between letters


def _letters(given):
    if given[0][0] == sre.NEGATE:
        return [each for each in f"{LETTERS} ;" if each not in _letters(given[1:])]
    ranges = {sre.LITERAL: lambda at: chr(at), sre.RANGE: lambda at: "".join(map(chr, range(at[0], at[1] + 1)))}
    return "".join(ranges.get(kind, CLASSES.get)(one) for kind, one in given)


def example(name, chance):
    """(line, secret): of what has no shape of its own, the secret behind the rule's name."""
    before, named, secret = RULES[name].rpartition(BEHIND_A_NAME)
    flags = "(?i)" if "(?i)" in before else ""
    shape = in_python(flags + secret)
    text = text_of(parser.parse(shape), chance)
    match = re.search(shape, text)
    hidden = next(filter(None, match.groups()), match[0]) if match else text
    return (f"{name.replace('-', '_')}={text}" if named else text), hidden.strip("'\"")


@pytest.mark.parametrize("name", RULES)
def test_what_another_scanner_takes_for_a_secret_is_blanked(name):
    chance = random.Random(name)
    lines = [example(name, chance) for _ in range(5)]
    shown = [line for line, secret in lines if secret in redaction.redact(f"begin {line}\nend")]

    assert bool(shown) == (name in NOT_BLANKED), shown
