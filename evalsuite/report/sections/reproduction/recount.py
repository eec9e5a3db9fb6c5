"""What a value is counted from, so that a reader can count it again: the log's own lines, items and times."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

from evalsuite.core.model import RATES, LogLine, Measurement, Summary, Throughput
from evalsuite.report.text import names
from evalsuite.results.measure.summary import median_run

MOST_REPORTS = 2_000  # of a window; more make no better drawing, and their sums are printed next to them anyway


@dataclass(frozen=True, kw_only=True)
class Timing:
    """The reports of a window for the page's script, as numbers with blanks between."""

    items: str  # of each; one number if all have the same
    passed: str  # seconds since the window began, at the end of each
    steps: int


@dataclass(frozen=True, kw_only=True)
class Proof:
    run: Measurement
    # first, middle and last of the window, each with its number and in pieces: text, and whether it was read
    lines: tuple[tuple[int, tuple[tuple[str, bool], ...]], ...]
    machine: tuple[str, ...]
    timing: Timing | None
    by_rates: bool  # the value is the mean of printed rates, and no clock's


def proof(summary: Summary) -> Proof | None:
    run = median_run(summary)
    if run.throughput is None or (run.throughput.counted is None and not run.lines):
        return None
    version = f"{names.framework(run.run.case.framework)} {run.framework_version}" if run.framework_version else ""
    return Proof(
        run=run,
        lines=tuple((line.number, tuple(_pieces(line))) for line in run.lines),
        machine=tuple(names.visible(text) for text in (str(run.environment or ""), version) if text),
        timing=_timing(run.throughput),
        by_rates=run.throughput.method == RATES,
    )


def total(run: Measurement) -> str | None:
    """ "items/seconds", whose quotient the value of *run* is; None: there is nothing to count."""
    counted = run.throughput.counted if run.throughput else None
    if counted is None or run.value is None:
        return None
    return f"{sum(counted.items):.12g}/{sum(counted.seconds):.12g}"


def _pieces(line: LogLine) -> Iterator[tuple[str, bool]]:
    behind = 0
    for begin, end in (*line.read, (len(line.text), len(line.text))):
        if between := line.text[behind:begin]:
            yield _shown(between), False
        if own := line.text[begin:end]:
            yield _shown(own), True
        behind = end


def _shown(text: str) -> str:
    return "\n".join(names.visible(part).replace("\\t", "\t") for part in text.split("\n"))


def _timing(speed: Throughput) -> Timing | None:
    counted = speed.counted
    if counted is None or len(counted.seconds) > MOST_REPORTS:
        return None
    items = [f"{item:.15g}" for item in counted.items]
    return Timing(
        items=" ".join(items if len(set(items)) > 1 else items[:1]),
        passed=" ".join(f"{seconds:.12g}" for seconds in accumulate(counted.seconds)),
        steps=speed.window.steps if speed.window else len(items),
    )
