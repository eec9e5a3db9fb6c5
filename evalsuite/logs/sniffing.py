"""Which dialects fit a piece of log: told by the shapes of its lines, before any pattern is tried."""

import functools
from collections.abc import Iterable
from functools import cached_property

from evalsuite.dialect import NO_DIGITS, Dialect, Line, stands_in
from evalsuite.logs.text.records import count_of

_LINE_BYTES = 4096  # what lies beyond is no line of a log


class Sniffer:
    """Finds the dialects that fit a piece of log.

    The lines of a log are alike but for their numbers: what is left when numbers are taken out is a handful of
    shapes, and only a dialect whose literal text stands in one of them is tried on the lines themselves.
    """

    def __init__(self, dialects: Iterable[Dialect]) -> None:
        self._dialects = tuple(dialects)

    @cached_property
    def _shapes(self) -> dict[bytes, set[str]]:
        """Shape → the names of the dialects that have it: each is looked for once, however many those are."""
        found: dict[bytes, set[str]] = {}
        for dialect in self._dialects:
            for line in dialect.telling:
                found.setdefault(line.shape, set()).add(dialect.name)
        return found

    def fits(self, text: bytes) -> list[Dialect]:
        """The dialects that fit *text* best: none, one, or several that fit equally.

        Fit is the number of step lines found; a dialect yields to one that says more (`yields_to`).
        """
        lines = (line[:_LINE_BYTES] for line in text.replace(b"\r", b"\n").split(b"\n"))
        examples = {line.translate(None, NO_DIGITS): line for line in lines}
        shapes, example = b"\n".join(examples), b"\n".join(examples.values()) + b"\n"
        names = set().union(*(who for shape, who in self._shapes.items() if stands_in(shape, shapes)))
        likely = [dialect for dialect in self._dialects if dialect.name in names]
        found = [dialect for dialect in likely if _stands_in(example, text, dialect)]
        names = {dialect.name for dialect in found}
        strong = [dialect for dialect in found if not names.intersection(dialect.yields_to)]
        if len(strong) < 2:
            return strong
        counts = {dialect: lines_found(text, dialect) for dialect in strong}
        best = max(counts.values())
        return [dialect for dialect, count in counts.items() if count == best]

    def stronger(self, text: bytes, found: list[Dialect]) -> list[Dialect]:
        """*found*, or the dialects it yields to whose lines stand in *text*, which goes on where it was found."""
        names = {name for dialect in found for name in dialect.yields_to}
        better = [dialect for dialect in self._dialects if dialect.name in names and lines_found(text, dialect)]
        strongest = {dialect.name for dialect in better}
        return [dialect for dialect in better if not strongest.intersection(dialect.yields_to)] or found


@functools.lru_cache(maxsize=8)
def sniffer(dialects: tuple[Dialect, ...]) -> Sniffer:
    """The one of these *dialects*: to make it costs as much as to read a short log, and every log of a folder asks."""
    return Sniffer(dialects)


def _stands_in(example: bytes, text: bytes, dialect: Dialect) -> bool:
    """Does a step line or a final figure stand in one line of each shape, or, if it spans lines, in the text?"""
    return any(_finds(text if b"\n" in line.sample else example, line) for line in dialect.telling)


def _finds(text: bytes, line: Line) -> bool:
    if not stands_in(line.literal, text):
        return False
    if line.fields is None:
        return line.compiled.search(text) is not None
    return any(line.read(match) is not None for match in line.compiled.finditer(text))


def lines_found(text: bytes, dialect: Dialect) -> int:
    """How many step lines of *dialect* stand in *text*; where there is none, how many final figures."""
    steps, finals = ([line for line in lines if line.telling] for lines in (dialect.step, dialect.final))
    return sum(count_of(text, line) for line in steps) or sum(count_of(text, line) for line in finals)
