"""The rows of `Results`: plain values with their unit in the name; None: not measured."""

from collections.abc import Mapping
from typing import Any, NamedTuple


class Run(NamedTuple):
    run_id: str
    case_id: str
    source: str  # the path that was loaded; of several folders of runs together the first
    campaign: str | None
    framework: str
    recipe: str
    model: str
    precision: str
    xla: bool
    device: str
    cores_per_device: int | None
    batch_per_device: int
    global_batch: int
    nodes: int
    devices_per_node: int
    total_devices: int
    options: str  # "data=dali;image_size=224"; a frame has a column of each
    round: int | None
    repeat: int
    status: str
    counts: bool
    reason: str | None
    fault: str | None
    origin: str
    items_per_s: float | None
    unit: str | None
    method: str | None
    printed_items_per_s: float | None
    clock_items_per_s: float | None
    started_at: str | None
    duration_s: float | None
    exit_code: int | None
    host: str | None
    environment: str | None
    framework_version: str | None
    log: str | None


class Case(NamedTuple):
    case_id: str
    source: str
    framework: str
    recipe: str
    model: str
    precision: str
    xla: bool
    device: str
    batch_per_device: int
    nodes: int
    devices_per_node: int
    total_devices: int
    options: str
    unit: str | None
    n: int
    items_per_s: float | None
    items_per_s_low: float | None
    items_per_s_high: float | None
    items_per_s_coverage: float | None
    cv: float | None
    speedup: float | None
    efficiency: float | None
    origin: str
    state: str


class Step(NamedTuple):
    """One report of a training log."""

    run_id: str
    source: str
    step: int  # the last of the report
    steps: int
    items: float | None
    seconds: float | None
    items_per_s: float | None  # as printed, of all devices
    arrival_s: float | None
    loss: float | None


class Sample(NamedTuple):
    run_id: str
    source: str
    host: str
    at_s: float | None
    quantity: str  # "gpus.power_w[0]"
    value: float | None


class Utilisation(NamedTuple):
    run_id: str
    case_id: str
    source: str
    resource: str
    device: str | None
    unit: str
    mean: float
    p5: float | None
    p95: float | None
    samples: int
    coverage: float | None
    capacity: float | None


class Finding(NamedTuple):
    code: str
    source: str
    severity: str
    where: str
    text: str


KINDS: Mapping[str, type[Any]] = {
    "runs": Run, "cases": Case, "steps": Step, "samples": Sample, "utilisation": Utilisation, "findings": Finding,
}  # fmt: skip
