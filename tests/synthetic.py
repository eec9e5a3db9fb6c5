"""Makes evaluations out of thin air, for the tests of the report: no run folder, no framework, no clock. Each maker
returns a `model.Evaluation`, the same one each time: nobody changes it. The numbers come from a small model of scaling
with fixed-seed noise; medians, intervals and verdicts are made by the project's own rooms, as they are for real
runs."""

import hashlib
import random
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache

from evalsuite.contracts.adapter import INPUT_SIZES
from evalsuite.core.documents import Gpu, HostEnvironment, Interface, RunCommand, UsedRecipe
from evalsuite.core.findings import NoisyRepeats, Resumed, ShortWindow
from evalsuite.core.model import (
    Breakdown,
    Case,
    Counted,
    Evaluation,
    Fact,
    Finding,
    Interval,
    LogLine,
    Machine,
    MachineNode,
    Measurement,
    Phase,
    Protocol,
    Run,
    Score,
    Skip,
    Summary,
    Throughput,
    Utilisation,
    Verdict,
    Window,
)
from evalsuite.results.compare.scaling import with_scaling
from evalsuite.results.judge import criteria
from evalsuite.results.judge.verdicts import verdicts as judged
from evalsuite.results.measure import convergence
from evalsuite.results.measure import summary as summaries_of
from evalsuite.results.rules import data_rules
from tests import sources
from tests.sources import NIGHTLY

FRAMEWORKS = ("tensorflow", "mxnet", "paddlepaddle", "pytorch")
VERSIONS = {"tensorflow": "2.15.1", "mxnet": "1.9.1", "paddlepaddle": "3.3.1", "pytorch": "2.13.0"}
SPEED = {"tensorflow": 31.2, "mxnet": 29.4, "paddlepaddle": 25.8, "pytorch": 38.6}  # images/s of one device
QUICK = Protocol(warmup_steps=5, measured_steps=30)
FULL = Protocol()
MACHINE = HostEnvironment(
    host="bench-01", node_rank=0, os="Debian GNU/Linux 12 (bookworm)", kernel="6.1.0-28-amd64",
    cpu_model="Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz", cpu_count=2, cpu_count_usable=2.0,
    memory_total_bytes=25_190_000_000, disks=("vda",), interfaces={"eth0": Interface(speed_mbit_s=10_000)}, gpus=(),
    python="3.11.2", evalsuite="0.1.0", environment_variables={"OMP_NUM_THREADS": "2"},
)  # fmt: skip
FACTS = tuple(  # all that a fair comparison asks for beside case and machine
    Fact(key=key, value=value, source=source)
    for key, value, source in (
        ("data", "synthetic", "recipe"),
        ("optimiser", "sgd", "recipe"),
        ("clipping", "none", "recipe"),
        ("parallel_layout", "DP", "recipe"),
        ("host_kind", MACHINE.cpu_model, "environment"),
        ("driver_generation", "550", "environment"),
        ("tf32", "off", "environment"),
        ("communication", "none set", "environment"),
    )
)
SIZE = Fact(key="input_size", value="224", source="recipe")
CPU = Machine(nodes=(MachineNode(cpu="Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz", cores=2),))
CPU_KEY = str(CPU)
TOPOLOGY = sources.text("synthetic_topology.txt")
GPU = Machine(
    nodes=(
        MachineNode(accelerators=(("NVIDIA A100-SXM4-80GB", 4),), cpu="AMD EPYC 7543", cores=64, driver="550.54.15"),
    )
)
GPU_KEY = str(GPU)


def case(framework: str = "pytorch", scale: tuple[int, int] = (1, 1), **changes) -> Case:
    facts = {
        "framework": framework,
        "recipe": "reference-resnet50",
        "model": "resnet50_v1.5",
        "nodes": scale[0],
        "devices_per_node": scale[1],
        "batch_per_device": 8,
        "protocol": QUICK,
        "options": (("image_size", "64"),),
    }
    return Case(**{**facts, **changes})


