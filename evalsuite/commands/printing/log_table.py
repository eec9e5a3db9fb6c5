"""What `evalsuite parse` prints for people: a sentence for one log, a table and totals for several."""

import os
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalsuite.commands.printing import i18n, terminal
from evalsuite.commands.printing.i18n import say
from evalsuite.core.model import by_key
from evalsuite.logs.formatting import rate

if TYPE_CHECKING:
    from evalsuite.results.measure.goodput import TimeSpan

Row = dict[str, Any]  # one element of `parse --json`
SURE = ("two clocks agree", "one clock", "printed only", "assumed scope")
SHORTEST = 20  # characters of a file or a dialect, on a narrow terminal
NAMED = 3  # files that share a reason; more are counted

# column → the key that sorts logs by it; of equals the order is as given
SORTS: dict[str, Callable[[Row], Any]] = {
    "file": lambda row: row["file"],
    "dialect": lambda row: (row["dialect"] is None, row["dialect"] or ""),
    "status": lambda row: row["status"],
    "throughput": lambda row: (row["throughput"] is None, -(row["throughput"] or 0.0)),
    "unit": lambda row: (row["unit"] is None, row["unit"] or "", row["throughput"] is None, -(row["throughput"] or 0)),
    "certainty": lambda row: SURE.index(row["certainty"]) if row["certainty"] else len(SURE),
    "findings": lambda row: -len(row["findings"]),
}
HEADS = {"throughput": "rate"}
_BESIDE: dict[str, tuple[str, Callable[[float], str]]] = {  # key of `also_printed` → heading, form
    "items_per_s_per_device": ("per_device", rate),
    "tflop_per_s_per_device": ("TFLOP/s", lambda value: f"{value:,.1f}"),
    "mfu": ("MFU", lambda value: f"{100 * value:.1f}%"),
    "memory_gib": ("memory", lambda value: f"{value:,.1f} GiB"),
}


def show_goodput(spans: Sequence["TimeSpan"], seconds: Mapping[str, float], whole: float, *, attempts: int) -> None:
    """Where the time went, with the lines around the longest spans of each bucket."""

    def cited(bucket: str) -> str:
        longest = sorted((span for span in spans if span.bucket == bucket), key=lambda span: -span.seconds)
        named = [f"{span.log.parent.name}:{span.first}–{span.last}" for span in longest[:NAMED]]
        return ", ".join([*named, *([f"+{len(longest) - NAMED}"] if len(longest) > NAMED else [])])

    head = [say(f"goodput.{name}") for name in ("bucket", "seconds", "share", "lines")]
    rows = [
        [say(f"goodput.{name}"), f"{took:.1f}", f"{took / whole:.1%}", cited(name)] for name, took in seconds.items()
    ]
    terminal.aligned([head, *rows], ["left", "right", "right", "left"])
    terminal.note(say("goodput.sum", seconds=f"{whole:.1f}", n=attempts, share=f"{seconds['steps'] / whole:.1%}"))


def sort_rows(rows: Sequence[Row], column: str | None) -> list[Row]:
    """*rows* sorted by *column*: the fastest, the surest, those with most findings first; those without last."""
    return sorted(rows, key=SORTS[column]) if column else list(rows)


def show(rows: Sequence[Row], *, paths: bool) -> None:
    """Prints *rows*; *paths*: with each file's whole path and not only what tells it from the others."""
    if len(rows) == 1:
        print("\n".join(_sentences(rows[0])))
        return
    names = {row["file"]: row["file"] for row in rows} if paths else _short([row["file"] for row in rows])
    beside = [key for key in _BESIDE if any((row["also_printed"] or {}).get(key) is not None for row in rows)]
    columns = [(say(f"columns.{HEADS.get(name, name)}"), "right" if name == "throughput" else "left") for name in SORTS]
    columns += [(_heading_of_also(key), "right") for key in beside]
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    print("\n".join(_table(columns, [_cells(row, names, beside) for row in rows], width)), end="\n\n")
    print("\n".join(_totals(rows, names)))


def _heading_of_also(key: str) -> str:
    heading = _BESIDE[key][0]
    return say(f"columns.{heading}") if heading in ("per_device", "memory") else heading


def _table(columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[str]], width: int | None) -> Iterator[str]:
    cells = [[heading for heading, _ in columns], *rows]
    widths = [max(map(i18n.columns, column)) for column in zip(*cells, strict=True)]
    dropped = []
    while width is not None and len(columns) > len(SORTS) and _total(widths[: len(columns)]) > width:
        dropped.append(columns[-1][0])
        columns = columns[:-1]
    widths = widths[: len(columns)]
    for column in (0, 1):  # file and dialect are the long ones
        spare = 0 if width is None else _total(widths) - width
        widths[column] = max(min(widths[column], SHORTEST), widths[column] - max(0, spare))
    for row in cells:
        shown = zip(row, widths, columns, strict=False)
        padded = (_padded(cell, size, side == "right") for cell, size, (_, side) in shown)
        yield "  ".join(padded).rstrip()
    if dropped:
        yield say("parse.too_narrow", columns=say("parse.separator").join(reversed(dropped)))


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + 2 * (len(widths) - 1)


