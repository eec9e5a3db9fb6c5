"""What the reference workloads share: arguments, place in the job, header lines, meters.

Standard library only, because it is imported in four frameworks' environments. A workload trains one model on
synthetic data, made from a fixed seed, and prints in its framework's dialect. What only ResNet-50 v1.5 needs
stands here too; what only BERT needs, in `bert.py`; what only 32×32 images need, in `cifar10.py`.
"""

import argparse
import math
import os
import sys
from dataclasses import dataclass

SEED = 20201107
CLASSES = 1000  # of ImageNet
PARAMETERS = 25_557_032  # trainable, of ResNet-50 with 1000 classes (torchvision's model table says 25557032)
STRIDED_KERNEL = 3  # v1.5: the stride of 2 is on the 3×3 convolution; v1 has it on the first 1×1
MOMENTUM = 0.9
WEIGHT_DECAY = 1e-4
LEARNING_RATE = 1e-3  # one batch seen again and again with random labels: larger rates overflow in AMP


def parser(trained: str, items: str) -> argparse.ArgumentParser:
    """What every workload takes: *trained* is the model and *items* are what a batch holds, in words."""
    parser = argparse.ArgumentParser(description=f"Trains {trained} on synthetic data and prints its speed.")
    parser.add_argument("--batch-size", type=int, required=True, help=f"{items} per device and step")
    parser.add_argument("--steps", type=int, required=True, help="optimiser steps in all")
    parser.add_argument("--precision", choices=("fp32", "amp"), default="fp32")
    parser.add_argument("--compile", action="store_true", help="XLA or the framework's own graph compiler")
    parser.add_argument("--device", choices=("cpu", "gpu"), default="cpu")
    parser.add_argument("--threads", type=int, default=1, help="CPU threads of each process")
    parser.add_argument("--hosts", default="", help="all nodes by rank, h1,h2; wanted by TensorFlow alone")
    return parser


def arguments() -> argparse.Namespace:
    """Those of ResNet-50 v1.5."""
    known = parser("ResNet-50 v1.5", "images")
    known.add_argument("--image-size", type=int, default=224, help="height and width in pixels, from 32")
    return known.parse_args()


@dataclass(frozen=True)
class Place:
    """Where this process stands in the job, from the variables of the launcher or the node agent."""

    rank: int
    local_rank: int
    world_size: int
    local_world_size: int
    node_rank: int
    master_addr: str
    master_port: int

    @property
    def nodes(self) -> int:
        return self.world_size // self.local_world_size


def place() -> Place:
    def number(name: str, default: int) -> int:
        return int(os.environ.get(name, default))

    world_size = number("WORLD_SIZE", 1)
    return Place(
        rank=number("RANK", 0),
        local_rank=number("LOCAL_RANK", 0),
        world_size=world_size,
        local_world_size=number("LOCAL_WORLD_SIZE", world_size),
        node_rank=number("NODE_RANK", number("GROUP_RANK", 0)),  # torchrun calls it GROUP_RANK
        master_addr=os.environ.get("MASTER_ADDR", "127.0.0.1"),
        master_port=number("MASTER_PORT", 29500),
    )


def limit_threads(threads: int) -> None:
    """Threads of OpenMP and the libraries on it. To be called before the framework is imported."""
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = str(threads)


def bind_to_own_cores() -> None:
    """Leaves this process, with all its threads, the cores of its own device, where the node agent says which.

    A launcher on the node (torchrun, paddle.distributed.launch) has those of all devices, and so have the processes
    that it starts.
    """
    said = os.environ.get("EVALSUITE_CORES")
    names = ("LOCAL_RANK", "PADDLE_LOCAL_RANK", "PADDLE_RANK_IN_NODE")
    rank = next((int(os.environ[name]) for name in names if os.environ.get(name)), 0)
    shares = said.split(";") if said else []
    if rank >= len(shares):
        return
    own = {int(core) for core in shares[rank].split(",")}
    for thread in os.listdir("/proc/self/task"):
        os.sched_setaffinity(int(thread), own)


def see_one_gpu(local_rank: int) -> None:
    """Leaves this process its own GPU only. To be called before the framework is imported."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    names = visible.split(",") if visible else [str(number) for number in range(local_rank + 1)]
    os.environ["CUDA_VISIBLE_DEVICES"] = names[local_rank]


def amp_kind(arguments: argparse.Namespace) -> str:
    """bfloat16 on a CPU, which has no fast float16; float16 with loss scaling on a GPU."""
    if arguments.precision == "fp32":
        return "none"
    return "float16" if arguments.device == "gpu" else "bfloat16"


def announce(**facts: object) -> None:
    """A header line of the log: `reference workload: name=value …`."""
    print("reference workload:", *(f"{name}={value}" for name, value in facts.items()), flush=True)


def announce_case(
    framework: str,
    version: str,
    arguments: argparse.Namespace,
    world_size: int,
    model: str = "resnet50_v1.5",
    **size: int,
) -> None:
    """The first header line. *size* is what the input measures: image_size=…, unless the model says otherwise."""
    announce(
        framework=framework,
        version=version,
        model=model,
        device=arguments.device,
        precision=arguments.precision,
        amp_kind=amp_kind(arguments),
        compile="on" if arguments.compile else "off",
        batch_per_device=arguments.batch_size,
        processes=world_size,
        global_batch=arguments.batch_size * world_size,
        **(size or {"image_size": arguments.image_size}),
        steps=arguments.steps,
        threads=arguments.threads,
        data="synthetic",
        seed=SEED,
    )


def announce_model(definition: str, parameters: int, strided_kernels: set[int], layout: str) -> None:
    """Says what was built, and ends the process if it is not ResNet-50 v1.5."""
    kernels = ",".join(f"{side}x{side}" for side in sorted(strided_kernels))
    announce(definition=definition, trainable_parameters=parameters, stride_on=kernels, layout=layout)
    if parameters != PARAMETERS or strided_kernels != {STRIDED_KERNEL}:
        sys.exit(f"not ResNet-50 v1.5: {PARAMETERS} trainable parameters and stride on 3x3 were expected")


def finite(loss: float, step: int) -> float:
    """*loss*; ends the process if it is no number, because such a step may take another time than a real one."""
    if not math.isfinite(loss):
        sys.exit(f"the loss is {loss} at step {step}; no throughput is taken from such a run")
    return loss


class Meter:
    """The last value and the mean since the last reset."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.last = self.total = 0.0
        self.count = 0

    def update(self, value: float) -> None:
        self.last = value
        self.total += value
        self.count += 1

    @property
    def mean(self) -> float:
        return self.total / self.count if self.count else 0.0
