"""Lines that a terminal has cut at its width: joined again where it is certain which belong together.

Certain means: every line but the last of a group is exactly as long as the terminal was wide, a report of the
dialect runs over the cut, and what follows a report is the same wherever the cut fell.
"""

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from evalsuite.dialect import NO_DIGITS, Dialect, Line
from evalsuite.logs.logfile import LINE_BYTES, Chunk, Unreadable, chunks
from evalsuite.logs.sniffing import Sniffer

NARROWEST, WIDEST = 40, 320  # columns of a terminal
USUAL = (80, 100, 120, 128, 132, 140, 160, 180, 200, 240)  # of another width, a longer number may meet by chance
_USUAL = frozenset(USUAL)
FEWEST = 3  # lines of exactly that width, and none beyond it
FEWEST_IN_PART = 2  # where others are longer: reports that are whole only when joined
SHARE = 0.3  # of the lines found have a number that is longer when joined; fewer may meet by chance
ALIKE = 0.8  # of the broken reports are cut at one width; what a script itself ends early ends anywhere
ENDS = 0.1  # of them are followed by the rest of a line; lines that are all as long were made so
HEAD = 8  # characters by which the beginning of a line is known, digits aside
_DIGITS = re.compile(r"\d")
_LINES = re.compile(rb"[^\n]*\n|[^\n]+")
_NUMBER = b"0123456789.,eE+-"
_DIGIT = tuple(b"0123456789."[place : place + 1] for place in range(11))  # or the point behind which it was cut


@dataclass(frozen=True, kw_only=True)
class Cut:
    """A log whose lines a terminal has cut at *columns*, and the dialect of what they are when joined.

    *dialect* is None where it is not certain which lines belong together.
    """

    columns: int
    dialect: Dialect | None
    partly: bool = False  # others of its lines are longer

    @property
    def reason(self) -> str:
        """Why a log is not read in which it is not certain which lines belong together."""
        return partly(self.columns) if self.partly else uncertain(self.columns)


def judged(paths: Sequence[Path], beginning: bytes, dialect: Dialect | None, sniffer: Sniffer) -> Cut | None:
    """Whether a terminal has cut the lines of the logs at *paths*, told by the *beginning* of their reports.

    At a width that no terminal usually has, a number may be longer by chance when joined: there it must be certain.
    """
    columns = width(beginning)
    whole = beginning if columns is None else joined(beginning, columns)
    evidence = None if columns is None else _evidence(beginning, whole, dialect, sniffer)
    if columns is None or evidence is None:
        return None if dialect is None else _broken(beginning, dialect)
    fits = sniffer.stronger(whole, sniffer.fits(whole))
    spoken = dialect if dialect is not None and dialect not in fits else fits[0] if len(fits) == 1 else None
    if spoken and _certain(paths, columns, spoken):
        return Cut(columns=columns, dialect=spoken)
    return Cut(columns=columns, dialect=None) if columns in USUAL or evidence is not _LONGER else None


def width(text: bytes) -> int | None:
    """The columns at which the lines of *text* may have been cut: the length of its longest, if several have it."""
    lengths = breadths(text)
    counted = Counter(lengths)
    longest = max(counted, default=0)
    if not NARROWEST <= longest <= WIDEST or counted[longest] < FEWEST:
        return None
    ends = sum(one == longest != other for one, other in itertools.pairwise(lengths))
    return longest if ends >= max(FEWEST, counted[longest] * ENDS) else None


def breadths(text: bytes) -> list[int]:
    """How many columns each line of *text* takes."""
    lines = text.split(b"\n")
    return list(map(breadth, lines)) if b"\r" in text or not text.isascii() else list(map(len, lines))


def breadth(line: bytes) -> int:
    """How many columns *line* takes."""
    return len(line.rstrip(b"\r")) if line.isascii() else len(_shown(line))


def _shown(line: bytes) -> str:
    """The characters of *line*: one of several bytes takes one column."""
    return line.rstrip(b"\r").decode("utf-8", "replace")


def joined(text: bytes, columns: int) -> bytes:
    """*text* with each line of *columns* characters joined to the next, unless that one begins as lines do.

    The line ends taken out follow the joined line, so that the numbers of the lines stay what they were.
    """
    return b"".join(_whole(group) for group in _groups(text, columns))


def _whole(group: Sequence[bytes]) -> bytes:
    line = b"".join(part.rstrip(b"\r\n") for part in group)
    ends = b"\n" * sum(part.endswith(b"\n") for part in group)
    return line + ends if group[-1].endswith(b"\n") else ends + line


def _groups(text: bytes, columns: int) -> Iterator[list[bytes]]:
    """The lines of *text*, each with those that a terminal has broken off it."""
    group: list[bytes] = []
    for line in _LINES.findall(text):
        full = bool(group) and breadth(group[-1].rstrip(b"\n")) == columns
        if group and not (full and _head(line) != _head(group[0])):
            yield group
            group = []
        group.append(line)
    if group:
        yield group