def _padded(cell: str, width: int, right: bool) -> str:
    head = width // 2
    if i18n.columns(cell) > width:
        cell = f"{cell[:head]}…{cell[len(cell) - (width - head - 1) :]}"
    return i18n.padded(cell, width, right=right)


def _cells(row: Row, names: dict[str, str], beside: Sequence[str]) -> list[str]:
    also = row["also_printed"] or {}
    return [
        names[row["file"]],
        row["dialect"] or "–",
        i18n.status(row["status"]),
        "–" if row["throughput"] is None else rate(row["throughput"]),
        row["unit"] or "–",
        i18n.known("certainties", row["certainty"] or "–"),
        " ".join(dict.fromkeys(finding["code"] for finding in row["findings"])) or "–",
        *("–" if also.get(key) is None else _BESIDE[key][1](also[key]) for key in beside),
    ]


def _short(files: Sequence[str]) -> dict[str, str]:
    folder = os.path.commonpath([os.path.dirname(os.path.abspath(file)) for file in files])
    return {file: os.path.relpath(os.path.abspath(file), folder) for file in files}


def _totals(rows: Sequence[Row], names: dict[str, str]) -> Iterator[str]:
    statuses = Counter(row["status"] for row in rows)
    valued = sum(row["throughput"] is not None for row in rows)
    said = say("parse.separator").join(
        say("parse.counted", n=f"{count:,}", status=i18n.status(status)) for status, count in statuses.most_common()
    )
    without = len(rows) - valued
    yield say("parse.logs", n=f"{len(rows):,}", statuses=said, with_value=valued, without=without)
    by_code = by_key(
        (finding["code"], (names[row["file"]], finding["text"])) for row in rows for finding in row["findings"]
    )
    if by_code:
        yield "\n" + say("parse.codes")
    for code, where in sorted(by_code.items(), key=lambda pair: -len(pair[1])):
        counted = _files([file for file, _ in where])
        yield "  " + say("parse.code", code=code, files=counted, first=where[0][0], text=where[0][1])
    reasons = by_key((row["reason"], names[row["file"]]) for row in rows if row["throughput"] is None)
    if reasons:
        yield "\n" + say("parse.without")
    for reason, files in sorted(reasons.items(), key=lambda pair: -len(pair[1])):
        yield say("parse.reason_of", files=_files(files), why=i18n.worded(reason))
        more = say("parse.more", n=f"{len(files) - NAMED:,}") if len(files) > NAMED + 1 else ""
        yield f"    {say('parse.separator').join(files[: NAMED if more else NAMED + 1])}{more}"


def _files(files: Sequence[str]) -> str:
    n = len(set(files))
    return say("parse.files" if n != 1 else "parse.file", n=f"{n:,}")


def _sentences(row: Row) -> Iterator[str]:
    yield say("parse.told", file=row["file"], said=_sentence(row))
    also = {key: value for key, value in (row["also_printed"] or {}).items() if value is not None and key in _BESIDE}
    if also:
        unit = f" {row['unit']}"
        per_device = "items_per_s_per_device"
        said = (f"{_heading_of_also(key)} {_BESIDE[key][1](also[key])}{unit * (key == per_device)}" for key in also)
        yield f"  {say('parse.also')}" + say("parse.separator").join(said)
    for finding in row["findings"]:
        yield "  " + say("parse.reason", what=finding["code"], why=finding["text"])


def _sentence(row: Row) -> str:
    after = say("parse.after")
    if row["throughput"] is None:
        return i18n.status(row["status"]) + after + i18n.worded(row["reason"])
    total = row["total_devices"]
    devices = say("parse.on" if total != 1 else "parse.on_one", n=f"{total:,}") if total else ""
    how = say(
        "parse.how",
        rate=rate(row["throughput"]),
        unit=row["unit"],
        devices=devices,
        dialect=row["dialect"] or say("parse.by_shape"),
        method=i18n.known("methods", row["method"]),
        span=_span(row),
    )
    sure = say(
        "parse.reason", what=i18n.known("certainties", row["certainty"]), why=i18n.worded(row["certainty_reason"])
    )
    parts = [i18n.status(row["status"]), how, sure, *([i18n.worded(row["reason"])] if row["reason"] else [])]
    return after.join(parts)


_SPANS = {"steps": ("parse.step", "parse.steps"), "epochs": ("parse.epoch", "parse.epochs")}


def _span(row: Row) -> str:
    window = row["window"]
    if not window:
        return ""
    first, last = window["first_step"], window["last_step"]
    one_key, several_key = _SPANS[row["window_counts"]]
    span = say(one_key, n=first) if first == last else say(several_key, first=first, last=last)
    return say("parse.span", span=span)


def printable(path: Path) -> str:
    """A file's name, which may hold bytes that are no text, or control characters."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(path))
