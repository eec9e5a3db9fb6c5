"""A dialect file drafted from one line of a log: its numbers are told by the names and units they stand beside.

What a line cannot tell, whose rate it is and which source prints it, is marked there; `dialects --check` names it.
"""

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

LONGEST = 8  # digits of seconds that a step may take
SAMPLE_BYTES = 120  # of the line behind what was recognised, in its sample
LABEL_BYTES = 40  # of the text before a number, so much can be its name
ITEMS = (  # as a unit writes it → as ours does
    (rb"img|imgs|images?", "images/s"),
    (rb"tok|toks|tokens?", "tokens/s"),
    (rb"words?|wps", "words/s"),
    (rb"seq|seqs|sequences?", "sequences/s"),
    (rb"sents?|sentences?", "sentences/s"),
    (rb"samples?|examples?|ex|items?", "samples/s"),
)
UNKNOWN_UNIT = "samples/s"
_PER_S = rb"[ _]?(?:/|per|p)[ _]?s(?:ec(?:ond)?)?(?:/gpu|_per_gpu|/device)?\b"
_NUMBER = re.compile(rb"(?<![\w.])[-+]?\d+(?:,\d{3})*(?:\.\d+)?(?:[eE][-+]?\d+)?|(?<![\w.])nan\b")
_VALUE = rb"[-+\d.,e]+"
_VALUES = {"step": rb"\d+", "of": rb"\d+", "epoch": rb"\d+", "loss": rb"[-+\d.e]+|nan", "rate": rb"[\d.,]+(?:e\+?\d+)?"}
_BEGINS = re.compile(rb"[A-Za-z\[(<{\"']")
# name before a number → group; the first that fits, and `None` where a number is none of ours
_NAMED: tuple[tuple[bytes, str | None], ...] = (
    (rb"(?:val|valid|validation|eval|test)[ _]\w*$", None),
    (rb"(?:" + b"|".join(names for names, _ in ITEMS) + rb")" + _PER_S + rb"$", "rate"),
    (rb"(?:throughput|speed|ips|tps|sps|fps|wps|tgs)$", "rate"),
    (rb"(?:it|iter|iters|iterations?|steps?|batch(?:es)?)" + _PER_S + rb"$", "steps_per_s"),
    (rb"(?:s|sec|seconds)(?:/| per )(?:it|iter|iteration|step|batch)$", "seconds"),
    (rb"(?:ms)(?:/| per )(?:it|iter|iteration|step|batch)$", "ms"),
    (rb"(?:step|iter(?:ation)?|batch)[ _]?(?:time|cost)?[ _]?\(?(?:in[ _])?ms\)?$", "ms"),
    (rb"(?:elapsed(?: time)?|total[ _]time|wall(?:[ _]?time|[ _]?clock)?)$", "elapsed_s"),
    (rb"(?:data|read(?:er)?|load(?:ing)?)[ _]?(?:time|cost)$", None),
    (rb"(?<![a-z])(?:time|took|batch_cost|step_cost|cost|seconds|sec)(?: ?\(s\))?$", "seconds"),
    (rb"(?<![a-z])dt$", "ms"),  # of nanoGPT's relatives; read where it has its unit
    (rb"epoch$", "epoch"),
    (rb"(?:step|steps|iter|iters|iteration|it|batch|update|updates)$", "step"),
    (rb"(?<![\w])(?:train[ _]|lm[ _])?loss$", "loss"),
)


@dataclass(frozen=True, kw_only=True)
class Found:
    """One number of a line: what it is, and the text before it that says so."""

    group: str
    label: bytes
    value: bytes
    tail: bytes = b""  # its unit


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A drafted dialect: its module's text, and what was recognised (group → its text in the line)."""

    text: str
    pattern: bytes
    found: dict[str, str]


