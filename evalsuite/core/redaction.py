"""Finds secrets in what evalsuite writes for others, and names them in their place: `[secret: --password]`.

Signs are a name, the shape that an issuer gives, credentials in an address, and text that only a machine can make.
"""

import base64
import functools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from evalsuite.core import paths
from evalsuite.core.messages import Message

_STEMS = ("pass", "pwd", "secret", "token", "credential", "auth", "bearer", "cookie", "session", "key", "connection",
          "dsn", "sas", "signature", "netrc", "pw", "密码", "口令", "密钥", "令牌")  # fmt: skip
_WRAP = r"(?:\\?\r?\n)?"  # where a terminal or a shell broke the line


def _wrapped(length: int) -> str:
    return rf"[A-Za-z0-9](?:{_WRAP}[A-Za-z0-9]){{{length - 1}}}(?![A-Za-z0-9])"


def _is_login(match: "re.Match[str]") -> bool:
    try:
        return b":" in base64.b64decode(match["word"], validate=True)
    except ValueError:
        return False


_PEM = r"(?:\s|\\[rn]|[\"',])*+"


def _shape(
    stems: Sequence[str] = (), shape: Sequence[str] = (), prefixes: str = ""
) -> "tuple[Sequence[str], re.Pattern[str]]":
    text = "".join(shape).replace("{gap}", _PEM).replace("{prefixes}", "|".join(map(re.escape, prefixes.split())))
    text = re.sub(r"\{wrapped:(\d+)\}", lambda match: _wrapped(int(match[1])), text)
    return stems or prefixes.lower().split(), re.compile(text, re.ASCII)


_SHAPES = {name: _shape(**given) for name, given in paths.read_data("secret_shapes.toml").items()}


_DECLARED = paths.read_data("secret_signs.toml")
_SIGNS = {
    name: re.compile(re.sub(r"\{([a-z]+)\}", lambda match: "".join(_DECLARED["named"][match[1]]), "".join(parts)))
    for name, parts in _DECLARED["signs"].items()
}
_PLACES = ("wandb", "swanlab", "hit enter", "sshpass", "mysql", "mariadb", "-u")
WORDY = 3.0  # letters of a part: random text has fewer than two
LEAST_BITS = 4.2  # per character: words and file names have below 4, random text above 4.5