def _head(line: bytes) -> str:
    return _DIGITS.sub("0", _shown(line[: 4 * HEAD].rstrip(b"\n"))[:HEAD])


def lines(path: Path, columns: int | None, *, bare: bool = False) -> Iterator[Chunk]:
    """The file as `logfile.chunks` gives it; where a terminal has cut it at *columns*, joined. Raises Unreadable."""
    pieces = chunks(path, bare=bare)
    return pieces if columns is None else _joined(pieces, columns)


def _joined(pieces: Iterable[Chunk], columns: int) -> Iterator[Chunk]:
    held: Chunk | None = None  # what a terminal may have broken off the last line of it is still to come
    for piece in pieces:
        chunk = piece if held is None else _after(held, piece)
        *_, last = _groups(chunk.text, columns)
        size = len(chunk.text) - sum(map(len, last))
        size = size or (len(chunk.text) if len(chunk.text) > LINE_BYTES else 0)
        if size:
            text = chunk.text[:size]
            yield _checked(replace(chunk, text=text, line_ends=text.count(b"\n"), complete=True), columns)
        held = chunk.lines_from(size, len(chunk.text))[0] if size < len(chunk.text) else None
    if held is not None:
        yield _checked(held, columns)


def _after(held: Chunk, chunk: Chunk) -> Chunk:
    """Both as one. Where their bytes stood is told to within a line."""
    return replace(
        held,
        text=held.text + chunk.text,
        line_ends=held.line_ends + chunk.line_ends,
        complete=chunk.complete,
        skipped=held.skipped + chunk.skipped,
        commas=chunk.commas,
        removed=(),
    )


def _checked(chunk: Chunk, columns: int) -> Chunk:
    """*chunk* joined. Raises Unreadable where a line is longer than the terminal was wide."""
    if any(breadth(line) > columns for line in chunk.text.split(b"\n")):
        raise Unreadable(partly(columns))
    return replace(chunk, text=joined(chunk.text, columns), removed=())


def uncertain(columns: int) -> str:
    """Why a log that was cut at *columns* is not read."""
    return (
        f"its lines are cut at {columns} columns, as a terminal shows them: numbers are broken, and it is not certain "
        "what stood behind. Give the file that the script wrote"
    )


def partly(columns: int) -> str:
    """Why a log of which a part was cut at *columns* is not read."""
    return (
        f"some of its lines are cut at {columns} columns, as a terminal shows them, and others are longer: numbers are "
        "broken in two. Give the file that the script wrote"
    )


def between_words(columns: int) -> str:
    """Why a log is not read whose reports are cut between words, as `fold -s -w columns` does it."""
    return (
        f"reports of it are broken over lines between words, as at {columns} columns: those that are left whole are "
        "not all. Give the file that the script wrote"
    )


_MORE, _LONGER = "more lines", "longer numbers"


def _evidence(text: bytes, whole: bytes, dialect: Dialect | None, sniffer: Sniffer) -> str | None:
    """What speaks for it that *text* was cut: what of *dialect* (or of any) stands in it joined and *whole*."""
    if dialect is None:
        return _MORE if sniffer.fits(whole) else None
    before, after = _said(text, dialect), _said(whole, dialect)
    if len(after) > len(before):
        return _MORE
    return _LONGER if _longer(before, after) else None


def _broken(text: bytes, dialect: Dialect) -> Cut | None:
    """A log whose reports are cut at the end of each line, or in a part of it."""
    found = breadths(text)
    if not _USUAL.intersection(found):
        return None
    by_breadth: dict[int, list[bytes]] = {}
    for line, columns in zip(text.split(b"\n"), found, strict=True):
        by_breadth.setdefault(columns, []).append(line)
    if clipped := _clipped_at(by_breadth, dialect):
        return Cut(columns=clipped, dialect=None)
    cut = _cut_in_part(text, by_breadth, dialect)
    return None if cut is None else Cut(columns=cut, dialect=None, partly=True)


def _clipped_at(by_breadth: Mapping[int, Sequence[bytes]], dialect: Dialect) -> int | None:
    """The columns behind which the rest of each line is missing, if reports end there that go on in the script."""
    longest = max(by_breadth)
    if longest not in USUAL:
        return None
    return longest if _ending(by_breadth[longest], dialect) >= FEWEST else None


def _cut_in_part(text: bytes, by_breadth: Mapping[int, Sequence[bytes]], dialect: Dialect) -> int | None:
    """The columns at which some lines are cut where others are longer, if reports of the script are among them."""
    longest = max(by_breadth)
    widths = [each for each in USUAL if len(by_breadth.get(each, ())) >= FEWEST_IN_PART and each < longest]
    alone = len(_reports(text, dialect)) if widths else 0
    lines = list(itertools.chain(*by_breadth.values()))
    for columns in widths:
        more = len(_reports(joined(text, columns), dialect)) - alone
        ending = _ending(by_breadth[columns], dialect)
        if more >= FEWEST_IN_PART or (ending >= FEWEST_IN_PART and ending >= ALIKE * _ending(lines, dialect)):
            return columns
    return None


