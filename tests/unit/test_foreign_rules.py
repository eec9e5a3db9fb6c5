"""A second opinion on secrets: an example of what each rule of gitleaks finds (tests/data/gitleaks) is blanked."""

import random
import re
import string
import tomllib
from pathlib import Path
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]

import pytest

from evalsuite import redaction

FILE = Path(__file__).parents[1] / "data" / "gitleaks" / "rules.toml"
RULES = {one["id"]: one["regex"] for one in tomllib.loads(FILE.read_text(encoding="utf-8"))["rules"]}
BEHIND_A_NAME = r"""(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)[\x60'"\s=]{0,5}"""
FEW = 3  # of what may come any number of times
LETTERS = string.ascii_letters + string.digits
CLASSES = {
    sre.CATEGORY_DIGIT: string.digits, sre.CATEGORY_WORD: LETTERS + "_", sre.CATEGORY_SPACE: "\n",
    sre.CATEGORY_NOT_SPACE: LETTERS,
}  # fmt: skip
AN_ID = "the name of an account, no secret"
NOT_BLANKED = {  # rule → why not
    **dict.fromkeys(
        ("adobe-client-id", "asana-client-id", "bitbucket-client-id", "discord-client-id", "linkedin-client-id",
         "looker-client-id", "messagebird-client-id", "plaid-client-id", "sendbird-access-id", "sumologic-access-id",
         "new-relic-user-api-id"), AN_ID),
    "mailgun-pub-key": "public",
    "facebook-access-token": "digits, a bar and letters, as tables have them",
    "curl-auth-header": "made by chance it is no user:password in base64; tests/planted.py has one that is",
    "curl-auth-user": "made by chance it stands in quotes of several kinds; tests/planted.py has a usual one",
    "jwt-base64": "made by chance it has line ends and backslashes in its middle",
    "slack-app-token": "made by chance it has fewer letters than any that is issued",
    "jwt": 'made by chance it does not begin with {" in base64, eyJ, as each web token does',
    "kubernetes-secret-yaml": "named by anybody, in base64: nothing says which of a file's values are secret",
    "sourcegraph-access-token": "40 hexadecimal digits are a commit; with its prefix it is blanked",
    "stripe-access-token": "made by chance it has fewer letters than any that is issued",
    "vault-service-token": "of old versions: an s, a dot and letters are an attribute in any program",
}  # fmt: skip


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
        return [one for one in f"{LETTERS} ;" if one not in _letters(given[1:])]
    ranges = {sre.LITERAL: lambda one: chr(one), sre.RANGE: lambda one: "".join(map(chr, range(one[0], one[1] + 1)))}
    return "".join(ranges.get(kind, CLASSES.get)(one) for kind, one in given)


def example(name, chance):
    """(line, secret): of what has no shape of its own, the secret behind the rule's name."""
    before, named, secret = RULES[name].rpartition(BEHIND_A_NAME)
    flags = "(?i)" if "(?i)" in before else ""
    shape = in_python(flags + secret)
    text = text_of(parser.parse(shape), chance)
    found = re.search(shape, text)
    hidden = next(filter(None, found.groups()), found[0]) if found else text
    return (f"{name.replace('-', '_')}={text}" if named else text), hidden.strip("'\"")


@pytest.mark.parametrize("name", RULES)
def test_what_another_scanner_takes_for_a_secret_is_blanked(name):
    chance = random.Random(name)
    lines = [example(name, chance) for _ in range(5)]
    shown = [line for line, secret in lines if secret in redaction.redact(f"begin {line}\nend")]

    assert bool(shown) == (name in NOT_BLANKED), shown
