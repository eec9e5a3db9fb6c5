"""ResNet-50 v1.5 in PyTorch: torchvision's model, DistributedDataParallel under torchrun.

Prints the line of pytorch/examples imagenet/main.py (class ProgressMeter), on rank 0, every step.
"""

import os

import common
import pytorch_loop
import torch
import torchvision_models


def main() -> None:
    arguments, place = common.arguments(), common.place()
    with pytorch_loop.job(arguments, place) as device:
        model = torchvision_models.models().resnet50().to(device)
        if place.rank == 0:
            common.announce_case("pytorch", torch.__version__, arguments, place.world_size)
            common.announce_model("torchvision.models.resnet50", *_what_was_built(model), "NCHW")
        _train(model, device, arguments, place)


def _train(model, device: torch.device, arguments, place: common.Place) -> None:
    images, labels = _batch(device, arguments, place)
    optimiser = torch.optim.SGD(
        model.parameters(),
        lr=common.LEARNING_RATE,
        momentum=common.MOMENTUM,
        weight_decay=common.WEIGHT_DECAY,
    )
    pytorch_loop.train(
        model,
        [images],
        lambda output: torch.nn.functional.cross_entropy(output, labels),
        optimiser,
        {
            "Acc@1": lambda output: pytorch_loop.hits_percent(output, labels, 1),
            "Acc@5": lambda output: pytorch_loop.hits_percent(output, labels, 5),
        },
        device,
        arguments,
        place,
    )


def _batch(device: torch.device, arguments, place: common.Place) -> tuple[torch.Tensor, torch.Tensor]:
    chance = torch.Generator().manual_seed(common.SEED + place.rank)
    side = arguments.image_size
    images = torch.randn(arguments.batch_size, 3, side, side, generator=chance)
    labels = torch.randint(common.CLASSES, (arguments.batch_size,), generator=chance)
    return images.to(device), labels.to(device)


def _what_was_built(model) -> tuple[int, set[int]]:
    """Trainable parameters, and the kernel sides of the strided convolutions on the bottlenecks' main path."""
    strided = {
        convolution.kernel_size[0]
        for name, convolution in model.named_modules()
        if isinstance(convolution, torch.nn.Conv2d) and name.startswith("layer") and "downsample" not in name
        if convolution.stride == (2, 2)
    }
    return pytorch_loop.trainable(model), strided


if __name__ == "__main__":
    os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")
    main()
