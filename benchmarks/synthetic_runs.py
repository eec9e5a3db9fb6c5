"""Makes run folders that look like measured ones, for the benchmarks and tests: 120 steps, samples twice a second.

Their speeds are invented, so their origin is "simulated" and no verdict can rest on them.
"""

import itertools
import json
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from evalsuite.documents import Gpu, HostEnvironment, Interface, RunCommand, UsedRecipe
from evalsuite.model import Case, Protocol, Run
from evalsuite.runs.endings import Outcome
from evalsuite.runs.store import RunFolder, Store

FRAMEWORKS = ("tensorflow", "mxnet", "paddlepaddle", "pytorch", "oneflow")
SCALES = ((1, 1), (1, 2), (1, 4), (1, 8), (2, 8), (4, 8), (8, 8), (16, 8))
BATCHES = (32, 64, 128, 192, 256)
HOST = "node0"
BASE = Case(
    framework="pytorch",
    recipe="reference-resnet50",
    model="resnet50_v1.5",
    batch_per_device=32,
    device="gpu",
    protocol=Protocol(),
)
RECIPE = UsedRecipe(
    name=BASE.recipe,
    kind="reference",
    model=BASE.model,
    dialect="pytorch_examples",
    unit="images/s",
    spawn="per_node",
    source="",
    commit="",
    image="",
)


def runs(number: int) -> list[Run]:
    """*number* runs, five repeats a case, over frameworks, scales and batch sizes."""
    cases = (
        replace(
            BASE,
            model=model,
            recipe=recipe,
            framework=framework,
            nodes=nodes,
            devices_per_node=devices,
            batch_per_device=batch,
        )
        for model, recipe in _models()
        for batch in BATCHES
        for nodes, devices in SCALES
        for framework in FRAMEWORKS
    )
    return list(itertools.islice((Run(case=case, repeat=repeat) for case in cases for repeat in range(5)), number))


def _models() -> Iterator[tuple[str, str]]:
    """A model and its recipe, as many as are asked for."""
    yield BASE.model, BASE.recipe
    for number in itertools.count(1):
        yield f"model{number}", f"reference-model{number}"


def write(root: Path, number: int, seed: int = 1) -> Store:
    """*number* finished run folders under *root*."""
    store, chance = Store(root), random.Random(seed)
    for run in runs(number):
        with store.claim(run) as folder:
            _write_run(run, folder, chance)
    return store


def _write_run(run: Run, folder: RunFolder, chance: random.Random) -> None:
    efficiency = 0.98 ** (run.case.total_devices - 1).bit_length()
    step_s = 0.1 / efficiency * chance.uniform(0.98, 1.02)
    ends = _ends(run.case.protocol.total_steps, step_s, chance)
    _write_log(folder, ends)
    _write_samples(folder, ends[-1], chance)
    folder.write_environment(_environment(run.case.devices_per_node))
    folder.write_command(
        RunCommand(
            argv=("python", "train.py"),
            command=("python", "train.py"),
            environment={},
            framework_version="1.0",
            recipe=replace(RECIPE, name=run.case.recipe, model=run.case.model),
        )
    )
    folder.write_outcome(
        Outcome(
            status="completed",
            reason="",
            exit_code=0,
            origin="simulated",
            started_at="2026-01-01T00:00:00.000+00:00",
            duration_s=ends[-1],
        )
    )


def _ends(steps: int, step_s: float, chance: random.Random) -> list[float]:
    now, ends = 3.0, []
    for _ in range(steps):
        now += step_s * chance.uniform(0.97, 1.03)
        ends.append(now)
    return ends


def _write_log(folder: RunFolder, ends: list[float]) -> None:
    lines, arrivals, offset, before = [], ["end_byte,at_s\n"], 0, 3.0
    for step, end in enumerate(ends, start=1):
        seconds, before = end - before, end
        line = (
            f"Epoch: [0][{step:3d}/{len(ends)}]\tTime {seconds:6.3f} ({seconds:6.3f})\tData  0.001 ( 0.001)\t"
            f"Loss 7.0000e+00 (7.0000e+00)\tAcc@1   0.00 (  0.00)\tAcc@5   0.00 (  0.00)\n"
        )
        offset += len(line)
        lines.append(line)
        arrivals.append(f"{offset},{end:.6f}\n")
    folder.log_path(HOST).write_text("".join(lines))
    folder.arrivals_path(HOST).write_text("".join(arrivals))


def _write_samples(folder: RunFolder, until_s: float, chance: random.Random) -> None:
    header = {
        "header": True, "hz": 2.0, "cpu_count": 64.0, "memory_total_bytes": 512 * 2**30, "disks": ["sda"],
        "started_at_unix_s": 1767225600.0, "interfaces": {"eth0": {"speed_mbit_s": 100_000}},
        "gpus": [{"index": i, "uuid": f"GPU-{i}", "name": "Synthetic GPU", "memory_total_bytes": 80 * 2**30,
                  "power_limit_w": 700.0} for i in range(2)],
    }  # fmt: skip
    lines = [json.dumps(header)]
    for tick in range(int(until_s * 2) + 2):
        lines.append(json.dumps(_sample(tick / 2, chance)))
    folder.samples_path(HOST).write_text("\n".join(lines) + "\n")


def _sample(at_s: float, chance: random.Random) -> dict:
    gpu = {"memory_used_bytes": 60 * 2**30, "memory_utilisation_percent": 50.0, "power_w": 600.0,
           "temperature_c": 60.0, "sm_clock_mhz": 1700, "memory_clock_mhz": 2600,
           "pcie_received_bytes_per_s": 10**9, "pcie_sent_bytes_per_s": 10**8}  # fmt: skip
    return {
        "at_s": at_s,
        "cpu_percent": chance.uniform(20, 30),
        "cpu_percent_per_core": [25.0] * 8,
        "memory_used_bytes": 100 * 2**30,
        "disks": {"sda": {"read_bytes": int(at_s * 1e8), "write_bytes": int(at_s * 1e6),
                          "read_operations": int(at_s * 900), "write_operations": int(at_s * 9)}},
        "interfaces": {"eth0": {"received_bytes": int(at_s * 1e9), "sent_bytes": int(at_s * 1e9)}},
        "tree": {"cpu_s": at_s * 16, "memory_bytes": 20 * 2**30, "processes": 9},
        "gpus": [{"index": i, "utilisation_percent": chance.uniform(90, 99), **gpu} for i in range(2)],
    }  # fmt: skip


def _environment(devices: int) -> HostEnvironment:
    return HostEnvironment(
        host=HOST,
        node_rank=0,
        os="Synthetic Linux",
        kernel="6.1",
        cpu_model="Synthetic CPU",
        cpu_count=64,
        cpu_count_usable=64.0,
        memory_total_bytes=512 * 2**30,
        disks=("sda",),
        interfaces={"eth0": Interface(speed_mbit_s=100_000)},
        driver="550.0",
        cuda_driver="12.4",
        gpus=tuple(Gpu(index=i, name="Synthetic GPU", memory_total_bytes=80 * 2**30) for i in range(8)),
        python="3.11",
        evalsuite="0.1.0",
        environment_variables={},
    )
