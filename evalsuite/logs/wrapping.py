"""Lines that a terminal has cut at its width: told by what is found once they are joined again."""

import re
from collections import Counter

from evalsuite.dialect import Dialect
from evalsuite.logs.sniffing import Sniffer

NARROWEST, WIDEST = 40, 320  # columns of a terminal
USUAL = (80, 100, 120, 128, 132, 140, 160, 180, 200, 240)  # of another width, a longer number may meet by chance
FEWEST = 3  # lines of exactly that width, and none beyond it
SHARE = 0.3  # of the lines found have a number that is longer when joined; fewer may meet by chance
ENDS = 0.1  # of them are followed by the rest of a line; lines that are all as long were made so


def width(text: bytes) -> int | None:
    """The columns at which the lines of *text* may have been cut: the length of its longest, if several have it."""
    lengths = Counter(len(line.rstrip(b"\r")) for line in text.split(b"\n"))
    longest = max(lengths, default=0)
    if not NARROWEST <= longest <= WIDEST or lengths[longest] < FEWEST:
        return None
    ends = re.findall(rb"(?m)^[^\n]{%d}\r?\n(?![^\n]{%d}\r?$)" % (longest, longest), text)
    return longest if len(ends) >= max(FEWEST, lengths[longest] * ENDS) else None


def joined(text: bytes, columns: int) -> bytes:
    """*text* with each line of *columns* characters joined to the next."""
    parts = []
    for line in text.split(b"\n"):
        bare = line.rstrip(b"\r")
        parts.append(bare if len(bare) == columns else line + b"\n")
    return b"".join(parts)


def cut_at(text: bytes, dialect: Dialect | None, sniffer: Sniffer) -> int | None:
    """The width at which *text* was cut, if more lines of *dialect* (or of any) stand in it when they are joined."""
    columns = width(text)
    if columns is None:
        return None
    whole = joined(text, columns)
    if dialect is None:
        return columns if sniffer.fits(whole) else None
    before, after = _said(text, dialect), _said(whole, dialect)
    return columns if len(after) > len(before) or (columns in USUAL and _longer(before, after)) else None


def _longer(before: list[tuple[bytes, ...]], after: list[tuple[bytes, ...]]) -> bool:
    """Is any of the values cut short in *before*, and is all else the same?"""
    both = zip(before, after, strict=False)
    pairs = [(cut, full) for one, other in both for cut, full in zip(one, other, strict=False)]
    continued = all(full.startswith(cut) for cut, full in pairs)
    longer = sum(full != cut for cut, full in pairs)
    return len(before) == len(after) and continued and longer >= max(1, SHARE * len(before))


def _said(text: bytes, dialect: Dialect) -> list[tuple[bytes, ...]]:
    """What the lines of *dialect* say in *text*: a number that was cut at the end of a line is another one."""
    lines = (*dialect.step, *dialect.final, *dialect.facts)
    return [match.groups(b"") for line in lines for match in line.compiled.finditer(text)]
