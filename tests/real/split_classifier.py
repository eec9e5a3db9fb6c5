"""Trains one face-recognition network twice on several processes, its head whole and split, and says how far apart.
Started by `test_split_classifier.py` with the folder of the workloads; prints one line of JSON on rank 0."""

import json
import sys
from dataclasses import replace

sys.path.insert(0, sys.argv[1])

import common
import face
import pytorch_face
import pytorch_split_face
import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel

STEPS = 3
IDENTITIES = 101  # no multiple of two: the parts are of two sizes
SIZE = replace(face.SIZES["tiny"], blocks=(1, 1, 1, 1), features=16, identities=IDENTITIES)
RATES = {"learning_rate": 1e-3, "weight_decay": 5e-2}


def trained(place, split: bool):
    """(losses of the whole job, gradients of the first step, weights at the end), by names; of the centres a part."""
    torch.manual_seed(common.SEED)
    model = pytorch_face.Face(SIZE).double()
    chance = torch.Generator().manual_seed(place.rank)
    images = torch.randn(4, 3, face.IMAGE_SIZE, face.IMAGE_SIZE, generator=chance, dtype=torch.float64)
    labels = torch.randint(IDENTITIES, (4,), generator=chance)
    part = pytorch_split_face.ClassifierPart(model.classifier.weight, place)
    own = slice(part.first, part.first + len(part.weight))
    if split:
        copied, centres = DistributedDataParallel(model.backbone), part.weight
        loss_of = part.loss_of(labels)
        updates = pytorch_face.optimiser(torch.nn.ModuleList([model.backbone, part]), **RATES)
    else:
        copied, centres = DistributedDataParallel(model), model.classifier.weight
        loss_of, updates = pytorch_face.loss_of(labels), pytorch_face.optimiser(model, **RATES)
    losses, gradients = [], {}
    for _ in range(STEPS):
        loss = loss_of(copied(images))
        updates.zero_grad()
        loss.backward()
        if not gradients:
            gradients = {name: one.grad.clone() for name, one in model.backbone.named_parameters() if one.requires_grad}
            gradients["centres"] = centres.grad.clone() if split else centres.grad[own].clone()
        updates.step()
        mean = loss.detach() / place.world_size
        distributed.all_reduce(mean)
        losses.append(mean.item())
    weights = {name: one.detach() for name, one in model.backbone.named_parameters()}
    return losses, gradients, {**weights, "centres": centres.detach() if split else centres.detach()[own]}


def apart(ours, theirs) -> float:
    """The largest difference of any tensor, as a part of its norm; what is nothing but rounding counts as that."""
    least = 1e-6 * max(float(each.norm()) for each in theirs.values())
    return max(float((ours[name] - theirs[name]).norm()) / max(float(theirs[name].norm()), least) for name in theirs)


def main() -> None:
    place = common.place()
    torch.set_num_threads(1)
    distributed.init_process_group("gloo")
    whole, split = trained(place, split=False), trained(place, split=True)
    found = torch.tensor([apart(split[1], whole[1]), apart(split[2], whole[2])], dtype=torch.float64)
    distributed.all_reduce(found, distributed.ReduceOp.MAX)
    if place.rank == 0:
        gradients, weights = found.tolist()
        print(json.dumps({"whole": whole[0], "split": split[0], "gradients": gradients, "weights": weights}))
    distributed.destroy_process_group()


if __name__ == "__main__":
    main()
