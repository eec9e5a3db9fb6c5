"""What the PyTorch workloads share: start and end of the job, one timed training loop, the line it prints.

The line is that of pytorch/examples imagenet/main.py (class ProgressMeter), with microseconds, because a step of
a small model takes a few hundredths of a second.
"""

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

import common
import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel

Measure = Callable[[object], float]  # of the model's output: an accuracy in per cent


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
    measures: Mapping[str, Measure],
    device: torch.device,
    arguments,
    place: common.Place,
) -> None:
    """Trains *model* on the same inputs in every step; rank 0 prints a line for each."""
    model = _wrapped(model, arguments, place)
    mixed, scaler = autocast(device, arguments), scaler_for(device, arguments)
    time_s, data_s, losses = (common.Meter() for _ in range(3))
    meters = {name: common.Meter() for name in measures}
    begun = time.perf_counter()
    for step in range(1, arguments.steps + 1):
        data_s.update(time.perf_counter() - begun)
        with mixed:
            output = model(*inputs)
            loss = loss_of(output)
        optimiser.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimiser)
        scaler.update()
        losses.update(common.finite(loss.item(), step))
        for name, measure in measures.items():
            meters[name].update(measure(output))
        wait_for(device)
        time_s.update(time.perf_counter() - begun)
        begun = time.perf_counter()
        if place.rank == 0:
            print(line(step, arguments.steps, time_s, data_s, losses, meters), flush=True)


def line(step: int, steps: int, time_s, data_s, losses, meters: Mapping[str, common.Meter]) -> str:
    """`Epoch: [0][ 1/50]	Time  0.551 ( 0.654)	Data  0.003 ( 0.019)	Loss 7.2374e+00 (7.2374e+00)	Acc@1 …`"""
    fields = [f"Epoch: [0][{step:{len(str(steps))}d}/{steps}]"]
    for name, meter, form in (
        ("Time", time_s, "9.6f"),
        ("Data", data_s, "9.6f"),
        ("Loss", losses, ".4e"),
        *((name, meter, "6.2f") for name, meter in meters.items()),
    ):
        fields.append(f"{name} {meter.last:{form}} ({meter.mean:{form}})")
    return "\t".join(fields)


def autocast(device: torch.device, arguments) -> torch.autocast:
    kind = torch.float16 if device.type == "cuda" else torch.bfloat16
    return torch.autocast(device.type, dtype=kind, enabled=arguments.precision == "amp")


def scaler_for(device: torch.device, arguments) -> torch.amp.GradScaler:
    """Loss scaling is float16's; bfloat16 has the range of float32."""
    return torch.amp.GradScaler(device.type, enabled=arguments.precision == "amp" and device.type == "cuda")


def hits_percent(scores: torch.Tensor, labels: torch.Tensor, k: int = 1) -> float:
    """How often the label is among the *k* best scores of its row."""
    best = scores.detach().argmax(1, keepdim=True) if k == 1 else scores.detach().topk(k, dim=1).indices
    return 100.0 * best.eq(labels.unsqueeze(1)).any(dim=1).float().mean().item()


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