def lines_asked(lines: Sequence[bytes], asked: str) -> tuple[bytes | None, bytes | None]:
    """(the line that *asked* points at, the pattern it is itself): a number of a line, some words of one, a whole
    line, or a regular expression, which is itself the pattern if it has named groups."""
    wanted = asked.strip().encode()
    if asked.isdigit() and 0 < int(asked) <= len(lines):
        return lines[int(asked) - 1], None
    held = next((line for line in lines if wanted in line), None)
    if held is not None:
        return held, None
    try:
        pattern = re.compile(wanted)
    except re.error:
        pattern = None
    if pattern is not None:
        match = next((line for line in lines if pattern.search(line)), None)
        if match is not None:
            return match, wanted if pattern.groupindex else None
    return (wanted if _NUMBER.search(wanted) else None), None


def draft(line: bytes, name: str, lines: Sequence[bytes] = (), pattern: bytes | None = None) -> Draft | None:
    """The dialect called *name* of a script that prints *line*; None if no number in it is one of ours.

    *lines* are the log's: whether its steps are counted anew in each epoch is seen there.
    """
    line = line.strip(b"\r\n")
    numbers = list(_numbers(line))
    made = pattern or (_pattern(numbers) if numbers else None)
    match = re.search(made, line) if made else None
    if made is None or match is None:
        return None
    found = {group: value.decode("utf-8", "replace") for group, value in match.groupdict().items() if value is not None}
    unit = _unit(line, numbers)
    timed = found.keys() & {"rate", "rate_k", "seconds", "ms", "us", "steps_per_s", "elapsed_s", "elapsed_ms"}
    text = _module(
        name=name,
        pattern=made,
        sample=line[match.start() : match.end() + SAMPLE_BYTES].strip(),
        unit=unit or UNKNOWN_UNIT,
        notes=[
            *(() if unit else (f"the line names no unit: {UNKNOWN_UNIT} is a guess",)),
            *(() if timed else ("no rate and no time was recognised: name the group yourself",)),
        ],
        restarts=_restarts(re.compile(made), lines),
        rated="rate" in found or "rate_k" in found,
    )
    return Draft(text=text, pattern=made, found=found)


def _numbers(line: bytes) -> Iterator[Found]:
    """The numbers of *line* that are told by what stands beside them; each group once."""
    taken: set[str] = set()
    behind = 0
    last: str | None = None
    for match in _NUMBER.finditer(line):
        before, after = line[behind : match.start()], line[match.end() : match.end() + LABEL_BYTES]
        if last == "step" and re.fullmatch(rb" ?(?:/|of) ?", before):
            last, tail = "of", b""
        else:
            last, tail = _group(before, after, match[0])
        group = last
        if group is not None and group not in taken:
            taken.add(group)
            yield Found(group=group, label=before[-LABEL_BYTES:], value=match[0], tail=tail)
        else:
            last, tail = None, b""
        behind = match.end() + len(tail)


def _group(before: bytes, after: bytes, value: bytes) -> tuple[str | None, bytes]:
    """What a number is, told by the unit behind it or the name before it; and its unit."""
    thousands = re.match(rb"[kK](?= ?[A-Za-z/]|\b)", after)
    rest = after[thousands.end() :] if thousands else after
    items = b"|".join(names for names, _ in ITEMS)
    for unit, group in (
        (rb" ?(?:%b)%b" % (items, _PER_S), "rate_k" if thousands else "rate"),
        (rb" ?(?:it|iters?|iterations?|steps?|batch(?:es)?)" + _PER_S, "steps_per_s"),
        (rb" ?ms(?:/| per )(?:it|iter|iteration|step|batch)", "ms"),
        (rb" ?s(?:ec(?:onds)?)?(?:/| per )(?:it|iter|iteration|step|batch)", "seconds"),
    ):
        match = re.match(unit + rb"(?!\w*[\"']?[ ]?[:=])", rest, re.IGNORECASE)  # no name of the next number
        if match:
            return group, (thousands[0] if thousands else b"") + match[0]
    if re.match(rb" ?(?:iters|iterations|steps|batches|samples|images|tokens)\b(?!/| per )", rest):
        return None, b""  # a count
    name = re.sub(rb"['\"\[\](){}:=|<>, \t-]+$", b"", before)
    named = next((group for words, group in _NAMED if re.search(rb"(?i)" + words, name)), None)
    ms = re.match(rb" ?ms\b", rest)
    if named in ("seconds", "ms") and ms:
        return "ms", ms[0]
    if (named == "ms" and name.endswith(b"dt")) or (named == "seconds" and len(value.partition(b".")[0]) > LONGEST):
        return None, b""  # a time without its unit, or seconds since 1970
    if named in ("step", "epoch", "of") and not value.isdigit():
        return None, b""
    if named == "rate" and thousands:
        return "rate_k", thousands[0]
    return named, b""


