"""Finds secrets in what evalsuite writes for others, and names them in their place: `[secret: --password]`. Signs are a
name, an issuer's shape, what only chance writes, and credentials; nothing else is found (SECURITY.md)."""

import base64
import functools
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from evalsuite.core import paths
from evalsuite.core.messages import Message

_DATA = paths.read_data("secrets.toml")
_NAMED = {name: "".join(texts) for name, texts in _DATA["named"].items()}
_Places = list[tuple[int, int, str]]  # start, end, name
_Lines = dict[tuple[str, str], list[tuple[int, int]]]  # name and pattern → where it is searched
_MARK = re.compile(r"\\?\[secret: [^\]\n]{1,200}\]")
SHORTEST = 12  # characters of what has a shape
SHORT = 4096  # characters; longer texts rarely come twice
LONGEST_NAME = 60
# of a random key's places; of 24 letters chance lets expect 0.62, 0.84, 0.05
CHANGING, DISTINCT, IN_WORDS = 0.4, 0.6, 0.4


@functools.cache
def _sign(name: str) -> "re.Pattern[str]":
    """The pattern of this name, or with this text, compiled at the first use."""
    text = "".join(_DATA["signs"].get(name, name))
    for _ in range(3):  # a part may name others
        text = re.sub(r"\{([a-z]+)\}", lambda match: _NAMED[match[1]], text)
    return re.compile(text)


@functools.cache
def _stems() -> tuple["re.Pattern[str]", dict[str, list[tuple[str, str]]]]:
    """(Finds the longest stem at each place; stem → names and patterns of what it may be part of)."""
    rows: dict[str, list[tuple[str, str]]] = {}
    for name, shapes in _DATA["shapes"].items():
        for stems, texts in shapes.items():
            for stem in stems.replace("{prefixes}", _NAMED["prefixes"].replace("\\", "").lower()).split("|"):
                rows.setdefault(stem, []).append((name, "".join(texts)))
    by_letter = itertools.groupby(sorted(filter(None, rows), reverse=True), lambda stem: re.escape(stem[0]))
    rests = {letter: "|".join(re.escape(stem[1:]) for stem in of) for letter, of in by_letter}
    longest = "|".join(f"{letter}(?:{rest})" for letter, rest in rests.items())
    within = {stem: [row for end in range(len(stem)) for row in rows.get(stem[: end + 1], ())] for stem in rows}
    return re.compile(f"[{''.join(rests)}](?<=(?=({longest})).)"), {**within, "": rows[""]}


@functools.lru_cache(maxsize=1 << 12)
def is_secret_name(name: str) -> bool:
    """Of an option, a variable or a key: `HF_TOKEN`."""
    plain = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name.strip("-\"' "))
    return bool(_sign("name").search(plain)) and not _sign("harmless").search(plain.lower().replace("-", "_"))


def redact(text: str) -> str:
    """*text* or the values of a message, with each secret replaced by its name."""
    return text.map(redact) if isinstance(text, Message) else _redact(text, _places(text))


def _redact(text: str, places: _Places, shown: Callable[[str, str], str] = lambda _, name: _mark(name)) -> str:
    out, behind = [], 0
    for start, end, name in places:
        out += [text[behind:start], shown(text[start:end], name)]
        behind = end
    return "".join(out) + text[behind:]


def redact_words(line: Sequence[str]) -> tuple[str, ...]:
    """A command line without secrets; an option's name marks the whole next word."""
    places, at, out = _places(" ".join(line)), 0, list[str]()
    for before, word in zip(("", *line), line, strict=False):
        named = is_secret_name(before) and out[-1:] == [before] and "=" not in before and not word.startswith("--")
        there = ((max(start - at, 0), min(end - at, len(word)), name) for start, end, name in places)
        inside = _merged([*_places(word), *(place for place in there if place[0] < place[1])])
        out.append(_mark(before) if named and (before.startswith("-") or "_" in before) else _redact(word, inside))
        at += len(word) + 1
    return tuple(out)


def redact_variables(given: Mapping[str, str]) -> dict[str, str]:
    return {name: _mark(name) if _is_named_secret(name, value) else redact(value) for name, value in given.items()}


