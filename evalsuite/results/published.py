"""What others have printed of a model on a device, to ask whether a measured rate is of the same kind.

`data/reference/published_rates.csv` holds figures of one device with the file and line that prints each. They are other
people's measurements with other versions and batches: a rate outside them is a question and no error.
"""

import csv
import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from evalsuite import paths
from evalsuite.model import Summary
from evalsuite.results import facts
from evalsuite.results.summary import counts

FILE = paths.DATA / "reference" / "published_rates.csv"
LARGER_BATCH = 4  # a figure of so many times the batch says nothing of a small one
FEWEST_FIGURES = 3  # fewer are no range
ALIKE = {
    "fp32": ("fp32", "tf32"),
    "tf32": ("fp32", "tf32"),
    "amp": ("amp",),
    "fp16_amp": ("amp",),
    "bf16_amp": ("amp",),
}
SENTENCES = ("sentences/s", "sequences/s", "samples/s")


@dataclass(frozen=True, kw_only=True)
class PublishedRate:
    """One figure as somebody printed it, of one device."""

    id: str
    source: str
    model: str
    device: str  # a word of its name: "V100"
    precision: str
    input_size: str
    unit: str
    batch_per_device: float | None
    items_per_s: float


@dataclass(frozen=True, kw_only=True)
class PublishedRange:
    """The lowest and the highest of several figures."""

    device: str
    low: float
    high: float
    figures: int
    sources: tuple[str, ...]


@functools.cache
def rates() -> tuple[PublishedRate, ...]:
    with FILE.open(encoding="utf-8", newline="") as file:
        return tuple(
            PublishedRate(
                id=row["id"],
                source=row["source"],
                model=row["model"],
                device=row["device"],
                precision=row["precision"],
                input_size=row["input_size"],
                unit=row["unit"],
                batch_per_device=float(row["batch_per_device"]) if row["batch_per_device"] else None,
                items_per_s=float(row["items_per_s"]),
            )
            for row in csv.DictReader(file)
        )


def published(one: Summary) -> PublishedRange | None:
    """What is published for the model, device and precision of *one*, which ran on one device; None if too little."""
    case = one.case
    stated = facts.of_runs(run for run in one.measurements if counts(run)).get("input_size", ())
    sizes = {fact.value for fact in stated}
    if case.device != "gpu" or case.total_devices != 1 or len(sizes) != 1:
        return None
    machines = {run.environment or "" for run in one.measurements if counts(run)}
    found = [
        rate
        for rate in rates()
        if rate.model == case.model
        and rate.precision in ALIKE.get(case.precision, ())
        and rate.input_size in sizes
        and (rate.batch_per_device or 0) <= LARGER_BATCH * case.batch_per_device
        and (rate.unit == one.unit or {rate.unit, one.unit} <= set(SENTENCES))
        and all(re.search(rf"\b{rate.device}\b", machine) and "MIG" not in machine for machine in machines)
    ]
    return _range(found) if len(found) >= FEWEST_FIGURES else None


def _range(found: Sequence[PublishedRate]) -> PublishedRange:
    values = [rate.items_per_s for rate in found]
    return PublishedRange(
        device=found[0].device,
        low=min(values),
        high=max(values),
        figures=len(found),
        sources=tuple(dict.fromkeys(rate.source for rate in found)),
    )
