"""How a log is read, line by line: what each line is to the dialect, and why the others are nothing to it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from evalsuite.dialect import Dialect, Line
from evalsuite.logs import catalogue, recognition
from evalsuite.logs.nearest import Near, nearest
from evalsuite.logs.recognition import Sniffer
from evalsuite.logs.scan.failures import shown
from evalsuite.logs.scan.scan import HEADER
from evalsuite.logs.text import sampling
from evalsuite.logs.text.extracting import Extractor
from evalsuite.logs.text.logfile import Chunk
from evalsuite.logs.text.records import Record, printer
from evalsuite.logs.text.sampling import Watcher
from evalsuite.messages import Message

SHOWN_OF_EACH = 3
CANDIDATE_BYTES = 1 << 18  # dialects are compared by their lines in so much of the log
KINDS = ("step", "final", "evaluation", "end", "fact")


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
    nearest: tuple[Near, ...] = ()  # where no dialect fits
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
    parts = None if every else sampling.sampled(path)
    fits = [chosen] if chosen else _fits(path, dialects)
    candidates = tuple(_candidates(path, dialects, [fit.name for fit in fits]))
    if len(fits) != 1:
        lines = () if fits else nearest(_numbered(path), dialects)
        return Explanation(dialect=None, candidates=candidates, nearest=tuple(lines), sampled=parts)
    seen: list[LineSeen] = []
    counts: Counter[str] = Counter()
    for line in _lines(sampling.pieces(path, watcher, whole=every, bare=fits[0].spans_lines), fits[0]):
        counts[line.kind] += 1
        if every or counts[line.kind] <= SHOWN_OF_EACH:
            seen.append(line)
    return Explanation(
        dialect=fits[0].name, candidates=candidates, counts=dict(counts), lines=tuple(seen), sampled=parts
    )


def _fits(path: Path, dialects: Mapping[str, Dialect]) -> list[Dialect]:
    sniffer = Sniffer(dialects.values())
    if sampling.sampled(path) is None:
        return recognition.find_dialects(path, sniffer)
    return next((fits for piece in sampling.pieces(path) if (fits := sniffer.fits(piece.text))), [])


def _numbered(path: Path) -> Iterator[tuple[int, bytes]]:
    for piece in sampling.pieces(path):
        for number, line in enumerate(piece.text.split(b"\n"), piece.first_line):
            yield from ((number, part) for part in line.split(b"\r"))


def _candidates(path: Path, dialects: Mapping[str, Dialect], chosen: list[str]) -> Iterator[Candidate]:
    text = _first_part(path, [dialects[name] for name in chosen])
    found = {known.name: count for known in dialects.values() if (count := recognition.lines_found(text, known))}
    for name, count in sorted(found.items(), key=lambda pair: (-pair[1], pair[0] not in chosen)):
        stronger = [other for other in dialects[name].yields_to if other in found]
        if name in chosen:
            why = (
                Message("logs.line_fits")
                if len(chosen) == 1
                else Message("logs.line_fits_also", names=set(chosen) - {name})
            )
        else:
            why = Message("logs.line_yields", names=stronger) if stronger else Message("logs.line_fewer")
        yield Candidate(name=name, lines=count, why=why)


def _first_part(path: Path, chosen: list[Dialect]) -> bytes:
    text = b""
    for piece in sampling.pieces(path):
        text += piece.text
        if len(text) > CANDIDATE_BYTES:
            if not chosen or any(recognition.lines_found(text, dialect) for dialect in chosen):
                break
            text = piece.text
    return text


def _lines(pieces: Iterable[Chunk], dialect: Dialect) -> Iterator[LineSeen]:
    extractor = Extractor(dialect)
    for chunk in pieces:
        found: list[Record] = []
        extractor.extend(found, chunk)
        records = {record.line: record for record in found}
        for number, text in enumerate(chunk.text.split(b"\n"), chunk.first_line):
            if text.strip():
                yield _line(number, text, dialect, records.get(number))


def _line(number: int, text: bytes, dialect: Dialect, record: Record | None) -> LineSeen:
    if record is not None:
        return LineSeen(number=number, kind="step", why=_fields(record), text=shown(text))
    for kind in KINDS[1:]:
        if any(line.compiled.search(text) for line in _of(dialect, kind)):
            return LineSeen(number=number, kind=kind, why=Message("logs.line_of_kind", kind=kind), text=shown(text))
    return LineSeen(number=number, kind="skipped", why=_why_skipped(text, dialect), text=shown(text))


def _of(dialect: Dialect, kind: str) -> tuple[Line, ...]:
    if kind == "fact":
        return (*dialect.facts, HEADER)
    return {"final": dialect.final, "evaluation": dialect.evaluation, "end": dialect.end}[kind]


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
