"""The runs of a block over time, a strip for each resource."""

import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import fmean

from evalsuite.core.model import Measurement, Summary, Timeline, Utilisation
from evalsuite.report import figures
from evalsuite.report.book.blocks import Block
from evalsuite.report.sections.common.captioned_figure import CaptionedFigure, label, setting
from evalsuite.report.text import names
from evalsuite.report.text.words import Text, Words

ADDED_UP = ("bytes/s", "1/s", "bytes")  # over devices of one kind; a percentage or a temperature is averaged
# What a figure shows of each run: the first of these that were used at all.
RESOURCES = (
    *("gpu", "gpu_memory", "cpu", "network_receive", "disk_read"),
    *("loopback", "memory", "network_send", "disk_write", "gpu_power"),
)
OF_LOG = ("step_time", "loss")
UNSEEN = ("gpu", "pcie", "job", "disk_operations")
MOST_RESOURCES = 5 + len(OF_LOG)

Shown = tuple[Summary, str, Timeline]


@dataclass(frozen=True, kw_only=True)
class _Run:
    summary: Summary
    id: str
    line: Timeline
    name: str
    measured: Measurement

    def reading(self, resource: str) -> float | None:
        if resource == "step_time":
            return fmean(value for _, value in self.samples(resource) if value) if self.samples(resource) else None
        usages = [usage for usage in self.measured.utilisation if usage.resource == resource]
        return combine_means(usages) if usages else None

    def samples(self, resource: str) -> tuple[tuple[float, float | None], ...]:
        if resource == "step_time":
            return tuple(_step_times(self.measured))
        if resource in OF_LOG:
            losses = (score for score in self.measured.scores if (score.metric, score.split) == ("loss", "train"))
            return tuple((score.at_s, score.value) for score in losses if score.at_s is not None)
        return self.line.series.get(resource, ())


def _step_times(run: Measurement) -> Iterator[tuple[float, float]]:
    speed = run.throughput
    if speed and speed.counted and speed.window and speed.window.begin_s is not None:
        steps = speed.window.steps / len(speed.counted.seconds)
        for passed, seconds in zip(accumulate(speed.counted.seconds), speed.counted.seconds, strict=True):
            yield speed.window.begin_s + passed, seconds / steps


def draw_timelines(shown: Sequence[Shown], block: Block, words: Words) -> CaptionedFigure | None:
    runs = _runs(shown, block)
    present = dict.fromkeys(name for run in runs for name in run.line.series)
    known = [name for name in (*OF_LOG, *RESOURCES) if name in (*OF_LOG, *present)]
    known += [name for name in present if name not in known and not name.startswith(UNSEEN)]
    known = [name for name in known if any(run.samples(name) for run in runs)]
    busy = [name for name in known if any(_used(run, name) for run in runs)]
    strips = tuple(strip for name in busy[:MOST_RESOURCES] for strip in _strips(name, runs, words))
    if not strips:
        return None
    silent = [_named(name, words) for name in known if name not in busy]
    named = [words("figures.timeline_run", name=run.name, repeat=run.id.rpartition("/r")[2]) for run in runs]
    return CaptionedFigure(
        figure=figures.utilisation(strips, id=f"f-{block.id}-u"),
        title=words("figures.timeline", framework=words.listed(run.name for run in runs)),
        reading=(
            setting(block, words),
            words("figures.timeline_runs", runs=words.listed(named)),
            *((words("figures.timeline_silent", resources=words.listed(silent)),) if silent else ()),
        ),
        help=words("figures.timeline_see"),
    )


def _runs(shown: Sequence[Shown], block: Block) -> list[_Run]:
    short = [_short(summary) for summary, *_ in shown]
    runs = []
    for summary, run_id, line in shown:
        series = block.column_of(summary.case).label
        measured = next(measurement for measurement in summary.measurements if measurement.run.id == run_id)
        name = _short(summary) if short.count(_short(summary)) == 1 else f"{series} {names.scale(summary.case)}"
        runs.append(_Run(summary=summary, id=run_id, line=line, name=name, measured=measured))
    return runs


def _short(summary: Summary) -> str:
    return f"{names.framework(summary.case.framework)} {names.scale(summary.case)}"


def _used(run: _Run, resource: str) -> bool:
    mean = run.reading(resource)
    return bool(mean) if mean is not None else any(value for _, value in run.samples(resource))


def _strips(resource: str, runs: Sequence[_Run], words: Words) -> Iterable[figures.Strip]:
    called = label(_named(resource, words))
    known = [run for run in runs if any(value is not None for _, value in run.samples(resource))]
    unit = "s" if resource == "step_time" else next((run.line.units.get(resource, "") for run in known), "")
    maximum = 100.0 if unit == "%" else _capacity(resource, known)
    for run in known:
        at = run.line.window
        yield figures.Strip(
            label=run.name if len(runs) > 1 else called,
            group=called if len(runs) > 1 else "",
            samples=run.samples(resource),
            maximum=maximum,
            unit=unit,
            mean=run.reading(resource),
            ref=names.case_anchor(run.summary.case),
            window=(at.begin_s, at.end_s) if at and at.begin_s is not None and at.end_s is not None else None,
        )


def _capacity(resource: str, runs: Sequence[_Run]) -> float:
    stated = []
    for run in runs:
        values = [usage.capacity for usage in run.measured.utilisation if usage.resource == resource]
        known = [value for value in values if value is not None]
        if known and len(known) == len(values):
            stated.append(sum(known) if run.line.units.get(resource, "") in ADDED_UP else max(known))
    highest = max((value for run in runs for _, value in run.samples(resource) if value is not None), default=0.0)
    return max(stated, default=0.0) or highest or 1.0


def _named(resource: str, words: Words) -> Text:
    key = f"resources.{resource}"
    return words(key) if key in words else words("resources.other", name=names.visible(resource))


def combine_means(used: Sequence[Utilisation]) -> float:
    means = [usage.mean for usage in used]
    return sum(means) if used[0].unit in ADDED_UP else statistics.fmean(means)


def combine_spreads(used: Sequence[Utilisation]) -> tuple[float, float]:
    low, high = [usage.p5 for usage in used], [usage.p95 for usage in used]
    return (sum(low), sum(high)) if used[0].unit in ADDED_UP else (min(low), max(high))
