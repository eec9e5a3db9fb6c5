"""Face recognition in PyTorch with a head that is split: each process holds the centres of some identities alone.

The backbone is copied and its gradients are averaged by DistributedDataParallel, as in `pytorch_face.py`. Each process
gathers the faces of all, computes their cosines to its own centres, and the sum of the softmax is added up over
processes, so that no process ever has the scores of all identities (deepinsight/insightface, Partial FC with a sample
rate of 1; An et al., arXiv:2203.15565). Loss and gradients are those of the head that is whole:
`tests/real/test_split_classifier.py`. The loss printed is of the whole job's batch.
"""

import os

import common
import face
import pytorch_face
import pytorch_loop
import torch
from torch import distributed, nn


class Gathered(torch.autograd.Function):
    """The rows of all processes, in order of rank."""

    @staticmethod
    def forward(context, rows: torch.Tensor) -> torch.Tensor:
        parts = [torch.empty_like(rows) for _ in range(distributed.get_world_size())]
        distributed.all_gather(parts, rows.contiguous())
        return torch.cat(parts)

    @staticmethod
    def backward(context, gradient: torch.Tensor) -> torch.Tensor:
        """Each process knows what its own centres do to the rows. DistributedDataParallel divides by the processes."""
        gradient = gradient.contiguous().clone()
        distributed.all_reduce(gradient)
        return gradient.chunk(distributed.get_world_size())[distributed.get_rank()] * distributed.get_world_size()


class Summed(torch.autograd.Function):
    """The sum over processes. The loss that is made of it is one, though every process computes it."""

    @staticmethod
    def forward(context, part: torch.Tensor) -> torch.Tensor:
        total = part.clone()
        distributed.all_reduce(total)
        return total

    @staticmethod
    def backward(context, gradient: torch.Tensor) -> torch.Tensor:
        return gradient


class ClassifierPart(nn.Module):
    """The centres of the identities from *first* on, and with all processes the loss."""

    def __init__(self, whole: torch.Tensor, place: common.Place) -> None:
        super().__init__()
        self.several = place.world_size > 1
        self.first, end = (len(whole) * rank // place.world_size for rank in (place.rank, place.rank + 1))
        self.weight = nn.Parameter(whole.detach()[self.first : end].clone())

    def loss_of(self, labels: torch.Tensor):
        return lambda faces: self.loss(faces, labels)

    def loss(self, faces: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """The mean over all faces of the job."""
        if self.several:
            faces, labels = Gathered.apply(faces), Gathered.apply(labels)
        cosines = nn.functional.linear(nn.functional.normalize(faces), nn.functional.normalize(self.weight))
        own = labels - self.first
        (rows,) = ((own >= 0) & (own < len(self.weight))).nonzero(as_tuple=True)
        places = rows, own[rows]
        scores = face.SCALE * cosines.index_put(places, pytorch_face.with_margin(cosines[places]))
        highest = scores.detach().amax(1)
        if self.several:
            distributed.all_reduce(highest, distributed.ReduceOp.MAX)
        sums = (scores - highest.unsqueeze(1)).exp().sum(1)
        of_own = torch.zeros_like(highest).index_put((rows,), scores[places])
        if self.several:
            sums, of_own = Summed.apply(sums), Summed.apply(of_own)
        return (sums.log() + highest - of_own).mean()


def main() -> None:
    arguments, place = face.arguments(), common.place()
    with pytorch_loop.job(arguments, place) as device:
        size = face.SIZES[arguments.size]
        whole = pytorch_face.Face(size).to(device)
        part = ClassifierPart(whole.classifier.weight, place)
        if place.rank == 0:
            face.announce_case("pytorch", torch.__version__, arguments, place.world_size)
            parameters = pytorch_loop.trainable(whole)
            face.announce_model(size, "evalsuite_torch_layers", parameters, "NCHW", classifier="split")
        images, labels = pytorch_face.batch(device, arguments, place)
        updates = pytorch_face.optimiser(nn.ModuleList([whole.backbone, part]))
        del whole.classifier  # the part is a copy
        goal = part.loss_of(labels)
        pytorch_loop.train(whole.backbone, [images], goal, updates, device, arguments, place)


if __name__ == "__main__":
    os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")
    main()
