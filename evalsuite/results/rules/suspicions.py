"""What a reviewer would ask. No such note is a verdict, and nothing is left out because of one."""

import functools
import statistics
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from evalsuite.core import paths
from evalsuite.core.findings import AtChance, FarBelow, OneClock, OutsidePublished, SlowBase
from evalsuite.core.model import Case, Finding, Score, Summary, by_key
from evalsuite.results.compare.published_rates import PublishedRange, published
from evalsuite.results.measure import facts
from evalsuite.results.measure.summary import median_run

FAR = 4.0  # times slower than the median of the others: more than libraries of one generation differ by
FEWEST_OTHERS = 2  # frameworks whose median is a yardstick
SLOW_BASE = 0.7  # of the median base of the others; slower, and its efficiency flatters
BELOW, ABOVE = 0.5, 1.25  # of the lowest and the highest published figure: batches and versions differ that much
FAR_BELOW, FAR_ABOVE = 0.4, 2.5  # of the median of the figures: so far from it, though one of them lies as far
CHANCE = 0.2  # an accuracy within this share of a guess is one
SETTINGS = paths.DATA / "settings_to_check.toml"
CLASSES = {"imagenet": 1000, "cifar100": 100, "cifar10": 10, "mnist": 10}  # a word of the data's name → its classes


def findings(summaries: Iterable[Summary]) -> tuple[Finding, ...]:
    rows = list(summaries)
    blocks = by_key((replace(row.case, framework="", recipe="", nodes=1, devices_per_node=1), row) for row in rows)
    return (
        *(finding for members in blocks.values() for finding in _far_below(members)),
        *_outside_published(rows),
        *(finding for members in blocks.values() for finding in _slow_bases(members)),
        *_at_chance(rows),
        *_one_clock(rows),
    )


def _far_below(members: Sequence[Summary]) -> Iterator[FarBelow]:
    alone = [member for member in members if member.case.total_devices == 1]
    for row in alone:
        median = _median_of_others(row, alone)
        if median is not None and row.items_per_s.value * FAR < median:
            yield FarBelow(
                where=row.case.id,
                rate=row.items_per_s.value,
                unit=row.unit,
                others=len({other.case.framework for other in alone} - {row.case.framework}),
                median=median,
                settings=settings(row.case),
            )


def _median_of_others(summary: Summary, among: Iterable[Summary]) -> float | None:
    best: dict[str, float] = {}
    for other in among:
        if other.case.framework != summary.case.framework and other.unit == summary.unit:
            best[other.case.framework] = max(other.items_per_s.value, best.get(other.case.framework, 0.0))
    return statistics.median(best.values()) if len(best) >= FEWEST_OTHERS else None


def _outside_published(summaries: Iterable[Summary]) -> Iterator[OutsidePublished]:
    for row in summaries:
        known = published(row)
        if known and _unlike(row.items_per_s.value, known):
            yield OutsidePublished(
                where=row.case.id,
                rate=row.items_per_s.value,
                unit=row.unit,
                low=known.low,
                high=known.high,
                device=known.device if known.devices == 1 else f"{known.devices}× {known.device}",
                figures=known.figures,
                sources=tuple(known.sources[:2]),
                settings=settings(row.case),
            )


def _unlike(value: float, known: PublishedRange) -> bool:
    if known.low <= value <= known.high:
        return False
    far = not FAR_BELOW * known.median <= value <= FAR_ABOVE * known.median
    return far or (not known.few and not BELOW * known.low <= value <= ABOVE * known.high)


def _slow_bases(members: Sequence[Summary]) -> Iterator[SlowBase]:
    told: set[str] = set()
    bases = {member.case: member for member in members}
    for scale in sorted({(member.case.nodes, member.case.devices_per_node) for member in members}, reverse=True):
        there = [row for row in members if (row.case.nodes, row.case.devices_per_node) == scale and row.efficiency]
        if len({row.case.framework for row in there}) <= FEWEST_OTHERS:
            continue
        first = max(there, key=lambda row: row.efficiency.value if row.efficiency else 0.0)
        fastest = max(there, key=lambda row: row.items_per_s.value)
        base = bases.get(first.base) if first.base else None
        if base is None or base is first or first is fastest or first.case.series in told:
            continue
        of_others = [bases[row.base] for row in there if row.base in bases and row.base.scale == base.case.scale]
        median = _median_of_others(base, of_others)
        share = base.items_per_s.value / median if median else 1.0
        if share < SLOW_BASE:
            told.add(first.case.series)
            yield SlowBase(
                where=first.case.id,
                efficiency=first.efficiency.value if first.efficiency else 0.0,
                base=base.case.scale,
                share=share,
                settings=settings(first.case),
            )


def _at_chance(summaries: Iterable[Summary]) -> Iterator[AtChance]:
    for row in summaries:
        classes, score = _classes(row), _last_score(row)
        if classes and score and abs(score.value * classes / 100 - 1) <= CHANCE:
            yield AtChance(where=row.case.id, accuracy=score.value, classes=classes, guess=100 / classes)


def _classes(summary: Summary) -> int | None:
    stated = facts.of_runs(run for run in summary.measurements if run.counts).get("data", ())
    names = " ".join((summary.case.model, summary.case.recipe, *(fact.value for fact in stated))).lower()
    return next((classes for word, classes in CLASSES.items() if word in names), None)


def _last_score(summary: Summary) -> Score | None:
    scores = [score for score in median_run(summary).scores if score.metric in ("accuracy", "top1")]
    held_out = [score for score in scores if score.split == "validation"]
    return max(held_out, key=lambda score: score.epoch, default=None)


def _one_clock(summaries: Iterable[Summary]) -> Iterator[OneClock]:
    if cases := sum(all(_unconfirmed(row)) for row in summaries):
        yield OneClock(cases=cases)


def _unconfirmed(summary: Summary) -> list[bool]:
    clocks = [run.throughput for run in summary.measurements if run.counts]
    return [each is not None and each.is_clock and each.printed_items_per_s is None for each in clocks]


def settings(case: Case) -> tuple[str, ...]:
    known = _settings().get(case.device, {"any": ()})
    return (*known.get(case.framework, ()), *known["any"]) or ("batch_per_device", "precision")


@functools.cache
def _settings() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    read = tomllib.loads(SETTINGS.read_text(encoding="utf-8"))
    return {device: {name: tuple(values) for name, values in names.items()} for device, names in read.items()}
