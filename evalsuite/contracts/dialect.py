"""The declaration of a log dialect: which lines a training script prints, and what their numbers mean. Built-in
dialects lie in `evalsuite/logs/dialects/` and, where they compute nothing, in `data/dialects/`; a user's in a folder of
`--dialects DIR`. A module declares `DIALECTS`, a tuple of them."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal, Protocol

from evalsuite.contracts import author_modules
from evalsuite.core.decode import Constraint
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.messages import Message

ANY_DIGIT = bytes.maketrans(b"123456789", b"0" * 9)
NO_DIGITS = b"0123456789+-. \t"  # what is left of a line without them is its shape


class SecondFigure(Protocol):
    """A second derivation of the throughput, from lines that the dialect does not read."""

    def add(self, text: bytes) -> None:
        """Takes whole lines."""

    def contradiction(self, items_per_s: float) -> str | None:
        """Why *items_per_s* is impossible; None if it is not."""


NO_ITEMS = ("steps/s", "its/s", "iterations/s", "batches/s")  # how fast, and not how much was trained
PIECES = ("tokens/s", "words/s")  # an item of the batch holds many of them


def is_unit(text: str) -> bool:
    """Whether it says what is trained on: images/s, tokens/s."""
    return bool(re.fullmatch("[a-z]+s/s", text)) and text not in NO_ITEMS


Unit = Annotated[str, Constraint("unit", is_unit)]
Scope = Literal["global", "per_device", "own", "auto", "unstated"]
"""Whose rate is printed: `global` the whole job's; `per_device` one device's, by one printer for all;
`own` the printer's own share, and every rank or worker prints; `auto` global or own, which only the clock or
the number of printers can tell; `unstated` not known, so that no throughput is made of it without being told."""

SCORE = re.compile(r"(train|validation)_(top1|top5|accuracy|loss)(_share|_error_share)?")
_GROUPS = """
    epoch step of interval since rank begins evaluated rate rate_k steps_per_s seconds ms us report_s report_ms
    mean_s elapsed_s elapsed_ms items consumed loss stamp unix_s unix_ms batch_per_device global_batch reduced_batch
    epoch_items devices nodes devices_per_node accumulation resumed_step model mode items_per_batch timer timer_s timers
    train_top1 train_top1_share train_top1_error_share train_top5 train_top5_share train_top5_error_share
    train_accuracy train_accuracy_share train_accuracy_error_share validation_top1 validation_top1_share
    validation_top1_error_share validation_top5 validation_top5_share validation_top5_error_share validation_accuracy
    validation_accuracy_share validation_accuracy_error_share train_loss validation_loss
