"""The declaration of a log dialect: what one training script prints, and what its numbers mean.

A dialect is data. It names the lines that matter (each a pattern over bytes, with a line as it was really
printed and the source that prints it), whose throughput the printed number is, and over which steps it was
taken. `reading` turns a log into steps with it; nothing here opens a file.

The house's dialects lie in `evalsuite/logs/dialects/`; a user adds a folder with `--dialects DIR`. A module there
has a name `DIALECTS`, a tuple of `Dialect`. An adapter may bring a dialect with its recipe.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Literal, Protocol

from evalsuite import author_modules
from evalsuite.errors import EvalsuiteError
from evalsuite.messages import Message

NO_DIGITS = b"0123456789+-. \t"  # taken out of a line, its shape is left


class SecondFigure(Protocol):
    """Another derivation of the throughput of one log, from lines that the dialect does not read."""

    def add(self, text: bytes) -> None:
        """Takes what it needs from some whole lines."""

    def contradiction(self, items_per_s: float) -> str | None:
        """Why so many items per second cannot be, in words; None if nothing speaks against it."""


Scope = Literal["global", "per_device", "own", "auto", "unstated"]
"""Whose rate is printed: `global` the whole job's; `per_device` one device's, by one printer for all;
`own` the printer's own share, and every rank or worker prints; `auto` global or own, which only the clock or
the number of printers can tell; `unstated` not known, so that no throughput is made of it without being told."""

GROUPS = {
    "epoch": "epoch number",
    "step": "step number, within the epoch if `steps_restart` is epoch",
    "of": "steps per epoch",
    "interval": "training steps in this report",
    "since": "step number at the beginning of the report",
    "rank": "who prints",
    "begins": "anything: the line only begins the time of the next report",
    "evaluated": "anything: an evaluation lies inside the time of this report",
    "rate": "items per second",
    "rate_k": "thousands of items per second",
    "steps_per_s": "training steps per second",
    "seconds": "seconds per step (of the last step, or the mean over the report: see `averaging`)",
    "ms": "the same in milliseconds",
    "us": "the same in microseconds",
    "report_s": "seconds of the whole report",
    "report_ms": "the same in milliseconds",
    "mean_s": "seconds per step, mean since the epoch (or the run) began",
    "elapsed_s": "seconds since the run began",
    "elapsed_ms": "the same in milliseconds",
    "items": "items of the whole job in this report",
    "consumed": "items of the whole job since the run began",
    "loss": "training loss",
    "stamp": "date and time of day",
    "unix_s": "seconds since 1970",
    "unix_ms": "milliseconds since 1970",
    "batch_per_device": "items on one device per step",
    "global_batch": "items of the whole job per step",
    "reduced_batch": "the same, after the script has lowered it: the last one counts",
    "epoch_items": "items of the whole job in one epoch",
    "devices": "devices of the whole job",
    "nodes": "nodes of the job",
    "devices_per_node": "devices on each node",
    "accumulation": "forward passes per step",
    "resumed_step": "step number of the checkpoint that the run went on from",
    "model": "name of the model",
    "items_per_batch": "items in one item of the batch (tokens per sequence)",
    "timer": "name of a timer",
    "timer_s": "its seconds",
    "timers": "several of them: name_s=seconds, with blanks between",
}


SCORE = re.compile(r"(train|validation)_(top1|top5|accuracy|loss)(_share|_error_share)?")
GROUPS |= {
    f"{split}_{metric}{form}": f"{metric} on the {split} data, in {unit}"
    for split in ("train", "validation")
    for metric in ("top1", "top5", "accuracy")
    for form, unit in (("", "per cent"), ("_share", "shares of 1"), ("_error_share", "shares of 1 that are wrong"))
} | {f"{split}_loss": f"loss on the {split} data" for split in ("train", "validation")}


Fields = Mapping[str, bytes | float | None]
"""Names of `GROUPS` → what a line says there."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """One kind of line: the *pattern* that finds it, a *sample* as printed, and the *source* that prints it.

    The pattern is searched, never anchored at the beginning: launchers put prefixes there. It should begin
    with literal text, which is what makes the search fast. Its groups have the names of `GROUPS`. In the sample
    ` ... ` stands for what was left out; the source is `OWNER/REPOSITORY@COMMIT:FILE`, then what else must be said.
    """

    pattern: bytes
    sample: bytes
    source: str
    fields: Callable[["re.Match[bytes]"], Fields | None] | None = None
    """Reads what groups cannot say (a JSON object): names of `GROUPS` → value; None or a ValueError = this is no
    such line."""
    telling: bool = True  # does it tell the dialect from others? Else it counts only once the dialect is known

    @cached_property
    def compiled(self) -> "re.Pattern[bytes]":
        return re.compile(self.pattern)

    @cached_property
    def counting(self) -> "re.Pattern[bytes]":
        """The same pattern as `findall` is fastest with: no groups, and no optional part at its end."""
        plain = re.sub(rb"\(\?P<\w+>", b"(?:", self.pattern)
        while (shorter := _OPTIONAL_END.sub(b"", plain)) != plain:
            plain = shorter
        return re.compile(plain)

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """The names of the groups in their order; a group without a name has an empty one."""
        names = {number: name for name, number in self.compiled.groupindex.items()}
        return tuple(names.get(number, "") for number in range(1, self.compiled.groups + 1))

    @cached_property
    def literal(self) -> bytes:
        """The literal text that the pattern begins with."""
        return _leading_literal(self.pattern)

    @cached_property
    def beginnings(self) -> tuple[bytes, ...]:
        """The literal texts one of which the pattern begins with: several where all of it is `(?:one|other)`."""
        parts = _alternatives(self.pattern)
        return tuple(map(_leading_literal, parts)) if parts else (self.literal,)

    def may_stand_in(self, text: bytes) -> bool:
        """False where nothing in *text* can fit, which is told faster than what does."""
        return any(stands_in(beginning, text) for beginning in self.beginnings)

    @cached_property
    def shape(self) -> bytes:
        """The same as `Sniffer` compares it: without what changes from line to line."""
        return self.literal.translate(None, NO_DIGITS)

    def read(self, match: "re.Match[bytes]") -> Fields | None:
        """Names of `GROUPS` → what stands there; None if it is no such line after all."""
        if self.fields is None:
            return match.groupdict()
        try:
            return self.fields(match)
        except (ValueError, ArithmeticError):
            return None  # digits that make no number: 360760.9.5


def line(
    pattern: bytes,
    sample: bytes,
    source: str,
    *,
    fields: Callable[["re.Match[bytes]"], Fields | None] | None = None,
    telling: bool = True,
) -> tuple[Line]:
    """A tuple of a single `Line`, which is what most fields of a dialect hold."""
    return (Line(pattern=pattern, sample=sample, source=source, fields=fields, telling=telling),)


@dataclass(frozen=True, kw_only=True)
class Timers:
    """Lines that take the time of a step apart: either all timers in one line with the number of its step, or a
    line for each timer, of which that of the whole comes first."""

    line: Line
    whole: str  # the timer whose time is taken apart
    of: Literal["step", "task"]
    phases: Mapping[str, tuple[str, str | None]]  # timer → (phase, the phase it lies inside)


@dataclass(frozen=True, kw_only=True)
class Origin:
    """The author's file that a dialect comes from."""

    file: Path
    option: Literal["--adapters", "--dialects"]  # that brings the file


