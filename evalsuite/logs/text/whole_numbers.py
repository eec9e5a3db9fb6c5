"""Numbers that go on behind what a pattern takes of them: of `9,399.8` the pattern `[\\d.]+` finds a 9.

A line with such a number is not read.
"""

import re
from collections.abc import Iterator

from evalsuite.dialect import Line

# more digits · ,399 · .5 but not .0 · _399 · e+03
_GOES_ON = re.compile(rb"[,_]?\d|\.(?!0+(?!\d))\d|[eE][+-]?\d")
_BEGINNINGS = frozenset(bytes([byte]) for byte in b"0123456789,_.eE")  # of what goes on
_NUMBER = re.compile(rb"[-+]?\d[\d.]*(?:[eE][+-]?\d+)?")
_TAILS = (b",399", b"_399", b".5", b"e+03")


def is_whole(match: "re.Match[bytes]", line: Line) -> bool:
    """False where a number that *match* takes goes on behind it."""
    text = match.string
    for group in _open_groups(line):
        end = match.end(group)
        more = end > 0 and text[end : end + 1] in _BEGINNINGS and _GOES_ON.match(text, end)
        if more and _NUMBER.fullmatch(match[group]):
            return False
    return True


_OPEN: dict[int, tuple[Line, tuple[int, ...]]] = {}  # by the identity of a line, which is kept so that it stays its own


def _open_groups(line: Line) -> tuple[int, ...]:
    """The groups of *line* behind which a number may go on unseen: told by its sample, once for each line."""
    known = _OPEN.get(id(line))
    if known is None:
        known = _OPEN[id(line)] = (line, tuple(_find_open_groups(line)))
    return known[1]


def _find_open_groups(line: Line) -> Iterator[int]:
    usual = line.compiled.search(line.sample)
    for group in range(1, line.compiled.groups + 1) if usual else ():
        if usual is None or usual[group] is None:
            yield group  # the sample does not tell
        elif not _NUMBER.fullmatch(usual[group]) or _GOES_ON.match(line.sample, usual.end(group)):
            continue  # no number, or one behind which the script itself prints more
        elif any(_is_unseen(line, usual, group, tail) for tail in _TAILS):
            yield group


def _is_unseen(line: Line, usual: "re.Match[bytes]", group: int, tail: bytes) -> bool:
    """Does *line* find the same in its sample when the number of *group* goes on with *tail*?"""
    end = usual.end(group)
    found = line.compiled.search(line.sample[:end] + tail + line.sample[end:])
    return found is not None and found[group] == usual[group]