def measured(of: Case, repeat: int, items_per_s: float, *, environment=CPU, resources=None) -> Measurement:
    """A run that ended well, with utilisation over its window and the receipt of its log."""
    protocol = of.protocol
    begin_s = 4.0 + repeat
    end_s = begin_s + protocol.measured_steps * of.global_batch / items_per_s
    window = Window(
        first_step=protocol.warmup_steps + 1,
        last_step=protocol.total_steps,
        steps=protocol.measured_steps,
        begin_s=begin_s,
        end_s=end_s,
    )
    step_s = of.global_batch / items_per_s
    return Measurement(
        run=Run(case=of, repeat=repeat),
        status="ok",
        throughput=Throughput(
            items_per_s=items_per_s,
            unit="images/s",
            method="step times",
            window=window,
            printed_items_per_s=items_per_s * 1.001,
            clock_items_per_s=items_per_s * 0.998,
            step_time_s=tuple(
                step_s * (1 + 0.02 * ((k * 7) % 5 - 2)) for k in range(min(protocol.measured_steps, 100))
            ),
            line_first=protocol.warmup_steps + 12,
            line_last=protocol.total_steps + 11,
            counted=counted(of, items_per_s),
        ),
        lines=quoted(of, items_per_s),
        utilisation=tuple(resources if resources is not None else cpu_resources(of, repeat)),
        findings=short_window(of),
        started_at=f"2026-11-20T{10 + repeat:02d}:{_minute(of):02d}:07.250+08:00",
        duration_s=end_s + 3.5,
        exit_code=0,
        host="bench-01",
        environment=environment,
        framework_version=VERSIONS.get(of.framework, "1.0"),
        log=f"{of.id}/r{repeat}/log.bench-01.txt",
        log_sha256=hashlib.sha256(f"{of.id}/r{repeat}".encode()).hexdigest(),
        campaign="20261120T020000-5eed00",
        round=repeat,
        facts=FACTS if dict(of.options).keys() & INPUT_SIZES.keys() else (*FACTS, SIZE),
    )


def counted(of: Case, items_per_s: float) -> Counted:
    """The steps of the window, some slower and some faster, so that their quotient is *items_per_s*."""
    steps = min(of.protocol.measured_steps, 100)
    shares = [1 + 0.02 * ((k * 7) % 5 - 2) for k in range(steps)]
    each = of.global_batch * steps / items_per_s / sum(shares)
    seconds = tuple(each * share for share in shares)
    return Counted(items=(float(of.global_batch),) * steps, seconds=seconds, before_s=(3 * each, each), after_s=(each,))