def find_secret(thing: object, key: str = "") -> str | None:
    """The key of the first secret in a JSON or TOML value."""
    if isinstance(thing, str):
        return (key or "the text") if redact(thing) != thing or _is_named_secret(key, thing) else None
    parts = thing if isinstance(thing, list | tuple) else ()
    inside: Iterable[tuple[str, object]] = ((f"{key}[{place}]", value) for place, value in enumerate(parts))
    if isinstance(thing, Mapping):
        inside = ((f"{key}.{name}" if key else str(name), value) for name, value in thing.items())
    return next((where for name, value in inside if (where := find_secret(value, redact(name)))), None)


def _is_named_secret(key: str, value: str) -> bool:
    return is_secret_name(key) and not _is_hidden(_hide_marks(value)) and not value.isdigit()


def find_issued(text: str) -> int | None:
    """Where in *text* the first begins that certainly is a secret, by its shape."""
    text = _hide_marks(text)
    return min((start for start, *_ in _find_issued(text, _lines(text))), default=None)


def mask_secrets(text: bytes) -> bytes:
    """*text* with `*` over each byte of a secret: lengths and places stay."""
    said = text.decode("utf-8", "surrogateescape")
    star = lambda secret, _: re.sub(rb"[^\r\n]", b"*", secret.encode("utf-8", "surrogateescape")).decode()  # noqa: E731
    return _redact(said, _places(said), star).encode("utf-8", "surrogateescape")


def _places(text: str) -> _Places:
    """Of each secret, in order; where several meet, the first gives the name."""
    return _short_places(text) if len(text) < SHORT else _find(text)


def _find(text: str) -> _Places:
    text = _hide_marks(text)
    lines = _lines(text)
    by_lines = *_find_issued(text, lines), *_find_named(text, lines)
    return _merged([*by_lines, *_find_random(text), *_find_in_tables(text)])


def _lines(text: str) -> _Lines:
    """Where each shape is searched: in lines with a stem of it, or from the first on if it may end on a later one."""
    stems, rows = _stems()
    found: _Lines = {row: [(0, len(text))] for row in rows[""]}
    start = end = 0
    for match in stems.finditer(text.replace("\u0130", "i").lower()):  # of this letter alone would become two
        if (at := match.start()) >= end:
            start, end = max(text.rfind("\n", 0, at), 0), text.find("\n", at) % (len(text) + 1)
        for row in rows[match[1]]:
            lines = found.setdefault(row, [])
            if not lines or lines[-1][1] <= at:
                lines.append((start, len(text) if row[0] in _DATA["over_lines"] else end))
    return found


def _merged(found: Iterable[tuple[int, int, str]]) -> _Places:
    places: _Places = []
    for start, end, name in sorted(found):
        if places and start < places[-1][1]:
            places[-1] = (places[-1][0], max(end, places[-1][1]), places[-1][2])
        else:
            places.append((start, end, name))
    return places


_short_places = functools.lru_cache(maxsize=1 << 14)(_find)


def _hide_marks(text: str) -> str:
    return _MARK.sub(lambda mark: "\0" * len(mark[0]), text) if "[secret:" in text else text


def _is_hidden(value: str) -> bool:
    return not value.strip("*") or value.startswith("\0")


def _find_issued(text: str, lines: _Lines) -> Iterator[tuple[int, int, str]]:
    """(start, end, name) of what certainly is a secret."""
    for (name, shape), places in lines.items() if len(text) >= SHORTEST else ():
        for match in (match for place in places for match in _sign(shape).finditer(text, *place) if name != "name"):
            part = 0 if name == "basic" else match.lastgroup or 0  # of what is found, or all of it
            login = name != "basic" or ":" in (_decode(match["word"]) or "")
            if login and "\0" not in (match[part].strip("*") or "\0"):
                yield *match.span(part), name
    for match in _sign("address").finditer(text) if "@" in text or "%40" in text else ():
        user, word = match["user"], match["word"]
        if not _is_hidden(user if word is None else word) and (word is not None or len(user) >= 16):  # git@host is none
            yield match.start("user"), max(match.end("user"), match.end("word")), "credentials"
    for match in _sign("query").finditer(text) if "=" in text else ():
        if not _is_hidden(match["value"]):
            yield *match.span("value"), match["name"]


