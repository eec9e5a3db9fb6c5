"""The batch that a search found, for all cases of its series: one batch at every scale.

It is searched for where memory is scarcest: with the most devices in one node, on the fewest nodes.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from evalsuite.contracts.adapter import Recipe
from evalsuite.core.messages import Message
from evalsuite.core.model import Case
from evalsuite.plan.spec import SearchedBatch


def series(case: Case) -> Case:
    return replace(case, nodes=1, devices_per_node=1)


def to_search(cases: Iterable[Case]) -> tuple[Case, ...]:
    firsts: dict[Case, Case] = {}
    for case in sorted(cases, key=lambda case: (-case.devices_per_node, case.nodes)):
        firsts.setdefault(series(case), case)
    return tuple(firsts.values())


def of(case: Case, known: Sequence[SearchedBatch]) -> SearchedBatch | None:
    return next((search for search in known if series(search.of) == series(case)), None)


def with_batch(case: Case, known: Sequence[SearchedBatch]) -> Case:
    search = of(case, known)
    return case if search is None or search.batch is None else replace(case, batch_per_device=search.batch)


def behind(case: Case, known: Sequence[SearchedBatch]) -> SearchedBatch | None:
    return next(
        (search for search in known if search.batch and series(with_batch(search.of, (search,))) == series(case)), None
    )


def refusal(known: Sequence[SearchedBatch]) -> Callable[[Case, Recipe], str | None]:
    def refused(case: Case, recipe: Recipe) -> str | None:
        result = of(case, known)
        if result is None or result.batch is not None:
            return None
        last = result.tried[-1] if result.tried else None
        if last is not None and last.ends == "failed":
            return Message("plan.search_ended", batch=last.batch, text=last.reason)
        smallest = min((search.batch for search in result.tried), default=result.of.batch_per_device)
        return Message("plan.no_batch", batch=smallest)

    return refused
