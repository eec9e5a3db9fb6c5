"""ResNet-50 v1.5 in PyTorch: torchvision's model, DistributedDataParallel under torchrun.

Prints the line of pytorch/examples imagenet/main.py (class ProgressMeter), on rank 0, every step.
"""

import os
import sys
import time

import common
import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel


def main() -> None:
    arguments, place = common.arguments(), common.place()
    torch.set_num_threads(arguments.threads)
    device = _device(arguments, place)
    if place.world_size > 1:
        distributed.init_process_group("nccl" if arguments.device == "gpu" else "gloo")
    torch.manual_seed(common.SEED)
    model = _models().resnet50().to(device)
    if place.rank == 0:
        common.announce_case("pytorch", torch.__version__, arguments, place.world_size)
        common.announce_model("torchvision.models.resnet50", *_what_was_built(model), "NCHW")
    _train(_wrapped(model, arguments, place), device, arguments, place)
    if place.world_size > 1:
        distributed.destroy_process_group()


def _train(model, device: torch.device, arguments, place: common.Place) -> None:
    images, labels = _batch(device, arguments, place)
    loss_of = torch.nn.CrossEntropyLoss()
    optimiser = torch.optim.SGD(
        model.parameters(),
        lr=common.LEARNING_RATE,
        momentum=common.MOMENTUM,
        weight_decay=common.WEIGHT_DECAY,
    )
    amp = arguments.precision == "amp"
    kind = torch.float16 if device.type == "cuda" else torch.bfloat16
    scaler = torch.amp.GradScaler(device.type, enabled=amp and kind is torch.float16)
    time_s, data_s, loss_meter, top1, top5 = (common.Meter() for _ in range(5))
    begun = time.perf_counter()
    for step in range(1, arguments.steps + 1):
        data_s.update(time.perf_counter() - begun)
        with torch.autocast(device.type, dtype=kind, enabled=amp):
            output = model(images)
            loss = loss_of(output, labels)
        optimiser.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimiser)
        scaler.update()
        loss_meter.update(common.finite(loss.item(), step))
        for meter, k in ((top1, 1), (top5, 5)):
            meter.update(_accuracy_percent(output, labels, k))
        _wait_for(device)
        time_s.update(time.perf_counter() - begun)
        begun = time.perf_counter()
        if place.rank == 0:
            print(_line(step, arguments.steps, time_s, data_s, loss_meter, top1, top5), flush=True)


def _line(step: int, steps: int, time_s, data_s, loss, top1, top5) -> str:
    """`Epoch: [0][ 1/50]	Time  0.551 ( 0.654)	Data  0.003 ( 0.019)	Loss 7.2374e+00 (7.2374e+00)	Acc@1 …`"""
    fields = [f"Epoch: [0][{step:{len(str(steps))}d}/{steps}]"]
    for name, meter, form in (
        ("Time", time_s, "6.3f"),
        ("Data", data_s, "6.3f"),
        ("Loss", loss, ".4e"),
        ("Acc@1", top1, "6.2f"),
        ("Acc@5", top5, "6.2f"),
    ):
        fields.append(f"{name} {meter.last:{form}} ({meter.mean:{form}})")
    return "\t".join(fields)


def _accuracy_percent(output: torch.Tensor, labels: torch.Tensor, k: int) -> float:
    hits = output.detach().topk(k, dim=1).indices.eq(labels.unsqueeze(1)).any(dim=1)
    return 100.0 * hits.float().mean().item()


def _wait_for(device: torch.device) -> None:
    """The kernels of the optimiser are still running when the loss has been read."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def _device(arguments, place: common.Place) -> torch.device:
    if arguments.device == "cpu":
        return torch.device("cpu")
    torch.cuda.set_device(place.local_rank)
    torch.backends.cudnn.benchmark = True
    return torch.device("cuda", place.local_rank)


def _batch(device: torch.device, arguments, place: common.Place) -> tuple[torch.Tensor, torch.Tensor]:
    chance = torch.Generator().manual_seed(common.SEED + place.rank)
    side = arguments.image_size
    images = torch.randn(arguments.batch_size, 3, side, side, generator=chance)
    labels = torch.randint(common.CLASSES, (arguments.batch_size,), generator=chance)
    return images.to(device), labels.to(device)


def _wrapped(model, arguments, place: common.Place):
    if place.world_size > 1:
        model = DistributedDataParallel(model, [place.local_rank] if arguments.device == "gpu" else None)
    return torch.compile(model) if arguments.compile else model


def _what_was_built(model) -> tuple[int, set[int]]:
    """Trainable parameters, and the kernel sides of the strided convolutions on the bottlenecks' main path."""
    strided = {
        convolution.kernel_size[0]
        for name, convolution in model.named_modules()
        if isinstance(convolution, torch.nn.Conv2d) and name.startswith("layer") and "downsample" not in name
        if convolution.stride == (2, 2)
    }
    return sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad), strided


def _models():
    """torchvision.models, also where torchvision is a CUDA build beside a CPU build of torch.

    Such a torchvision cannot load its operators, and its import then stops at `operator torchvision::nms does
    not exist` (torchvision/_meta_registrations.py, 0.28.0) although no classification model needs them.
    """
    try:
        from torchvision import models
    except RuntimeError as error:
        if "torchvision::" not in str(error):
            raise
        for name in [name for name in sys.modules if name.partition(".")[0] == "torchvision"]:
            del sys.modules[name]
        global _operators  # the operators live as long as this object
        _operators = torch.library.Library("torchvision", "DEF")
        for operator in ("nms", "qnms"):
            _operators.define(f"{operator}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        from torchvision import models
    return models


if __name__ == "__main__":
    os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")
    main()
