"""The largest batches that the trials have found already, for a plan to be made with them."""

from collections.abc import Mapping
from pathlib import Path

from evalsuite.contracts.dialect import Dialect
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.model import Device
from evalsuite.launch import batch_search
from evalsuite.plan.plan import Plan
from evalsuite.plan.spec import SearchedBatch, Spec
from evalsuite.runs import trials

MOST = 65_536  # per device: beyond it a batch is no batch
BYTES_PER_GB = 10**9


def memory_bytes(spec: Spec, device: Device) -> int | None:
    """What each process may take in a trial. Raises EvalsuiteError where a limit is given to a device that has one."""
    limit = spec.memory_gb_per_device
    if limit is None:
        return None
    if device != "cpu":
        raise EvalsuiteError.of("commands.memory_of_device", limit=limit, device=device)
    return round(limit * BYTES_PER_GB)


def find_in_trials(
    plan: Plan, root: Path, dialects: Mapping[str, Dialect], device: Device
) -> tuple[SearchedBatch, ...]:
    """What the finished trials in the runs folder *root* have found of the cases that *plan* is to search with.

    Raises EvalsuiteError where nothing limits a search.
    """
    limit = memory_bytes(plan.spec, device)
    if limit is None and device == "cpu":
        raise EvalsuiteError.of("commands.max_on_cpu")
    store = trials.store(root, limit)
    searches = (
        (case, batch_search.read_search(case, plan.recipe(case), store, dialects, MOST)) for case in plan.to_search
    )
    return tuple(SearchedBatch(of=case, **vars(search)) for case, search in searches if search is not None)
