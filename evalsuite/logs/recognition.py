"""Which dialect a log is in: by the shapes of its lines, before any pattern is tried."""

import functools
import itertools
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from evalsuite.contracts.dialect import NO_DIGITS, Dialect
from evalsuite.core.errors import look_up
from evalsuite.core.messages import Message
from evalsuite.core.model import by_key
from evalsuite.logs.scan.scan import QUIET_CHUNKS, find_failure
from evalsuite.logs.text.intact import ALTERED, is_altered_log
from evalsuite.logs.text.logfile import Chunk, Unreadable, chunks, kind
from evalsuite.logs.text.records import count

SNIFF_BYTES = 3 << 14  # in which a dialect that says more is looked for
LOOK_BACK_BYTES = 1 << 12
MOST_TURNS = 10  # of dialects whose lines are in one log
_LINE_BYTES = 4096


@functools.lru_cache(maxsize=8)
def _by_shape(dialects: tuple[Dialect, ...]) -> Mapping[bytes, Sequence[Dialect]]:
    """Cached: to make it costs as much as to read a short log."""
    return by_key((line.shape, dialect) for dialect in dialects for line in dialect.telling)


def recognise(paths: Sequence[Path], name: str | None, dialects: Mapping[str, Dialect]) -> Dialect:
    """The dialect called *name*, or the one that fits. Raises Unreadable if none or several do."""
    if name is not None:
        return look_up("logs.dialect", dialects, name)
    for path in paths:
        fitting = find_dialects(path, dialects.values())
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            raise Unreadable(Message("logs.parse_equally", names=" and ".join(each.name for each in fitting)))
    raise _explain_silence(paths, dialects.values())


def find_dialects(path: Path, dialects: Iterable[Dialect]) -> list[Dialect]:
    """None, one, or several with equally many step lines. Raises Unreadable.

    Judged by the first lines that any dialect knows. They are alike but for their numbers: what is left when numbers
    are taken out is a handful of shapes, and only a dialect whose literal text is in one of them is tried on the lines.
    A dialect yields to one that says more (`yields_to`), also if that says it later.
    """
    known = tuple(dialects)
    fitting: list[Dialect] = []
    text = b""
    for chunk in chunks(path, bare=True):
        text = text + chunk.text if fitting else text[-LOOK_BACK_BYTES:] + chunk.text
        if not fitting:
            plain = text.replace(b"\r", b"\n")
            examples = dict(zip(plain.translate(None, NO_DIGITS).split(b"\n"), plain.split(b"\n"), strict=True))
            shapes, example = b"\n".join(examples), b"\n".join(line[:_LINE_BYTES] for line in examples.values()) + b"\n"
            likely = {dialect for shape, those in _by_shape(known).items() if shape in shapes for dialect in those}
            # one line of each shape is enough, unless a report takes several
            tried = ((of, line, text if b"\n" in line.sample else example) for of in likely for line in of.telling)
            fits = {
                each
                for each, line, where in tried
                if line.literal in where
                and any(line.fields is None or line.read(match) is not None for match in line.compiled.finditer(where))
            }
            names = {dialect.name for dialect in fits}
            fitting = sorted((each for each in fits if names.isdisjoint(each.yields_to)), key=known.index)
            if len(fitting) > 1 and _turns(text, fitting) < MOST_TURNS:
                counts = [lines_found(text, dialect) for dialect in fitting]
                fitting = [dialect for dialect, count in zip(fitting, counts, strict=True) if count == max(counts)]
        if fitting and (len(text) >= SNIFF_BYTES or not any(dialect.yields_to for dialect in fitting)):
            break
    names = {name for dialect in fitting for name in dialect.yields_to}
    later = [dialect for dialect in known if dialect.name in names and lines_found(text[:SNIFF_BYTES], dialect)]
    return [each for each in later if {other.name for other in later}.isdisjoint(each.yields_to)] or fitting


def _turns(text: bytes, dialects: Iterable[Dialect]) -> int:
    """How often step lines of one dialect give way to those of another: two trainings write into one file."""
    pairs = ((each, line) for each in dialects for line in each.step if line.telling and line.literal in text)
    found = ((text.rfind(b"\n", 0, hit.end()), each) for each, line in pairs for hit in line.compiled.finditer(text))
    alone = [by[0] for _, by in sorted(by_key(found).items()) if len({*by}) == 1]
    return sum(before is not after for before, after in itertools.pairwise(alone))


def _explain_silence(paths: Sequence[Path], dialects: Iterable[Dialect]) -> Unreadable:
    if not paths:
        return Unreadable(Message("logs.parse_none"))
    nothing, skipped = True, 0
    for path in paths:
        quiet: list[Chunk] = []
        for chunk in chunks(path):
            if nothing and (other := kind(chunk.text)):
                pointer = Message("logs.parse_pointer") if other == "Git LFS" else None
                return Unreadable(pointer or Message("logs.parse_other", other=other))
            quiet.append(chunk)
            del quiet[QUIET_CHUNKS:-QUIET_CHUNKS]
            nothing, skipped = False, skipped + chunk.skipped
        if failure := find_failure(quiet):
            return Unreadable(failure.reason, failed=True)
    if nothing:
        return Unreadable(Message("logs.parse_empty"))
    if skipped:
        return Unreadable(Message("logs.parse_long_lines", n=skipped))
    if is_altered_log(paths[0], dialects):
        return Unreadable(ALTERED)
    return Unreadable(Message("logs.parse_unknown"), final=False)


def lines_found(text: bytes, dialect: Dialect) -> int:
    steps, finals = ([line for line in lines if line.telling] for lines in (dialect.step, dialect.final))
    return count(text, steps) or count(text, finals)
