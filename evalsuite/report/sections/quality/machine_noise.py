"""How quiet the machine was while the campaign ran: its runs in order, and what was read at the same time."""

import statistics
from collections.abc import Sequence
from datetime import datetime

from evalsuite.core.decode import instant
from evalsuite.core.findings import BusyMachine
from evalsuite.core.model import Measurement
from evalsuite.report import figures
from evalsuite.report.book.book import Book
from evalsuite.report.figures import Look
from evalsuite.report.sections.common.captioned_figure import CaptionedFigure
from evalsuite.report.text import names, numbers
from evalsuite.report.text.words import Words

OTHERS = "others"  # what other programs than the training took of the usable cores
PROBE = "probe"  # what a fixed computation took before the run's block
NAMES = {OTHERS: "quietness.others", PROBE: "quietness.probe"}  # others are named as resources are
TRACKS = ((OTHERS, "%"), (PROBE, "s"), ("gpu_temperature", "°C"), ("gpu_sm_clock", "MHz"))
FEWEST_RUNS = 3
LEAST_BUSY = 0.1  # of the time between first and last: runs days apart are slivers on one axis
MOST_RUNS = 400


def draw_noise(book: Book, look: Look, words: Words) -> CaptionedFigure | None:
    dated = [(run, moment) for run in book.measurements if (moment := _moment(run)) is not None][:MOST_RUNS]
    seen = others_seen(book)
    asked = [track for track in TRACKS if seen or track[0] != OTHERS]
    tracks = [(key, unit) for key, unit in asked if any(_reading(run, key) is not None for run, _ in dated)]
    if len(dated) < FEWEST_RUNS or not tracks:
        return None
    first = min(moment for _, moment in dated)
    spans = [_span(run, (moment - first).total_seconds(), [key for key, _ in tracks]) for run, moment in dated]
    if sum(span.end_s - span.begin_s for span in spans) < LEAST_BUSY * max(span.end_s for span in spans):
        return None
    shown = [figures.track_named(*_in_both(key, words), key=key, unit=unit) for key, unit in tracks]
    disturbed = sum(span.disturbed for span in spans)
    read = sum(_reading(run, OTHERS) is not None for run, _ in dated) if seen else 0
    values = {"runs": numbers.count(read), "limit": numbers.limit(BusyMachine.limit)}
    said = words("quietness.none", **values) if read else words("quietness.unread")
    if disturbed:
        said = words("quietness.some", **values, n=numbers.count(disturbed))
    return CaptionedFigure(
        figure=figures.quietness(spans, shown, look, id="f-quietness"), title=said, help=words("quietness.see")
    )


def others_seen(book: Book) -> bool:
    """Whether the other programs than the runs could be seen. Under a container's quota its own processor time alone is
    read, whatever its neighbours on the same cores take."""
    return not any(host.container and host.container.cpus for host in book.evaluation.environments.values())


def _moment(run: Measurement) -> datetime | None:
    if run.duration_s is None:
        return None
    time = instant(run.started_at)
    return time if time and time.tzinfo else None


def _span(run: Measurement, begin_s: float, keys: Sequence[str]) -> figures.RunSpan:
    case = run.run.case
    return figures.RunSpan(
        name=f"{names.framework(case.framework)} {names.scale(case)} r{run.run.repeat}",
        framework=case.framework,
        begin_s=begin_s,
        end_s=begin_s + (run.duration_s or 0.0),
        disturbed=any(isinstance(finding, BusyMachine) for finding in run.findings),
        readings=tuple(_reading(run, key) for key in keys),
        ref=names.case_anchor(case),
    )


def _reading(run: Measurement, key: str) -> float | None:
    if key == PROBE:
        return run.probe_s
    if key != OTHERS:
        means = [used.mean for used in run.utilisation if used.resource == key]
        return statistics.fmean(means) if means else None
    shares = {used.resource: used.mean for used in run.utilisation if used.device is None}
    if "cpu" not in shares or "job_cpu" not in shares:
        return None
    return max(0.0, shares["cpu"] - shares["job_cpu"])


def _in_both(key: str, words: Words) -> tuple[str, str]:
    said = words(NAMES.get(key, f"resources.{key}"))
    return said.plain(words.languages[0]), said.plain(words.languages[-1])
