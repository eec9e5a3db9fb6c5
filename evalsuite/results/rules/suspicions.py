"""What a reviewer would ask. No suspicion is a verdict, and nothing is left out because of one."""

import functools
import statistics
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from evalsuite import paths
from evalsuite.model import Case, Score, Summary, by_key
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


@dataclass(frozen=True, kw_only=True)
class FarBelow:
    one: Summary
    others: int
    median: float
    settings: tuple[str, ...]

    @property
    def times(self) -> float:
        return self.median / self.one.items_per_s.value


@dataclass(frozen=True, kw_only=True)
class OutsidePublished:
    one: Summary
    range: PublishedRange
    settings: tuple[str, ...]

    @property
    def above(self) -> bool:
        return self.one.items_per_s.value > self.range.high


@dataclass(frozen=True, kw_only=True)
class SlowBase:
    one: Summary
    base: Summary
    share: float  # of the median base of the others
    settings: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class AtChance:
    one: Summary
    score: Score
    classes: int


@dataclass(frozen=True, kw_only=True)
class OneClock:
    cases: tuple[Case, ...]


Suspicion = FarBelow | OutsidePublished | SlowBase | AtChance | OneClock


def suspicions(summaries: Iterable[Summary]) -> tuple[Suspicion, ...]:
    found = list(summaries)
    blocks = by_key((replace(one.case, framework="", recipe="", nodes=1, devices_per_node=1), one) for one in found)
    return (
        *(one for members in blocks.values() for one in _far_below(members)),
        *_outside_published(found),
        *(one for members in blocks.values() for one in _slow_bases(members)),
        *_at_chance(found),
        *_one_clock(found),
    )


def _far_below(members: Sequence[Summary]) -> Iterator[FarBelow]:
    alone = [one for one in members if one.case.total_devices == 1]
    for one in alone:
        median = _median_of_others(one, alone)
        if median is not None and one.items_per_s.value * FAR < median:
            others = len({other.case.framework for other in alone} - {one.case.framework})
            yield FarBelow(one=one, others=others, median=median, settings=settings(one.case))


def _median_of_others(one: Summary, among: Iterable[Summary]) -> float | None:
    best: dict[str, float] = {}
    for other in among:
        if other.case.framework != one.case.framework and other.unit == one.unit:
            best[other.case.framework] = max(other.items_per_s.value, best.get(other.case.framework, 0.0))
    return statistics.median(best.values()) if len(best) >= FEWEST_OTHERS else None


def _outside_published(found: Iterable[Summary]) -> Iterator[OutsidePublished]:
    for one in found:
        known = published(one)
        if known and _unlike(one.items_per_s.value, known):
            yield OutsidePublished(one=one, range=known, settings=settings(one.case))


def _unlike(value: float, known: PublishedRange) -> bool:
    if known.low <= value <= known.high:
        return False
    far = not FAR_BELOW * known.median <= value <= FAR_ABOVE * known.median
    return far or (not known.few and not BELOW * known.low <= value <= ABOVE * known.high)


def _slow_bases(members: Sequence[Summary]) -> Iterator[SlowBase]:
    told: set[str] = set()
    bases = {one.case: one for one in members}
    for scale in sorted({(one.case.nodes, one.case.devices_per_node) for one in members}, reverse=True):
        there = [one for one in members if (one.case.nodes, one.case.devices_per_node) == scale and one.efficiency]
        if len({one.case.framework for one in there}) <= FEWEST_OTHERS:
            continue
        first = max(there, key=lambda one: one.efficiency.value if one.efficiency else 0.0)
        fastest = max(there, key=lambda one: one.items_per_s.value)
        base = bases.get(first.base) if first.base else None
        if base is None or base is first or first is fastest or first.case.series in told:
            continue
        of_others = [bases[one.base] for one in there if one.base in bases and one.base.scale == base.case.scale]
        median = _median_of_others(base, of_others)
        share = base.items_per_s.value / median if median else 1.0
        if share < SLOW_BASE:
            told.add(first.case.series)
            yield SlowBase(one=first, base=base, share=share, settings=settings(first.case))


def _at_chance(found: Iterable[Summary]) -> Iterator[AtChance]:
    for one in found:
        classes, score = _classes(one), _last_score(one)
        if classes and score and abs(score.value * classes / 100 - 1) <= CHANCE:
            yield AtChance(one=one, score=score, classes=classes)


def _classes(one: Summary) -> int | None:
    stated = facts.of_runs(run for run in one.measurements if run.counts).get("data", ())
    names = " ".join((one.case.model, one.case.recipe, *(fact.value for fact in stated))).lower()
    return next((classes for word, classes in CLASSES.items() if word in names), None)


def _last_score(one: Summary) -> Score | None:
    scores = [score for score in median_run(one).scores if score.metric in ("accuracy", "top1")]
    held_out = [score for score in scores if score.split == "validation"]
    return max(held_out, key=lambda score: score.epoch, default=None)


def _one_clock(found: Iterable[Summary]) -> Iterator[OneClock]:
    cases = tuple(one.case for one in found if all(_unconfirmed(one)))
    if cases:
        yield OneClock(cases=cases)


def _unconfirmed(one: Summary) -> list[bool]:
    found = [run.throughput for run in one.measurements if run.counts]
    return [each is not None and each.is_clock and each.printed_items_per_s is None for each in found]


def settings(case: Case) -> tuple[str, ...]:
    known = _settings().get(case.device, {"any": ()})
    return (*known.get(case.framework, ()), *known["any"])


@functools.cache
def _settings() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    read = tomllib.loads(SETTINGS.read_text(encoding="utf-8"))
    return {device: {name: tuple(found) for name, found in names.items()} for device, names in read.items()}
