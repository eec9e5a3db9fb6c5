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
        network = model().to(device)
        if place.rank == 0:
            common.announce_case("pytorch", torch.__version__, arguments, place.world_size)
            common.announce_model("torchvision.models.resnet50", *_what_was_built(network), "NCHW")
        images, labels = _batch(device, arguments, place)
        pytorch_loop.train(network, [images], loss_of(labels), optimiser(network), device, arguments, place)


def model():
    return torchvision_models.models().resnet50()


def optimiser(model, learning_rate: float = common.LEARNING_RATE, weight_decay: float = common.WEIGHT_DECAY):
    return torch.optim.SGD(model.parameters(), lr=learning_rate, momentum=common.MOMENTUM, weight_decay=weight_decay)


def loss_of(labels: torch.Tensor):
    return lambda output: torch.nn.functional.cross_entropy(output, labels)


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
