"""How good the models became and how long that took (docs/numbers.md). Time to solution includes evaluation and
checkpoints; that of a run that ended earlier is scaled. A final value below the target is never "the same accuracy"
(D24)."""

import itertools
import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from evalsuite.core import findings
from evalsuite.core.model import Case, Finding, Interval, Measurement, Row, Score, Summary, Target, by_key
from evalsuite.results.measure.statistics import median_with_range, t_limit

LEAST_SHARE = 0.5  # of the target's epochs: a shorter run says nothing of the whole
ALSO_CALLED = {"top1": ("top1", "accuracy")}  # Chainer and MXNet print top-1 accuracy as "accuracy"
FEWEST_SEEDS = 3
SAME_SEED = 1e-4  # relative
AGAIN = (findings.BeginsAgain, findings.Restarted, findings.Resumed, findings.SeveralRuns)
IN_SEQUENCES = ("tokens/s", "sequences/s")  # of language models, whose loss is a cross-entropy
GUESSED = {"loss": 0.01, "accuracy": 0.1}  # how far, relative, from what guessing gives
SPLITS = ("train", "validation")
Course = tuple[tuple[float, float], ...]
IN_PERCENT, SIZES = ("top1", "top5", "accuracy"), ("sequence_length", "image_size")


@dataclass(frozen=True, kw_only=True)
class Solution:
    seconds: float
    epochs: int  # that were trained
    factor: float  # by which the seconds were scaled; 1.0 = measured

    @property
    def scaled(self) -> bool:
        return self.factor != 1.0


def run_of(summary: Row) -> Measurement | None:
    return max([run for run in summary.measurements if run.scores], key=lambda run: run.scores[-1].epoch, default=None)


def curve(run: Measurement, split: str, metric: str) -> tuple[Score, ...]:
    return tuple(score for score in run.scores if (score.split, score.metric) == (split, metric))


def final(run: Measurement, split: str, metric: str) -> Score | None:
    points = curve(run, split, metric)
    return points[-1] if points else None


def guessed(summary: Row, classes: int) -> tuple[str, float] | None:
    """Metric and last value, where those of all runs are what guessing among *classes* gives."""
    ends = {"loss": [run.course[-1][1] for run in summary.measurements if run.course], "accuracy": list[float]()}
    for run, split, name in itertools.product(summary.measurements, SPLITS, ("loss", *ALSO_CALLED["top1"])):
        if score := final(run, split, name):
            ends["loss" if name == "loss" else "accuracy"].append(score.value)
    metric, chance = ("loss", math.log(classes)) if ends["loss"] else ("accuracy", 100 / classes)
    alike = [math.isclose(end, chance, rel_tol=GUESSED[metric]) for end in ends[metric]]
    return (metric, ends[metric][0]) if alike and all(alike) else None


def target_of(case: Case, run: Measurement, targets: Sequence[Target]) -> tuple[Target, Score] | None:
    for target in targets:
        if target.model == case.model:
            for metric in ALSO_CALLED.get(target.metric, (target.metric,)):
                if (score := final(run, "validation", metric)) is not None:
                    return target, score
    return None


def solution(run: Measurement, target: Target) -> Solution | None:
    """None where the run ended before half of the target's epochs, or nothing tells the time."""
    reached = (score for score in run.scores if 0 < score.epoch <= target.epochs)
    timed = [(score.epoch, score.at_s) for score in reached if score.at_s is not None]
    if not timed or run.status not in ("ok", "partial"):
        return None
    epochs, seconds = max(timed)
    if epochs < LEAST_SHARE * target.epochs:
        return None
    factor = target.epochs / epochs
    return Solution(seconds=seconds * factor, epochs=epochs, factor=factor)


def same(score: Score, base: Score, target: Target) -> bool:
    close = abs(score.value - base.value) <= target.tolerance + 1e-9
    return close and min(score.value, base.value) >= target.value


def seeds_of(summary: Row) -> list[Measurement]:
    seeds: list[Measurement] = []
    for run in summary.measurements:
        starts = [[*zip(run.first_losses, other.first_losses, strict=False)] for other in seeds]
        alike = ((a[0] == b[0] and math.isclose(a[1], b[1], rel_tol=SAME_SEED) for a, b in of) for of in starts if of)
        if _whole(run) and not any(map(all, alike)):
            seeds.append(run)
    return seeds


def has_failed(run: Measurement) -> bool:
    """Diverged, or ended by no fault of the machines."""
    ended = run.status in ("failed", "timed_out", "incomplete") and run.fault is None
    return ended or any(isinstance(finding, findings.LossNotANumber) for finding in run.findings)


def _whole(run: Measurement) -> bool:
    excluded = any(finding.severity == "exclude" for finding in run.findings)
    begun = not any(isinstance(finding, AGAIN) for finding in run.findings)
    whole = begun and bool(run.first_losses) and run.printed_steps is not None and run.printed_steps[0] <= 1
    return whole and run.status in ("ok", "partial", "doubtful") and not excluded and not has_failed(run)


