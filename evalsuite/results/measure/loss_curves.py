"""Loss curves: the band of seeds, whether each falls, how resumed runs go on (docs/evidence.md#convergence)."""

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from evalsuite.core.findings import LossNotANumber, LossNotFalling, RedoneApart, ResumedApart, SeedRepeated
from evalsuite.core.model import Finding, LossCurve, Measurement, Row, by_key
from evalsuite.results.measure.statistics import t_limit

FEWEST_SEEDS = 3
LEVEL = 0.05
SAME_SEED = 1e-4  # relative
REDONE_LEVEL, REDONE_APART = 0.01, 0.005  # of a paired t-test; relative
JUDGED = 8  # parts of a curve; more would widen the band of each
Points = tuple[tuple[int, float], ...]


@dataclass(frozen=True, kw_only=True)
class LossBand:
    """Of one more seed, in all parts together (Bonferroni)."""

    seeds: int
    rows: tuple[tuple[int, float, float, float], ...]  # (last step of a part, mean, low, high)

    def outside(self, points: Points, begin: int = 0) -> tuple[tuple[int, float, float, float], ...]:
        """(last step, loss, low, high) of each part from *begin* on."""
        own = dict(parts(points))
        begun = (
            row for before, row in pairwise([(0, 0.0, 0.0, 0.0), *self.rows]) if before[0] >= begin and row[0] in own
        )
        return tuple((step, own[step], low, high) for step, _, low, high in begun if not low <= own[step] <= high)


def seeds_of(summary: Row) -> list[Measurement]:
    seeds: list[Measurement] = []
    for run in summary.measurements:
        if _whole(run) and not any(is_same_seed(run, other) for other in seeds):
            seeds.append(run)
    return seeds


def is_same_seed(run: Measurement, other: Measurement) -> bool:
    pairs = list(zip(run.first_losses, other.first_losses, strict=False))
    return bool(pairs) and all(a[0] == b[0] and math.isclose(a[1], b[1], rel_tol=SAME_SEED) for a, b in pairs)


def has_failed(run: Measurement) -> bool:
    """Diverged, or ended by no fault of the machines."""
    ended = run.status in ("failed", "timed_out", "incomplete") and run.fault is None
    return ended or any(isinstance(finding, LossNotANumber) for finding in run.findings)


def _whole(run: Measurement) -> bool:
    excluded = any(finding.severity in ("exclude", "reject") for finding in run.findings)
    whole = run.losses is not None and run.losses.resumed_at is None
    return whole and run.status in ("ok", "partial", "doubtful") and not excluded and not has_failed(run)


def band(summary: Row) -> LossBand | None:
    return band_of([parts(run.losses.points) for run in seeds_of(summary) if run.losses])


def band_of(curves: Sequence[Points]) -> LossBand | None:
    steps = [tuple(step for step, _ in curve) for curve in curves]
    if len(curves) < FEWEST_SEEDS or len({*steps}) > 1:
        return None
    n = len(curves)
    factor = t_limit(LEVEL / len(steps[0]), n - 1) * math.sqrt(1 + 1 / n)
    rows = []
    for step, *losses in zip(steps[0], *([loss for _, loss in curve] for curve in curves), strict=True):
        mean, half = statistics.fmean(losses), factor * statistics.stdev(losses)
        rows.append((step, mean, mean - half, mean + half))
    return LossBand(seeds=n, rows=tuple(rows))


def parts(points: Points) -> Points:
    """(last step, mean) of each eighth of all steps that has points; a resumed run lacks the first."""
    last = points[-1][0]
    inside = by_key((math.ceil((step - 0.5) * JUDGED / last), loss) for step, loss in points)
    return tuple((round(number * last / JUDGED), statistics.fmean(each)) for number, each in sorted(inside.items()))


def fall(curve: LossCurve) -> tuple[float, float, float] | None:
    """(loss at first, in the last quarter, the most that it may have fallen); noise: von Neumann's, or the end's."""
    values = [loss for _, loss in curve.points]
    if curve.resumed_at is not None or len(values) < 2 * JUDGED:
        return None
    last, half = values[-len(values) // 4 :], values[len(values) // 2 :]
    between = statistics.fmean((after - before) ** 2 for before, after in pairwise(values)) / 2
    noise = math.sqrt(max(between, statistics.variance(half)))
    end = statistics.fmean(last)
    most = (
        values[0]
        - end
        + t_limit(2 * (1 - LossNotFalling.confidence), len(last) - 1) * noise * math.sqrt(1 + 1 / len(last))
    )
    return values[0], end, most


def findings(summaries: Sequence[Row]) -> Iterator[Finding]:
    for row in summaries:
        own, seeds = band(row), len(seeds_of(row))
        for run in row.measurements:
            if run.losses:
                yield from _slope(run, run.losses)
                yield from _redone(run, run.losses)
                if own and run.losses.resumed_at is not None:
                    yield from _resumed(run, run.losses.points, run.losses.resumed_at, own)
        if 1 < (runs := sum(map(_whole, row.measurements))) > seeds:
            yield SeedRepeated(runs=runs, seeds=seeds, where=row.case.id)


def _slope(run: Measurement, curve: LossCurve) -> Iterator[Finding]:
    slope = fall(curve)
    if slope and len({loss for _, loss in curve.points}) > 1 and slope[2] < LossNotFalling.limit * abs(slope[0]):
        first, last, most = slope
        yield LossNotFalling(first=first, last=last, most=most / abs(first), reports=curve.reports, where=run.run.id)


def _resumed(run: Measurement, points: Points, at: int, own: LossBand) -> Iterator[Finding]:
    if outside := own.outside(points, at):
        (step, loss, low, high), n = outside[0], len(outside)
        yield ResumedApart(
            resumed_at=at, seeds=own.seeds, parts=n, step=step, loss=loss, low=low, high=high, where=run.run.id
        )


def _redone(run: Measurement, curve: LossCurve) -> Iterator[Finding]:
    """Weights of another step shift all losses; lost moments leave the first as it was, where the data are the same."""
    if curve.resumed_at is None or not (shifts := [again / loss - 1 for _, loss, again in curve.redone if loss]):
        return
    mean, n, apart = statistics.fmean(shifts), len(shifts), False
    if n >= FEWEST_SEEDS and abs(mean) > REDONE_APART:
        apart = abs(mean) > t_limit(REDONE_LEVEL, n - 1) * statistics.stdev(shifts) / math.sqrt(n)
    if apart or (abs(shifts[0]) <= SAME_SEED and max(map(abs, shifts)) > REDONE_APART):
        step, before, after = max(curve.redone, key=lambda each: abs(each[2] - each[1]))
        yield RedoneApart(resumed_at=curve.resumed_at, steps=n, step=step, before=before, after=after, where=run.run.id)