def _ending(full: Sequence[bytes], dialect: Dialect) -> int:
    """In how many of these *full* lines a report breaks off at the end."""
    return sum(any(breaks_off(line, kind) for kind in dialect.step) for line in full)


def _reports(text: bytes, dialect: Dialect) -> list["re.Match[bytes]"]:
    return [match for kind in dialect.step for match in kind.compiled.finditer(text) if kind.read(match) is not None]


def may_be_cut(match: "re.Match[bytes]", line: Line) -> bool:
    """Does the last number that *match* reads end where a terminal would break the line, and go on behind it?

    It may do so where the next line begins with a digit, and surely does where the script prints more behind it.
    """
    last, text = match.lastindex, match.string
    if (
        last is None
        or not match[last][-1:].isdigit()
        or text[match.end(last) : match.end(last) + 1] not in (b"\n", b"\r")
    ):
        return False
    begin, end = text.rfind(b"\n", 0, match.start()) + 1, match.end(last)
    if breadth(text[begin:end]) not in USUAL:
        return False
    usual = line.compiled.search(line.sample)
    behind = line.sample[usual.end(last) :].strip() if usual else b""
    return bool(behind) or text[end:].lstrip(b"\r\n")[:1].isdigit()


def breaks_off(line: bytes, kind: Line) -> bool:
    """Does *line* end with a number of a report, behind which the script's own line goes on?"""
    found, usual = kind.compiled.search(line), kind.compiled.search(kind.sample)
    last = found.lastindex if found else None
    if found is None or usual is None or last is None or line[found.end(last) :].strip():
        return False
    return found[last][-1:] in _DIGIT and bool(kind.sample[usual.end(last) :].strip())


def _longer(before: list[tuple[bytes, ...]], after: list[tuple[bytes, ...]]) -> bool:
    """Is any of the values cut short in *before*, and is all else the same?"""
    both = zip(before, after, strict=False)
    pairs = [(cut, full) for one, other in both for cut, full in zip(one, other, strict=False)]
    continued = all(full.startswith(cut) for cut, full in pairs)
    longer = sum(full != cut for cut, full in pairs)
    return len(before) == len(after) and continued and longer >= max(1, SHARE * len(before))


def _said(text: bytes, dialect: Dialect) -> list[tuple[bytes, ...]]:
    """What the lines of *dialect* say in *text*: a number that was cut at the end of a line is another one.

    Of lines whose fields may stand behind what the pattern finds, the whole line.
    """
    found = []
    for line in (*dialect.step, *dialect.final, *dialect.facts):
        for match in line.compiled.finditer(text):
            end = len(text) if (end := text.find(b"\n", match.end())) < 0 else end
            rest = () if line.fields is None else (text[match.start() : end].rstrip(b"\r\n"),)
            found.append((*match.groups(b""), *rest))
    return found


def _certain(paths: Sequence[Path], columns: int, dialect: Dialect) -> bool:
    """Is what follows each report the same, whether the cut fell into its last number or elsewhere?

    A number at the very end of a line would else be joined to the first of the next line, or lack its last digits.
    """
    firm: set[bytes] = set()
    loose: set[bytes] = set()
    for path in paths:
        for chunk in lines(path, columns, bare=dialect.spans_lines):
            for line in _LINES.findall(chunk.text):
                for at_cut, tail in _tails(line, columns, dialect):
                    (loose if at_cut else firm).add(tail)
    tails = firm | loose
    shortened = any(one != other and other.startswith(one) for one in tails for other in tails)
    return bool(firm) and loose <= firm and not shortened


def _tails(line: bytes, columns: int, dialect: Dialect) -> Iterator[tuple[bool, bytes]]:
    """(does a cut lie in or at the last number, shape of what follows) of each report in a joined *line*."""
    for kind in dialect.step:
        for match in kind.compiled.finditer(line) if kind.literal in line else ():
            if kind.read(match) is None:
                continue
            tail = line[match.end() :].rstrip(b"\r\n")
            begin = breadth(line[: match.start()] + match[0].rstrip(b"\r\n").rstrip(_NUMBER))
            end = breadth(line[: match.end()].rstrip(b"\r\n")) + len(tail) - len(tail.lstrip(_NUMBER))
            at_cut = begin // columns < end // columns or (begin and begin % columns == 0)
            yield bool(at_cut), _shape(tail)


def _shape(tail: bytes) -> bytes:
    return re.sub(rb"(?i)nan|inf", b"", tail.translate(None, NO_DIGITS + b"\r"))
