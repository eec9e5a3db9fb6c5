"""Whether an epoch ends inside the window with a batch that is not full: the items counted there may be too many."""

from evalsuite.findings import LastBatchShort
from evalsuite.model import Case, Finding, Window

IMAGENET_IMAGES = 1_281_167  # of ILSVRC 2012's training set: Russakovsky et al., IJCV 2015, table 2


def items_per_epoch(printed: float | None, data: str | None, unit: str | None) -> float | None:
    """What the log prints, else what the *data* are known to hold; None where neither says it."""
    return printed or (IMAGENET_IMAGES if (data, unit) == ("imagenet", "images/s") else None)


def last_batch(case: Case, window: Window | None, items: float | None) -> Finding | None:
    """The first step of *window* that ends an epoch of *items* with a part of a batch. A script may drop it unsaid."""
    if window is None or not items or items < case.global_batch:
        return None
    whole, left = divmod(items, case.global_batch)
    steps = int(whole) + 1
    first = -(-window.first_step // steps) * steps
    ends = window.last_step // steps - (window.first_step - 1) // steps
    share = left / case.global_batch
    most = ends * (1 - share) / window.steps
    if not left or not ends or most <= LastBatchShort.limit:
        return None
    return LastBatchShort(step=first, items=round(items), share=share, most=most)