@functools.lru_cache(maxsize=1 << 12)
def is_secret_name(name: str) -> bool:
    """Of an option, a variable or a key: `HF_TOKEN`."""
    plain = name.strip("-\"' ")
    if _SIGNS["harmless"].search(plain.lower().replace("-", "_")):
        return False
    return bool(_SIGNS["name"].search(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", plain)))


def redact(text: str) -> str:
    """*text* or the values of a message, with each secret replaced by its name."""
    return text.map(_redacted) if isinstance(text, Message) else _redacted(text)


def _redacted(text: str) -> str:
    return _redact_short(text) if len(text) < SHORT else _redact(text)


SHORT = 4096  # characters; longer texts rarely come twice


def _redact(text: str) -> str:
    out, behind = [], 0
    for start, end, name in _places(text):
        out += [text[behind:start], _mark(name)]
        behind = end
    return "".join(out) + text[behind:]


_redact_short = functools.lru_cache(maxsize=1 << 14)(_redact)


def redact_words(line: Sequence[str]) -> tuple[str, ...]:
    """A command line without secrets; an option's name marks the next word too."""
    words_left, before = [], ""
    for place, word in enumerate(line):
        joined = " ".join(line[max(0, place - 3) : place + 1])
        by_place = next((match for match in _SIGNS["by_place"].finditer(joined) if match.end() == len(joined)), None)
        if before.startswith("-") and "=" not in before and is_secret_name(before) and not word.startswith("--"):
            words_left.append(_mark(before))
        elif by_place and word.endswith(by_place["value"]):
            words_left.append(word.removesuffix(by_place["value"]) + _mark(_placed(by_place)))
        else:
            words_left.append(redact(word))
        before = word
    return tuple(words_left)


def redact_variables(given: Mapping[str, str]) -> dict[str, str]:
    return {
        name: _mark(name) if value and is_secret_name(name) and not value.isdigit() else redact(value)
        for name, value in given.items()
    }


def redact_value(thing: object) -> object:
    if isinstance(thing, str):
        return redact(thing)
    if isinstance(thing, Mapping):
        return {name: redact_value(value) for name, value in thing.items()}
    return [redact_value(value) for value in thing] if isinstance(thing, list | tuple) else thing


def find_secret(thing: object, key: str = "") -> str | None:
    """The key of the first secret in a JSON or TOML value."""
    if isinstance(thing, str):
        return (key or "the text") if redact(thing) != thing or _is_named_secret(key, thing) else None
    inside: Iterable[tuple[str, object]] = ()
    if isinstance(thing, Mapping):
        inside = ((f"{key}.{name}" if key else str(name), value) for name, value in thing.items())
    elif isinstance(thing, list | tuple):
        inside = ((f"{key}[{place}]", value) for place, value in enumerate(thing))
    return next((where for name, value in inside if (where := find_secret(value, redact(name)))), None)


def _is_named_secret(key: str, value: str) -> bool:
    return is_secret_name(key) and bool(value) and not value.isdigit() and not _is_hidden(value)


def _is_hidden(value: str) -> bool:
    return value.startswith("[secret:") or not value.strip("*")


def is_issued(text: str) -> bool:
    """Whether *text* certainly holds a secret, by its shape."""
    return any(certain for _, _, _, certain in _signs(text))


def mask_secrets(text: bytes) -> bytes:
    """*text* with `*` over each byte of a secret: lengths and places stay."""
    decoded = text.decode("utf-8", "surrogateescape")
    out, behind = bytearray(), 0
    for start, end, _ in _places(decoded):
        out += decoded[behind:start].encode("utf-8", "surrogateescape")
        hidden = decoded[start:end].encode("utf-8", "surrogateescape")
        out += bytes(byte if byte in b"\r\n" else ord("*") for byte in hidden)
        behind = end
    return bytes(out) + decoded[behind:].encode("utf-8", "surrogateescape")


def _places(text: str) -> list[tuple[int, int, str]]:
    """(start, end, name) of each secret, in order; of several in one place the surest sign gives the name."""
    marks = (
        [(match.start(), match.end(), 0, "") for match in _SIGNS["mark"].finditer(text)] if "[secret:" in text else []
    )
    signs = [(start, end, place, name) for place, (start, end, name, _) in enumerate(_signs(text), 1)]
    places: list[tuple[int, int, int, str]] = []
    for start, end, sure, name in sorted(signs + marks):
        if places and start < places[-1][1]:
            before = places.pop()
            start, end = before[0], max(end, before[1])
            sure, name = min((sure, name), before[2:])
        places.append((start, end, sure, name))
    return [(start, end, name) for start, end, _, name in places if name]


def _signs(text: str) -> Iterator[tuple[int, int, str, bool]]:
    """(start, end, name, whether it is one for certain), the surest sign first. Each is one pass over *text*."""
    lowered = text.lower()
    for name, (stems, shape) in _SHAPES.items():
        if any(stem in lowered for stem in stems):
            matches = (match for match in shape.finditer(text) if name != "basic" or _is_login(match))
            yield from ((*match.span(), name, True) for match in matches)
    if "@" in text or "%40" in text:
        for match in filter(_is_held, _SIGNS["address"].finditer(text)):
            yield match.start("user"), max(match.end("user"), match.end("word")), "credentials", True
    if "=" in text:
        matches = (match for match in _SIGNS["query"].finditer(text) if not _is_hidden(match["value"]))
        yield from ((*match.span("value"), match["name"], True) for match in matches)
    if any(place in text for place in _PLACES):
        yield from ((*match.span("value"), _placed(match), False) for match in _SIGNS["by_place"].finditer(text))
    if any(stem in lowered for stem in _STEMS):
        yield from _given(text)
    if "@" in text:
        yield from ((*match.span(), "e-mail", False) for match in _SIGNS["mail"].finditer(text))
    yield from (
        (*match.span(), "random text", False) for match in _SIGNS["random"].finditer(text) if _is_random(match[0])
    )


def _given(text: str) -> Iterator[tuple[int, int, str, bool]]:
    match = _SIGNS["given"].search(text)
    while match:
        before = _SIGNS["run"].search(text, max(0, match.start() - LONGEST_NAME), match.start())
        name, end = (before[0] if before else "") + match["name"], match.start("value")
        if _has_secret(name, match["between"], match["value"]):
            whole = match if match["value"][0] in "\"'" else _SIGNS["rest"].match(text, match.end())
            end = whole.end() if whole else match.end()
            yield match.start("value"), end, name, False
        match = _SIGNS["given"].search(text, end)


LONGEST_NAME = 60


def _placed(match: "re.Match[str]") -> str:
    return match["before"].split()[0].split("=")[0]


def _mark(name: str) -> str:
    return f"[secret: {name.strip()}]"


def _is_held(match: "re.Match[str]") -> bool:
    """Whether an address has credentials; `git@host` names an account."""
    if match["word"] is not None:
        return bool(match["word"].strip("*"))
    return len(match["user"]) >= 16 and bool(match["user"].strip("*"))


def _has_secret(name: str, between: str, given: str) -> bool:
    """Whether a secret follows, and not the rest of a sentence ("token 120", "password is wrong") or code."""
    value = given.strip("\"'")
    if not is_secret_name(name) or _is_hidden(value) or _is_prose(name, between, value):
        return False
    if _SIGNS["no_secret"].fullmatch(value) or (name.lower().endswith("signature") and "(" in value):
        return False
    spoken = between.isspace() or any(sign in between for sign in ":\N{FULLWIDTH COLON}是为")
    return name.startswith("-") or not spoken or not value.rstrip(".:!?").isalpha()


def _is_prose(name: str, between: str, value: str) -> bool:
    """Whether a name is a word of a sentence: Chinese after an English one is no password ("每秒 token 数")."""
    return between.isspace() and name.isascii() and value > "\x7f" and not name.startswith("-")


def _is_random(word: str) -> bool:
    """Upper case, lower case and digits without a pattern, and no hash or mangled name of C++."""
    if _SIGNS["digest"].fullmatch(word) or word.count("/") > 2 or word.count("-") > 3 or word.count("_") > 3:
        return False
    kinds = (any(c.islower() for c in word), any(c.isupper() for c in word), any(c.isdigit() for c in word))
    if not all(kinds) or word.startswith("_Z") or len(word) >= WORDY * len(_SIGNS["part"].findall(word)):
        return False
    counts = [word.count(letter) for letter in set(word)]
    return -sum(n / len(word) * math.log2(n / len(word)) for n in counts) >= LEAST_BITS