def quoted(of: Case, items_per_s: float) -> tuple[LogLine, ...]:
    """First, middle and last line of the window, as `excerpt` finds them."""
    first, last = of.protocol.warmup_steps, of.protocol.total_steps
    found = []
    for step in (first + 1, (first + last) // 2, last):
        text = f"step {step} {items_per_s:.1f} images/s <b>&"
        begin = text.index(" ", 5) + 1
        found.append(LogLine(number=step + 11, text=text, read=((begin, text.index(" images")),)))
    return tuple(found)


def short_window(of: Case) -> tuple[Finding, ...]:
    """D07, as `measure` finds it."""
    if of.protocol.measured_steps >= FULL.measured_steps:
        return ()
    steps = of.protocol
    return (ShortWindow(skipped_steps=steps.warmup_steps, measured_steps=steps.measured_steps, where=of.id),)


def failed(of: Case, repeat: int, reason: str, status: str = "failed") -> Measurement:
    return replace(
        measured(of, repeat, 1.0), status=status, reason=reason, throughput=None, utilisation=(), exit_code=1
    )


USE = sources.table("synthetic_use.toml")


def cpu_resources(of: Case, repeat: int) -> list[Utilisation]:
    wiggle = random.Random(f"{of.id}{repeat}").uniform(-2, 2)
    found = (
        Utilisation(resource=name, **used, samples=41 * of.nodes, coverage=0.99) for name, used in USE["cpu"].items()
    )
    return [replace(reading, mean=reading.mean + wiggle * (reading.unit == "%")) for reading in found]


def gpu_resources(of: Case, repeat: int) -> list[Utilisation]:
    first, *others = cpu_resources(of, repeat)
    about = {"samples": 210 * of.devices_per_node, "coverage": 0.995}
    beside = sum(range(of.devices_per_node))
    each = ((name, without(one, "more"), one["more"] * beside, of.devices_per_node) for name, one in USE["gpu"].items())
    return [replace(first, mean=38.0), *others] + [
        Utilisation(resource=name, **about, **{**used, "mean": used["mean"] + more / n}) for name, used, more, n in each
    ]


def summary(measurements: Iterable[Measurement], **changes) -> Summary:
    """A case over its repeats, as the project itself summarises it."""
    found = list(measurements)
    return replace(summaries_of.summary(found[0].run.case, found), **changes)


def evaluation(summaries: Iterable[Summary] = (), **changes) -> Evaluation:
    """An evaluation of *summaries*: everything planned was run, unless *changes* say otherwise."""
    found = tuple(summaries)
    runs = [measurement for row in found for measurement in row.measurements]
    keys = sorted({str(measurement.environment) for measurement in runs if measurement.environment})
    facts = {
        "title": "ResNet-50 v1.5 quick comparison",
        "profile": "quick",
        "planned": tuple(row.case for row in found),
        "repeats": 3,
        "skips": (),
        "summaries": found,
        "verdicts": verdicts(found),
        "findings": (),
        "environments": {key: GPU_MACHINE if "A100" in key else MACHINE for key in keys},
        "commands": {measurement.run.id: command(measurement.run.case) for measurement in runs},
    }
    return Evaluation(**{**facts, **changes})


def verdicts(summaries: tuple[Summary, ...]) -> tuple[Verdict, ...]:
    return judged(summaries, criteria.read())


def command(of: Case) -> RunCommand:
    python = f"/home/bench/.cache/evalsuite/environments/{of.framework}/bin/python"
    script = (python, f"workloads/resnet50_{of.framework}.py", "--batch", str(of.batch_per_device), "--steps", "35")
    return RunCommand(
        argv=("/usr/bin/python3", "-m", "evalsuite", "sample", "-o", f"runs/{of.id}", "--", *script),
        command=script,
        environment={"TF_CPP_MIN_LOG_LEVEL": "2"} if of.framework == "tensorflow" else {},
        engine="local",
        timeout_s=300,
        evalsuite="0.1.0",
        recipe=UsedRecipe(
            name=of.recipe,
            kind="reference",
            model=of.model,
            dialect="pytorch_examples",
            unit="images/s",
            spawn="per_node",
            source="https://github.com/pytorch/vision",
            commit="4c7a2d1f0f6b9d6d2f3f0f5c6f7d8e9fa0b1c2d3",
            image="",
        ),
        script_sha256=hashlib.sha256(of.framework.encode()).hexdigest(),
        framework_version=VERSIONS.get(of.framework),
        packages={"numpy": "1.26.4", of.framework: VERSIONS.get(of.framework, "1.0")},
    )


A100 = Gpu(name="NVIDIA A100-SXM4-80GB", memory_total_bytes=85_899_345_920, power_limit_w=400.0)
GPU_MACHINE = replace(
    MACHINE, host="gpu-01", cpu_model="AMD EPYC 7543 32-Core Processor", cpu_count=128, cpu_count_usable=64.0,
    memory_total_bytes=540_000_000_000, disks=("nvme0n1",),
    interfaces={"eth0": Interface(speed_mbit_s=25_000), "ib0": Interface(speed_mbit_s=200_000)},
    gpus=tuple(replace(A100, index=k, uuid=f"GPU-{k}") for k in range(4)), driver="550.54.15", cuda_driver="12.4",
    topology=TOPOLOGY, environment_variables={"NCCL_DEBUG": "INFO"},
)  # fmt: skip


# the pages of docs/architecture.md#checks


@cache
def quick() -> Evaluation:
    """Four frameworks, one and two processes, three repeats on two cores: what `make report` gives."""
    return evaluation(_ladders(FRAMEWORKS, ((1, 1), (1, 2)), repeats=3, gain=0.62))


@cache
def thorough() -> Evaluation:
    """As quick, with seven repeats and the full window: significance may be spoken of."""
    summaries = _ladders(FRAMEWORKS, ((1, 1), (1, 2)), repeats=7, gain=0.9, protocol=FULL, batch_per_device=32)
    return evaluation(summaries, profile="full", repeats=7, title="ResNet-50 v1.5")


@cache
def full(repeats: int = 1) -> Evaluation:
    """The ladder to 125 nodes and 1,000 devices, two models, both precisions."""
    scales = ((1, 1), (1, 8), (2, 8), (4, 8), (8, 8), (16, 8), (32, 8), (64, 8), (125, 8))
    about, found = {"repeats": repeats, "protocol": FULL, "device": "gpu", "options": ()}, []
    for precision, batch in (("fp32", 128), ("amp", 256)):
        found += _ladders(FRAMEWORKS, scales, gain=0.985, batch_per_device=batch, precision=precision, **about)
    about |= {"model": "bert_base", "recipe": "bert", "batch_per_device": 32}
    found += _ladders(("paddlepaddle", "pytorch"), scales[:5], gain=0.95, **about)
    measured_, met = Interval(value=0.861, low=0.842, high=0.877), {"outcome": "pass", "reason": "met"}
    verdict = Verdict(
        criterion="C1", min_nodes=20, threshold=0.8, measured=measured_, n=repeats, case=found[8].case, **met
    )
    judged_ = (verdict, *verdicts(tuple(found))[1:])
    return evaluation(found, profile="full", repeats=repeats, title="天枢 1000 卡评测", verdicts=judged_)


@cache
def many(runs: int = 1000, repeats: int = 5) -> Evaluation:
    """About *runs* runs: frameworks × batch sizes × scales, for the speed of the build."""
    scales = ((1, 1), (1, 2), (1, 4), (1, 8), (2, 8))
    found, batch = [], 1
    while sum(row.n for row in found) < runs:
        found += _ladders(FRAMEWORKS, scales, repeats=repeats, gain=0.95, protocol=FULL, batch_per_device=batch)
        batch += 1
    return evaluation(found, profile="many", repeats=repeats, title="Many runs")


@cache
def asked() -> Evaluation:
    """Two models to ask about: four frameworks on ResNet-50, and a tie of two on BERT with AMP, a third behind them;
    on 32 devices a fourth ran out of memory."""
    summaries = _ladders(FRAMEWORKS, ((1, 1), (1, 8)), repeats=7, protocol=FULL, device="gpu", options=())
    about = {"precision": "amp", "device": "gpu", "batch_per_device": 64, "protocol": FULL, "options": ()}
    about |= {"model": "bert_base", "recipe": "bert"}
    for scale in ((1, 8), (4, 8)):
        for name, speed in (("oneflow", 9441.0), ("ngc_pytorch", 9373.0), ("ngc_mxnet", 9256.0)):
            of = case(name, scale, **about)
            around = (-0.004, -0.003, -0.001, 0, 0.001, 0.003, 0.004)
            runs = (measured(of, k, speed * of.total_devices / 32 * (1 + x)) for k, x in enumerate(around))
            summaries.append(summary(runs))
    broken = case("mxnet", (4, 8), **about)
    summaries.append(summary(failed(broken, k, "CUDA out of memory <b>") for k in range(7)))
    return evaluation(with_scaling(summaries), repeats=7, profile="full", title="Two models")


@cache
def empty() -> Evaluation:
    """Planned, and nothing came of it."""
    planned = tuple(case(framework, scale) for framework in FRAMEWORKS for scale in ((1, 1), (1, 2)))
    return evaluation((), planned=planned)


@cache
def one_case() -> Evaluation:
    return evaluation(_ladders(("pytorch",), ((1, 1),), repeats=5, protocol=FULL), repeats=5)


@cache
def one_scale() -> Evaluation:
    """Four frameworks on one device each: nothing can be said of scaling."""
    return evaluation(_ladders(FRAMEWORKS, ((1, 1),), repeats=5, protocol=FULL), repeats=5, profile="full")


@cache
def all_failed() -> Evaluation:
    """Every run ended badly, each kind of end once at least."""
    ends = (
        ("failed", "log.bench-01.txt:41: CUDA out of memory. Tried to allocate 512.00 MiB"),
        ("failed", "log.bench-01.txt:88: RuntimeError: NCCL error: unhandled system error"),
        ("timed_out", "the time limit was reached"),
        ("incomplete", "the log ends in the middle of step 17"),
    )
    summaries = [
        summary([failed(case(framework), repeat, reason, status) for repeat in range(3)])
        for framework, (status, reason) in zip(FRAMEWORKS, ends, strict=True)
    ]
    return evaluation(summaries)


@cache
def partial() -> Evaluation:
    """Repeats missing, a failure among them, a flag, and a framework that has no base."""
    ones = summary([measured(case("pytorch"), k, 38.0 + k) for k in range(2)])
    two = case("pytorch", (1, 2))
    runs = measured(two, 0, 47.0), failed(two, 1, "log.bench-01.txt:90: Killed")
    twos = summary(runs, findings=(NoisyRepeats(cv=0.071, where=two.id),))
    lone = summary([measured(case("mxnet", (1, 2)), k, 33.0 + k) for k in range(3)])
    planned = tuple(case(framework, scale) for framework in ("mxnet", "pytorch") for scale in ((1, 1), (1, 2)))
    scaled = with_scaling((ones, twos))
    return evaluation((*scaled, lone), planned=planned, findings=twos.findings)


@cache
def mixed_units() -> Evaluation:
    """Two frameworks whose logs count different things."""
    images = _ladders(("pytorch", "mxnet"), ((1, 1), (1, 2)), repeats=5, gain=0.8)
    others = [replace(image, unit="samples/s") for image in images if image.case.framework == "mxnet"]
    kept = [image for image in images if image.case.framework == "pytorch"]
    return evaluation((*kept, *others), repeats=5)


HOSTILE = (
    '<script>alert("x")</script>',
    "</script><img src=x onerror=alert(1)>",
    "\"'><svg onload=alert(1)>",
    "\u2028\u2029{{ 7*7 }} {placeholder} %s",
    "=cmd|' /C calc'!A0",
    "\x00\x1b[31mred\x1b[0m\u202egnp.exe",
)


@cache
def hostile() -> Evaluation:
    """Markup, script, formulae and control characters in every field that a log or a user can fill."""
    found = []
    for k, text in enumerate(HOSTILE):
        of = case(text, recipe=text, options=(("image_size", text),))
        runs = [
            replace(measured(of, repeat, 10.0 + k), log=text, host=text, framework_version=text) for repeat in (0, 1)
        ]
        runs.append(failed(of, 2, text))
        found.append(summary(runs, findings=(Resumed(line=1, text=text, where=text),)))
    facts = replace(MACHINE, cpu_model=HOSTILE[0], os=HOSTILE[1], topology=HOSTILE[2])
    harm = {"command": (HOSTILE[0], HOSTILE[3]), "environment": {HOSTILE[1]: HOSTILE[2]}}
    commands = {run.run.id: replace(command(run.run.case), **harm) for row in found for run in row.measurements}
    return evaluation(
        found,
        title=HOSTILE[0],
        profile=HOSTILE[1],
        environments={CPU_KEY: facts},
        commands=commands,
        findings=tuple(Resumed(line=1, text=text, where=text) for text in HOSTILE),
        skips=(Skip(case=case("tensorflow"), reason=HOSTILE[0]),),
    )


@cache
def skipped() -> Evaluation:
    """A framework that could not be installed and one that lacks the option."""
    summaries = _ladders(("pytorch", "tensorflow"), ((1, 1), (1, 2)), repeats=3, gain=0.6)
    reason = {"mxnet": "mxnet==1.9.1 could not be installed: no matching distribution"}
    reason["paddlepaddle"] = "the recipe has no such option"
    skips = tuple(
        Skip(case=case(name, scale), reason=why, kind="not_run" if name == "mxnet" else "unsupported")
        for name, why in reason.items()
        for scale in ((1, 1), (1, 2))
    )
    return evaluation(summaries, planned=tuple(row.case for row in (*summaries, *skips)), skips=skips)


@cache
def gpu() -> Evaluation:
    """One node with four GPUs, NVLink topology, and a second environment that differs from it."""
    gain, found = 0.97, []
    for framework in ("tensorflow", "pytorch"):
        for devices in (1, 2, 4):
            about = {"batch_per_device": 256, "precision": "amp", "device": "gpu", "protocol": FULL, "options": ()}
            of = case(framework, (1, devices), **about)
            speed = SPEED[framework] * 70 * devices * gain ** (devices - 1)
            runs = [
                measured(of, k, speed * (1 + 0.004 * (k - 2)), environment=GPU, resources=gpu_resources(of, k))
                for k in range(5)
            ]
            found.append(summary(runs))
    found = with_scaling(found)
    other = replace(GPU_MACHINE, host="gpu-02", driver="535.161.07", cuda_driver="12.2")
    environments = {GPU_KEY: GPU_MACHINE, GPU_KEY.replace("550.54.15", "535.161.07"): other}
    return evaluation(found, profile="full", repeats=5, title="4 × A100", environments=environments)


@cache
def options() -> Evaluation:
    """XLA and AMP off and on, three batch sizes, one that ran out of memory, one option not supported."""
    summaries = _ladders(("pytorch", "tensorflow"), ((1, 1), (1, 2)), repeats=5, gain=0.9, protocol=FULL, options=())
    for batch in (16, 32):
        summaries += _ladders(
            ("pytorch",), ((1, 1), (1, 2)), repeats=5, gain=0.9, protocol=FULL, options=(), batch_per_device=batch
        )
    summaries += _ladders(("pytorch",), ((1, 1),), repeats=5, protocol=FULL, options=(), precision="amp")
    summaries += _ladders(("tensorflow",), ((1, 1),), repeats=5, protocol=FULL, options=(), xla=True)
    large = case("pytorch", protocol=FULL, options=(), batch_per_device=64)
    summaries.append(summary(failed(large, k, "CUDA out of memory. Tried to allocate 2.00 GiB") for k in range(5)))
    lacking = case("tensorflow", protocol=FULL, options=(), precision="amp")
    skip = Skip(case=lacking, reason="the recipe has no AMP switch", kind="unsupported")
    planned = (*(summary.case for summary in summaries), lacking)
    return evaluation(summaries, planned=planned, skips=(skip,), repeats=5, profile="full", title="Options")


@cache
def timers() -> Evaluation:
    """Step times taken apart: two frameworks whose scripts time the same parts, one without timers, ElasticDL's tasks
    with the copies inside the all-reduce, and a script that counts some of its time twice."""
    scales = ((1, 1), (1, 2), (1, 4))
    about = {"model": "resnet50_cifar10", "recipe": "reference-cifar10-resnet50", "batch_per_device": 64, "options": ()}
    found = []
    for one in _ladders(("pytorch", "tensorflow", "mxnet"), scales, repeats=5, gain=0.8, protocol=FULL, **about):
        found.append(one if one.case.framework == "mxnet" else replace(one, breakdown=_step_of(one)))
    about |= {"model": "mobilenetv2_cifar10", "recipe": "elasticdl-cifar10"}
    for one in _ladders(("elasticdl",), scales, repeats=5, gain=0.8, protocol=FULL, **about):
        found.append(replace(one, breakdown=_task_of(one.case.total_devices)))
    doubled = Breakdown(seconds=1.0, phases=(Phase(name="forward", seconds=0.7), Phase(name="backward", seconds=0.6)))
    (twice,) = _ladders(("oneflow",), ((1, 1),), repeats=5, protocol=FULL, **about)
    runs = data_rules.check_measurements(replace(run, breakdown=doubled) for run in twice.measurements)
    return evaluation((*found, *with_scaling([summary(runs)])), repeats=5, profile="cifar10", title="Step times")


@cache
def ladder() -> Evaluation:
    """Planned to 125 nodes and measured to a few: one series that the model goes on with to 8 times as many devices,
    one that falls at its last step, one with two scales."""
    scales = ((1, 1), (1, 8), (2, 8), (4, 8), (8, 8), (16, 8), (25, 8), (125, 8))
    about = {"repeats": 5, "protocol": FULL, "options": (), "device": "gpu", "batch_per_device": 128}
    planned = tuple(case(name, scale, **without(about, "repeats")) for name in FRAMEWORKS[1:] for scale in scales)
    summaries = _ladders(("pytorch",), scales[:4], gain=0.985, **about)
    falling = _ladders(("paddlepaddle",), scales[:4], gain=0.95, **about)
    slow = [replace(run, throughput=replace(run.throughput, items_per_s=300.0)) for run in falling[-1].measurements]
    summaries += with_scaling([*(replace(each, base=None) for each in falling[:-1]), summary(slow)])
    summaries += _ladders(("mxnet",), scales[:2], gain=0.9, **about)
    made = evaluation(summaries, planned=planned, repeats=5, profile="full", title="Ladder")
    return replace(made, forecast=scales[4:])


@cache
def training() -> Evaluation:
    """Ninety epochs of ResNet-50 on growing global batches, as HAL published them: the first ended at epoch 81, the
    last does not reach 76 %; and two short trainings of another framework on another model, which has no target."""
    found = []
    for scale, epochs, top1, hours in (
        ((1, 2), 81, 76.282, 18.5),
        ((2, 4), 90, 76.292, 5.8),
        ((16, 4), 90, 75.138, 1.13),
    ):
        of = case(
            "pytorch", scale, recipe="hal-imagenet", batch_per_device=208, device="gpu", options=(), protocol=FULL
        )
        run = measured(of, 0, 780.0 * of.total_devices * 0.97**of.nodes)
        found.append(summary([replace(run, scores=tuple(_epochs(epochs, top1, hours * 3600)))]))
    for scale in ((1, 1), (1, 2)):
        of = case("chainermn", scale, model="mnist_mlp", recipe="mnist", batch_per_device=50, options=())
        run = measured(of, 0, 1000.0 * of.total_devices)
        scores = (
            Score(metric="accuracy", split=split, value=value, epoch=epoch, at_s=23.4 * epoch)
            for epoch, pair in ((1, (91.8, 97.0)), (2, (96.8, 97.6)))
            for split, value in zip(("train", "validation"), pair, strict=True)
        )
        found.append(summary([replace(run, scores=tuple(scores))]))
    targets = criteria.read().target
    rows = with_scaling(found)
    findings = tuple(convergence.misses(rows, targets))
    return evaluation(rows, targets=targets, findings=findings, repeats=1, profile="training", title="Training")


@cache
def variants() -> Evaluation:
    """One option changed and nothing else: Bluefog's optimisers at two batch sizes, one of which ran out of memory and
    one of which needs two nodes; ChainerMN on two networks, then with double buffering and FP16 all-reduce, with the
    accuracies that each reached when."""
    about = {"recipe": "benchmark-resnet50", "device": "gpu", "protocol": FULL}
    scales, found = ((1, 1), (1, 8), (2, 8), (4, 8)), []
    for batch in (32, 64):
        for optimiser, gain, of_scales in (
            (None, 0.985, scales),
            ("gradient_allreduce", 0.95, scales[: 4 if batch == 32 else 3]),
            ("hierarchical_neighbor_allreduce", 0.99, scales[2:]),
        ):
            options = (("optimiser", optimiser),) if optimiser else ()
            about |= {"options": options, "batch_per_device": batch}
            found += _ladders(("bluefog",), of_scales, repeats=5, gain=gain, **about)
    too_large = case("bluefog", (4, 8), **{**about, "options": (("optimiser", "gradient_allreduce"),)})
    found.append(summary(failed(too_large, k, "CUDA out of memory. Tried to allocate 2.00 GiB") for k in range(5)))
    for options, gain, top1, hours in (
        ({"communication": "infiniband-fdr"}, 0.985, 76.4, 6.96),
        ({"communication": "ethernet-10g"}, 0.74, 76.4, 21.3),
        ({"communication": "ethernet-10g", "double_buffering": "on"}, 0.87, 76.1, 12.4),
        (
            {"communication": "ethernet-10g", "double_buffering": "on", "allreduce_grad_dtype": "float16"},
            *(0.95, 75.8, 7.71),
        ),
    ):
        about = {"recipe": "imagenet-resnet50", "model": "resnet50_v1", "device": "gpu", "protocol": FULL}
        about |= {"batch_per_device": 64, "options": tuple(sorted(options.items()))}
        *smaller, last = _ladders(("chainermn",), ((1, 8), (2, 8), (4, 8)), repeats=5, gain=gain, **about)
        scores = tuple(epoch for epoch in _epochs(90, top1, hours * 3600) if epoch.split == "validation")
        runs = [replace(run, scores=scores) for run in last.measurements]
        found += [*smaller, replace(last, measurements=tuple(runs))]
    return evaluation(found, repeats=5, profile="full", title="Variants")


def _epochs(epochs: int, top1: float, seconds: float) -> Iterable[Score]:
    """Curves that rise quickly, jump at epochs 30, 60 and 80, and end where they are told."""
    for epoch in range(1, epochs + 1):
        share = 1 - 0.45 * 0.93**epoch - 0.05 * sum(epoch < drop for drop in (30, 60, 80)) * (epoch < epochs)
        at = {"epoch": epoch, "at_s": seconds * epoch / epochs}
        yield (
            Score(metric="top1", split="validation", value=round(top1 * share, 3), **at)
            if epoch < epochs
            else Score(metric="top1", split="validation", value=top1, **at)
        )
        yield Score(metric="top1", split="train", value=round(79.0 * share, 3), **at)
        yield Score(metric="loss", split="train", value=round(6.9 - 5.9 * share, 4), **at)


def without(facts: Mapping, name: str) -> dict:
    return {key: value for key, value in facts.items() if key != name}


def _step_of(one: Summary) -> Breakdown:
    step_s = one.case.global_batch / one.items_per_s.value
    shares = {"data": 0.02, "optimiser": 0.05}
    if one.case.total_devices > 1:
        shares["allreduce"] = 0.09 * one.case.total_devices.bit_length()
    shares["forward_backward"] = 0.985 - sum(shares.values())
    phases = tuple(Phase(name=name, seconds=share * step_s) for name, share in shares.items())
    return Breakdown(seconds=step_s, phases=phases, reports=100)


def _task_of(workers: int) -> Breakdown:
    """Seconds of one task as ElasticDL publishes them; one worker waits for nobody."""
    allreduce_s = {1: None, 2: 7.25, 4: 8.9}[workers]
    phases = [Phase(name="optimiser", seconds=0.6), Phase(name="forward_backward", seconds=0.49)]
    if allreduce_s is not None:
        phases.append(Phase(name="allreduce", seconds=allreduce_s))
        phases.append(Phase(name="tensor_copy", seconds=5.78, parent="allreduce"))
    return Breakdown(seconds=1.19 + (allreduce_s or 0.0), phases=tuple(phases), of="task", reports=4)


def _ladders(frameworks, scales, *, repeats: int, gain: float = 0.8, **changes) -> list[Summary]:
    """One series for each framework: each doubling of the devices keeps *gain* of the ideal speed."""
    found = []
    for framework in frameworks:
        for scale in scales:
            of = case(framework, scale, **changes)
            doublings = max(0, of.total_devices.bit_length() - 1)
            speed = SPEED.get(framework, 20.0) * of.total_devices * gain**doublings
            noise = random.Random(of.id)
            found.append(summary(measured(of, k, speed * noise.uniform(0.985, 1.015)) for k in range(repeats)))
    return with_scaling(found)


def _minute(of: Case) -> int:
    return int(hashlib.sha256(of.id.encode()).hexdigest(), 16) % 60


OF_PAGES = (quick, thorough, full, empty, one_case, one_scale, all_failed, partial, mixed_units, hostile, skipped)
PAGES: Mapping[str, callable] = {
    page.__name__: page for page in (*OF_PAGES, gpu, options, timers, ladder, training, variants)
}
TRIED = sorted(PAGES) if NIGHTLY else ("quick", "gpu", "partial", "hostile", "variants")  # by what holds for every page
