"""Makes run folders that look like measured ones, for the benchmarks and tests: 120 steps in a minute, with samples of
8 accelerators and 64 cores twice a second.

Their speeds are invented, so their origin is "simulated" and no verdict can rest on them.
"""

import functools
import itertools
import random
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from evalsuite.agent.sampling import interval_s
from evalsuite.core.documents import Gpu, HostEnvironment, Interface, RunCommand, UsedRecipe
from evalsuite.core.model import Case, Protocol, Run
from evalsuite.runs import columns
from evalsuite.runs.endings import Outcome
from evalsuite.runs.samples import (
    DiskCounters,
    GpuReading,
    Header,
    InterfaceCounters,
    Sample,
    TreeReading,
    reading,
)
from evalsuite.runs.store import RunFolder, Store

FRAMEWORKS = ("tensorflow", "mxnet", "paddlepaddle", "pytorch", "oneflow")
SCALES = ((1, 1), (1, 2), (1, 4), (1, 8), (2, 8), (4, 8), (8, 8), (16, 8))
BATCHES = (32, 64, 128, 192, 256)
HOST = "node0"
DEVICES, CORES, HZ = 8, 64, 2.0
MEMORY_BYTES, DEVICE_BYTES = 512 * 2**30, 80 * 2**30
STEP_S = 0.5  # 120 steps take a minute
KINDS_OF_SAMPLES = 20
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
        write_run(store, run, chance)
    return store


def write_run(
    store: Store,
    run: Run,
    chance: random.Random,
    *,
    hosts: int = 1,
    step_s: float = STEP_S,
    sampled_s: float | None = None,
) -> RunFolder:
    """One finished run in *store*, with the records of *hosts* hosts, of which the first prints.

    Their samples are of a minute and one of some kinds, or each host's own and of *sampled_s* seconds.
    """
    with store.claim(run) as folder:
        efficiency = 0.98 ** (run.case.total_devices - 1).bit_length()
        ends = _ends(run.case.protocol.total_steps, step_s / efficiency * chance.uniform(0.98, 1.02), chance)
        _write_log(folder, ends)
        for place in range(hosts):
            host = f"node{place}"
            if sampled_s is None:
                folder.packed_samples_path(host).write_bytes(_samples(chance.randrange(KINDS_OF_SAMPLES)))
            else:
                write_samples(folder.packed_samples_path(host), sampled_s, chance)
            folder.write_environment(_environment(host, place))
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
    return folder


@functools.cache
def _samples(kind: int) -> bytes:
    """The packed samples of some eighty seconds: many runs share those of one kind, which take long to make."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "samples"
        write_samples(file, 80.0, random.Random(kind))
        return file.read_bytes()


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
            f"Loss {7 - seconds % 0.1 - step / len(ends):.4e} (6.9e+00)\tAcc@1   0.00 (  0.00)\tAcc@5   0.00 (  0.00)\n"
        )
        offset += len(line)
        lines.append(line)
        arrivals.append(f"{offset},{end:.6f}\n")
    folder.log_path(HOST).write_text("".join(lines))
    folder.arrivals_path(HOST).write_text("".join(arrivals))


def _environment(host: str, rank: int) -> HostEnvironment:
    return HostEnvironment(
        host=host,
        node_rank=rank,
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
        gpus=tuple(Gpu(index=i, name="Synthetic GPU", memory_total_bytes=80 * 2**30) for i in range(DEVICES)),
        python="3.11",
        evalsuite="0.1.0",
        environment_variables={},
    )


# the samples of a host as the agent leaves them: every quantity that it reads, with the noise that sensors have


def write_samples(file: Path, seconds: float, chance: random.Random) -> None:
    """The packed *file* of *seconds* of a run."""
    readings = _readings(seconds, chance)
    columns.write(file, _header(chance), (reading(sample.to_json(), "synthetic") for sample in readings))


def _header(chance: random.Random) -> Header:
    return Header(
        hz=HZ,
        started_at_unix_s=1767225600.0 + chance.uniform(0, 0.05),
        cpu_count=float(CORES),
        cores=tuple(range(CORES)),
        memory_total_bytes=MEMORY_BYTES,
        disks=("nvme0n1",),
        interfaces={"eth0": Interface(speed_mbit_s=100_000), "lo": Interface(), "mlx5_0/1": Interface()},
        gpus=tuple(
            Gpu(
                index=place,
                uuid=f"GPU-{place:08x}",
                name="Synthetic GPU",
                memory_total_bytes=DEVICE_BYTES,
                power_limit_w=700.0,
                of_job=True,
            )
            for place in range(DEVICES)
        ),
        pcie_period_s=0.5,
    )


def _readings(seconds: float, chance: random.Random) -> Iterator[Sample]:
    """One sample after the other."""
    at_s = energy_j = 0.0
    counted = [chance.randrange(10**13) for _ in range(8)]
    while at_s <= seconds:
        taken_s = interval_s(1 / HZ, chance.uniform(-1, 1))
        at_s, energy_j = at_s + taken_s, energy_j + 600 * taken_s
        rates = (1.5e8, 1e6, 900, 9, 1e5, 1e5, 1.1e10, 1.1e10)
        counted = [
            one + int(rate * taken_s * chance.uniform(0.8, 1.2)) for one, rate in zip(counted, rates, strict=True)
        ]
        percents = [min(100.0, max(0.0, chance.gauss(25, 20))) for _ in range(CORES)]
        yield Sample(
            at_s=round(at_s, 6),
            cpu_percent=round(sum(percents) / CORES, 2),
            memory_used_bytes=100 * 2**30 + chance.randrange(2**28) // 4096 * 4096,
            disks={
                "nvme0n1": DiskCounters(
                    read_bytes=counted[0] // 512 * 512,
                    write_bytes=counted[1] // 512 * 512,
                    read_operations=counted[2],
                    write_operations=counted[3],
                )
            },
            interfaces={
                "eth0": InterfaceCounters(received_bytes=counted[4], sent_bytes=counted[5]),
                "lo": InterfaceCounters(received_bytes=12345, sent_bytes=12345),
                "mlx5_0/1": InterfaceCounters(received_bytes=counted[6] // 4 * 4, sent_bytes=counted[7] // 4 * 4),
            },
            tree=TreeReading(
                cpu_s=round(at_s * 16 + chance.uniform(0, 0.05), 2),
                memory_bytes=20 * 2**30 + chance.randrange(2**24) // 4096 * 4096,
            ),
            gpus=tuple(_gpu(place, energy_j, chance) for place in range(DEVICES)),
        )


def _gpu(place: int, energy_j: float, chance: random.Random) -> GpuReading:
    return GpuReading(
        index=place,
        utilisation_percent=float(chance.randrange(88, 101)),
        memory_used_bytes=60 * 2**30,
        power_w=round(chance.gauss(600, 25), 3),
        energy_j=round(energy_j + chance.uniform(0, 15), 3),
        temperature_c=float(60 + chance.randrange(3)),
        sm_clock_mhz=float(1980 - 15 * chance.randrange(4)),
        memory_clock_mhz=2619.0,
        pcie_received_bytes_per_s=chance.randrange(10**6, 2 * 10**6) * 1024,
        pcie_sent_bytes_per_s=chance.randrange(10**5, 2 * 10**5) * 1024,
    )
