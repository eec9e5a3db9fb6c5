"""The first step of each series whose own efficiency is below the threshold.

It is ratio of the throughputs ÷ ratio of the devices, brought to one doubling: 1 → 8 devices are three.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from evalsuite.documents import NetworkMeasurement
from evalsuite.model import Summary, Utilisation
from evalsuite.results.compare import fairness
from evalsuite.results.compare.decisions import FEWEST_RUNS
from evalsuite.results.compare.scaling import suspicious
from evalsuite.results.measure import network
from evalsuite.results.measure.breakdown import communication
from evalsuite.results.measure.summary import values

FEWEST_SCALES = 3
LEAST_SHARE = 0.02
LEAST_GROWTH = 1.25  # of the rate of the network
Key = Literal["nodes", "communication", "network"]


@dataclass(frozen=True, kw_only=True)
class RecordedChange:
    key: Key
    before: float | None
    after: float
    of_capacity: float | None = None  # with "network": share of what is stated, after
    of_measured: float | None = None


@dataclass(frozen=True, kw_only=True)
class Break:
    before: Summary
    after: Summary
    step: float  # efficiency of one doubling, between the two
    certain: bool  # no two runs of the two scales say otherwise
    changes: tuple[RecordedChange, ...]  # none: nothing recorded differs


@dataclass(frozen=True, kw_only=True)
class Breaks:
    threshold: float
    series: int
    found: tuple[Break, ...]


def breaks(summaries: Iterable[Summary], threshold: float, networks: Sequence[NetworkMeasurement] = ()) -> Breaks:
    series: dict[fairness.Common, list[Summary]] = {}
    for summary in summaries:
        weak = summary.case.strong_batch is None  # the threshold is about devices that keep their batch
        if weak and summary.efficiency is not None and not suspicious(summary):
            series.setdefault(fairness.group(summary, fairness.SCALES), []).append(summary)
    ladders = [sorted(members, key=_devices) for members in series.values() if _scales(members) >= FEWEST_SCALES]
    found = [one for ladder in ladders if (one := _first(ladder, threshold, networks))]
    return Breaks(threshold=threshold, series=len(ladders), found=tuple(sorted(found, key=lambda one: one.step)))


def _scales(found: Sequence[Summary]) -> int:
    return len({_devices(one) for one in found})


def _devices(one: Summary) -> int:
    return one.case.total_devices


def _first(ladder: Sequence[Summary], threshold: float, networks: Sequence[NetworkMeasurement]) -> Break | None:
    for before, after in pairwise(ladder):
        if _devices(after) == _devices(before):
            continue
        step = _step(before, after, after.items_per_s.value / before.items_per_s.value)
        if step < threshold:
            best = _step(before, after, max(values(after)) / min(values(before)))
            certain = min(before.n, after.n) >= FEWEST_RUNS and best < threshold
            changes = tuple(_changes(before, after, networks))
            return Break(before=before, after=after, step=step, certain=certain, changes=changes)
    return None


def _step(before: Summary, after: Summary, ratio: float) -> float:
    more = _devices(after) / _devices(before)
    return math.pow(ratio / more, 1 / math.log2(more))


def _changes(before: Summary, after: Summary, networks: Sequence[NetworkMeasurement]) -> Iterable[RecordedChange]:
    if before.case.nodes == 1 < after.case.nodes:
        yield RecordedChange(key="nodes", before=1, after=after.case.nodes)
    waited = _waiting(before), _waiting(after)
    if waited[1] is not None and waited[1] - (waited[0] or 0.0) >= LEAST_SHARE:
        yield RecordedChange(key="communication", before=waited[0], after=waited[1])
    was, now = _network(before), _network(after)
    if now is not None and now.mean > 0 and (was is None or now.mean >= LEAST_GROWTH * was.mean):
        reached = network.reached_bytes_per_s(networks, after.case)
        yield RecordedChange(
            key="network",
            before=was.mean if was else None,
            after=now.mean,
            of_capacity=now.mean / now.capacity if now.capacity else None,
            of_measured=now.mean / reached if reached else None,
        )


def _waiting(one: Summary) -> float | None:
    found = communication(one.breakdown) if one.breakdown else None
    return found / one.breakdown.seconds if found is not None and one.breakdown else None


def _network(one: Summary) -> Utilisation | None:
    found = [used for used in one.utilisation if used.resource in ("network_receive", "network_send")]
    between = [used if used.device != "lo" else replace(used, mean=0.0) for used in found]
    return max(between, key=lambda used: used.mean, default=None)
