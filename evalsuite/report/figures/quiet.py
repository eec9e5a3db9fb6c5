"""How quiet the machine was: runs on a time axis and readings next to them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from evalsuite.report.figures import ticks
from evalsuite.report.figures.data import Axis, Bilingual, Figure, Label, LegendEntry, Table
from evalsuite.report.figures.shapes import outlines, tiles
from evalsuite.report.figures.sheet import SMALL, WIDTH, Panel, Sheet, draw, text_width
from evalsuite.report.figures.style import ROLES, Look, note_swatch

TRACK, GAP, TOP, BOTTOM = 46, 20, 14, 30
NARROWEST = 0.002  # of the axis: a run of seconds in a campaign of hours is still seen


@dataclass(frozen=True, kw_only=True)
class RunSpan:
    name: str
    framework: str
    begin_s: float  # since the first run began
    end_s: float
    disturbed: bool
    readings: tuple[float | None, ...]  # one for each track
    ref: str = ""


@dataclass(frozen=True, kw_only=True)
class Track:
    label: Label
    key: str  # its column in the table
    unit: str


def quietness(runs: Sequence[RunSpan], tracks: Sequence[Track], look: Look, *, id: str) -> Figure:
    runs, tracks = tuple(sorted(runs, key=lambda run: run.begin_s)), tuple(tracks)
    return Figure(
        id=id,
        svg=draw(_quietness, id, look, runs, tracks) if runs else None,
        table=Table(
            columns=("run", "at_s", "lasting", "disturbed", *(track.key for track in tracks)),
            units=("", "s", "s", "", *(track.unit for track in tracks)),
            rows=tuple((r.name, r.begin_s, r.end_s - r.begin_s, r.disturbed, *r.readings) for r in runs),
            refs=tuple(run.ref for run in runs),
        ),
        legend=(LegendEntry(key="disturbed", swatch=note_swatch("ring")),) if any(r.disturbed for r in runs) else (),
        axes=(Axis(key="campaign_time", unit=_scale(runs)[1]),),
    )


def _scale(runs: Sequence[RunSpan]) -> tuple[float, str]:
    last = max((run.end_s for run in runs), default=0.0)
    return next(((f, unit) for f, unit in ((3600.0, "h"), (60.0, "min")) if last >= 2 * f), (1.0, "s"))


def _quietness(id: str, look: Look, runs: Sequence[RunSpan], tracks: Sequence[Track]) -> str:
    left = max((text_width(track.label) for track in tracks), default=0) + 58
    sheet = Sheet(id, height=TOP + (TRACK + GAP) * (1 + len(tracks)) + BOTTOM)
    factor, unit = _scale(runs)
    end = max(run.end_s for run in runs) / factor
    panel = _panel(sheet, 0, left, end)
    panel.set_ylim(0, 1)
    spans = [(run.begin_s / factor, max((run.end_s - run.begin_s) / factor, NARROWEST * end)) for run in runs]
    for framework, numbers in _in_turn(enumerate(runs)):
        boxes = [(begin, 0.22, width, 0.56) for begin, width in (spans[number] for number in numbers)]
        shapes = tiles(panel, boxes, look.hue(framework).name)
        sheet.mark(shapes, [runs[number].ref for number in numbers], series=framework)
    rings = [(begin, 0.1, width, 0.8) for run, (begin, width) in zip(runs, spans, strict=True) if run.disturbed]
    if rings:
        outlines(panel, rings, width=1.8, zorder=4)
    for place, track in enumerate(tracks):
        below = _panel(sheet, place + 1, left, end)
        _track(sheet, below, place, track, runs, look, factor)
        y = TOP + (TRACK + GAP) * (place + 1) + TRACK / 2
        sheet.write(left - 50, y, track.label, anchor="right", colour="ink")
        panel = below
    ticks.label_columns(sheet, panel, ticks.linear(0, end, 7))
    sheet.write(WIDTH - 18, sheet.height - 12, unit, size=SMALL)
    return sheet.svg()


def _panel(sheet: Sheet, place: int, left: float, end: float) -> Panel:
    top = TOP + (TRACK + GAP) * place
    panel = sheet.panel(left, top, WIDTH - 24, top + TRACK)
    panel.set_xlim(0, end * 1.01)
    return panel


def _track(
    sheet: Sheet, panel: Panel, place: int, track: Track, runs: Sequence[RunSpan], look: Look, factor: float
) -> None:
    known = [(number, run, value) for number, run in enumerate(runs) if (value := run.readings[place]) is not None]
    highest = max((value for *_, value in known), default=0.0) or 1.0
    panel.set_ylim(0, highest * 1.15)
    ticks.label_rows(sheet, panel, ticks.linear(0, highest * 1.15, 3), ticks.rounded)
    at = {number: ((run.begin_s + run.end_s) / 2 / factor, value) for number, run, value in known}
    if at:
        middles, values = zip(*at.values(), strict=True)
        panel.vlines(middles, 0, values, color=ROLES["rule"], linewidth=1)
    for framework, numbers in _in_turn((number, run) for number, run, _ in known):
        middles, values = zip(*(at[number] for number in numbers), strict=True)
        sheet.dots(panel, middles, values, look.hue(framework), [runs[n].ref for n in numbers], framework, zorder=3)


def _in_turn(runs: Iterable[tuple[int, RunSpan]]) -> Iterator[tuple[str, list[int]]]:
    for framework, group in groupby(runs, key=lambda each: each[1].framework):
        yield framework, [number for number, _ in group]


def track_named(zh: str, en: str, key: str, unit: str) -> Track:
    return Track(label=Bilingual(zh=f"{zh} ({unit})", en=f"{en} ({unit})"), key=key, unit=unit)
