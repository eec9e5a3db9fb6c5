"""Lines that a terminal has cut at its width: told by what is found once they are joined again."""

from collections import Counter

from evalsuite.dialect import Dialect
from evalsuite.logs.sniffing import Sniffer, lines_found

NARROWEST, WIDEST = 40, 320  # columns of a terminal
FEWEST = 3  # lines of exactly that width, and none beyond it


def width(text: bytes) -> int | None:
    """The columns at which the lines of *text* may have been cut: the length of its longest, if several have it."""
    lengths = Counter(len(line.rstrip(b"\r")) for line in text.split(b"\n"))
    longest = max(lengths, default=0)
    return longest if NARROWEST <= longest <= WIDEST and lengths[longest] >= FEWEST else None


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
    return columns if lines_found(whole, dialect) > lines_found(text, dialect) else None
