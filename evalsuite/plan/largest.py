"""The largest batch that fits: doubling, then bisection where memory runs out, then confirmation. What was found is the
batch of all cases of a series, at every scale. It is searched for where memory is scarcest: with the most devices in
one node, on the fewest nodes."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from evalsuite.contracts.adapter import Recipe
from evalsuite.core.messages import Message
from evalsuite.core.model import Case

Ends = Literal["fits", "out_of_memory", "failed"]
Aim = Literal["grow", "shrink", "bisect", "confirm"]
FINENESS = 16  # to a sixteenth of the batch


@dataclass(frozen=True, kw_only=True)
class Tried:
    aim: Aim
    batch: int
    ends: Ends
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Largest:
    batch: int | None  # None: none fits, or a trial failed for another reason than memory
    tried: tuple[Tried, ...]
    at_limit: bool = False  # more was not tried


@dataclass(frozen=True, kw_only=True)
class SearchedBatch(Largest):
    of: Case  # the one tried, with the batch at the start


Trial = Callable[[int, Aim], tuple[Ends, str] | None]


class _Ended(Exception):
    """A trial cannot be had, or failed for another reason than memory."""


def find_largest(trial: Trial, start: int, most: int) -> Largest | None:
    """From *start*, each tried once and the last twice; a failure for another reason than memory ends it."""
    tried: list[Tried] = []

    def fits(batch: int, aim: Aim) -> bool:
        end = trial(batch, aim)
        tried.extend([Tried(aim=aim, batch=batch, ends=end[0], reason=end[1])] if end else [])
        if end is None or end[0] == "failed":
            raise _Ended
        return end[0] == "fits"

    found: int | None = None
    try:
        found = _search(fits, min(start, most), most)
    except _Ended:
        if not tried or tried[-1].ends != "failed":
            return None
    return Largest(batch=found, tried=tuple(tried), at_limit=found == most)


def _search(fits: Callable[[int, Aim], bool], batch: int, most: int) -> int | None:
    fitting: list[int] = []
    above: int | None = None  # the least that does not fit
    while batch >= 1 and (above is None or not fitting):
        if fits(batch, "shrink" if above else "grow"):
            fitting.append(batch)
            if batch == most:
                break
            batch = min(2 * batch, most)
        else:
            above, batch = batch, batch // 2
    while fitting and above is not None and above - (low := fitting[-1]) > max(1, low // FINENESS):
        middle = (low + above) // 2
        if fits(middle, "bisect"):
            fitting.append(middle)
        else:
            above = middle
    return next((batch for batch in reversed(fitting) if fits(batch, "confirm")), None)  # the last may be at the edge


# The batch of a series


def series(case: Case) -> Case:
    return replace(case, nodes=1, devices_per_node=1)


def to_search(cases: Iterable[Case]) -> tuple[Case, ...]:
    firsts: dict[Case, Case] = {}
    for case in sorted(cases, key=lambda case: (-case.devices_per_node, case.nodes)):
        firsts.setdefault(series(case), case)
    return tuple(firsts.values())


def find_search(case: Case, known: Sequence[SearchedBatch]) -> SearchedBatch | None:
    return next((search for search in known if series(search.of) == series(case)), None)


def with_batch(case: Case, known: Sequence[SearchedBatch]) -> Case:
    search = find_search(case, known)
    return case if search is None or search.batch is None else replace(case, batch_per_device=search.batch)


def refusal(known: Sequence[SearchedBatch]) -> Callable[[Case, Recipe], str | None]:
    def refused(case: Case, recipe: Recipe) -> str | None:
        result = find_search(case, known)
        if result is None or result.batch is not None:
            return None
        last = result.tried[-1] if result.tried else None
        if last is not None and last.ends == "failed":
            return Message("plan.search_ended", batch=last.batch, text=last.reason)
        smallest = min((search.batch for search in result.tried), default=result.of.batch_per_device)
        return Message("plan.no_batch", batch=smallest)

    return refused