def _find_random(text: str) -> Iterator[tuple[int, int, str]]:
    """(start, end, name) of what only chance writes, and of base64 in which a secret stands."""
    public = functools.cache(lambda: [each.span() for each in _sign("public").finditer(text)])
    for match in _sign("token").finditer(text):
        whole = re.sub("[+/]", "", match[0]) if "+" in match[0] else match[0]  # no path
        said = _decode(match[0]) if (runs := _sign("mixed").findall(whole)) else ""
        found = any(map(_is_random, runs)) if said is None else _sign("pair").fullmatch(said) or redact(said) != said
        if found and not any(start < match.end() and match.start() < end for start, end in public()):
            yield *match.span(), "random key"


def _decode(token: str) -> str | None:
    """What *token* says in base64, if that is a text."""
    bare = token.rstrip("=")
    try:
        said = base64.b64decode(bare + "=" * (-len(bare) % 4), validate=True).decode()
    except ValueError:
        return None
    return said if said.replace("\n", "").isprintable() else None


def _is_random(run: str) -> bool:
    """Whether the kinds of letters change as often as chance lets them, most are others, and few stand in words."""
    changes, words = len(_sign("change").findall(run)), sum(map(len, _sign("word").findall(run)))
    return changes > CHANGING * len(run) and len({*run[:24]}) > DISTINCT * len(run[:24]) and words < IN_WORDS * len(run)


def _find_named(text: str, lines: _Lines) -> Iterator[tuple[int, int, str]]:
    """(start, end, name) of what is given to a secret's name, and of addresses of people."""
    if "@" in text:
        yield from ((*match.span(), "e-mail") for match in _sign("mail").finditer(text))
    named = ((_sign(shape), place) for (name, shape), places in lines.items() if name == "name" for place in places)
    end = 0
    for begin in sorted({each.start() for shape, place in named for each in shape.finditer(text, *place)}):
        if begin < end or not (match := _sign("given").match(text, begin)):
            continue
        before = _sign("run").search(text, max(0, begin - LONGEST_NAME), begin)
        name, end = (before[0] if before else "") + match["name"], match.start("value")
        if _has_secret(name, match["between"], match["value"]):
            whole = match if match["value"][0] in "\"'" else _sign("rest").match(text, match.end())
            end = whole.end() if whole else match.end()
            yield match.start("value"), end, name
            end = match.start("value") if is_secret_name(match["value"]) else end  # `--secret dbPassword …`


def _find_in_tables(text: str) -> Iterator[tuple[int, int, str]]:
    """(start, end, name) of what stands below a secret's name in the head of a table: `user,password`."""
    for kind in ("head", "spaced") if "\n" in text else ():
        at = 0
        while match := _sign(kind).search(text, at):
            sign = re.escape(match["sign"])
            cell = re.compile(r"\S+" if kind == "spaced" else rf"(?m)(?:^|(?<={sign}))[^{sign}\n]*")
            heads = [*cell.finditer(text, match.start(), match.end())]
            place, at = sum(each.end() < match.start("name") for each in heads), match.end() + 1
            while len(cells := [*cell.finditer(text, at, end := text.find("\n", at) % (len(text) + 1))]) == len(heads):
                value = cells[place][0].strip(" \"'")
                if _has_secret("password", "|", value):
                    yield (start := text.index(value, cells[place].start())), start + len(value), match["name"]
                at = end + 1


def _mark(name: str) -> str:
    return f"[secret: {name.strip()}]"


def _has_secret(name: str, between: str, given: str) -> bool:
    """Whether a secret follows, and not the rest of a sentence ("token 120", "password is wrong") or code."""
    value = given.strip("\"'")
    if not is_secret_name(name) or _is_hidden(value) or _sign("no_secret").fullmatch(value):
        return False
    bare = between.isspace() and "\n" in between and name.isascii()
    if (bare or _sign("aside").fullmatch(between)) and not _sign("mixed_word").match(value):
        return False
    if name.startswith("-"):
        return True
    in_chinese = between.isspace() and name.isascii() and value > "\x7f"  # "每秒 token 数"
    if in_chinese or (name.lower().endswith("signature") and "(" in value):
        return False
    spoken = between.isspace() or any(sign in between for sign in ":|│\N{FULLWIDTH COLON}是为")
    long = not name.isascii() and value.isascii() and len(value) >= SHORTEST  # no word of a sentence
    return not spoken or long or not _sign("spoken").fullmatch(value.rstrip(".:!?"))
