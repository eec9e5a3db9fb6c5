"""Which nodes slow a job down that waits for all of them: by halving the set, and comparing the halves."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

Nodes = tuple[str, ...]
Seconds = Callable[[Nodes], float | None]  # of the job on these nodes; None: it failed


@dataclass(frozen=True, kw_only=True)
class HalfTrial:
    nodes: Nodes
    seconds: float | None


def find_slow(nodes: Sequence[str], seconds: Seconds, limit: float) -> tuple[set[str], list[HalfTrial]]:
    """And all that was tried. *limit*: 0.05 = a half is slower that takes 5 % longer than the other."""
    trials: list[HalfTrial] = []

    def measured(part: Nodes) -> float:
        trials.append(HalfTrial(nodes=part, seconds=seconds(part)))
        last_s = trials[-1].seconds
        return math.inf if last_s is None else last_s

    return set(_slow_of(tuple(nodes), measured, limit, known=False)), trials


def _slow_of(nodes: Nodes, measured: Callable[[Nodes], float], limit: float, *, known: bool) -> Iterator[str]:
    if len(nodes) == 1:
        yield from nodes if known else ()
        return
    for halves in _splits(nodes):
        times = [measured(half) for half in halves]
        slower = [half for half, took in zip(halves, times, strict=True) if took > min(times) * (1 + limit)]
        if slower:
            yield from _slow_of(slower[0], measured, limit, known=True)
            return
    if known:
        for half in next(_splits(nodes)):  # each has some
            yield from _slow_of(half, measured, limit, known=True)


def _splits(nodes: Nodes) -> Iterator[tuple[Nodes, Nodes]]:
    """By each bit of a node's number, and by two: any two nodes are in one half of some split; more may hide in all."""
    bits = [1 << bit for bit in reversed(range((len(nodes) - 1).bit_length()))]
    for mask in (*bits, *[3] * (len(nodes) > 2)):
        odd = [bool((number & mask).bit_count() % 2) for number in range(len(nodes))]
        yield (
            tuple(node for node, is_odd in zip(nodes, odd, strict=True) if not is_odd),
            tuple(node for node, is_odd in zip(nodes, odd, strict=True) if is_odd),
        )
