"""What looks like a secret, and what stands in its place wherever evalsuite writes for others.

A command line, a variable or a line of a log may hold a password that nobody meant to publish. Here is said by which
signs one is known: the name that it goes by, the shape that its issuer gives it, an address with credentials, or a word
that only a machine can have made. What is taken out is named: `[secret: --password]`.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence

# The last word of a name says what it is: HF_TOKEN, db.password, --api-key. `key` alone is too common a word.
_WORDS = (
    r"pass(?:word|wd|phrase|code)?|pwd|secret|token|credentials?|auth(?:orization)?|bearer|cookie|session[_-]?id|"
    r"(?:api|access|private|secret|signing|encryption|ssh|account|master|license|auth|wandb|comet|ucx|service)[_-]?key|"
    r"client[_-]?secret|connection[_-]?string|dsn|sas|signature|netrc"
)
_NAME = re.compile(rf"(?:^|[_.\-])(?:{_WORDS})(?:[_-]?(?:id|value|file|b64|base64|hash))?$", re.IGNORECASE)
# Names that end like one and mean items of text: tokens per second are what a language model is measured by.
HARMLESS = frozenset({
    "next_token", "eos_token", "pad_token", "bos_token", "unk_token", "mask_token", "cls_token", "sep_token",
    "per_token", "special_token", "max_token", "min_token", "num_token", "image_token", "ms_per_token",
    "seconds_per_token",
})  # fmt: skip
_ISSUED = re.compile(  # shapes that issuers give, so that they can be found in published text
    r"""
      (?P<private_key>-----BEGIN[ A-Z]*PRIVATE[ ]KEY-----(?s:.*?)(?:-----END[ A-Z]*PRIVATE[ ]KEY-----|$))
    | (?P<aws_key>\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b)
    | (?P<github_token>\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,})
    | (?P<gitlab_token>\bgl(?:pat|dt|rt|ptt)-[\w-]{16,})
    | (?P<huggingface_token>\bhf_[A-Za-z0-9]{16,})
    | (?P<service_key>\b(?:sk|pk|rk)[-_](?:live|test|proj|ant|or)?[-_]?[A-Za-z0-9_-]{16,})
    | (?P<slack_token>\bxox[abeoprs]-[\w-]{8,})
    | (?P<google_key>\bAIza[\w-]{30,}|\bya29\.[\w.-]{16,})
    | (?P<npm_token>\bnpm_[A-Za-z0-9]{30,}|\bpypi-[\w-]{16,}|\bdop_v1_[0-9a-f]{32,})
    | (?P<web_token>\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?)
    | (?P<bearer>\b(?:Bearer|Basic)[ ]+[\w+/.~-]{8,}=*)
    """,
    re.VERBOSE,
)
_ADDRESS = re.compile(r"(?P<scheme>\b[A-Za-z][A-Za-z0-9+.-]*://)(?P<user>[^\s/@:'\"]*)(?::(?P<word>[^\s/@'\"]*))?@")
_QUERY = re.compile(
    rf"(?P<name>[?&;](?:[\w.-]*[_.-])?(?:{_WORDS}|sig|x-amz-[\w-]+)=)(?P<value>[^&\s'\"#]+)", re.IGNORECASE
)
_GIVEN = re.compile(  # NAME=value, "name": "value", --name value, name: value
    rf"""(?P<name>(?<![\w])-{{0,2}}(?:[A-Za-z][\w.-]*[_.-])?(?:{_WORDS}))(?P<between>["']?\s*(?:=|:)\s*|(?<=\w)[ ]+)"""
    r"""(?P<value>"[^"]*"|'[^']*'|[^\s,;"'&)\]}]+)""",
    re.IGNORECASE,
)
_RANDOM = re.compile(r"(?<![\w/+.-])[A-Za-z0-9_+/-]{28,}={0,2}(?![\w/+.-])")
_DIGEST = re.compile(r"(?:sha\d+[:-])?[0-9a-f]+|[0-9A-F]+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
LEAST_BITS = 4.2  # per character: English words and names of files have below 4, random letters and digits above 4.5
MARK = re.compile(r"\[secret: [^\]]*\]")


def is_secret_name(name: str) -> bool:
    """Whether what goes by *name*, an option, a variable or a key, is to be kept to oneself: `HF_TOKEN`."""
    plain = name.strip("-\"' ")
    return plain.lower() not in HARMLESS and bool(_NAME.search(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", plain)))


def redacted(text: str) -> str:
    """*text* with what looks like a secret replaced by what it is called."""
    text = _ISSUED.sub(lambda match: _mark((match.lastgroup or "").replace("_", " ")), text)
    text = _ADDRESS.sub(_without_credentials, text)
    text = _QUERY.sub(lambda match: match["name"] + _mark(match["name"].strip("?&;=")), text)
    text = _GIVEN.sub(_without_value, text)
    return _RANDOM.sub(lambda match: _mark("random text") if _is_random(match[0]) else match[0], text)


def words(line: Sequence[str]) -> tuple[str, ...]:
    """The words of a command line, less the secrets: also the word that follows an option called like one."""
    found, before = [], ""
    for word in line:
        if before.startswith("-") and "=" not in before and is_secret_name(before) and not word.startswith("--"):
            found.append(_mark(before))
        else:
            found.append(redacted(word))
        before = word
    return tuple(found)


def variables(given: Mapping[str, str]) -> dict[str, str]:
    """Variables, or other texts by name, less the secrets among them."""
    return {
        name: _mark(name) if value and is_secret_name(name) and not value.isdigit() else redacted(value)
        for name, value in given.items()
    }


def masked(text: bytes) -> bytes:
    """*text* with each secret in it overwritten by as many `*`: places and lengths stay what they were."""
    decoded, out = text.decode("latin-1"), bytearray(text)
    for start, end in _places(decoded):
        out[start:end] = bytes(b if b in b"\r\n" else ord("*") for b in out[start:end])
    return bytes(out)


def _places(text: str) -> Iterator[tuple[int, int]]:
    yield from (match.span() for match in _ISSUED.finditer(text))
    yield from (match.span("word" if match["word"] else "user") for match in _ADDRESS.finditer(text))
    yield from (match.span("value") for match in _QUERY.finditer(text))
    yield from (match.span("value") for match in _GIVEN.finditer(text) if _is_told(match))
    yield from (match.span() for match in _RANDOM.finditer(text) if _is_random(match[0]))


def _mark(name: str) -> str:
    return f"[secret: {name.strip()}]"


def _without_credentials(match: "re.Match[str]") -> str:
    """`https://[secret: credentials]@host`; ssh's `git@host` names an account that is no secret."""
    if match["word"] is None and (match["user"] in ("git", "") or len(match["user"]) < 16):
        return match[0]
    return f"{match['scheme']}{_mark('credentials')}@"


def _is_told(match: "re.Match[str]") -> bool:
    """Whether a name is followed by its secret, and not by more of a sentence ("token 120", "password is wrong")."""
    value = match["value"].strip("\"'")
    if not is_secret_name(match["name"]) or MARK.match(match["value"]) or value.startswith("[secret:") or not value:
        return False
    if re.fullmatch(r"[\d.,%]+|true|false|none|null|<\w+>", value, re.IGNORECASE):
        return False
    spoken = match["between"].isspace() or ":" in match["between"]
    return match["name"].startswith("-") or not spoken or not value.isalpha()


def _without_value(match: "re.Match[str]") -> str:
    return match["name"] + match["between"] + _mark(match["name"]) if _is_told(match) else match[0]


def _is_random(word: str) -> bool:
    """Whether only a machine can have made *word*: letters of both cases and digits without a pattern, and no hash."""
    if _DIGEST.fullmatch(word) or word.count("/") > 2 or word.count("-") > 3 or word.count("_") > 3:
        return False
    kinds = (any(c.islower() for c in word), any(c.isupper() for c in word), any(c.isdigit() for c in word))
    if not all(kinds):
        return False
    counts = [word.count(letter) for letter in set(word)]
    return -sum(n / len(word) * math.log2(n / len(word)) for n in counts) >= LEAST_BITS
