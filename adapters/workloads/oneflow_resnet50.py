"""ResNet-50 v1.5 in OneFlow: flowvision's model, on one CPU.

flowvision 0.1.0 ends in an average over 7×7, which fits images of 224 pixels alone; the adaptive one in its place is
the same there and fits all. Prints the line of Oneflow-Inc/models every step.
"""

import common
import oneflow_loop


def main() -> None:
    arguments = common.arguments()
    oneflow = oneflow_loop.started(arguments)
    network = resnet50(oneflow)
    common.announce_case("oneflow", oneflow.__version__, arguments, 1)
    common.announce_model("flowvision.models.resnet50, adaptive pool", *_what_was_built(oneflow, network), "NCHW")
    images, labels = _batch(oneflow, arguments)
    goal, updates = loss_of(oneflow, labels), optimiser(oneflow, network)
    step = oneflow_loop.stepper(oneflow, network, images, goal, updates, arguments)
    oneflow_loop.train(oneflow, step, arguments)


def resnet50(oneflow):
    from flowvision.models import resnet50

    network = resnet50(num_classes=common.CLASSES)
    network.avgpool = oneflow.nn.AdaptiveAvgPool2d((1, 1))
    return network


def optimiser(oneflow, network, learning_rate: float = common.LEARNING_RATE, weight_decay: float = common.WEIGHT_DECAY):
    """Its decay is part of the gradient (L2): oneflow/nn/optimizer/sgd.py hands it on as `l2`."""
    settings = {"lr": learning_rate, "momentum": common.MOMENTUM, "weight_decay": weight_decay}
    return oneflow.optim.SGD(network.parameters(), **settings)


def loss_of(oneflow, labels):
    return lambda output: oneflow.nn.functional.cross_entropy(output, labels)


def _batch(oneflow, arguments):
    side = arguments.image_size
    images = oneflow.randn(arguments.batch_size, 3, side, side)
    return images, oneflow.randint(0, common.CLASSES, (arguments.batch_size,))


def _what_was_built(oneflow, network) -> tuple[int, set[int]]:
    """Trainable parameters, and the kernel sides of the strided convolutions on the bottlenecks' main path."""
    strided = {
        layer.kernel_size[0]
        for name, layer in network.named_modules()
        if isinstance(layer, oneflow.nn.Conv2d) and name.startswith("layer") and "downsample" not in name
        if tuple(layer.stride) == (2, 2)
    }
    return sum(weight.numel() for weight in network.parameters() if weight.requires_grad), strided


if __name__ == "__main__":
    main()
