"""What practice does to logs: one table of changes, for logs whose truth is known and for logs as they were found."""

import gzip
import re
from collections.abc import Callable
from datetime import datetime

from tests import sources

Mutation = Callable[[bytes], bytes]
Clock = Callable[[int, int], datetime]  # (number of a line, of how many) → what a relay stamps it with
ALTERED = (  # the layout of the lines, or how their numbers are written
    *("its first half wrapped", "its middle wrapped", "its second half wrapped", "folded", "its first half folded"),
    *("its second half folded", "commas", "underscores", "exponents"),
)
OF_FOUND = (  # that logs as they were found are held to: less than those whose truth is known
    *("twice", "kubectl", "journald, precise", "srun", "docker compose", "wrapped at 80", "decimal commas", "UTF-16"),
    *("CRLF", "cut late", "each line twice", "two processes", "gz", "colours", *ALTERED),
)
ALONE = ("gz", "colours", "cut late", "clipped", "without much of it", *ALTERED)  # not of composed logs
OF_TRAPS = ("a collector", "wrapped at 80", "clipped", "without much of it", "twice")
HARMLESS = ("CRLF", "UTF-16", "gz", "colours")  # after which the number is what it was


def lines(text: bytes) -> list[bytes]:
    return [line for line in re.split(rb"(?<=\n)", text) if line]


def mutations(clock: Clock) -> dict[str, Mutation]:
    """Name → what is done to a log; relays stamp by *clock*."""
    relays = sources.table("mutations.toml")["relays"]
    return {
        **{name: _relay(form, clock) for name, form in relays.items()},
        "CRLF": lambda text: text.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"),
        "UTF-16": lambda text: text.decode("utf-8", "replace").encode("utf-16"),
        "gz": gzip.compress,
        "colours": lambda text: b"".join(b"\x1b[32m" + line + b"\x1b[0m\n" for line in text.rstrip(b"\n").split(b"\n")),
        "decimal commas": lambda text: re.sub(rb"(?<=\d)\.(?=\d)", b",", text),
        "wrapped at 80": wrap(80),
        "wrapped at 120": wrap(120),
        "its first half wrapped": wrap(80, 0, 1 / 2),
        "its middle wrapped": wrap(80, 1 / 3, 2 / 3),
        "its second half wrapped": wrap(80, 1 / 2, 1),
        "folded": fold(80),
        "its first half folded": fold(80, 0, 1 / 2, stripped=True),
        "its second half folded": fold(80, 1 / 2, 1),
        "commas": group_thousands(b","),
        "underscores": group_thousands(b"_"),
        "exponents": lambda text: _LARGE.sub(lambda number: b"%.6e" % float(number[0]), text),
        "clipped": lambda text: b"\n".join(line[:100] for line in text.split(b"\n")),
        "two ranks": _repeat("[rank{number}]:", 2),
        "eight ranks": _repeat("[rank{number}]:", 8),
        "two processes": _repeat("{number}: ", 2, bars=True),
        "two pods": _repeat("[pod/train-worker-{number}/main] ", 2),
        "each line twice": _repeat("", 2, bars=True),
        "bars as lines": lambda text: text.replace(b"\r", b"\n"),
        "old line ends": lambda text: text.replace(b"\n", b"\r"),
        "cut": _part(0, 60),
        "cut late": _part(0, 75),
        "without its head": _part(100 / 3, 100),
        "without much of it": _part(40, 100),
        "twice": lambda text: text.rstrip(b"\n") + b"\n" + text,
        "a hole": lambda text: text[: len(text) // 2] + b"\0" * 5000 + text[len(text) // 2 :],
        "noise": lambda text: b"".join(line + b"NCCL INFO channel 00 [0] 3.1\n" for line in lines(text)),
        "after a failed attempt": lambda text: (
            text[: len(text) // 8] + b"\nRuntimeError: NCCL error: unhandled\n" + text
        ),
    }


def _relay(form: str, clock: Clock) -> Mutation:
    def mutated(text: bytes) -> bytes:
        said = lines(text)
        return b"".join(form.format(at=clock(number, len(said))).encode() + line for number, line in enumerate(said))

    return mutated


def wrap(columns: int, begin: float = 0, end: float = 1) -> Mutation:
    """As a terminal breaks lines; only those between two shares of all lines."""

    def cut(line: str) -> list[str]:
        return [line[at : at + columns] for at in range(0, max(1, len(line)), columns)]

    return lambda text: _in_a_part(text, begin, end, cut)


def fold(columns: int, begin: float = 0, end: float = 1, *, stripped: bool = False) -> Mutation:
    """As `fold -s` cuts lines, between words; *stripped*: without the spaces at their ends."""

    def cut(line: str) -> list[str]:
        parts = []
        while len(line) > columns:
            at = line.rfind(" ", 0, columns) + 1 or columns
            parts, line = [*parts, line[:at]], line[at:]
        return [part.rstrip(" ") if stripped else part for part in (*parts, line)]

    return lambda text: _in_a_part(text, begin, end, cut)


def _in_a_part(text: bytes, begin: float, end: float, cut: Callable[[str], list[str]]) -> bytes:
    said = text.decode("utf-8", "surrogateescape").split("\n")
    first, last = int(begin * len(said)), int(end * len(said))
    parts = (part for line in said[first:last] for part in cut(line))
    return "\n".join([*said[:first], *parts, *said[last:]]).encode("utf-8", "surrogateescape")


_LARGE = re.compile(rb"(?<![\w.,/-])\d{4,}(?:\.\d+)?(?![\d:/-]|\.\d)")


def group_thousands(sign: bytes, numbers: "re.Pattern[bytes]" = _LARGE) -> Mutation:
    """`1,234.5` for `1234.5`."""

    def grouped(number: "re.Match[bytes]") -> bytes:
        before, point, fraction = number[0].partition(b".")
        return re.sub(rb"(?<=\d)(?=(?:\d{3})+$)", sign, before) + point + fraction

    return lambda text: numbers.sub(grouped, text)


def _part(begin: float, end: float) -> Mutation:
    """What lies between two percents of a log's letters."""

    def mutated(text: bytes) -> bytes:
        said = text.decode("utf-8", "surrogateescape")
        return said[int(len(said) * begin / 100) : int(len(said) * end / 100)].encode("utf-8", "surrogateescape")

    return mutated


def _repeat(prefix: str, count: int, *, bars: bool = False) -> Mutation:
    """Each line *count* times; *bars*: so is each state of a bar, which ends with a carriage return."""

    def mutated(text: bytes) -> bytes:
        said = text.splitlines(keepends=True) if bars else lines(text)
        return b"".join(prefix.format(number=number).encode() + line for line in said for number in range(count))

    return mutated
