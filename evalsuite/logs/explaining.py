"""How a log is read, line by line: what each line is to the dialect, and why the others are nothing to it.

The tool for the day on which a new log is not understood.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from evalsuite.dialect import Dialect, Line
from evalsuite.logs import catalogue, sniffing
from evalsuite.logs.failures import shown
from evalsuite.logs.logfile import chunks
from evalsuite.logs.reading import sniffed
from evalsuite.logs.records import Extractor, Record, printer
from evalsuite.logs.scan import HEADER
from evalsuite.logs.sniffing import Sniffer

SHOWN_OF_EACH = 3
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


def explained(
    path: Path, dialects: Mapping[str, Dialect], name: str | None = None, *, every: bool = False
) -> Explanation:
    """How the log at *path* is read. *every* line is listed, or the first few of each kind. Raises Unreadable."""
    chosen = catalogue.chosen(name, dialects) if name else None
    fits = [chosen] if chosen else sniffed(path, Sniffer(dialects.values()))
    candidates = tuple(_candidates(path, dialects, [fit.name for fit in fits]))
    if len(fits) != 1:
        return Explanation(dialect=None, candidates=candidates)
    seen: list[LineSeen] = []
    counts: Counter[str] = Counter()
    for line in _lines(path, fits[0]):
        counts[line.kind] += 1
        if every or counts[line.kind] <= SHOWN_OF_EACH:
            seen.append(line)
    return Explanation(dialect=fits[0].name, candidates=candidates, counts=dict(counts), lines=tuple(seen))


def sentences(found: Explanation) -> Iterator[str]:
    """The explanation as text for a terminal."""
    for candidate in found.candidates:
        yield f"{candidate.name}: {candidate.lines} lines in the first part; {candidate.why}"
    if not found.candidates:
        yield "no dialect finds a step line or a final figure in this log"
    for line in found.lines:
        yield f"{line.number:>8}  {line.kind:<10}  {line.why}"
        yield f"{'':>8}  {line.text}"
    if found.counts:
        yield "in all: " + ", ".join(f"{count} {kind}" for kind, count in sorted(found.counts.items()))


def _candidates(path: Path, dialects: Mapping[str, Dialect], chosen: list[str]) -> Iterator[Candidate]:
    text = b""
    for chunk in chunks(path):
        text += chunk.text
        if len(text) > 1 << 18:
            break
    found = {known.name: count for known in dialects.values() if (count := sniffing.lines_found(text, known))}
    for name, count in sorted(found.items(), key=lambda pair: -pair[1]):
        stronger = [other for other in dialects[name].yields_to if other in found]
        if name in chosen:
            why = "it fits" if len(chosen) == 1 else f"it fits as well as {', '.join(set(chosen) - {name})}"
        else:
            why = f"yields to {', '.join(stronger)}, which says more" if stronger else "another fits more lines"
        yield Candidate(name=name, lines=count, why=why)


def _lines(path: Path, dialect: Dialect) -> Iterator[LineSeen]:
    extractor = Extractor(dialect)
    for chunk in chunks(path):
        records = {record.line: record for record in extractor.records(chunk)}
        for number, text in enumerate(chunk.text.split(b"\n"), chunk.first_line):
            if text.strip():
                yield _line(number, text, dialect, records.get(number))


def _line(number: int, text: bytes, dialect: Dialect, record: Record | None) -> LineSeen:
    if record is not None:
        return LineSeen(number=number, kind="step", why=_fields(record), text=shown(text))
    for kind in KINDS[1:]:
        if any(line.compiled.search(text) for line in _of(dialect, kind)):
            return LineSeen(number=number, kind=kind, why=f"a line of kind {kind}", text=shown(text))
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
                return f'holds "{shown(line.literal)}", but what follows is not as in: {shown(line.sample)}'
            return "a step line, cut off or without its numbers"
    rank = printer(text)
    return f"printed by rank {rank}, no line of the dialect" if rank is not None else "no line of the dialect"
