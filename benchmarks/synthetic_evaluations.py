"""Makes evaluations of hundreds and thousands of cases in memory, for the size of the report and its filter.

Five repeats a case, utilisation of eight resources, a command and a log's SHA-256 for every run. The speeds are
invented, the statistics over them the project's own; the origin says "measured", since the marks of any other would
be counted with the page.
"""

import hashlib
import random
from collections.abc import Iterator
from dataclasses import replace

from evalsuite.documents import RunCommand, UsedRecipe
from evalsuite.model import Case, Counted, Evaluation, Measurement, Protocol, Run, Throughput, Utilisation, Window
from evalsuite.results.compare.scaling import with_scaling
from evalsuite.results.measure.summary import summary

FRAMEWORKS = ("tensorflow", "mxnet", "paddlepaddle", "pytorch", "oneflow", "mindspore")
SCALES = ((1, 1), (1, 8), (2, 8), (4, 8), (8, 8), (16, 8), (32, 8), (64, 8), (125, 8))
REPEATS = 5
GAIN = 0.985  # of each doubling
BASE = Case(framework="pytorch", recipe="recipe", model="model", batch_per_device=32, device="gpu", protocol=Protocol())
USED = (
    ("gpu", "%", 92.0),
    ("gpu_memory", "%", 71.0),
    ("gpu_power", "W", 612.0),
    ("cpu", "%", 24.0),
    ("memory", "%", 18.0),
    ("disk_read", "bytes/s", 2.1e8),
    ("network_receive", "bytes/s", 1.2e9),
    ("network_send", "bytes/s", 1.1e9),
)


def evaluation(number: int) -> Evaluation:
    """An evaluation of *number* cases: models in both precisions, frameworks, scales."""
    chance = random.Random(number)
    rows = []
    for series in _series(number):
        rows += with_scaling([summary(case, _runs(case, chance)) for case in series])
    runs = [run for row in rows for run in row.measurements]
    return Evaluation(
        title="evaluation",
        profile="full",
        planned=tuple(row.case for row in rows),
        repeats=REPEATS,
        skips=(),
        summaries=tuple(rows),
        verdicts=(),
        findings=(),
        environments={},
        commands={run.run.id: _command(run.run) for run in runs},
        timelines={},
    )


def _series(number: int) -> Iterator[list[Case]]:
    """*number* cases, those of one series together."""
    left, block = number, 0
    while left > 0:
        model, precision = f"model{block // 2}", ("fp32", "amp")[block % 2]
        for framework in FRAMEWORKS:
            case = replace(BASE, framework=framework, model=model, recipe=f"{model}-recipe", precision=precision)
            yield [replace(case, nodes=nodes, devices_per_node=devices) for nodes, devices in SCALES[:left]]
            left -= len(SCALES[:left])
            if left == 0:
                return
        block += 1


def _runs(case: Case, chance: random.Random) -> list[Measurement]:
    speed = 300.0 * case.total_devices * GAIN ** (case.total_devices - 1).bit_length()
    return [_run(Run(case=case, repeat=k), speed * chance.uniform(0.985, 1.015), chance) for k in range(REPEATS)]


def _run(run: Run, items_per_s: float, chance: random.Random) -> Measurement:
    begin_s = chance.uniform(3.0, 5.0)
    step_s = run.case.global_batch / items_per_s
    window = Window(
        first_step=21, last_step=120, steps=100, begin_s=begin_s, end_s=begin_s + 100 * step_s
    )  # fmt: skip
    return Measurement(
        run=run,
        status="ok",
        throughput=Throughput(
            items_per_s=items_per_s,
            unit="images/s",
            method="step times",
            window=window,
            printed_items_per_s=items_per_s,
            clock_items_per_s=0.998 * items_per_s,
            step_time_s=(step_s,) * 100,
            line_first=32,
            line_last=131,
            counted=Counted(items=(float(run.case.global_batch),) * 100, seconds=(step_s,) * 100),
        ),
        utilisation=tuple(_used(*one, chance) for one in USED),
        started_at=f"2026-01-01T{10 + run.repeat}:{chance.randrange(60):02d}:07.250+00:00",
        duration_s=begin_s + 120 * step_s,
        exit_code=0,
        host="node0",
        environment="8 x Synthetic GPU, Synthetic CPU (64 cores), driver 550.0",
        framework_version="1.0",
        log=f"{run.id}/log.node0.txt",
        log_sha256=hashlib.sha256(run.id.encode()).hexdigest(),
    )


def _used(resource: str, unit: str, mean: float, chance: random.Random) -> Utilisation:
    mean *= chance.uniform(0.97, 1.03)
    return Utilisation(
        resource=resource, unit=unit, mean=mean, p5=0.8 * mean, p95=1.05 * mean, samples=40, coverage=0.99
    )


def _command(run: Run) -> RunCommand:
    python = f"/opt/environments/{run.case.framework}/bin/python"
    argv = ("python", "-m", "evalsuite", "sample", "-o", f"runs/{run.id}", "--", python, "train.py")
    return RunCommand(
        argv=(*argv, "--devices", str(run.case.total_devices)),
        command=(),
        environment={},
        recipe=UsedRecipe(),
        framework_version="1.0",
    )
