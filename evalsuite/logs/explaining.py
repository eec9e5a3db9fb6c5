"""How a log is read, line by line: what each line is to the dialect."""

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evalsuite.contracts.dialect import Dialect
from evalsuite.core.errors import look_up
from evalsuite.core.messages import Message
from evalsuite.logs import recognition
from evalsuite.logs.formatting import shown
from evalsuite.logs.scan.collectors import FACT_BYTES, HEADER, spelt
from evalsuite.logs.text.logfile import Chunk, chunks
from evalsuite.logs.text.records import Extractor, Record
from evalsuite.logs.unknown.groups import Group, groups

SHOWN_OF_EACH, SHOWN_FACTS = 3, 12
MOST_BYTES = 16 << 20  # looked at, unless every line is asked for
KINDS = ("step", "final", "evaluation", "end", "fact")

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
class Explanation:
    dialect: str | None
    candidates: tuple[str, ...]  # dialects that fit equally, or the one
    counts: Mapping[str, int] = field(default_factory=dict)
    lines: tuple[LineSeen, ...] = ()
    groups: tuple[Group, ...] = ()  # where no dialect fits
    looked_at_bytes: int | None = None  # of a larger log; None: all of it


def explained(
    path: Path,
    dialects: Mapping[str, Dialect],
    name: str | None = None,
    *,
    every: bool = False,
    watcher: Watcher | None = None,
) -> Explanation:
    """*every* line is listed, or the first few of each kind in the log's first part. Raises Unreadable."""
    fits = [look_up("logs.dialect", dialects, name)] if name else recognition.find_dialects(path, dialects.values())
    candidates = tuple(fit.name for fit in fits)
    seen: list[LineSeen] = []
    if len(fits) != 1:
        heaviest = () if fits else tuple(groups(path)[:SHOWN_OF_EACH])
        for chunk in itertools.takewhile(lambda chunk: chunk.offset < FACT_BYTES, chunks(path)):
            numbered = enumerate(chunk.text.split(b"\n"), chunk.first_line)
            seen += [_fact(number, text, said) for number, text in numbered if (said := list(spelt(text)))]
        return Explanation(dialect=None, candidates=candidates, groups=heaviest, lines=tuple(seen[:SHOWN_FACTS]))
    counts: Counter[str] = Counter()
    partly = None
    extractor = Extractor(fits[0])
    for chunk in chunks(path, bare=fits[0].spans_lines):
        if not every and chunk.offset >= MOST_BYTES:
            partly = MOST_BYTES
            break
        if watcher is not None:
            watcher(chunk.offset)
        for line in _lines(chunk, extractor, fits[0], begun=counts["step"] > 0):
            counts[line.kind] += 1
            if every or counts[line.kind] <= (SHOWN_FACTS if line.kind == "fact" else SHOWN_OF_EACH):
                seen.append(line)
    return Explanation(
        dialect=fits[0].name, candidates=candidates, counts=dict(counts), lines=tuple(seen), looked_at_bytes=partly
    )


def _fact(number: int, text: bytes, said: Sequence[tuple[str, bytes, bytes]]) -> LineSeen:
    """A line that states something of the job, by kinds of data/log_words.toml."""
    why = ", ".join(f"{kind}={value.decode()}" for kind, value, _ in said)
    return LineSeen(number=number, kind="fact", why=why, text=shown(text))


def _lines(chunk: Chunk, extractor: Extractor, dialect: Dialect, *, begun: bool) -> Iterator[LineSeen]:
    collected: list[Record] = []
    extractor.extend(collected, chunk)
    records = {record.line: record for record in collected}
    others = (dialect.final, dialect.evaluation, dialect.ends, (*dialect.facts, HEADER))
    for number, text in enumerate(chunk.text.split(b"\n"), chunk.first_line):
        if not text.strip():
            continue
        kind, why = "skipped", ""
        if not begun and number not in records and (said := list(spelt(text))):
            yield _fact(number, text, said)
            continue
        if record := records.get(number):
            known = zip(record._fields, record, strict=True)
            plain = (each for each in known if each[0] not in ("line", "end") and each[1] not in (None, ()))
            told = (each for each in plain if each[1] is not False)
            kind, why = "step", ", ".join(f"{name}={value}" for name, value in told)
        for other, lines in zip(KINDS[1:], others, strict=True):
            if kind == "skipped" and any(line.compiled.search(text) for line in lines):
                kind, why = other, Message("logs.line_of_kind", kind=other)
        yield LineSeen(number=number, kind=kind, why=why, text=shown(text))
