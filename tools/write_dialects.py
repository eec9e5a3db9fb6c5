"""Writes the page of dialects into docs/: every log dialect, who prints it, what its number counts, and its traps.

python tools/write_dialects.py
"""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

HOUSE = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(HOUSE))

from evalsuite.contracts.dialect import Dialect, Line
from evalsuite.logs import catalogue

PAGE = HOUSE / "docs" / "dialects.md"
INTRO = """\
# Log dialects

What `evalsuite parse` reads: {count} dialects. For each, who prints it, what its number counts, what to beware of, a
line as it was printed (` ... ` stands for what was left out), and the source that prints it. This page is written by
`tools/write_dialects.py` from the declarations in `evalsuite/logs/dialects` and `data/dialects`. A dialect of your own:
[adding-a-dialect.md](adding-a-dialect.md).
"""
SCOPES = {
    "global": "the whole job",
    "per_device": "one device",
    "own": "each printer's own share",
    "auto": "the whole job, or each printer's own share: told by the clock or by who prints",
    "unstated": "nobody says whose",
}
MEANS = {"step": "the last step", "interval": "the steps since the line before", "cumulative": "all steps so far"}
FIGURES = {  # group → meaning
    "rate": "items per second",
    "rate_k": "thousands of items per second",
    "steps_per_s": "steps per second",
    "seconds": "seconds per step",
    "ms": "milliseconds per step",
    "us": "microseconds per step",
    "report_s": "seconds of the report",
    "report_ms": "milliseconds of the report",
    "mean_s": "mean seconds per step so far",
    "elapsed_s": "seconds since the start",
    "elapsed_ms": "milliseconds since the start",
    "stamp": "the time of day",
    "unix_s": "the time of day",
    "unix_ms": "the time of day",
    "consumed": "items since the start",
}
FUNCTION = "the figures of one entry"
RATES = {"rate", "rate_k"}


def main() -> int:
    PAGE.write_text(page(catalogue.discover().values()), encoding="utf-8")
    return 0


def page(dialects: Iterable[Dialect]) -> str:
    shown = sorted(
        (dialect for dialect in dialects if not dialect.name.startswith("cited_")), key=lambda dialect: dialect.name
    )
    rows = (
        f"| [{dialect.name}](#{_anchor(dialect.name)}) | {_cell(dialect.title)} | {dialect.unit} | "
        f"{_whose(dialect)} | {_over(dialect)} |"
        for dialect in shown
    )
    head = "| Dialect | Printed by | Unit | Whose figure | Taken over |\n|---|---|---|---|---|"
    sections = "\n".join("\n".join(_section(dialect)) for dialect in shown)
    return f"{INTRO.format(count=len(shown))}\n{head}\n" + "\n".join(rows) + f"\n\n{sections}"


def _whose(dialect: Dialect) -> str:
    groups = _groups(dialect)
    if dialect.step and groups and not groups & RATES:
        return "a time, of the whole job's step"
    return SCOPES[dialect.scope] if dialect.step else SCOPES[dialect.final_scope]


def _over(dialect: Dialect) -> str:
    return MEANS[dialect.averaging] if dialect.step else "the whole run"


def _groups(dialect: Dialect) -> set[str]:
    return {group for line in dialect.step for group in line.groups if group in FIGURES}


def _section(dialect: Dialect) -> Iterator[str]:
    yield f"## {dialect.name}\n"
    yield f"{dialect.title}. {_counts(dialect)}\n"
    traps = list(_traps(dialect))
    if dialect.notes:
        yield f"{dialect.notes}\n"
    for trap in traps:
        yield f"- {trap}"
    if traps:
        yield ""
    for line in dialect.telling:
        yield from _sample(line)


def _counts(dialect: Dialect) -> str:
    if not dialect.step:
        return f"Its final figure alone is read: {FIGURES['rate']} ({dialect.unit})."
    said = ", ".join(FIGURES[group] for group in FIGURES if group in _groups(dialect)) or FUNCTION
    final = " Its final figure is kept beside." if dialect.final else ""
    return f"Of its step lines are read: {said}. An item is one of its {dialect.unit.removesuffix('/s')}.{final}"


def _traps(dialect: Dialect) -> Iterator[str]:
    if dialect.averaging == "cumulative":
        since = f", without the first {dialect.mean_since}" if dialect.mean_since else ""
        yield f"The figure is a mean of all steps so far{since}: the mean of such means is no throughput."
    if dialect.scope == "per_device" and _groups(dialect) & RATES:
        yield "The rate is that of one device: the job's is so many times as large (`--devices`)."
    if dialect.scope == "own":
        yield "Every process prints its own share: they are added up."
    if dialect.scope == "unstated":
        yield "The log does not say whose rate it prints: no throughput is made of it without `--set scope`."
    if dialect.each > 1:
        yield f"One printed number stands for {dialect.each} training steps."
    if dialect.every:
        yield f"Its lines carry no step number: each stands for {dialect.every} steps."
    if dialect.steps_times_nodes:
        yield "Its steps per second are multiplied by the number of nodes."
    if dialect.evaluation_inside:
        yield "The time of a report after an evaluation contains it: that report is left out."
    if dialect.warmed_up:
        yield "The script has thrown its warm-up away before the first line."
    if dialect.epochs_are_steps or dialect.per_epoch:
        yield "It reports epochs, not steps."
    if dialect.clock_s:
        yield f"Its clock is good to {dialect.clock_s:g} s only: reports are joined."
    if not dialect.trust_stamps:
        yield "Its lines are written later than the steps end: their time of day is no clock."
    if dialect.number_repeats:
        yield "A step that was skipped prints the same number again."
    if dialect.yields_to:
        yield f"Where a log has both, {' or '.join(dialect.yields_to)} says more and is read."


def _sample(line: Line) -> Iterator[str]:
    fence = "```" if b"```" not in line.sample else "~~~~"
    yield f"{fence}\n{_text(line.sample)}\n{fence}\n"
    yield f"Printed by {line.source}.\n" if not line.source.endswith(".") else f"Printed by {line.source}\n"


def _text(sample: bytes) -> str:
    lines = sample.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n").strip("\n").split("\n")
    return "\n".join("".join(c if c.isprintable() or c == "\t" else " " for c in line).rstrip() for line in lines)


def _anchor(heading: str) -> str:
    return heading.replace(".", "")


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    raise SystemExit(main())
