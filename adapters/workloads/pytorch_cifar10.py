"""ResNet-50 v1.5 and MobileNetV2 on 32×32 images in PyTorch: torchvision's models, one all-reduce after backward.

Prints the line of pytorch/examples imagenet/main.py on rank 0. DistributedDataParallel reduces gradients while the
backward pass still runs; here all are reduced when it has ended, as ElasticDL does. Gloo's all_reduce returns when the
sum is there. Each process keeps its own statistics of batch normalisation.
"""

import os
import time

import cifar10
import common
import pytorch_loop
import pytorch_resnet50
import torch
import torchvision_models
from torch import distributed

DEFINITIONS = {"resnet50": "resnet50", "mobilenetv2": "mobilenet_v2"}  # names in torchvision.models


def main() -> None:
    arguments, place = cifar10.arguments(), common.place()
    with pytorch_loop.job(arguments, place) as device:
        network = model(arguments.model).to(device)
        if place.rank == 0:
            cifar10.announce_case("pytorch", torch.__version__, arguments, place.world_size)
            definition = f"torchvision.models.{DEFINITIONS[arguments.model]}"
            cifar10.announce_model(arguments, definition, pytorch_loop.trainable(network), "NCHW")
        _train(torch.compile(network) if arguments.compile else network, device, arguments, place)


def model(name: str, **settings: float):
    return getattr(torchvision_models.models(), DEFINITIONS[name])(num_classes=cifar10.CLASSES, **settings)


def _train(model, device: torch.device, arguments, place: common.Place) -> None:
    batches = Batches(device, arguments, place)
    optimiser = pytorch_resnet50.optimiser(model)
    mixed, scaler = pytorch_loop.autocast(device, arguments), pytorch_loop.scaler_for(device, arguments)
    time_s, data_s, losses = (common.Meter() for _ in range(3))
    begun = time.perf_counter()
    for step in range(1, arguments.steps + 1):
        parts = cifar10.Parts()
        images, labels = batches.next()
        parts.ended("data")
        with mixed:
            loss = torch.nn.functional.cross_entropy(model(images), labels)
        optimiser.zero_grad()
        scaler.scale(loss).backward()
        parts.ended(cifar10.FORWARD_BACKWARD)
        if place.world_size > 1:
            _average_gradients(model, place)
            parts.ended("allreduce")
        scaler.step(optimiser)
        scaler.update()
        parts.ended("optimiser")
        losses.update(common.finite(loss.item(), step))
        pytorch_loop.wait_for(device)
        data_s.update(parts.seconds["data"])
        time_s.update(time.perf_counter() - begun)
        begun = time.perf_counter()
        if place.rank == 0:
            cifar10.announce_parts(step, parts, arguments)
            print(pytorch_loop.line(step, arguments.steps, time_s, data_s, losses), flush=True)


def _average_gradients(model, place: common.Place) -> None:
    """One all-reduce of all gradients in one piece."""
    gradients = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
    piece = torch.cat([gradient.flatten() for gradient in gradients])
    distributed.all_reduce(piece)
    piece /= place.world_size
    for gradient, mean in zip(gradients, piece.split([each.numel() for each in gradients]), strict=True):
        gradient.copy_(mean.view_as(gradient))


class Batches:
    """Random images from this process's pool, half of them mirrored, scaled to between -1 and 1."""

    def __init__(self, device: torch.device, arguments, place: common.Place) -> None:
        self._device, self._size = device, arguments.batch_size
        self._chance = torch.Generator().manual_seed(common.SEED + place.rank)
        side = cifar10.IMAGE_SIZE
        shape = (cifar10.POOL, 3, side, side)
        self._images = torch.randint(256, shape, generator=self._chance, dtype=torch.uint8)
        self._labels = torch.randint(cifar10.CLASSES, shape[:1], generator=self._chance)

    def next(self) -> tuple[torch.Tensor, torch.Tensor]:
        chosen = torch.randint(cifar10.POOL, (self._size,), generator=self._chance)
        images = self._images[chosen].to(torch.float32).div_(cifar10.MEAN).sub_(1.0)
        images[::2] = images[::2].flip(3)
        return images.to(self._device), self._labels[chosen].to(self._device)


if __name__ == "__main__":
    os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")
    main()
