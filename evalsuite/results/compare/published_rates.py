"""What others printed of a model on a device (`data/reference/published.csv`), with other versions of all."""

import math
import re
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from evalsuite.core import paths
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.model import Case, ReferenceComparison, Summary
from evalsuite.results.measure import facts
from evalsuite.results.measure.flops import plain
from evalsuite.results.measure.units import SEQUENCES

FOLDER = paths.DATA / "reference"
FILE = FOLDER / "published.csv"
ALIKE = {
    **dict.fromkeys(("fp32", "tf32"), ("fp32", "tf32")),
    **{"amp": ("amp",), "fp16_amp": ("amp",), "bf16_amp": ("amp", "bf16_amp")},
}


@dataclass(frozen=True, kw_only=True)
class PublishedRate:
    source: str
    framework: str
    model: str
    device: str  # a word of its name: "V100"
    devices: int
    precision: str
    input_size: str
    unit: str
    batch_per_device: float | None
    items_per_s: float  # of all devices
    options: tuple[str, ...] = ()  # NAME=VALUE


def of_reference(name: str) -> list[PublishedRate]:
    """The figures called *name*: all published ones, or a table set in `data/reference`. Raises EvalsuiteError."""
    if name == "published":
        rows = (row for row in paths.read_rows(FILE) if row["device"])
        return [_rate(row, int(row["devices"]), row["device"], row["source"]) for row in rows]
    tables = {file.parent.name.replace("_", "-"): file for file in FOLDER.glob("*/cells.csv")}
    if name not in tables:
        raise EvalsuiteError.of("commands.against", name=name, names=["published", *sorted(tables)])
    return [
        _rate(row, int(row["nodes"]) * int(row["devices_per_node"]), "V100", f"{name}, L{row['line']}")
        for row in paths.read_rows(tables[name])
        if row["items_per_s"]
    ]


def _rate(row: Mapping[str, str], devices: int, device: str, source: str) -> PublishedRate:
    return PublishedRate(
        source=source,
        framework=row["framework"],
        model=row["model"],
        device=device,
        devices=devices,
        precision=row["precision"],
        input_size=row.get("input_size", ""),
        unit=row["unit"],
        batch_per_device=float(row["batch_per_device"]) if row["batch_per_device"] else None,
        items_per_s=float(row.get("items_per_s") or row["value"])
        * (devices if row.get("scope") == "per_device" else 1),
        options=tuple(filter(None, (row.get("options") or row.get("option") or "").split(";"))),
    )


def compare(summaries: Iterable[Summary], among: Sequence[PublishedRate]) -> Iterator[ReferenceComparison]:
    """Each of *summaries* beside the figures of its model and number of devices that differ least from it."""
    for row in summaries:
        known = [rate for rate in among if plain(rate.model) == plain(row.case.model)]
        of_scale = (rate for rate in known if rate.devices == row.case.total_devices)
        alike = [rate for rate in of_scale if rate.unit == row.unit or {rate.unit, row.unit} <= set(SEQUENCES)]
        if not alike:
            continue
        differs = {rate: _differences(rate, row) for rate in alike}
        far = {
            rate: ([len(differing), *(name for name, _ in differing)], _log_of_batches(rate, row.case), differing)
            for rate, differing in differs.items()
        }
        nearest = [rate for rate in alike if far[rate] == min(far.values())]
        yield ReferenceComparison(
            case=row.case,
            items_per_s=row.items_per_s.value,
            reference=statistics.median(rate.items_per_s for rate in nearest),
            unit=row.unit,
            figures=len(nearest),
            differs=differs[nearest[0]],
            source=nearest[0].source,
        )


def _differences(rate: PublishedRate, row: Summary) -> tuple[tuple[str, str], ...]:
    case, runs = row.case, [run for run in row.measurements if run.counts]
    sizes = {fact.value for fact in facts.of_runs(runs).get("input_size", ())}
    machines = {str(run.environment or "") for run in runs}
    device = re.compile(rf"(?<!\w){re.escape(rate.device)}(?!\w)")
    options = {f"{name}={value}" for name, value in case.options}
    alike = {
        "framework": (rate.framework, plain(rate.framework) == plain(case.framework)),
        "precision": (rate.precision, rate.precision in ALIKE.get(case.precision, (case.precision,))),
        "batch": (f"{rate.batch_per_device:g}" if rate.batch_per_device else "", not _log_of_batches(rate, case)),
        "device": (rate.device, all(device.search(machine) and "MIG" not in machine for machine in machines)),
        "input_size": (rate.input_size, sizes == {rate.input_size}),
        "options": (", ".join(sorted({*rate.options} - options)), False),
        "own_options": (", ".join(sorted(options - {*rate.options})), False),
    }
    return tuple((name, value) for name, (value, same) in alike.items() if value and not same)


def _log_of_batches(rate: PublishedRate, case: Case) -> float:
    return abs(math.log2(rate.batch_per_device / case.batch_per_device)) if rate.batch_per_device else 0.0
