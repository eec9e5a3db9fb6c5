"""Rows of numbers under a line of names: step,loss,elapsed_s."""

import re
from collections.abc import Iterable, Mapping, Sequence

from evalsuite.logs.unknown import words
from evalsuite.logs.unknown.words import Slot

FEWEST, LONGEST_NAME, APART = 3, 40, 6  # cells; characters; lines between the names and the first row
_SEPARATORS = (b",", b"|", "│".encode(), b";", b"\t")
_FRAME = b" \t\r|\xe2\x94\x82"
_NUMBER = re.compile(rb"(?:%b|%b)" % (words.DURATION, words.NUMBER))
_NAME, _NUMBERED = re.compile(rb"[\"']?[A-Za-z][^:=]*$"), re.compile(rb"\s[^A-Za-z\"'\s]")
_SPLITS = re.compile(rb"[,|;\t\xe2]|\s\s")


def split(text: bytes) -> list[bytes]:
    separator = separator_of(text)
    cells = text.strip(_FRAME).split(separator) if separator else re.split(rb"\s{2,}", text.strip())
    return [cell.strip() for cell in (cells if len(cells) >= FEWEST else text.split())]


def separator_of(text: bytes) -> bytes:
    return next((each for each in _SEPARATORS if text.count(each) >= FEWEST - 1), b"")


def is_header(text: bytes) -> bool:
    if b":" in text or b"=" in text or (_NUMBERED.search(text) and not _SPLITS.search(text)):
        return False
    cells = split(text)
    return len(cells) >= FEWEST and all(_NAME.match(cell) and len(cell) <= LONGEST_NAME for cell in cells)


def is_row(text: bytes, header: bytes) -> bool:
    cells = _cells(text, header)
    return len(cells) == len(split(header)) and sum(map(bool, map(_NUMBER.fullmatch, cells))) >= FEWEST


def _cells(text: bytes, header: bytes) -> list[bytes]:
    separator = separator_of(header)
    return split(text) if separator and separator == separator_of(text) else [] if separator else text.split()


def columns_of(texts: Sequence[bytes], header: bytes) -> Mapping[tuple[str, str, int], list[Slot]]:
    """As `roles.columns_of`, with the names above; the `line` of a number is its place in the row."""
    rows = [_cells(text, header) for text in texts]
    columns: dict[tuple[str, str, int], list[Slot]] = {}
    for place, name in enumerate(split(header)):
        cells = [row[place] if len(row) > place else b"" for row in rows]
        if all(map(_NUMBER.fullmatch, cells)):
            label = words.label(re.sub(rb"[()\[\]]", b" ", name))
            column = [
                Slot(label=label, unit="", text=cell, lead=b"", tail=b"", start=place, line=place) for cell in cells
            ]
            columns[(label, "", place)] = column
    return columns


def pattern(values: Iterable[tuple[int, bytes]], header: bytes) -> bytes:
    """Of *values*: (place in the row, pattern of the number)."""
    separator, size = separator_of(header), len(split(header))
    cell, between = rb"\S+", rb"[^\S\r\n]+"
    if separator:
        cell, between = rb"[^%b\r\n]*" % separator, rb"[^\S\r\n]*%b[^\S\r\n]*" % re.escape(separator)
    named = dict(values)
    cells = [named.get(place, cell) for place in range(size)]
    return rb"(?m)^[%b]*" % _FRAME + between.join(cells) + rb"(?=[%b]*$)" % _FRAME
