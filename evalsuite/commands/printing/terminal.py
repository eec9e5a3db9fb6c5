"""What the launching commands show while they work: a bar on a terminal, plain lines in a pipe."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from evalsuite.commands.printing import i18n
from evalsuite.commands.printing.i18n import say
from evalsuite.core.errors import for_terminal
from evalsuite.core.model import Measurement, Run
from evalsuite.logs.formatting import rate

if TYPE_CHECKING:
    from rich.console import Console

    from evalsuite.plan.estimate import Estimate

ShowDone = Callable[..., None]  # how much is done, and what of
MOST_LAID_OUT = 1000  # rows of a table
ROOMY = 100  # characters of a window: in a narrower one two spaces part the columns of a table
WORTH_A_BAR_BYTES = 8 << 20  # less is read before a bar could be seen
SIZES = ("image_size", "sequence_length")  # of the input: almost always the same throughout an evaluation


def duration(seconds: float | None) -> str:
    """`75.2` → "1 min 15 s"; None → "?"."""
    return say("duration.none") if seconds is None else i18n.spoken().duration(seconds).plain(i18n.language())


def note(text: str) -> None:
    """One line of progress, on standard error, so that standard output stays the command's result."""
    print(for_terminal(i18n.worded(text)), file=sys.stderr, flush=True)


def print_json(facts: object, **settings: Any) -> None:
    print(json.dumps(facts, indent=1, ensure_ascii=False, **settings))


def aligned(rows: Sequence[Sequence[str]], sides: Sequence[str] = ()) -> None:
    """Rows of plain text with aligned columns, whatever the terminal's width. *sides*: "left" (each,
    unless said) or "right"."""
    widths = [max(map(i18n.columns, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = zip(row, widths, sides or ["left"] * len(widths), strict=True)
        line("  ".join(i18n.padded(text, width, right=side == "right") for text, width, side in cells).rstrip())


def line(text: str) -> None:
    text = for_terminal(i18n.worded(text))
    print(text.encode(sys.stdout.encoding or "utf-8", "backslashreplace").decode(sys.stdout.encoding or "utf-8"))


def label(run: Run) -> str:
    case = run.case
    options = (f"{option}={value}" for option, value in case.options if option not in SIZES)
    return say(
        "run.label",
        script=" ".join([f"{case.framework}/{case.recipe}", *options, case.model]),
        scale=case.scale,
        precision=case.precision + (" XLA" if case.xla else ""),
        batch=case.batch_per_device,
        repeat=run.repeat + 1,
    )


def result(measurement: Measurement) -> str:
    rules = [finding for finding in measurement.findings if finding.severity == "exclude"]
    if measurement.value is not None and rules:  # it keeps the value out of the median
        return say("run.excluded", finding=i18n.finding(rules[0]))
    if measurement.value is not None and measurement.throughput is not None:
        return f"{rate(measurement.value)} {measurement.throughput.unit}"
    return say("run.without", status=i18n.status(measurement.status), reason=i18n.worded(measurement.reason))


@contextmanager
def bar(total: float, *, worth_it: bool = True) -> Iterator[ShowDone | None]:
    """What shows how much is done, on standard error; None where that is no terminal, or the work is not *worth_it*. It
    has no thread: forking is safe while it shows."""
    if not worth_it or not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (BarColumn(bar_width=24), TextColumn("{task.description}", markup=False))
    with Progress(*columns, console=_console(stderr=True), transient=True, auto_refresh=False) as shown:
        task = shown.add_task("", total=total)

        def show(done: float, text: str = "", *, of: float = total, above: str = "") -> None:
            if above:
                shown.console.print(above, highlight=False, markup=False)
            shown.update(task, completed=done, total=of, description=text, refresh=True)

        yield show


class RunProgress:
    """Run k of n, time left, last throughput. `tick` comes while a run goes on, `ended` after it."""

    def __init__(self, runs: list[Run], estimate: "Estimate", show: ShowDone | None = None) -> None:
        self._runs, self._estimate, self._show = runs, estimate, show
        self._done, self._last = 0, ""
        self._shown: Run | None = None
        self.spared: list[Run] = []

    def needed(self, run: Run, is_needed: bool) -> bool:
        """Notes whether *run* will be made, and passes it on; one that was not expected is added to the whole."""
        if not is_needed:
            self.spared.append(run)
        elif run not in self._runs:
            self._runs.append(run)
        return is_needed

    def tick(self, run: Run, elapsed_s: float) -> None:
        if self._show:
            expected = self._estimate.of(run)
            part = min(elapsed_s / expected, 0.95) if expected else 0
            where = f"{self._done + 1}/{len(self._runs)} {label(run)} · {elapsed_s:.0f} s"
            self._show(self._done + part, where + self._left(elapsed_s) + self._last, of=len(self._runs))
        elif run != self._shown:
            self._shown = run
            note(say("run.started", place=self._done + 1, runs=len(self._runs), label=label(run), left=self._left(0)))

    def ended(self, run: Run, seconds: float | None, measurement: Measurement) -> None:
        if seconds is not None:
            self._estimate.add(run, seconds)
        self._done += 1
        self._last = say("run.last", result=result(measurement)) if measurement.value is not None else ""
        line = say(
            "run.ended",
            place=self._done,
            runs=len(self._runs),
            label=label(run),
            result=result(measurement),
            time=duration(seconds),
            left=self._left(0),
        )
        if self._show:
            self._show(self._done, above=line)
        else:
            note(line)

    def _left(self, elapsed_s: float) -> str:
        left = self._estimate.left(self._runs[self._done :], elapsed_s)
        return say("run.left", time=duration(left)) if left and left >= 1 else ""


def table(title: str, columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[str]], most: int = 160) -> None:
    """*columns* are (heading, "left" or "right"). Plain text in a pipe. *most*: characters of a line."""
    headings, sides = zip(*columns, strict=True)
    if len(rows) > MOST_LAID_OUT:  # laying them out cell by cell would take a minute
        aligned([headings, ["─" * i18n.columns(heading) for heading in headings], *rows], sides)
        return
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    console = _console(width=None if sys.stdout.isatty() else most, highlight=False)
    console.width = min(console.width, most)
    look: Any = {"title_justify": "left", "title_style": "bold", "box": SIMPLE_HEAD, "pad_edge": False}
    shown = Table(title=title, **look, padding=(0, 1) if console.width >= ROOMY else (0, 1, 0, 0))
    for heading, side in columns:
        right = side == "right"
        shown.add_column(heading, justify="right" if right else "left", overflow="fold", no_wrap=right)
    for row in rows:
        shown.add_row(*(Text(for_terminal(cell)) for cell in row))
    console.print(shown)


def _console(**how: Any) -> "Console":
    from rich.console import Console

    class Piped(Console):
        def on_broken_pipe(self) -> None:  # rich would exit with 1
            raise BrokenPipeError

    return Piped(**how)