@dataclass(frozen=True, kw_only=True, eq=False)
class Dialect:
    """What one training script prints."""

    name: str
    title: str  # who prints it, for people: "pytorch/examples imagenet"
    framework: str | None  # the adapter's name: "pytorch"; None if several print it
    unit: str  # "images/s"
    step: tuple[Line, ...]
    scope: Scope
    averaging: Literal["step", "interval", "cumulative"]
    """What the printed rate or time was taken over: the last step alone, all steps since the previous report,
    or all steps since the run began."""
    model: str | None = None
    steps_restart: Literal["epoch", "never"] = "never"
    zero_based: bool | None = None  # is the first step numbered 0? None: judge by the numbers seen
    mean_since: int = 0  # steps (of the epoch) that cumulative means leave out
    mean_reports: int = 0  # the steps/s are means since the first report, or over the last N of them
    clock_s: float = 0.0  # resolution of a clock too coarse for single reports, which are joined
    every: int | None = None  # steps per report where the lines carry no number
    each: int = 1  # training steps that one printed number stands for
    number_repeats: bool = False  # a step that was skipped prints the same number again
    tagged_print_all: bool = False  # scope auto: under an MPI launcher every rank prints the whole job's rate
    steps_times_nodes: bool = False  # the printed steps/s are already multiplied by the number of nodes
    epochs_are_steps: bool = False  # reports cover epochs, and nothing is known of the steps inside
    warmed_up: bool = False  # the script has thrown its warm-up away before the first line
    per_epoch: bool = False  # one report an epoch
    evaluation_inside: bool = False  # an evaluation is in the printed time of the report after it, which is left out
    trust_stamps: bool = True  # false where lines are written later than the steps end
    final: tuple[Line, ...] = ()  # the log's own summary figure
    final_scope: Scope = "global"
    evaluation: tuple[Line, ...] = ()  # lines that show that time passed without training
    end: tuple[Line, ...] = ()  # printed by every run that came to its end; () if there is no such line
    facts: tuple[Line, ...] = ()  # batch size, devices, model
    scores: tuple[Line, ...] = ()  # how good the model is after an epoch; without a group for it they are counted
    first_epoch: int = 1  # the number that the script gives its first epoch in those lines
    timers: Timers | None = None  # where the script prints what its step time is made of
    second: Callable[[], SecondFigure] | None = None  # a second derivation, where the first is not to be trusted alone
    yields_to: tuple[str, ...] = ()  # dialects whose lines carry more, where a log has both
    notes: str = ""
    origin: Origin | None = None  # set when it is found; None: the house's own

    @cached_property
    def telling(self) -> tuple[Line, ...]:
        """The step lines and final figures by which the dialect is recognised."""
        return tuple(line for line in (*self.step, *self.final) if line.telling)

    @cached_property
    def spans_lines(self) -> bool:
        """Does a report of it go over several lines of the log?"""
        return any(b"\n" in line.sample.strip() for line in (*self.step, *self.final, *self.facts))

    @property
    def lines(self) -> tuple[Line, ...]:
        """Every line that is declared."""
        timers = (self.timers.line,) if self.timers else ()
        return (*self.step, *self.final, *self.evaluation, *self.end, *self.facts, *self.scores, *timers)

    def check(self, where: str) -> None:
        """Raises EvalsuiteError if a field has a value that its type forbids, or if a pattern does not compile, has
        unknown groups or misses its own sample. *where* is the file that declares it."""
        author_modules.check(self, where)
        for line in self.lines:
            _check(Message("core.of_dialect", where=where, name=self.name), line)


