"""`pytorch_cifar10.py` with the all-reduce of ElasticDL's FTlib: gradients are copied to the host and summed there.

The copy, FTlib's tensor.numpy(), is timed within the all-reduce (`tensor_copy_s`); on a CPU from memory to memory.
The parts are printed on a GPU too: each is waited for, and the copy would wait anyway. One process copies nothing.
"""

import os
import time

import cifar10
import common
import pytorch_cifar10
import pytorch_loop
import pytorch_resnet50
import torch
from torch import distributed


def main() -> None:
    arguments, place = cifar10.arguments(), common.place()
    with pytorch_loop.job(arguments, place) as device:
        network = pytorch_cifar10.model(arguments.model).to(device)
        if place.rank == 0:
            cifar10.announce_case("pytorch", torch.__version__, arguments, place.world_size)
            definition = f"torchvision.models.{pytorch_cifar10.DEFINITIONS[arguments.model]}"
            cifar10.announce_model(arguments, definition, pytorch_loop.trainable(network), "NCHW")
        _train(network, device, arguments, place)


def _train(model, device: torch.device, arguments, place: common.Place) -> None:
    batches = pytorch_cifar10.Batches(device, arguments, place)
    optimiser = pytorch_resnet50.optimiser(model)
    group = distributed.new_group(backend="gloo") if place.world_size > 1 else None
    time_s, data_s, losses = (common.Meter() for _ in range(3))
    begun = time.perf_counter()
    for step in range(1, arguments.steps + 1):
        parts = Parts(device)
        images, labels = batches.next()
        parts.ended("data")
        loss = torch.nn.functional.cross_entropy(model(images), labels)
        optimiser.zero_grad()
        loss.backward()
        parts.ended(cifar10.FORWARD_BACKWARD)
        if group:
            copied_s = _average_gradients(model, place, group)
            parts.ended("allreduce")
            parts.seconds["tensor_copy"] = copied_s
        optimiser.step()
        parts.ended("optimiser")
        losses.update(common.finite(loss.item(), step))
        data_s.update(parts.seconds["data"])
        time_s.update(time.perf_counter() - begun)
        begun = time.perf_counter()
        if place.rank == 0:
            parts.announce(step)
            print(pytorch_loop.line(step, arguments.steps, time_s, data_s, losses), flush=True)


def _average_gradients(model, place: common.Place, group) -> float:
    """One all-reduce of all gradients in one piece on the host; gives the seconds of copying them there."""
    begun = time.perf_counter()
    gradients = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
    piece = torch.cat([gradient.flatten().to("cpu", copy=True) for gradient in gradients])
    copied_s = time.perf_counter() - begun
    distributed.all_reduce(piece, group=group)
    piece /= place.world_size
    for gradient, mean in zip(gradients, piece.split([each.numel() for each in gradients]), strict=True):
        gradient.copy_(mean.view_as(gradient))
    return copied_s


class Parts(cifar10.Parts):
    """A part ends when the device has."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        super().__init__()

    def ended(self, part: str) -> None:
        pytorch_loop.wait_for(self._device)
        super().ended(part)

    def announce(self, step: int) -> None:
        seconds = {f"{part}_s": f"{value:.6f}" for part, value in self.seconds.items()}
        common.announce(step=step, **seconds, step_s=f"{self.whole_s:.6f}")


if __name__ == "__main__":
    os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")
    main()
