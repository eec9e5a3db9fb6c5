"""ResNet-50 v1.5 in MindSpore: mindspore.nn's layers, the whole step one graph, on one CPU.

Cells are called as torchvision's modules. Prints the line of MindCV every step.
"""

import common
import mindspore_loop
import numpy

BLOCKS = (3, 4, 6, 3)


def main() -> None:
    arguments = common.arguments()
    mindspore = mindspore_loop.started(arguments)
    network = resnet50(mindspore)
    common.announce_case("mindspore", mindspore.__version__, arguments, 1)
    common.announce_model("mindspore.nn layers", *_what_was_built(mindspore, network), "NCHW")
    goal, updates = mindspore.nn.CrossEntropyLoss(), optimiser(mindspore, network)
    step = mindspore_loop.stepper(mindspore, network, _batch(mindspore, arguments), goal, updates)
    mindspore_loop.train(step, arguments)


def resnet50(mindspore):
    """arXiv:1512.03385 table 1, the stride on the 3×3 convolution of a bottleneck."""
    nn = mindspore.nn

    def convolution(inside: int, out: int, kernel: int, stride: int = 1):
        spread = mindspore.common.initializer.HeNormal(mode="fan_out", nonlinearity="relu")
        return nn.Conv2d(inside, out, kernel, stride, pad_mode="pad", padding=kernel // 2, weight_init=spread)

    class Bottleneck(nn.Cell):
        def __init__(self, inside: int, narrow: int, stride: int, widened: bool) -> None:
            super().__init__()
            self.conv1, self.bn1 = convolution(inside, narrow, 1), nn.BatchNorm2d(narrow)
            self.conv2, self.bn2 = convolution(narrow, narrow, 3, stride), nn.BatchNorm2d(narrow)
            self.conv3, self.bn3 = convolution(narrow, 4 * narrow, 1), nn.BatchNorm2d(4 * narrow)
            self.relu = nn.ReLU()
            self.downsample = nn.Identity()
            if widened:
                self.downsample = nn.SequentialCell(
                    convolution(inside, 4 * narrow, 1, stride), nn.BatchNorm2d(4 * narrow)
                )

        def construct(self, x):
            y = self.relu(self.bn1(self.conv1(x)))
            y = self.relu(self.bn2(self.conv2(y)))
            return self.relu(self.bn3(self.conv3(y)) + self.downsample(x))

    class ResNet50(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.conv1, self.bn1, self.relu = convolution(3, 64, 7, 2), nn.BatchNorm2d(64), nn.ReLU()
            self.maxpool = nn.MaxPool2d(3, 2, pad_mode="pad", padding=1)
            self.layer1, self.layer2, self.layer3, self.layer4 = (_stage(number) for number in range(4))
            self.fc = nn.Dense(2048, common.CLASSES)

        def construct(self, x):
            x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
            x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
            return self.fc(x.mean((2, 3)))

    def _stage(number: int):
        narrow = 64 * 2**number
        before, stride = (4 * narrow // 2, 2) if number else (64, 1)
        rest = [Bottleneck(4 * narrow, narrow, 1, False) for _ in range(BLOCKS[number] - 1)]
        return nn.SequentialCell(Bottleneck(before, narrow, stride, True), *rest)

    return ResNet50()


def optimiser(
    mindspore, network, learning_rate: float = common.LEARNING_RATE, weight_decay: float = common.WEIGHT_DECAY
):
    """Its decay is part of the gradient (L2). As a group, because else `gamma` and `beta` would not decay."""
    group = {"params": network.trainable_params(), "weight_decay": weight_decay}
    return mindspore.nn.Momentum([group], learning_rate, common.MOMENTUM)


def _batch(mindspore, arguments):
    chance = numpy.random.default_rng(common.SEED)
    shape = (arguments.batch_size, 3, arguments.image_size, arguments.image_size)
    images = mindspore.Tensor(chance.standard_normal(shape, "float32"))
    return images, mindspore.Tensor(chance.integers(common.CLASSES, size=shape[0]), mindspore.int32)


def _what_was_built(mindspore, network) -> tuple[int, set[int]]:
    """Trainable parameters, and the kernel sides of the strided convolutions on the bottlenecks' main path."""
    strided = {
        layer.kernel_size[0]
        for name, layer in network.cells_and_names()
        if isinstance(layer, mindspore.nn.Conv2d) and name.startswith("layer") and "downsample" not in name
        if tuple(layer.stride) == (2, 2)
    }
    return sum(weight.size for weight in network.trainable_params()), strided


if __name__ == "__main__":
    main()
