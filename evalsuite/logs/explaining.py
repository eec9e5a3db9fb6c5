"""How a log is read, line by line: what each line is to the dialect, and why the others are nothing to it."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from evalsuite.contracts.dialect import Dialect
from evalsuite.core.messages import Message
from evalsuite.logs import catalogue, reading
from evalsuite.logs.formatting import shown
from evalsuite.logs.reading import Sniffer
from evalsuite.logs.scan.collectors import HEADER
from evalsuite.logs.text.logfile import Chunk, chunks, plain
from evalsuite.logs.text.records import Extractor, Record, printer
from evalsuite.logs.unknown.groups import Group, groups

SHOWN_OF_EACH = 3
CANDIDATE_BYTES = 1 << 18  # dialects are compared by their lines in so much of the log
KINDS = ("step", "final", "evaluation", "end", "fact")
WHOLE_BYTES = 16 << 20  # a log up to this size is read whole
HEAD_BYTES = 4 << 20
PART_BYTES = 2 << 20  # in the middle, and at the end

Watcher = Callable[[int], None]
"""Is told how many bytes of the file have been gone through."""


@dataclass(frozen=True, kw_only=True)
class LineSeen:
    """One line of the log: its number, what it is (`step`, `skipped`, …), why, and its text."""

    number: int
    kind: str
    why: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A dialect that was considered, and how many of its lines were found in the first part of the log."""

    name: str
    lines: int
    why: str


@dataclass(frozen=True, kw_only=True)
class Explanation:
    dialect: str | None
    candidates: tuple[Candidate, ...]
    counts: Mapping[str, int] = field(default_factory=dict)
    lines: tuple[LineSeen, ...] = ()
    groups: tuple[Group, ...] = ()  # where no dialect fits
    sampled: str | None = None  # which parts of a large log were looked at; None: all of it


def explained(
    path: Path,
    dialects: Mapping[str, Dialect],
    name: str | None = None,
    *,
    every: bool = False,
    watcher: Watcher | None = None,
) -> Explanation:
    """*every* line is listed, or the first few of each kind. Raises Unreadable.

    Of a large log a bounded part is looked at, unless *every* line is asked for.
    """
    chosen = catalogue.chosen(name, dialects) if name else None
    parts = None if every else _sampled(path)
    fits = [chosen] if chosen else _fits(path, dialects)
    candidates = tuple(_candidates(path, dialects, [fit.name for fit in fits]))
    if len(fits) != 1:
        heaviest = () if fits else tuple(groups(path)[:SHOWN_OF_EACH])
        return Explanation(dialect=None, candidates=candidates, groups=heaviest, sampled=parts)
    seen: list[LineSeen] = []
    counts: Counter[str] = Counter()
    for line in _lines(_pieces(path, watcher, whole=every, bare=fits[0].spans_lines), fits[0]):
        counts[line.kind] += 1
        if every or counts[line.kind] <= SHOWN_OF_EACH:
            seen.append(line)
    return Explanation(
        dialect=fits[0].name, candidates=candidates, counts=dict(counts), lines=tuple(seen), sampled=parts
    )


def _fits(path: Path, dialects: Mapping[str, Dialect]) -> list[Dialect]:
    sniffer = Sniffer(dialects.values())
    if _sampled(path) is None:
        return reading.find_dialects(path, sniffer)
    return next((fits for piece in _pieces(path) if (fits := sniffer.fits(piece.text))), [])


def _candidates(path: Path, dialects: Mapping[str, Dialect], chosen: list[str]) -> Iterator[Candidate]:
    text = _first_part(path, [dialects[name] for name in chosen])
    counts = {known.name: count for known in dialects.values() if (count := reading.lines_found(text, known))}
    for name, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0] not in chosen)):
        stronger = [other for other in dialects[name].yields_to if other in counts]
        if name in chosen:
            others = set(chosen) - {name}
            why = Message("logs.line_fits_also", names=others) if others else Message("logs.line_fits")
        else:
            why = Message("logs.line_yields", names=stronger) if stronger else Message("logs.line_fewer")
        yield Candidate(name=name, lines=count, why=why)


def _first_part(path: Path, chosen: list[Dialect]) -> bytes:
    text = b""
    for piece in _pieces(path):
        text += piece.text
        if len(text) > CANDIDATE_BYTES:
            if not chosen or any(reading.lines_found(text, dialect) for dialect in chosen):
                break
            text = piece.text
    return text


def _lines(pieces: Iterable[Chunk], dialect: Dialect) -> Iterator[LineSeen]:
    extractor = Extractor(dialect)
    for chunk in pieces:
        collected: list[Record] = []
        extractor.extend(collected, chunk)
        records = {record.line: record for record in collected}
        for number, text in enumerate(chunk.text.split(b"\n"), chunk.first_line):
            if text.strip():
                yield _line(number, text, dialect, records.get(number))


def _line(number: int, text: bytes, dialect: Dialect, record: Record | None) -> LineSeen:
    if record is not None:
        return LineSeen(number=number, kind="step", why=_fields(record), text=shown(text))
    kinds = zip(KINDS[1:], (dialect.final, dialect.evaluation, dialect.ends, (*dialect.facts, HEADER)), strict=True)
    for kind, lines in kinds:
        if any(line.compiled.search(text) for line in lines):
            return LineSeen(number=number, kind=kind, why=Message("logs.line_of_kind", kind=kind), text=shown(text))
    return LineSeen(number=number, kind="skipped", why=_why_skipped(text, dialect), text=shown(text))


def _fields(record: Record) -> str:
    known = zip(record._fields, record, strict=True)
    return ", ".join(
        f"{name}={value}"
        for name, value in known
        if value is not None and value is not False and name not in ("line", "end")
    )


def _why_skipped(text: bytes, dialect: Dialect) -> str:
    for line in dialect.step:
        if line.literal and line.literal in text:
            match = line.compiled.search(text)
            if match is None:
                return Message("logs.line_unlike", text=shown(line.literal), sample=shown(line.sample))
            return Message("logs.line_cut")
    rank = printer(text)
    return Message("logs.line_of_rank", n=rank) if rank is not None else Message("logs.line_other")


# a bounded part of a large log: its beginning, its middle and its end


def _sampled(path: Path) -> str | None:
    size = _size(path)
    if size <= WHOLE_BYTES:
        return None
    head, part = HEAD_BYTES >> 20, PART_BYTES >> 20
    if not plain(path):
        return Message("logs.log_part_unpacked", head=head)
    return Message("logs.log_parts", head=head, part=part, last=part, size=size >> 20)


def _pieces(path: Path, watcher: Watcher | None = None, *, whole: bool = False, bare: bool = False) -> Iterator[Chunk]:
    """All chunks if the log is small or *whole*, else those of its parts. Raises Unreadable."""
    size = _size(path)
    parts = [(0, HEAD_BYTES)] if size > WHOLE_BYTES and not whole else [(0, math.inf)]
    if parts[0][1] < size and plain(path):
        parts += [(size // 2, size // 2 + PART_BYTES), (size - PART_BYTES, math.inf)]
    for chunk in chunks(path, bare=bare):
        if chunk.offset >= parts[-1][1]:
            break
        if watcher is not None:
            watcher(chunk.offset)
        if any(begin <= chunk.offset < end for begin, end in parts):
            yield chunk


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except (OSError, ValueError):
        return 0