"""
GROUPS = tuple(_GROUPS.split())  # what they say: docs/adding-a-dialect.md#groups
Fields = Mapping[str, bytes | float | None]
"""Names of `GROUPS` → what a line says there."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Line:
    """One kind of line: the *pattern* that finds it, a *sample* as printed, and the *source* that prints it.

    The pattern is searched, since launchers print prefixes; literal text at its beginning makes that fast. Its
    groups have the names of `GROUPS`. ` ... ` in the sample stands for what was left out. The source is
    `OWNER/REPOSITORY@COMMIT:FILE`, then remarks.
    """

    pattern: bytes
    sample: bytes
    source: str
    fields: Callable[["re.Match[bytes]"], Fields | None] | None = None
    """Reads what groups cannot say (a JSON object): names of `GROUPS` → value; None or a ValueError = this is no
    such line."""
    telling: bool = True  # whether it tells the dialect from others
    sure: bool = False  # whether each match is such a line, whatever `fields` would say

    @cached_property
    def compiled(self) -> "re.Pattern[bytes]":
        return re.compile(self.pattern)

    @cached_property
    def counting(self) -> "re.Pattern[bytes]":
        """The pattern as `findall` is fastest with: one empty group, so that no text is copied, no optional part at its
        end, one digit of a number there, and no way back into other numbers."""
        if b"(?P=" in self.pattern:
            return self.compiled
        plain = _WHOLE_DIGITS.sub(rb"\\d++", re.sub(rb"\(\?P<\w+>", b"(?:", self.pattern))
        while (shorter := _OPTIONAL_END.sub(b"", plain)) != plain:
            plain = shorter
        return re.compile((_MORE_DIGITS.sub(rb"\1\2", plain) if self.literal else plain) + b"()")

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """By position; "" for a group without a name."""
        names = {number: name for name, number in self.compiled.groupindex.items()}
        return tuple(names.get(number, "") for number in range(1, self.compiled.groups + 1))

    @cached_property
    def literal(self) -> bytes:
        return _leading_literal(self.pattern)

    @cached_property
    def beginnings(self) -> tuple[bytes, ...]:
        """The literal texts that the pattern may begin with, one of which is in every match: several for
        `(?:one|other)`."""
        is_group = self.pattern.startswith(b"(?:") and self.pattern.endswith(b")")
        parts = _alternatives(self.pattern[3:-1]) if is_group else []
        return tuple(map(_leading_literal, parts)) or (self.literal,)

    @cached_property
    def begins(self) -> tuple[bytes, ...]:
        """Its beginnings as far as one line has them, with 0 for each digit."""
        return tuple(beginning.partition(b"\n")[0].translate(ANY_DIGIT) for beginning in self.beginnings)

    @cached_property
    def shape(self) -> bytes:
        """The sample without what changes from line to line."""
        return self.literal.translate(None, NO_DIGITS)

    def read(self, match: "re.Match[bytes]") -> Fields | None:
        """By names of `GROUPS`; None if it is no such line after all."""
        if self.fields is None:
            return match.groupdict()
        try:
            return self.fields(match)
        except (ValueError, ArithmeticError):
            return None  # 360760.9.5


def step_before(pattern: bytes, within: int = 24) -> Callable[["re.Match[bytes]"], Fields | None]:
    """For lines whose step is within so many bytes before the literal text: `1000 time 1606135171.39`."""
    find = re.compile(pattern).search

    def fields(match: "re.Match[bytes]") -> Fields | None:
        before = find(match.string, max(0, match.start() - within), match.start())
        return None if before is None else {**match.groupdict(), "step": before[1]}

    return fields


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
    """The parts of a step's time: all in one line with the step's number, or a line each, that of the whole first."""

    line: Line
    whole: str  # timer of the whole
    of: Literal["step", "task"]
    phases: Mapping[str, tuple[str, str | None]]  # timer → (phase, its parent)


