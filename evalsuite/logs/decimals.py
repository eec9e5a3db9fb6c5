"""Decimal commas (0,512 s), as a locale writes them: told by all the numbers of a text, never by one of them."""

import re
from enum import Enum, auto
from itertools import islice

FEWEST = 5  # numbers to judge by
POINTS = 0.1  # so many decimal points for each comma are version numbers and addresses
_COMMA = re.compile(rb"(?<![\d.,:\[(])(\d+),(\d+)(?![\d,.:])")
_POINT = re.compile(rb"(?<![\d.,])\d+\.\d+(?![\d.])")
_BETWEEN_DIGITS = re.compile(rb",(?<=\d,)(?=\d)")  # the comma first: the engine looks for it alone


class Decimal(Enum):
    """What stands between the whole number and its fraction."""

    POINT = auto()
    COMMA = auto()


def judged(text: bytes) -> Decimal | None:
    """What *text* writes; None where it has too few numbers to tell. 5,868 may be thousands; 0,5 and 12,25 are not."""
    if _BETWEEN_DIGITS.search(text) is None:
        return Decimal.POINT if sum(1 for _ in islice(_POINT.finditer(text), FEWEST)) == FEWEST else None
    points = len(_POINT.findall(text))
    commas = _COMMA.findall(text)
    if points + len(commas) < FEWEST:
        return None
    clear = sum(len(fraction) != 3 or before == b"0" for before, fraction in commas)
    consistent = clear >= FEWEST and 2 * clear >= len(commas) and points <= POINTS * len(commas)
    return Decimal.COMMA if consistent else Decimal.POINT


def with_points(text: bytes) -> bytes:
    """*text* with a point for each comma between digits; no byte moves."""
    return _BETWEEN_DIGITS.sub(b".", text)