def _pattern(numbers: Sequence[Found]) -> bytes:
    """Literal text, then each number behind its name, whatever stands between them."""
    parts: list[bytes] = []
    for place, one in enumerate(numbers):
        label = one.label if place else _beginning(one.label)
        if place and one.group != "of":
            words = re.sub(rb"^\w+(?=\W)", b"", label.rstrip())  # the unit of the number before
            label = re.split(rb"[|,;]|\s{2,}", words)[-1].lstrip() + label[len(label.rstrip()) :]
            parts.append(rb"[^\r\n]*?" if label else b"")
            parts.append(rb"(?<!\w)" if re.match(rb"\w", label) else b"")  # loss, and not val_loss
        value = _VALUES.get(one.group, _VALUE)
        parts.append(_plain(label) + b"(?P<%b>%b)" % (one.group.encode(), value) + _plain(one.tail))
    return b"".join(parts)


def _beginning(label: bytes) -> bytes:
    """*label* from its first letter or bracket on: dates and ranks that stand before it change."""
    match = _BEGINS.search(label)
    return label[match.start() :] if match else label


def _plain(text: bytes) -> bytes:
    """*text* as a pattern: digits stand for any, and blanks at its end, before a number, for any number of them."""
    words = text.rstrip(b" \t")
    escaped = re.sub(rb"([.^$*+?{}\[\]\\|()])", rb"\\\1", words)
    blanks = rb"[ \t]*" if len(words) < len(text) else b""
    return re.sub(rb"\d+", rb"\\d+", re.sub(rb"[ \t]{2,}", rb"[ \\t]+", escaped)) + blanks


def _unit(line: bytes, numbers: Sequence[Found]) -> str | None:
    """The items that the line counts, as our units call them."""
    for one in numbers:
        beside = one.label + one.tail
        if one.group in ("rate", "rate_k"):
            for names, unit in ITEMS:
                if re.search(rb"(?i)(?<![a-z])(?:%b)%b" % (names, _PER_S), beside):
                    return unit
    return next((unit for names, unit in ITEMS if re.search(rb"(?i)(?<![a-z])(?:%b)%b" % (names, _PER_S), line)), None)


def _restarts(pattern: "re.Pattern[bytes]", lines: Sequence[bytes]) -> bool:
    """Do the step numbers of the log begin anew where its epoch grows?"""
    if not {"step", "epoch"} <= pattern.groupindex.keys():
        return False
    matches = filter(None, map(pattern.search, lines))
    seen = [(int(match["epoch"]), int(match["step"])) for match in matches if match["epoch"] and match["step"]]
    pairs = itertools.pairwise(seen)
    return any(after[0] > before[0] and after[1] <= before[1] for before, after in pairs)


def _module(
    *, name: str, pattern: bytes, sample: bytes, unit: str, notes: Sequence[str], restarts: bool, rated: bool
) -> str:
    remarks = "".join(f"# {note}\n" for note in notes)
    scope = '"unstated",  # whose rate is it? "global" (the job), "per_device" or "own": docs/adding-a-dialect.md'
    scope = scope if rated else '"global",  # a time per step is the whole job\'s'
    restart = '        steps_restart="epoch",\n' if restarts else ""
    return f'''"""Drafted from a line of a log. To be settled: what `evalsuite dialects --check` still names."""

from evalsuite.dialect import Dialect, Line

{remarks}DIALECTS = (
    Dialect(
        name="{name}",
        title="{name}",
        framework=None,
        unit="{unit}",
        scope={scope}
        averaging="interval",  # or "step", "cumulative": over what is the number a mean?
{restart}        step=(
            Line(
                pattern={pattern!r},
                sample={sample!r},
                source="to be said: OWNER/REPOSITORY@COMMIT:FILE that prints it",
            ),
        ),
    ),
)
'''
