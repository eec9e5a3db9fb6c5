"""The dialects nearest to a log that none fits: which of its lines almost fit, and what they lack."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from evalsuite.dialect import NO_DIGITS, Dialect, Line
from evalsuite.logs.scan.failures import shown

SHOWN = 3
LEAST = 0.5  # of likeness, which is up to 2
MOST_SHAPES = 2000  # a log has a handful, noise any number
LINE_BYTES = 4096
SHARED_WORDS = 2
_WORD = re.compile(rb"[A-Za-z_][A-Za-z_]+")
_GROUP = re.compile(rb"\(\?P<(\w+)>")
_UNTYPICAL = frozenset((b"info", b"root", b"the", b"of", b"in", b"to"))  # are in lines of every script


@dataclass(frozen=True, kw_only=True)
class Part:
    """A piece of a pattern up to the end of one group: the group's name and how a sample has the piece."""

    group: str
    sample: str


@dataclass(frozen=True, kw_only=True)
class Near:
    """A dialect, the line of the log that is most like one of its step lines, and what that line lacks."""

    name: str
    title: str
    number: int
    text: str
    found: tuple[str, ...]  # groups whose piece of the pattern is in the line
    missing: tuple[Part, ...]
    sample: str
    likeness: float


@dataclass(frozen=True, kw_only=True)
class _Fragment:
    group: str
    pattern: "re.Pattern[bytes]"
    sample: bytes


def nearest(lines: Iterable[tuple[int, bytes]], dialects: Mapping[str, Dialect]) -> tuple[Near, ...]:
    examples: dict[bytes, tuple[int, bytes]] = {}
    for number, text in lines:
        if len(examples) >= MOST_SHAPES:
            break
        text = text[:LINE_BYTES]
        if any(48 <= byte <= 57 for byte in text):  # a line without a digit says no speed
            examples.setdefault(text.translate(None, NO_DIGITS), (number, text))
    worded = [(number, text, _words(text)) for number, text in examples.values()]
    best = (
        max(_likeness(dialect, worded), key=lambda near: near.likeness, default=None) for dialect in dialects.values()
    )
    found = [near for near in best if near is not None and near.likeness >= LEAST]
    return tuple(sorted(found, key=lambda near: (-near.likeness, near.name))[:SHOWN])


def _words(text: bytes) -> frozenset[bytes]:
    return frozenset(word.lower() for word in _WORD.findall(text)) - _UNTYPICAL


def _likeness(dialect: Dialect, worded: Iterable[tuple[int, bytes, frozenset[bytes]]]) -> Iterator[Near]:
    for line in dialect.telling:
        wanted = _words(line.sample)
        fragments = _fragments(line)
        for number, text, words in worded:
            shared = len(words & wanted)
            if shared < min(SHARED_WORDS, len(wanted)) or not fragments:
                continue
            held = [fragment for fragment in fragments if fragment.pattern.search(text)]
            if held:
                likeness = len(held) / len(fragments) + shared / len(words | wanted)
                yield _near(dialect, line, (number, text), fragments, likeness)


def _near(
    dialect: Dialect, line: Line, at: tuple[int, bytes], fragments: tuple[_Fragment, ...], likeness: float
) -> Near:
    number, text = at
    held = tuple(fragment.group for fragment in fragments if fragment.pattern.search(text))
    return Near(
        name=dialect.name,
        title=dialect.title,
        number=number,
        text=shown(text),
        found=held,
        missing=tuple(
            Part(group=fragment.group, sample=shown(fragment.sample))
            for fragment in fragments
            if fragment.group not in held
        ),
        sample=shown(line.sample),
        likeness=likeness,
    )


@cache
def _fragments(line: Line) -> tuple[_Fragment, ...]:
    """The pattern in pieces, each up to the end of an outer group. A piece without words would be found anywhere: it is
    left out."""
    found, begin = [], 0
    for group, end in _ends(line.pattern):
        piece = line.pattern[begin:end]
        begin = end
        try:
            pattern = re.compile(piece)
        except re.error:
            continue  # it needs what precedes it
        match = pattern.search(line.sample)
        if match is not None and _WORD.search(_literal(piece)):
            found.append(_Fragment(group=group, pattern=pattern, sample=_tail(match[0])))
    return tuple(found)


def _literal(piece: bytes) -> bytes:
    """The words that must be in *piece*, without groups and escapes."""
    return re.sub(rb"\(\?P<\w+>|\[\^?\]?[^\]]*\]|\\[A-Za-z]", b" ", piece)


def _tail(text: bytes) -> bytes:
    """The last words with their number: `tps: 5,868` of all that a lazy `.*?` has run over."""
    words = re.search(rb"[A-Za-z_][^\d]{0,40}[-+\d.,:e]*[^\d\s]*$", text)
    return words[0] if words else text[-40:]


def _ends(pattern: bytes) -> Iterator[tuple[str, int]]:
    """(name, end) of each outer named group, in order."""
    depth, name = 0, None
    for token in re.finditer(rb"\\.|\[\^?\]?[^\]]*\]|\(\?P<\w+>|[()]", pattern, re.DOTALL):
        if token[0].startswith(b"("):
            group = _GROUP.match(token[0])
            if depth == 0:
                name = group[1].decode() if group else None
            depth += 1
        elif token[0] == b")":
            depth -= 1
            if depth == 0 and name is not None:
                yield name, token.end()
                name = None
