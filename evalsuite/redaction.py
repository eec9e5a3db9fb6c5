"""Finds secrets in what evalsuite writes for others, and names them in their place: `[secret: --password]`.

Signs are a name, the shape that an issuer gives, credentials in an address, and text that only a machine can make.
"""

import functools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from evalsuite.messages import Message

# The last word of a name decides: HF_TOKEN, db.password, --api-key. `key` alone is too common.
_WORDS = (
    r"pass(?:word|wd|phrase|code)?|pwd|secret|token|credentials?|auth(?:orization)?|bearer|cookie|session[_-]?id|"
    r"(?:api|access|private|secret|signing|encryption|ssh|account|master|license|auth|wandb|comet|ucx|service)[_-]?key|"
    r"client[_-]?secret|connection[_-]?string|dsn|sas|signature|netrc"
)
_CHINESE = "密码|口令|密钥|令牌"
_NAME = re.compile(
    rf"(?:(?:^|[_.\-])(?:{_WORDS})(?:[_-]?(?:id|value|file|b64|base64|hash))?|(?:{_CHINESE}))$",
    re.IGNORECASE | re.ASCII,
)
# they end alike and mean items of text
HARMLESS = frozenset({
    "next_token", "eos_token", "pad_token", "bos_token", "unk_token", "mask_token", "cls_token", "sep_token",
    "per_token", "special_token", "max_token", "min_token", "num_token", "image_token", "ms_per_token",
    "seconds_per_token",
})  # fmt: skip
_ISSUED = re.compile(  # shapes that issuers give
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
    | (?P<web_hook>https://hooks\.slack\.com/services/[\w/]{16,}|https://discord(?:app)?\.com/api/webhooks/[\w/-]{16,})
    | (?P<bot_token>\b\d{8,10}:AA[\w-]{30,})
    | (?P<web_token>\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?)
    | (?P<bearer>\b(?:Bearer|Basic)[ ]+[\w+/.~-]{8,}=*)
    """,
    re.VERBOSE | re.ASCII,
)
# By place or after a short option: (before)(secret).
_BY_PLACE = re.compile(
    r"""(?P<before>\bwandb[ ]+login[ ]+(?:--?[\w-]+[ ]+)*|\bsshpass[ ]+-p[ ]*|"""
    r"""(?:^|[ ])(?:-u|--user)[ =]+["']?(?!\d+:\d{1,10}(?:["'\s]|$))[\w.@-]+:)"""  # 1000:1000 are ids
    r"""(?P<value>(?!\[secret:|\*)[^\s"'-][^\s"']*)""",
    re.ASCII,
)
_ADDRESS = re.compile(
    r"(?P<scheme>\b[A-Za-z][A-Za-z0-9+.-]*://)(?P<user>[^\s/@:'\"]*)(?::(?P<word>[^\s/@'\"]*))?@", re.ASCII
)
_QUERY = re.compile(
    rf"(?P<name>[?&;](?:[\w.-]*[_.-])?(?:{_WORDS}|sig|x-amz-[\w-]+)=)(?P<value>[^&\s'\"#]+)", re.IGNORECASE | re.ASCII
)
_GIVEN = re.compile(  # NAME=value, "name": "value", --name value, name: value
    rf"""(?P<name>(?<![\w])-{{0,2}}(?:[A-Za-z][\w.-]*[_.-])?(?:{_WORDS})|{_CHINESE})"""
    r"""(?P<between>["']?\s*(?:=(?!=)|[:\N{FULLWIDTH COLON}])\s*|(?<=\w)[ ]+|(?<=[\u4e00-\u9fff])(?:是|为|\s)\s*)"""
    r"""(?P<value>"[^"]*"|'[^']*'|[^\s,;"'&)\]}]+)""",
    re.IGNORECASE | re.ASCII,
)
_RANDOM = re.compile(r"(?<![\w/+.-])[A-Za-z0-9_+/-]{28,}={0,2}(?![\w/+.-])", re.ASCII)
_DIGEST = re.compile(
    r"(?:sha\d+[:-])?[0-9a-f]+|[0-9A-F]+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|sha(?:256|384|512)-[\w+/]+={0,2}"
)
LEAST_BITS = 4.2  # per character: words and file names have below 4, random text above 4.5


def is_secret_name(name: str) -> bool:
    """Of an option, a variable or a key: `HF_TOKEN`."""
    plain = name.strip("-\"' ")
    if plain.lower().replace("-", "_") in HARMLESS:
        return False
    return bool(_NAME.search(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", plain)))


def redact(text: str) -> str:
    """*text* or the values of a message, with each secret replaced by its name."""
    return text.map(_redacted) if isinstance(text, Message) else _redacted(text)


@functools.lru_cache(maxsize=1 << 14)
def _redacted(text: str) -> str:
    text = _ISSUED.sub(lambda match: _mark((match.lastgroup or "").replace("_", " ")), text)
    text = _ADDRESS.sub(_without_credentials, text)
    text = _QUERY.sub(_without_answer, text)
    text = _BY_PLACE.sub(lambda match: match["before"] + _mark(match["before"].split()[0].split("=")[0]), text)
    text = _GIVEN.sub(_without_value, text)
    return _RANDOM.sub(lambda match: _mark("random text") if _is_random(match[0]) else match[0], text)


def redact_words(line: Sequence[str]) -> tuple[str, ...]:
    """A command line without secrets; an option's name marks the next word too."""
    found, before = [], ""
    for place, word in enumerate(line):
        joined = " ".join(line[max(0, place - 3) : place + 1])
        by_place = next((match for match in _BY_PLACE.finditer(joined) if match.end() == len(joined)), None)
        if before.startswith("-") and "=" not in before and is_secret_name(before) and not word.startswith("--"):
            found.append(_mark(before))
        elif by_place and word.endswith(by_place["value"]):
            found.append(word.removesuffix(by_place["value"]) + _mark(by_place["before"].split()[0]))
        else:
            found.append(redact(word))
        before = word
    return tuple(found)


def redact_variables(given: Mapping[str, str]) -> dict[str, str]:
    """Texts by name, without secrets."""
    return {
        name: _mark(name) if value and is_secret_name(name) and not value.isdigit() else redact(value)
        for name, value in given.items()
    }


def redact_value(found: object) -> object:
    """A JSON value without secrets."""
    if isinstance(found, str):
        return redact(found)
    if isinstance(found, Mapping):
        return {name: redact_value(value) for name, value in found.items()}
    return [redact_value(value) for value in found] if isinstance(found, list | tuple) else found


def find_secret(found: object, key: str = "") -> str | None:
    """The key of the first secret in a JSON or TOML value."""
    if isinstance(found, str):
        return (key or "the text") if redact(found) != found or _is_named_secret(key, found) else None
    inside: Iterable[tuple[str, object]] = ()
    if isinstance(found, Mapping):
        inside = ((f"{key}.{name}" if key else str(name), value) for name, value in found.items())
    elif isinstance(found, list | tuple):
        inside = ((f"{key}[{place}]", value) for place, value in enumerate(found))
    return next((where for name, value in inside if (where := find_secret(value, redact(name)))), None)


def _is_named_secret(key: str, found: str) -> bool:
    return is_secret_name(key) and bool(found) and not found.isdigit() and not _is_hidden(found)


def _is_hidden(value: str) -> bool:
    """Whether *value* is a mark or a mask."""
    return value.startswith("[secret:") or not value.strip("*")


def is_issued(text: str) -> bool:
    """Whether *text* certainly holds a secret, by its shape."""
    if _ISSUED.search(text) or any(map(_is_held, _ADDRESS.finditer(text))):
        return True
    return any(not _is_hidden(match["value"]) for match in _QUERY.finditer(text))


def mask_secrets(text: bytes) -> bytes:
    """*text* with `*` over each byte of a secret: lengths and places stay."""
    decoded = text.decode("utf-8", "surrogateescape")
    out, behind = bytearray(), 0
    for start, end in sorted(_places(decoded)):
        if end > behind:
            out += decoded[behind:start].encode("utf-8", "surrogateescape")
            hidden = decoded[max(start, behind) : end].encode("utf-8", "surrogateescape")
            out += bytes(byte if byte in b"\r\n" else ord("*") for byte in hidden)
            behind = end
    return bytes(out) + decoded[behind:].encode("utf-8", "surrogateescape")


def _places(text: str) -> Iterator[tuple[int, int]]:
    yield from (match.span() for match in _ISSUED.finditer(text))
    yield from (match.span("word" if match["word"] else "user") for match in _ADDRESS.finditer(text) if _is_held(match))
    yield from (match.span("value") for match in _QUERY.finditer(text))
    yield from (match.span("value") for match in _BY_PLACE.finditer(text))
    yield from (match.span("value") for match in _GIVEN.finditer(text) if _has_secret(match))
    yield from (match.span() for match in _RANDOM.finditer(text) if _is_random(match[0]))


def _mark(name: str) -> str:
    return f"[secret: {name.strip()}]"


def _without_credentials(match: "re.Match[str]") -> str:
    return f"{match['scheme']}{_mark('credentials')}@" if _is_held(match) else match[0]


def _is_held(match: "re.Match[str]") -> bool:
    """Whether an address has credentials; `git@host` names an account."""
    if match["word"] is not None:
        return bool(match["word"].strip("*"))
    return len(match["user"]) >= 16 and bool(match["user"].strip("*"))


def _without_answer(match: "re.Match[str]") -> str:
    return match[0] if _is_hidden(match["value"]) else match["name"] + _mark(match["name"].strip("?&;="))


def _has_secret(match: "re.Match[str]") -> bool:
    """Whether a secret follows, and not the rest of a sentence ("token 120", "password is wrong")."""
    value = match["value"].strip("\"'")
    if not is_secret_name(match["name"]) or _is_hidden(value) or _is_prose(match):
        return False
    if re.fullmatch(r"[\d.,%]+|true|false|none|null|<\w+>", value, re.IGNORECASE):
        return False
    spoken = match["between"].isspace() or any(sign in match["between"] for sign in ":\N{FULLWIDTH COLON}是为")
    return match["name"].startswith("-") or not spoken or not value.rstrip(".:!?").isalpha()


def _is_prose(match: "re.Match[str]") -> bool:
    """Whether a name begins a phrase: `pass` is a verb ("pass case.nodes") or counts ("Pass 3/10"), and
    Chinese after an English word is no password ("每秒 token 数").
    """
    if not match["between"].isspace() or not match["name"].isascii():
        return False
    return match["name"].lower() == "pass" or (match["value"] > "\x7f" and not match["name"].startswith("-"))


def _without_value(match: "re.Match[str]") -> str:
    return match["name"] + match["between"] + _mark(match["name"]) if _has_secret(match) else match[0]


def _is_random(word: str) -> bool:
    """Upper case, lower case and digits without a pattern, and no hash."""
    if _DIGEST.fullmatch(word) or word.count("/") > 2 or word.count("-") > 3 or word.count("_") > 3:
        return False
    kinds = (any(c.islower() for c in word), any(c.isupper() for c in word), any(c.isdigit() for c in word))
    if not all(kinds):
        return False
    counts = [word.count(letter) for letter in set(word)]
    return -sum(n / len(word) * math.log2(n / len(word)) for n in counts) >= LEAST_BITS