@dataclass(frozen=True, kw_only=True, eq=False)
class Dialect:
    name: str
    title: str  # who prints it: "pytorch/examples imagenet"
    framework: str | None  # None if several print it
    unit: Unit
    step: tuple[Line, ...]
    scope: Scope
    averaging: Literal["step", "interval", "cumulative"]
    """What the printed rate or time was taken over: the last step alone, all steps since the previous report,
    or all steps since the run began."""
    steps_restart: Literal["epoch", "unnumbered", "never"] = "never"  # with an epoch, whose number is printed or not
    zero_based: bool | None = None  # whether the first step has number 0; None: see the log
    mean_since: int = 0  # steps of the epoch that cumulative means leave out
    mean_reports: int = 0  # the rates are means over the last N reports
    clock_s: float = 0.0  # resolution of a coarse clock, whose reports are joined
    every: int | None = None  # steps per report where lines have no number
    each: int = 1  # steps of one printed number
    cross_entropy: bool = False  # its loss, which is never below zero
    tokens: Literal["slots", "non_padding", "in_loss"] | None = None  # which its rates count
    redrawn: bool = False  # a bar, which shows a count again
    number_repeats: bool = False  # a skipped step prints its number again
    tagged_print_all: bool = False  # scope auto: under MPI every rank prints the job's rate
    steps_times_nodes: bool = False  # the printed rate is multiplied by the nodes
    epochs_are_steps: bool = False  # reports cover epochs; the steps inside are unknown
    warmed_up: bool = False  # the script leaves its warm-up out
    per_epoch: bool = False
    evaluation_inside: bool = False  # the next printed time includes an evaluation, and is left out
    trust_stamps: bool = True  # false: lines are written later than steps end
    final: tuple[Line, ...] = ()  # the log's own summary
    final_scope: Scope = "global"
    evaluation: tuple[Line, ...] = ()  # time passed without training
    final_ends: bool = False  # every complete log has the summary
    end: tuple[Line, ...] = ()  # every complete log has it; (): none
    facts: tuple[Line, ...] = ()  # batch size, devices, model, as no other script prints them
    named_facts: Mapping[str, str] = field(default_factory=dict)  # kind of data/log_words.toml → group, of its steps
    scores: tuple[Line, ...] = ()  # after an epoch; counted where no group names it
    first_epoch: int = 1  # as the script numbers it
    timers: Timers | None = None  # parts of the step time
    second: Callable[[], SecondFigure] | None = None
    yields_to: tuple[str, ...] = ()  # dialects that win where a log has both
    notes: str = ""
    origin: Path | None = None  # the file that declares it; None: built in

    @cached_property
    def telling(self) -> tuple[Line, ...]:
        return tuple(line for line in (*self.step, *self.final) if line.telling)

    @cached_property
    def knows_scope(self) -> bool:
        return self.scope not in ("auto", "unstated")

    @cached_property
    def spans_lines(self) -> bool:
        return any(b"\n" in line.sample.strip() for line in (*self.step, *self.final, *self.facts))

    @cached_property
    def ends(self) -> tuple[Line, ...]:
        return self.final if self.final_ends else self.end

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        timers = (self.timers.line,) if self.timers else ()
        return (*self.step, *self.final, *self.evaluation, *self.end, *self.facts, *self.scores, *timers)

    def check(self, where: str) -> None:
        """Raises EvalsuiteError for a wrong value, or a pattern that does not compile, has unknown groups or misses its
        own sample. *where*: the declaring file."""
        author_modules.check(self, where)
        for line in self.lines:
            facts = {"where": Message("core.of_dialect", where=where, name=self.name), "pattern": repr(line.pattern)}
            try:
                match = line.compiled.search(line.sample)
            except re.error as error:
                raise EvalsuiteError.of("core.dialect_pattern", **facts, error=error) from error
            if unknown := sorted(line.compiled.groupindex.keys() - {*GROUPS}):
                raise EvalsuiteError.of("core.dialect_unknown_group", **facts, name=unknown, names=GROUPS)
            if match is None or line.read(match) is None:
                raise EvalsuiteError.of("core.dialect_sample", **facts, sample=repr(line.sample))


# (?:\s+Loss +(?:[\d.]+|nan))? at the end, one level deep
_OPTIONAL_END = re.compile(rb"(?<!\\)\(\?:(?:[^()\\]|\\.|\((?:[^()\\]|\\.)*\))*\)\?$")
_MORE_DIGITS = re.compile(rb"(\\d|\[\\d[.,]*\])\+(\)?)$")  # (?:[\d.]+)
_WHOLE_DIGITS = re.compile(rb"""(?<!\\)\\d\+(?=\)?(?:[A-Za-z/:,;%=<>_'"-]|\\[^\w ])(?![*?{]))""")  # no digit can follow
_SPECIAL = frozenset(b".^$*+?{}[]()|")


_ESCAPED = {ord("t"): ord("\t"), ord("n"): ord("\n"), ord("r"): ord("\r")}


def _leading_literal(pattern: bytes) -> bytes:
    if b"|" in pattern and len(_alternatives(pattern)) > 1:
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
    """`one|other` → one, other; empty where a bracket closes that none has opened, as inside `(?:one)…(?:other)`."""
    cuts, depth = [-1], 0
    for token in re.finditer(rb"\\.|\[\^?\]?[^\]]*\]|[()|]", pattern, re.DOTALL):
        depth += {b"(": 1, b")": -1}.get(token[0], 0)
        if depth < 0:
            return []
        if token[0] == b"|" and depth == 0:
            cuts.append(token.start())
    return [pattern[before + 1 : cut] for before, cut in zip(cuts, (*cuts[1:], None), strict=True)]
