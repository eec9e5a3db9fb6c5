"""ResNet-50 v1.5 in PyTorch, its gradients summed in one of several ways: what a slow link asks for.

The model, its input and the line that is printed are those of adapters/workloads/pytorch_resnet50.py. Gradients go as
32 or 16 bits, while the backward pass still runs (DistributedDataParallel's own way) or once it has ended.
"""

import dataclasses
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "adapters" / "workloads"))

import common
import pytorch_loop
import pytorch_resnet50
import torch
from torch import distributed
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import fp16_compress_hook
from torch.nn.parallel import DistributedDataParallel


def main() -> None:
    arguments, place = _arguments(), common.place()
    with pytorch_loop.job(arguments, place) as device:
        network = pytorch_resnet50.model().to(device)
        if place.rank == 0:
            common.announce_case("pytorch", torch.__version__, arguments, place.world_size)
            common.announce_model("torchvision.models.resnet50", *pytorch_resnet50._what_was_built(network), "NCHW")
            common.announce(all_reduce=arguments.all_reduce, overlap=arguments.overlap, link_mbit=arguments.link_mbit)
        images, labels = pytorch_resnet50._batch(device, arguments, place)
        optimiser = pytorch_resnet50.optimiser(network)
        trained = _joined(network, optimiser, arguments, place) if place.world_size > 1 else network
        # To the loop it is a model as any other: what joins the processes is there already.
        alone = dataclasses.replace(place, world_size=1)
        pytorch_loop.train(trained, [images], pytorch_resnet50.loss_of(labels), optimiser, device, arguments, alone)


def _arguments():
    parser = common.parser("ResNet-50 v1.5", "images")
    parser.add_argument("--image-size", type=int, default=224, help="height and width in pixels, from 32")
    parser.add_argument("--all-reduce", choices=("fp32", "fp16"), default="fp32", help="how gradients are sent")
    parser.add_argument("--overlap", choices=("on", "off"), default="on", help="send them while the backward pass runs")
    parser.add_argument("--link-mbit", default="", help="what the links are shaped to: printed, and nothing else")
    arguments = parser.parse_args()
    if arguments.all_reduce == "fp16" and arguments.overlap == "off":
        parser.error("--all-reduce fp16 --overlap off: half precision is sent by a hook of the backward pass")
    return arguments


def _joined(network, optimiser, arguments, place: common.Place):
    if arguments.overlap == "off":
        for parameter in network.parameters():
            distributed.broadcast(parameter.data, 0)
        optimiser.register_step_pre_hook(lambda *_: _average(network, place.world_size))
        return network
    joined = DistributedDataParallel(network, [place.local_rank] if arguments.device == "gpu" else None)
    if arguments.all_reduce == "fp16":
        joined.register_comm_hook(None, fp16_compress_hook)
    return joined


def _average(network, processes: int) -> None:
    gradients = [parameter.grad for parameter in network.parameters()]
    flat = torch._utils._flatten_dense_tensors(gradients)
    distributed.all_reduce(flat)
    flat /= processes
    for gradient, mean in zip(gradients, torch._utils._unflatten_dense_tensors(flat, gradients), strict=True):
        gradient.copy_(mean)


if __name__ == "__main__":
    os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")
    main()
