"""Numbers that go on behind what a pattern takes of them: `9,399.8`, of which `[\\d.]+` finds a 9.

A number is read whole or its line is not read at all. Where a group of digits is followed by more of a number, the
number is written as the pattern expects it, and the line is read again.
"""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal

from evalsuite.dialect import Line

LOOKED_BACK = 4096  # bytes before a report, which its dialect may read, too
# more digits · ,399 · .5 but not .0 · _399 · e+03
_GOES_ON = re.compile(rb"[,_]?\d|\.(?!0+(?!\d))\d|[eE][+-]?\d")
_BEGINNINGS = frozenset(bytes([byte]) for byte in b"0123456789,_.eE")  # of what goes on
# 9,399.8 · 9_399.8 · 9.4e+03
_WHOLE = re.compile(
    rb"(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,3}(?:_\d{3})+(?:\.\d+)?|\d+(?:\.\d*)?[eE][+-]?\d{1,2})(?![,_]?\d|\.\d)"
)
_ANY_WHOLE = re.compile(rb"(?<![\d.,_\w])" + _WHOLE.pattern)
OTHERWISE_WRITTEN = (
    "numbers of its reports are written as 1,234 or 1.2e+03, where the script prints plain digits: those reports are "
    "not read, and the others are not all. Give the file that the script wrote"
)
_NUMBER = re.compile(rb"[-+]?\d[\d.]*(?:[eE][+-]?\d+)?")
_TAILS = (b",399", b"_399", b".5", b"e+03")


def in_full(match: "re.Match[bytes]", line: Line) -> "re.Match[bytes] | None":
    """*match*, or that of the same line with its numbers in plain digits; None if one of them cannot be told."""
    return _again(match, line) if _lacks_digits(match, _open_groups(line)) else match


def all_in_full(matches: Sequence["re.Match[bytes]"], line: Line) -> list["re.Match[bytes] | None"]:
    """The same of several *matches* of one *line*."""
    groups = _open_groups(line)
    behind = {match.string[(end := match.end(group)) : end + 1] for group in groups for match in matches}
    if behind.isdisjoint(_BEGINNINGS):
        return [*matches]
    return [_again(match, line) if _lacks_digits(match, groups) else match for match in matches]


def _lacks_digits(match: "re.Match[bytes]", groups: Sequence[int]) -> bool:
    """Does a number that *match* takes in one of the *groups* go on behind it?"""
    text = match.string
    for group in groups:
        end = match.end(group)
        more = end > 0 and text[end : end + 1] in _BEGINNINGS and _GOES_ON.match(text, end)
        if more and _NUMBER.fullmatch(match[group]):
            return True
    return False


def _again(match: "re.Match[bytes]", line: Line) -> "re.Match[bytes] | None":
    begin = max(0, match.start() - LOOKED_BACK)
    end = match.string.find(b"\n", match.end()) + 1 or len(match.string)
    start, text = match.start() - begin, match.string[begin:end]
    again = line.compiled.match(text, start)
    for group in _open_groups(line):
        if again is None or again.end(group) < 0 or _GOES_ON.match(text, again.end(group)) is None:
            continue
        number = _WHOLE.match(text, again.start(group))
        if number is None or number.end() <= again.end(group):
            return None
        text = text[: number.start()] + _plain(number[0]) + text[number.end() :]
        again = line.compiled.match(text, start)
    return None if again is None or _lacks_digits(again, _open_groups(line)) else again


def _plain(number: bytes) -> bytes:
    plain = format(Decimal(number.replace(b",", b"").decode()), "f").encode()
    return plain.rstrip(b"0").rstrip(b".") if b"." in plain else plain


def in_plain_digits(text: bytes, begin: int, line: Line) -> "re.Match[bytes] | None":
    """The *line* that begins in *text* at *begin*, once its numbers are written in plain digits; None if it is none."""
    end = text.find(b"\n", begin) + 1 or len(text)
    plain = _ANY_WHOLE.sub(lambda number: _plain(number[0]), text[begin:end])
    found = None if plain == text[begin:end] else line.compiled.match(plain)
    return found if found is not None and line.read(found) is not None else None


_OPEN: dict[int, tuple[Line, tuple[int, ...]]] = {}  # by the identity of a line, which is kept so that it stays its own


def _open_groups(line: Line) -> tuple[int, ...]:
    """The groups of *line* behind which a number may go on unseen: told by its sample, once for each line."""
    known = _OPEN.get(id(line))
    if known is None:
        known = _OPEN[id(line)] = (line, tuple(_told_open(line)))
    return known[1]


def _told_open(line: Line) -> Iterator[int]:
    usual = line.compiled.search(line.sample)
    for group in range(1, line.compiled.groups + 1) if usual else ():
        if usual is None or usual[group] is None:
            yield group  # the sample does not tell
        elif not _NUMBER.fullmatch(usual[group]) or _GOES_ON.match(line.sample, usual.end(group)):
            continue  # no number, or one behind which the script itself prints more
        elif any(_unseen(line, usual, group, tail) for tail in _TAILS):
            yield group


def _unseen(line: Line, usual: "re.Match[bytes]", group: int, tail: bytes) -> bool:
    """Does *line* find the same in its sample when the number of *group* goes on with *tail*?"""
    end = usual.end(group)
    found = line.compiled.search(line.sample[:end] + tail + line.sample[end:])
    return found is not None and found[group] == usual[group]