@dataclass(frozen=True, kw_only=True)
class Arrivals:
    """When the trainings of a case first reached a target."""

    trainings: int
    epochs: tuple[int, ...]
    seconds: tuple[float, ...]  # of those that reached it and have a clock

    @property
    def complete(self) -> bool:
        return bool(self.trainings) and len(self.epochs) == self.trainings

    @property
    def epochs_each(self) -> Interval | None:
        return median_with_range(self.epochs) if self.complete else None

    @property
    def seconds_each(self) -> Interval | None:
        return median_with_range(self.seconds) if self.complete and len(self.seconds) == self.trainings else None


def arrivals(summary: Row, target: Target) -> Arrivals:
    whole = seeds_of(summary)
    trained = any(run.first_losses for run in summary.measurements)
    lost = [run for run in summary.measurements if trained and has_failed(run)]
    metrics = ALSO_CALLED.get(target.metric, (target.metric,))
    each = ((score for metric in metrics for score in curve(run, "validation", metric)) for run in whole)
    firsts = [*filter(None, (next((score for score in of if score.value >= target.value), None) for of in each))]
    return Arrivals(
        trainings=len(whole) + len(lost),
        epochs=tuple(score.epoch for score in firsts),
        seconds=tuple(score.at_s for score in firsts if score.at_s is not None),
    )


def misses(summaries: Iterable[Row], targets: Sequence[Target]) -> Iterable[Finding]:
    for run in filter(None, map(run_of, summaries)):
        target, score = target_of(run.run.case, run, targets) or (None, None)
        if target and score and score.value < target.value and solution(run, target):
            yield findings.BelowTarget(
                metric=f"{score.split}_{score.metric}",
                value=score.value,
                epochs=score.epoch,
                target=target.value,
                difference=score.value - target.value,
                where=run.run.id,
            )


def hold_together(summaries: Sequence[Row]) -> list[Row]:
    """With what is found of language models whose losses are too far apart after the same tokens, and of a model whose
    loss stands where that of another falls: of one that is apart from several it is said alone. Data that differ are no
    finding here, but other work."""
    rows = (row for row in summaries if isinstance(row, Summary))
    told = ((row, row.case, [run.course for run in row.measurements if run.counts and run.course]) for row in rows)
    enough = (each for each in told if len(each[2]) >= FEWEST_SEEDS)
    alike = by_key(((of.model, of.global_batch, *map(of.option, SIZES)), (row, courses)) for row, of, courses in enough)
    apart = by_key(
        (row.case.id, found)
        for group in alike.values()
        for (row, courses), (other, theirs) in itertools.permutations(group, 2)
        if (row.case.framework, row.case.recipe) != (other.case.framework, other.case.recipe)
        and (found := _apart(row, other, (courses, theirs)))
    )
    worst = {id: max(len(apart.get(each.other, ())) for each in found) for id, found in apart.items()}
    said = {id: found[:1] for id, found in apart.items() if len(found) >= worst[id]}
    return [replace(row, findings=(*row.findings, *said.get(row.case.id, ()))) for row in summaries]


def _apart(row: Summary, other: Summary, courses: Sequence[Sequence[Course]]) -> findings.LossesApart | None:
    stands = row.trained != "trained" == other.trained
    each = ({fact.value for run in of.measurements for fact in run.facts if fact.key == "data"} for of in (row, other))
    if not (stands or row.unit in IN_SEQUENCES) or (all(data := [*each]) and data[0] != data[1]):
        return None
    step = min(course[-1][0] for course in itertools.chain(*courses))
    ends = [[loss_at(course, step) for course in of] for of in courses]
    ours, theirs = map(statistics.fmean, ends)
    found = findings.LossesApart(step=round(step), loss=ours, other=other.case.id, other_loss=theirs, where=row.case.id)
    if row.unit not in IN_SEQUENCES:
        begins = [statistics.fmean(course[0][1] for course in of) for of in courses]
        own, fall = (1 - end / begin if begin else 0.0 for end, begin in zip((ours, theirs), begins, strict=True))
        falls = own < findings.LossesApart.stands * fall and fall > findings.LossesApart.falls
        return found if data[0] and falls else None
    if 1 in [len({*each}) for each in ends]:
        return None  # of one seed alone
    freedom = sum(map(len, ends)) - 2
    squares = sum(statistics.variance(each) * (len(each) - 1) for each in ends)
    error = math.sqrt(squares / freedom * sum(1 / len(each) for each in ends))
    least = max(findings.LossesApart.limit * abs(ours), t_limit(findings.LossesApart.level, freedom) * error)
    return found if abs(ours - theirs) > least else None


def loss_at(course: Sequence[tuple[float, float]], step: float) -> float:
    """Between the two parts around *step*, in a straight line."""
    behind = next(place for place, (middle, _) in enumerate(course) if middle >= step)
    (begin, before), (end, after) = course[max(0, behind - 1)], course[behind]
    return after if end == begin else before + (after - before) * (step - begin) / (end - begin)
