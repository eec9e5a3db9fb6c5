"""Face recognition in PyTorch: IResNet with an ArcFace head, DistributedDataParallel under torchrun.

Prints the line of pytorch/examples imagenet/main.py on rank 0, every step; its time is that of one step of the
whole job. Layers are called as in deepinsight/insightface. Every process holds the whole head; `pytorch_split_face.py`
splits it.
"""

import math
import os

import common
import face
import pytorch_loop
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, inward: int, out: int, stride: int) -> None:
        super().__init__()
        self.bn1, self.conv1 = norm(inward), convolution(inward, out)
        self.bn2, self.prelu = norm(out), nn.PReLU(out, face.SLOPE)
        self.conv2, self.bn3 = convolution(out, out, stride), norm(out)
        widened = nn.Sequential(nn.Conv2d(inward, out, 1, stride, bias=False), norm(out))
        self.downsample = widened if stride > 1 else nn.Identity()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        straight = self.conv2(self.prelu(self.bn2(self.conv1(self.bn1(x)))))
        return self.bn3(straight) + self.downsample(x)


class Backbone(nn.Module):
    """The numbers that describe each face."""

    def __init__(self, size: face.Size) -> None:
        super().__init__()
        first, last = size.widths[0], size.widths[-1]
        self.conv1, self.bn1, self.prelu = convolution(3, first), norm(first), nn.PReLU(first, face.SLOPE)
        blocks = {name: Block(*shape) for name, *shape in face.stages(size)}
        for stage in range(1, 5):
            ours = [block for name, block in blocks.items() if name.startswith(f"layer{stage}.")]
            self.add_module(f"layer{stage}", nn.Sequential(*ours))
        self.bn2, self.fc = norm(last), nn.Linear(last * face.SIDE**2, size.features)
        self.features = nn.BatchNorm1d(size.features, face.BATCH_NORM_EPSILON)
        self.features.weight.requires_grad = False

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        x = self.prelu(self.bn1(self.conv1(images)))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.features(self.fc(self.bn2(x).flatten(1)))


class Cosines(nn.Linear):
    """Of the angles between each face and the centre of each identity."""

    def forward(self, faces: torch.Tensor) -> torch.Tensor:
        return nn.functional.linear(nn.functional.normalize(faces), nn.functional.normalize(self.weight))


class Face(nn.Module):
    def __init__(self, size: face.Size) -> None:
        super().__init__()
        self.backbone, self.classifier = Backbone(size), Cosines(size.features, size.identities, bias=False)
        nn.init.normal_(self.classifier.weight, std=face.CENTRE_DEVIATION)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return self.classifier(self.backbone(images))


def convolution(inward: int, out: int, stride: int = 1) -> nn.Conv2d:
    made = nn.Conv2d(inward, out, 3, stride, padding=1, bias=False)
    nn.init.normal_(made.weight, std=face.DEVIATION)
    return made


def norm(channels: int) -> nn.BatchNorm2d:
    return nn.BatchNorm2d(channels, face.BATCH_NORM_EPSILON)


def main() -> None:
    arguments, place = face.arguments(), common.place()
    with pytorch_loop.job(arguments, place) as device:
        size = face.SIZES[arguments.size]
        model = Face(size).to(device)
        if place.rank == 0:
            face.announce_case("pytorch", torch.__version__, arguments, place.world_size)
            face.announce_model(size, "evalsuite_torch_layers", pytorch_loop.trainable(model), "NCHW")
        images, labels = batch(device, arguments, place)
        pytorch_loop.train(model, [images], loss_of(labels), optimiser(model), device, arguments, place)


def batch(device: torch.device, arguments, place: common.Place) -> tuple[torch.Tensor, torch.Tensor]:
    chance = torch.Generator().manual_seed(common.SEED + place.rank)
    images = torch.randn(arguments.batch_size, 3, face.IMAGE_SIZE, face.IMAGE_SIZE, generator=chance)
    return images.to(device), torch.tensor(face.labels(arguments, place.rank), device=device)


def optimiser(model, learning_rate: float = face.LEARNING_RATE, weight_decay: float = face.WEIGHT_DECAY):
    return torch.optim.SGD(model.parameters(), lr=learning_rate, momentum=common.MOMENTUM, weight_decay=weight_decay)


def loss_of(labels: torch.Tensor):
    def loss(cosines: torch.Tensor) -> torch.Tensor:
        cosines, own = at_least_float32(cosines), labels.unsqueeze(1)
        scores = face.SCALE * cosines.scatter(1, own, with_margin(cosines.gather(1, own)))
        return nn.functional.cross_entropy(scores, labels)

    return loss


def with_margin(cosines: torch.Tensor) -> torch.Tensor:
    """The cosines of the angles that are larger by the margin."""
    sines = (1 - cosines.square()).clamp(min=face.LEAST_SQUARE).sqrt()
    moved = cosines * math.cos(face.MARGIN) - sines * math.sin(face.MARGIN)
    return torch.where(cosines > face.LEAST_COSINE, moved, cosines - face.LINE)


def at_least_float32(cosines: torch.Tensor) -> torch.Tensor:
    return cosines if cosines.dtype is torch.float64 else cosines.float()


if __name__ == "__main__":
    os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")
    main()
