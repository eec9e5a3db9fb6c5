"""The lines of a log that a number rests on, as they were printed, with the parts that were read of them."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from evalsuite.contracts.dialect import Dialect
from evalsuite.core import files, redaction
from evalsuite.core.model import LogLine
from evalsuite.logs.reading import Reading
from evalsuite.logs.text.logfile import Chunk, Unreadable, chunks

LONGEST = 400  # characters shown of a line; what was read is near its beginning in all but JSON
TAIL_BYTES = 8 << 10  # of a log, in which its last line is looked for
EARLIER = 40  # characters kept before what was read, of a line that is longer


def excerpt(paths: Sequence[Path], read: Reading, dialect: Dialect | None) -> tuple[LogLine, ...]:
    """The first, middle and last line of the window of *read*. Empty without a window, or where lines are not found
    again."""
    numbers = _lines_of_window(read)
    if dialect is None or not numbers:
        return ()
    for path in paths:
        try:
            lines = _lines(chunks(path), numbers, together=2 if dialect.spans_lines else 1)
            parted = [(number, text, _parts(text, dialect)) for number, text in lines]
        except Unreadable:
            continue
        if parted and parted[0][2]:  # else they are lines of another process's log
            return tuple(_shown(*line) for line in parted)
    return ()


def last_line(path: Path) -> str:
    """The last line that is not blank, less secrets; "" if there is none. A pipe is not opened: it would wait."""
    try:
        with files.unpacking(path, follow=True) as file:
            file.seek(max(0, file.seek(0, 2) - TAIL_BYTES))
            tail = redaction.mask_secrets(file.read())
    except files.NOT_UNPACKED:
        return ""
    lines = [line for line in tail.replace(b"\r", b"\n").split(b"\n") if line.strip()]
    return _text(lines[-1]).strip()[:LONGEST] if lines else ""


def _lines_of_window(read: Reading) -> tuple[int, ...]:
    window = read.throughput.window if read.throughput else None
    if window is None:
        return ()
    lines = [step.line for step in read.steps if window.first_step <= step.index <= window.last_step and step.line]
    return tuple(dict.fromkeys((lines[0], lines[len(lines) // 2], lines[-1]))) if lines else ()


def _lines(pieces: Iterable[Chunk], numbers: Sequence[int], together: int) -> Iterator[tuple[int, bytes]]:
    wanted = sorted(numbers)
    for chunk in pieces:
        lines = chunk.text.removesuffix(b"\n").split(b"\n")
        while wanted and wanted[0] < chunk.first_line + len(lines):
            at = wanted[0] - chunk.first_line
            yield wanted.pop(0), b"\n".join(lines[at : at + together])
        if not wanted:
            return


def _shown(number: int, line: bytes, parts: Sequence[tuple[int, int]]) -> LogLine:
    line = line[: line.find(b"\n", parts[-1][1] if parts else 0) % (len(line) + 1)]
    begin = max(0, parts[0][0] - EARLIER) if parts and parts[-1][1] > LONGEST else 0
    places = [(len(_text(line[begin:a])), len(_text(line[begin:b]))) for a, b in parts]
    shown = redaction.mask_secrets(line)  # the whole line: a secret that is cut in two looks like none
    text = _text(shown[begin:])[:LONGEST]
    return LogLine(number=number, text=text, read=tuple((a, b) for a, b in places if b <= len(text)))


def _text(line: bytes) -> str:
    return line.rstrip(b"\r").decode("utf-8", "replace")


def _parts(line: bytes, dialect: Dialect) -> list[tuple[int, int]]:
    for kind in dialect.step:
        match = kind.compiled.search(line)
        if match is not None and kind.read(match) is not None:
            groups = sorted({match.span(name) for name in match.re.groupindex if match[name]})
            return _apart(groups or [match.span()])
    return []


def _apart(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    kept: list[tuple[int, int]] = []
    for begin, end in spans:
        if not kept or begin >= kept[-1][1]:
            kept.append((begin, end))
    return kept