def _check(where: str, line: Line) -> None:
    try:
        pattern = re.compile(line.pattern)
    except re.error as error:
        raise EvalsuiteError.of("core.dialect_pattern", where=where, pattern=repr(line.pattern), error=error) from error
    unknown = sorted(pattern.groupindex.keys() - GROUPS.keys())
    if unknown:
        raise EvalsuiteError.of(
            "core.dialect_unknown_group", where=where, name=unknown, pattern=repr(line.pattern), names=GROUPS
        )
    match = pattern.search(line.sample)
    if match is None or line.read(match) is None:
        raise EvalsuiteError.of(
            "core.dialect_sample", where=where, pattern=repr(line.pattern), sample=repr(line.sample)
        )


_USUAL = b" etaoinsrlhdcumpfgbywvk0123456789.,:-"  # bytes of a log, the most frequent first
_LOOKED_FOR = 4
_LONG = 1 << 13  # bytes; in a shorter text the whole literal is found as soon


def stands_in(literal: bytes, text: bytes) -> bool:
    """Is *literal* in *text*? Its rarest bytes are looked for first: one byte is found ten times faster than several,
    and most of what a dialect prints has one that other lines lack."""
    if len(text) > _LONG and not bytes_of_it_stand_in(literal, text):
        return False
    return literal in text


def bytes_of_it_stand_in(literal: bytes, text: bytes) -> bool:
    """May *literal* be in *text*, on one line or broken over several? Told by its rarest bytes."""
    return all(byte in text for byte in _rarest(literal))


@lru_cache(maxsize=1024)
def _rarest(literal: bytes) -> tuple[bytes, ...]:
    """Some of the bytes of *literal*, the rarest first."""
    known = {byte: place for place, byte in enumerate(_USUAL)}
    ordered = sorted(set(literal), key=lambda byte: (-known.get(byte, len(_USUAL)), byte))
    return tuple(bytes([byte]) for byte in ordered[:_LOOKED_FOR])


# (?:\s+Loss +(?:[\d.]+|nan))? at the end: groups in it are one deep
_OPTIONAL_END = re.compile(rb"(?<!\\)\(\?:(?:[^()\\]|\\.|\((?:[^()\\]|\\.)*\))*\)\?$")
_SPECIAL = frozenset(b".^$*+?{}[]()|")


_ESCAPED = {ord("t"): ord("\t"), ord("n"): ord("\n"), ord("r"): ord("\r")}


def _leading_literal(pattern: bytes) -> bytes:
    """The plain text at the beginning of a regular expression; empty if there is none."""
    if _has_alternatives(pattern):
        return b""
    literal, at = bytearray(), 0
    while at < len(pattern):
        byte, width = pattern[at], 1
        if byte == ord("\\") and at + 1 < len(pattern):
            byte, width = pattern[at + 1], 2
            if chr(byte).isalnum() and byte not in _ESCAPED:
                break
            byte = _ESCAPED.get(byte, byte)
        elif byte in _SPECIAL:
            break
        if pattern[at + width : at + width + 1] in (b"*", b"?", b"+", b"{"):
            break
        literal.append(byte)
        at += width
    return bytes(literal)


def _alternatives(pattern: bytes) -> list[bytes]:
    """`(?:one|other)` → one, other; empty where the pattern is no group of alternatives."""
    if not pattern.startswith(b"(?:") or not pattern.endswith(b")"):
        return []
    parts, depth = [b""], 0
    for token in _TOKEN.findall(pattern[3:-1]):
        depth += {b"(": 1, b")": -1}.get(token, 0)
        if depth < 0:
            return []  # (?:one)…(?:other): the brackets at both ends are not a pair
        parts = [*parts, b""] if token == b"|" and depth == 0 else [*parts[:-1], parts[-1] + token]
    return parts


_TOKEN = re.compile(rb"\\.|\[\^?\]?[^\]]*\]|.", re.DOTALL)


def _has_alternatives(pattern: bytes) -> bool:
    """Is there a `|` outside all brackets? Then the alternatives have no common beginning."""
    depth = 0
    for token in re.findall(rb"\\.|\[\^?\]?[^\]]*\]|[()|]", pattern, re.DOTALL):
        depth += {b"(": 1, b")": -1}.get(token, 0)
        if token == b"|" and depth == 0:
            return True
    return False
