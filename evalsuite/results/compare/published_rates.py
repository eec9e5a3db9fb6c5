"""What others printed of a model on a device (`data/reference/published_rates.csv`).

They used other versions: a rate outside their range is a question and no error.
"""

import csv
import functools
import re
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalsuite import paths
from evalsuite.model import Case, Summary
from evalsuite.results.measure import facts

FILE = paths.DATA / "reference" / "published_rates.csv"
OTHER_BATCH = 4  # a figure of so many times the batch, or of as small a share, says nothing
FULL_BATCH = 32  # smaller ones do not fill a device, as those do that authors print without their batch
FEWEST_FIGURES = 3
ALIKE = {
    "fp32": ("fp32", "tf32"),
    "tf32": ("fp32", "tf32"),
    "amp": ("amp",),
    "fp16_amp": ("amp",),
    "bf16_amp": ("amp", "bf16_amp"),
}
SENTENCES = ("sentences/s", "sequences/s", "samples/s")


@dataclass(frozen=True, kw_only=True)
class PublishedRate:
    id: str
    source: str
    model: str
    device: str  # a word of its name: "V100"
    devices: int
    precision: str
    input_size: str
    unit: str
    per_device: bool  # what the figure counts
    batch_per_device: float | None
    value: float

    @property
    def items_per_s(self) -> float:
        return self.value * self.devices if self.per_device else self.value


@dataclass(frozen=True, kw_only=True)
class PublishedRange:
    device: str
    devices: int
    low: float
    median: float
    high: float
    figures: int
    sources: tuple[str, ...]

    @property
    def few(self) -> bool:
        return self.figures < FEWEST_FIGURES


@functools.cache
def rates() -> Mapping[tuple[str, int], Sequence[PublishedRate]]:
    found: dict[tuple[str, int], list[PublishedRate]] = {}
    with FILE.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            rate = PublishedRate(
                id=row["id"],
                source=row["source"],
                model=row["model"],
                device=row["device"],
                devices=int(row["devices"]),
                precision=row["precision"],
                input_size=row["input_size"],
                unit=row["unit"],
                per_device=row["scope"] == "per_device",
                batch_per_device=float(row["batch_per_device"]) if row["batch_per_device"] else None,
                value=float(row["value"]),
            )
            found.setdefault((_plain(rate.model), rate.devices), []).append(rate)
    return found


def _plain(model: str) -> str:
    return re.sub(r"[^a-z0-9]", "", model.lower())


def published(one: Summary) -> PublishedRange | None:
    """What is published for the model, devices and precision of *one*; None where nothing is."""
    case = one.case
    known = rates().get((_plain(case.model), case.total_devices)) if case.device == "gpu" else None
    if not known:
        return None
    runs = [run for run in one.measurements if run.counts]
    sizes = {fact.value for fact in facts.of_runs(runs).get("input_size", ())}
    machines = {str(run.environment or "") for run in runs}
    if len(sizes) != 1:
        return None
    return _range(
        [
            rate
            for rate in known
            if rate.input_size in sizes
            and _alike(rate, case)
            and (rate.unit == one.unit or {rate.unit, one.unit} <= set(SENTENCES))
            and all(re.search(rf"\b{rate.device}\b", machine) and "MIG" not in machine for machine in machines)
        ]
    )


def _alike(rate: PublishedRate, case: Case) -> bool:
    batch = rate.batch_per_device
    if batch is None:
        near = case.batch_per_device >= FULL_BATCH
    else:
        near = case.batch_per_device / OTHER_BATCH <= batch <= OTHER_BATCH * case.batch_per_device
    return near and rate.precision in ALIKE.get(case.precision, (case.precision,))


def _range(found: Sequence[PublishedRate]) -> PublishedRange | None:
    if not found:
        return None
    values = [rate.items_per_s for rate in found]
    return PublishedRange(
        device=found[0].device,
        devices=found[0].devices,
        low=min(values),
        median=statistics.median(values),
        high=max(values),
        figures=len(found),
        sources=tuple(dict.fromkeys(rate.source for rate in found)),
    )
