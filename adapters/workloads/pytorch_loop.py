"""What the PyTorch workloads share: start and end of the job, one timed training loop, the line it prints.

The line is that of pytorch/examples imagenet/main.py (class ProgressMeter), with microseconds, because a step of
a small model takes a few hundredths of a second.
"""

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence

import common
import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel

TIMED = ("forward", "loss", "backward", "optimiser", "loss_to_host")  # what is done between two readings of the clock


@contextlib.contextmanager
def job(arguments, place: common.Place) -> Iterator[torch.device]:
    """This process's device, inside the process group if there are several processes."""
    common.bind_to_own_cores()
    torch.set_num_threads(arguments.threads)
    device = _device(arguments, place)
    if place.world_size > 1:
        distributed.init_process_group("nccl" if arguments.device == "gpu" else "gloo")
    torch.manual_seed(common.SEED)
    yield device
    if place.world_size > 1:
        distributed.destroy_process_group()


def train(
    model,
    inputs: Sequence[torch.Tensor],
    loss_of: Callable[[object], torch.Tensor],
    optimiser: torch.optim.Optimizer,
    device: torch.device,
    arguments,
    place: common.Place,
) -> None:
    """Trains *model* on the same inputs in every step; rank 0 prints a line for each."""
    model = _wrapped(model, arguments, place)
    step_done = stepper(model, inputs, loss_of, optimiser, device, arguments)
    time_s, data_s, losses = (common.Meter() for _ in range(3))
    begun = time.perf_counter()
    for step in range(1, arguments.steps + 1):
        data_s.update(time.perf_counter() - begun)
        losses.update(common.finite(step_done().item(), step))
        wait_for(device)
        time_s.update(time.perf_counter() - begun)
        begun = time.perf_counter()
        if place.rank == 0:
            print(line(step, arguments.steps, time_s, data_s, losses), flush=True)


def stepper(model, inputs: Sequence[torch.Tensor], loss_of: Callable, optimiser, device, arguments) -> Callable:
    """One optimiser step on *inputs*: () → the loss before it, which is still being computed on a GPU."""
    mixed, scaler = autocast(device, arguments), scaler_for(device, arguments)

    def step() -> torch.Tensor:
        with mixed:
            loss = loss_of(model(*inputs))
        optimiser.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimiser)
        scaler.update()
        return loss

    return step


def line(step: int, steps: int, time_s, data_s, losses) -> str:
    """`Epoch: [0][ 1/50]	Time  0.551 ( 0.654)	Data  0.003 ( 0.019)	Loss 7.2374e+00 (7.2374e+00)`"""
    fields = [f"Epoch: [0][{step:{len(str(steps))}d}/{steps}]"]
    for name, meter, form in (
        ("Time", time_s, "9.6f"),
        ("Data", data_s, "9.6f"),
        ("Loss", losses, ".4e"),
    ):
        fields.append(f"{name} {meter.last:{form}} ({meter.mean:{form}})")
    return "\t".join(fields)


def autocast(device: torch.device, arguments) -> torch.autocast:
    kind = torch.float16 if device.type == "cuda" else torch.bfloat16
    return torch.autocast(device.type, dtype=kind, enabled=arguments.precision == "amp")


def scaler_for(device: torch.device, arguments) -> torch.amp.GradScaler:
    """Loss scaling is float16's; bfloat16 has the range of float32."""
    return torch.amp.GradScaler(device.type, enabled=arguments.precision == "amp" and device.type == "cuda")


def trainable(model) -> int:
    return sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad)


def wait_for(device: torch.device) -> None:
    """The kernels of the optimiser are still running when the loss has been read."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def _device(arguments, place: common.Place) -> torch.device:
    if arguments.device == "cpu":
        return torch.device("cpu")
    torch.cuda.set_device(place.local_rank)
    torch.backends.cudnn.benchmark = True
    return torch.device("cuda", place.local_rank)


def _wrapped(model, arguments, place: common.Place):
    if place.world_size > 1:
        model = DistributedDataParallel(model, [place.local_rank] if arguments.device == "gpu" else None)
    return torch.compile(model) if arguments.compile else model
