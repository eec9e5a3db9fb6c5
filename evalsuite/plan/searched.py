"""The batch that a search has found, put into the cases of its series: one batch at every scale, so that they compare.

It is searched for where it is scarcest: with the most devices in one node, which share its memory and keep buffers for
each other, and on as few nodes as that takes.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from evalsuite.adapter import Recipe
from evalsuite.messages import Message
from evalsuite.model import Case
from evalsuite.plan.spec import SearchedBatch


def series(case: Case) -> Case:
    """What the cases share that one search is about: all but their scale."""
    return replace(case, nodes=1, devices_per_node=1)


def to_search(cases: Iterable[Case]) -> tuple[Case, ...]:
    """Of each series the case to search with."""
    found: dict[Case, Case] = {}
    for case in sorted(cases, key=lambda case: (-case.devices_per_node, case.nodes)):
        found.setdefault(series(case), case)
    return tuple(found.values())


def of(case: Case, known: Sequence[SearchedBatch]) -> SearchedBatch | None:
    """What was found for the series of *case*, which has the batch that its search began at."""
    return next((one for one in known if series(one.of) == series(case)), None)


def with_batch(case: Case, known: Sequence[SearchedBatch]) -> Case:
    """*case* with the batch that was found; as it is where none was."""
    found = of(case, known)
    return case if found is None or found.batch is None else replace(case, batch_per_device=found.batch)


def behind(case: Case, known: Sequence[SearchedBatch]) -> SearchedBatch | None:
    """The search that gave *case* its batch."""
    return next((one for one in known if one.batch and series(with_batch(one.of, (one,))) == series(case)), None)


def refusal(known: Sequence[SearchedBatch]) -> Callable[[Case, Recipe], str | None]:
    """Why a case has no batch: nothing fits, or a trial failed for another reason, which is to be mended first."""

    def refused(case: Case, recipe: Recipe) -> str | None:
        found = of(case, known)
        if found is None or found.batch is not None:
            return None
        last = found.tried[-1] if found.tried else None
        if last is not None and last.ends == "failed":
            return Message("plan.search_ended", batch=last.batch, text=last.reason)
        smallest = min((one.batch for one in found.tried), default=found.of.batch_per_device)
        return Message("plan.no_batch", batch=smallest)

    return refused
