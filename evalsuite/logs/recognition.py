"""Which dialect a log is in, by the shapes of its lines, before any pattern is tried."""

import functools
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from evalsuite.dialect import NO_DIGITS, Dialect
from evalsuite.logs import catalogue
from evalsuite.logs.scan import failures
from evalsuite.logs.scan.scan import Quiet
from evalsuite.logs.text.intact import ALTERED, is_altered_log
from evalsuite.logs.text.logfile import Piece, Unreadable, chunks, kind
from evalsuite.logs.text.records import count
from evalsuite.messages import Message

SNIFF_BYTES = 3 << 14  # in which a dialect that says more is looked for
LOOK_BACK_BYTES = 1 << 12
THOROUGH_BYTES = 1 << 22  # of a log in whose first lines no dialect fits, every chunk is looked at so far
SAMPLED_BYTES = 1 << 25
SAMPLED_CHUNKS, SELDOM = 8, 64  # and after that one of so many up to there, and one of so many later, before all are
_LINE_BYTES = 4096


class Sniffer:
    """Finds the dialects that fit a piece of log.

    The lines of a log are alike but for their numbers: what is left when numbers are taken out is a handful of
    shapes, and only a dialect whose literal text is in one of them is tried on the lines themselves.
    """

    def __init__(self, dialects: Iterable[Dialect]) -> None:
        self._dialects = tuple(dialects)

    @cached_property
    def _shapes(self) -> dict[bytes, set[str]]:
        """Shape → names of the dialects that have it."""
        found: dict[bytes, set[str]] = {}
        for dialect in self._dialects:
            for line in dialect.telling:
                found.setdefault(line.shape, set()).add(dialect.name)
        return found

    def fits(self, text: bytes) -> list[Dialect]:
        """None, one, or several with equally many step lines; a dialect yields to one that says more (`yields_to`)."""
        lines = (line[:_LINE_BYTES] for line in text.replace(b"\r", b"\n").split(b"\n"))
        examples = {line.translate(None, NO_DIGITS): line for line in lines}
        shapes, example = b"\n".join(examples), b"\n".join(examples.values()) + b"\n"
        names = set().union(*(who for shape, who in self._shapes.items() if shape in shapes))
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
        """*found*, or the dialects it yields to whose lines come later in *text*."""
        names = {name for dialect in found for name in dialect.yields_to}
        better = [dialect for dialect in self._dialects if dialect.name in names and lines_found(text, dialect)]
        strongest = {dialect.name for dialect in better}
        return [dialect for dialect in better if not strongest.intersection(dialect.yields_to)] or found


@functools.lru_cache(maxsize=8)
def _sniffer(dialects: tuple[Dialect, ...]) -> Sniffer:
    """Cached: to make it costs as much as to read a short log."""
    return Sniffer(dialects)


def recognise(paths: Sequence[Path], name: str | None, dialects: Mapping[str, Dialect]) -> Dialect:
    """The dialect called *name*, or the one that fits. Raises Unreadable if none or several do."""
    if name is not None:
        return catalogue.chosen(name, dialects)
    for path in paths:
        found = find_dialects(path, _sniffer(tuple(dialects.values())))
        if len(found) == 1:
            return found[0]
        if found:
            names = " and ".join(dialect.name for dialect in found)
            raise Unreadable(Message("logs.parse_equally", names=names))
    raise _explain_silence(paths, dialects.values())


def find_dialects(path: Path, sniffer: Sniffer) -> list[Dialect]:
    """None, one, or several that fit equally. Raises Unreadable.

    Judged by the first lines that any dialect knows. Of a long preamble every so many chunks are looked at first, then
    its end; the others only if nothing is found there.
    """
    found: list[Dialect] = []
    text, passed_over = b"", False
    for place, chunk in enumerate(chunks(path, bare=True)):
        seldom = SELDOM if chunk.offset > SAMPLED_BYTES else SAMPLED_CHUNKS
        if not found and chunk.offset > THOROUGH_BYTES and place % seldom:
            text, passed_over = chunk.text, True
            continue
        text = text + chunk.text if found else text[-LOOK_BACK_BYTES:] + chunk.text
        found = found or sniffer.fits(text)
        if found and (len(text) >= SNIFF_BYTES or not any(dialect.yields_to for dialect in found)):
            break
    found = found or sniffer.fits(text)
    if not found and passed_over:
        for chunk in chunks(path, bare=True):
            if found := sniffer.fits(text := chunk.text):
                break
    return sniffer.stronger(text[:SNIFF_BYTES], found) if any(dialect.yields_to for dialect in found) else found


def _explain_silence(paths: Sequence[Path], dialects: Iterable[Dialect]) -> Unreadable:
    if not paths:
        return Unreadable(Message("logs.parse_none"))
    nothing, skipped = True, 0
    for path in paths:
        quiet = Quiet()
        for chunk in chunks(path):
            if nothing and (other := kind(chunk.text)):
                return Unreadable(Message("logs.parse_other", other=other))
            quiet.add(Piece(chunk=chunk))
            nothing, skipped = False, skipped + chunk.skipped
        if failure := failures.failure(quiet.lines()):
            return Unreadable(failure.reason, failed=True)
    if nothing:
        return Unreadable(Message("logs.parse_empty"))
    if skipped:
        return Unreadable(Message("logs.parse_long_lines", n=skipped))
    if is_altered_log(paths[0], dialects):
        return Unreadable(ALTERED)
    return Unreadable(Message("logs.parse_unknown"))


def _stands_in(example: bytes, text: bytes, dialect: Dialect) -> bool:
    """*example*: one line of each shape in *text*, which is enough for patterns of one line."""
    for line in dialect.telling:
        place = text if b"\n" in line.sample else example
        if line.literal in place and any(line.read(match) is not None for match in line.compiled.finditer(place)):
            return True
    return False


def lines_found(text: bytes, dialect: Dialect) -> int:
    """Step lines; final figures where there are none."""
    steps, finals = ([line for line in lines if line.telling] for lines in (dialect.step, dialect.final))
    return count(text, steps) or count(text, finals)
