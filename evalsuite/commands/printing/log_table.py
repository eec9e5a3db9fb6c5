"""What `evalsuite parse` prints for people: a sentence for one log, a table for several, how one is read."""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalsuite.commands.printing import i18n, terminal
from evalsuite.commands.printing.i18n import say, worded
from evalsuite.core.model import by_key
from evalsuite.logs.formatting import rate

if TYPE_CHECKING:
    from evalsuite.logs.explaining import Explanation
    from evalsuite.logs.unknown.groups import Group
    from evalsuite.results.measure.goodput import TimeSpan

Row = dict[str, Any]  # one element of `parse --json`
NAMED = 3  # files that share a reason; more are counted

COLUMNS = ("file", "dialect", "status", "throughput", "unit", "certainty", "trained", "findings")
HEADS = {"throughput": "rate"}
_BESIDE: dict[str, tuple[str, Callable[[float], str]]] = {  # key of `also_printed` → heading, form
    "items_per_s_per_device": ("per_device", rate),
    "spread_items_per_s": ("±", rate),
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


def show(rows: Sequence[Row]) -> None:
    """Prints *rows*: a sentence for one log, a table with totals for several."""
    if len(rows) == 1:
        print("\n".join(_sentences(rows[0])))
        return
    folder = os.path.commonpath([os.path.dirname(os.path.abspath(row["file"])) for row in rows])
    names = {row["file"]: os.path.relpath(os.path.abspath(row["file"]), folder) for row in rows}
    beside = [key for key in _BESIDE if any((row["also_printed"] or {}).get(key) is not None for row in rows)]
    heads = [say(f"columns.{HEADS.get(name, name)}") for name in COLUMNS] + [_heading_of_also(key) for key in beside]
    sides = ["right" if name == "throughput" else "left" for name in COLUMNS] + ["right"] * len(beside)
    terminal.aligned([heads, *(_cells(row, names, beside) for row in rows)], sides)
    print("", *_totals(rows, names), sep="\n")


def _heading_of_also(key: str) -> str:
    heading = _BESIDE[key][0]
    return say(f"columns.{heading}") if heading in ("per_device", "memory") else heading


def _of_also(row: Row, key: str) -> str:
    unit = row["printed_unit"] if "items_per_s" in key and row["printed_unit"] != "steps/s" else ""
    return f"{_BESIDE[key][1](row['also_printed'][key])} {unit}".rstrip()


def _cells(row: Row, names: dict[str, str], beside: Sequence[str]) -> list[str]:
    also = row["also_printed"] or {}
    return [
        names[row["file"]],
        row["dialect"] or "–",
        i18n.status(row["status"]),
        "–" if row["throughput"] is None else rate(row["throughput"]),
        row["unit"] or "–",
        i18n.known("certainties", row["certainty"] or "–"),
        "–" if row["throughput"] is None else i18n.report_word("values.trained", row["trained"]),
        " ".join(dict.fromkeys(finding["code"] for finding in row["findings"])) or "–",
        *("–" if also.get(key) is None else _of_also(row, key) for key in beside),
    ]


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
    first = dict[str, str]()
    spoken = ((row, first.setdefault(without_example(row["reason"]), row["reason"])) for row in rows if row["reason"])
    reasons = by_key(((row["throughput"] is None, reason), names[row["file"]]) for row, reason in spoken)
    for heading, none in ((say("parse.without"), True), (say("parse.doubted"), False)):
        own = {reason: files for (lacks, reason), files in reasons.items() if lacks is none}
        if own:
            yield f"\n{heading}"
        for reason, files in sorted(own.items(), key=lambda pair: -len(pair[1])):
            yield say("parse.reason_of", files=_files(files), why=worded(reason))
            more = say("parse.more", n=f"{len(files) - NAMED:,}") if len(files) > NAMED + 1 else ""
            yield f"    {say('parse.separator').join(files[: NAMED if more else NAMED + 1])}{more}"


def without_example(reason: str) -> str:
    """*reason* without what differs among logs of one shape: which line of each was taken for a report."""
    return re.sub(r"`.*?`|\d", "", reason) if "--set shape=" in reason else reason


def _files(files: Sequence[str]) -> str:
    n = len(set(files))
    return say("parse.files" if n != 1 else "parse.file", n=f"{n:,}")


def _sentences(row: Row) -> Iterator[str]:
    yield say("parse.told", file=row["file"], said=_sentence(row))
    also = {key: value for key, value in (row["also_printed"] or {}).items() if value is not None and key in _BESIDE}
    if also:
        said = (f"{_heading_of_also(key)} {_of_also(row, key)}" for key in also)
        yield f"  {say('parse.also')}" + say("parse.separator").join(said)
    if compute := row["compute"]:
        yield from _operations(compute)
    for finding in row["findings"]:
        yield "  " + say("parse.reason", what=finding["code"], why=finding["text"])


def _operations(compute: Row) -> Iterator[str]:
    mfu, rates = compute.get("mfu"), compute.get("tflops_per_device", {})
    said = [f"{rule} {rate(each)} TFLOP/s" + (f" ({mfu[rule]:.1%})" if mfu else "") for rule, each in rates.items()]
    said += [f"HFU {compute['hfu']:.1%}"] if compute.get("hfu") else []
    if said:
        yield "  " + say("parse.counted_by", rules=say("parse.separator").join(said))
    if mfu:
        words = {name: compute[name] for name in ("device", "precision")}
        yield "  " + say("parse.peak", peak=f"{compute['peak_tflops']:,g}", **words)
    if compute["note"]:
        yield "  " + worded(compute["note"])


def _sentence(row: Row) -> str:
    after = say("parse.after")
    if row["throughput"] is None:
        return i18n.status(row["status"]) + after + worded(row["reason"])
    total = row["total_devices"]
    devices = say("parse.on" if total != 1 else "parse.on_one", n=f"{total:,}") if total else ""
    how = say(
        "parse.how",
        rate=rate(row["throughput"]),
        unit=row["unit"],
        devices=devices,
        dialect=row["dialect"] or say("parse.by_shape"),
        method=i18n.report_word("values.method", row["method"]),
        span=_span(row),
    )
    sure = say("parse.reason", what=i18n.known("certainties", row["certainty"]), why=worded(row["certainty_reason"]))
    trained = i18n.report_word("values.trained", row["trained"])
    parts = [i18n.status(row["status"]), how, trained, sure, *([worded(row["reason"])] if row["reason"] else [])]
    return after.join(parts)


def _span(row: Row) -> str:
    window, counts = row["window"], row["window_counts"]
    if not window:
        return ""
    first, last = window["first_step"], window["last_step"]
    one, several = ("parse.step", "parse.steps") if counts == "steps" else ("parse.epoch", "parse.epochs")
    return say("parse.span", span=say(one, n=first) if first == last else say(several, first=first, last=last))


def printable(path: Path) -> str:
    """A file's name, which may hold bytes that are no text, or control characters."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(path))


INDENT = " " * 8  # the width of a line's number


def explain(explanation: "Explanation") -> Iterator[str]:
    """What `parse --explain` prints."""
    if explanation.looked_at_bytes:
        yield say("dialects.explain_partly", n=explanation.looked_at_bytes >> 20)
    if explanation.candidates:
        yield say("dialects.explain_fits", names=say("parse.separator").join(explanation.candidates))
    else:
        yield say("dialects.explain_none")
        for group in explanation.groups:
            yield from _group(group)
        yield say("dialects.explain_template")
    for line in explanation.lines:
        yield f"{line.number:>8}  {line.kind:<10}  {worded(line.why)}".rstrip()
        yield f"{INDENT}  {line.text}"
    if explanation.counts:
        counts = ", ".join(f"{count} {kind}" for kind, count in sorted(explanation.counts.items()))
        yield say("dialects.explain_counts", counts=counts)


def _group(group: "Group") -> Iterator[str]:
    yield say("dialects.explain_group", n=group.count, line=group.line, last=group.last)
    yield f"{INDENT}  {group.text}"
    taken = say("dialects.explain_taken", roles=worded(group.outline)) if group.outline else ""
    lacks = say("dialects.explain_lacks", why=worded(group.lacks)) if group.lacks else ""
    yield f"{INDENT}  {'; '.join(filter(None, (taken, lacks)))}"
    if group.dialect:
        yield f"{INDENT}  pattern={group.dialect.step[0].pattern!r}"
