"""ResNet-50 v1.5 in MXNet: the model zoo's ResNetV1 with v1.5 bottlenecks, KVStore dist_sync.

The model zoo's own BottleneckV1 is v1 (its stride is on the first 1×1 convolution) and its convolutions carry
biases. Prints through mx.callback.Speedometer itself, in every process, every step; its rate counts this
process only.
"""

import common
import mxnet_loop


def main() -> None:
    arguments, place = common.arguments(), common.place()
    with mxnet_loop.job(arguments, place) as job:
        _train(job, arguments)


def _train(job, arguments) -> None:
    mx, place = job.mx, job.place
    network = resnet50(mx)
    network.initialize(mx.init.Xavier(rnd_type="gaussian", factor_type="in", magnitude=2), ctx=job.context)
    network.hybridize(static_alloc=True, static_shape=True)
    images, labels = _batch(job, arguments)
    mxnet_loop.prepare(job, network, [images])
    if place.rank == 0:
        common.announce_case("mxnet", mx.__version__, arguments, place.world_size)
        common.announce_model("gluon.model_zoo ResNetV1, own bottleneck", *_what_was_built(network), "NCHW")
    mxnet_loop.train(job, network, [images], losses_of_batch(job, labels), trainer(job, network), arguments)


def trainer(job, network, learning_rate: float = common.LEARNING_RATE, weight_decay: float = common.WEIGHT_DECAY):
    settings = {"learning_rate": learning_rate, "momentum": common.MOMENTUM, "wd": weight_decay}
    return mxnet_loop.trainer(job, network, "sgd", **settings)


def losses_of_batch(job, labels):
    losses_of = job.mx.gluon.loss.SoftmaxCrossEntropyLoss()
    return lambda output: losses_of(mxnet_loop.at_least_float32(output), labels)


def _batch(job, arguments):
    mx, context = job.mx, job.context
    mx.random.seed(common.SEED + job.place.rank)
    shape = (arguments.batch_size, 3, arguments.image_size, arguments.image_size)
    labels = mx.nd.random.randint(0, common.CLASSES, shape[:1]).astype("float32")
    return mx.nd.random.normal(shape=shape).as_in_context(context), labels.as_in_context(context)


def resnet50(mx):
    nn = mx.gluon.nn

    class Bottleneck(mx.gluon.HybridBlock):
        """ResNet v1.5: the stride is on the 3×3 convolution. Arguments as the model zoo's ResNetV1 gives them."""

        def __init__(self, channels: int, stride: int, downsample: bool, in_channels: int, **named) -> None:
            super().__init__(**named)
            self.body = nn.HybridSequential(prefix="")
            for filters, kernel, step in ((channels // 4, 1, 1), (channels // 4, 3, stride), (channels, 1, 1)):
                self.body.add(nn.Conv2D(filters, kernel, step, kernel // 2, use_bias=False), nn.BatchNorm())
                if filters != channels:
                    self.body.add(nn.Activation("relu"))
            self.shortcut = nn.HybridSequential(prefix="")
            if downsample:
                shortcut = nn.Conv2D(channels, 1, stride, use_bias=False, in_channels=in_channels)
                self.shortcut.add(shortcut, nn.BatchNorm())

        def hybrid_forward(self, F, x):
            return F.Activation(self.body(x) + self.shortcut(x), act_type="relu")

    channels = [64, 256, 512, 1024, 2048]
    return mx.gluon.model_zoo.vision.ResNetV1(Bottleneck, [3, 4, 6, 3], channels, classes=common.CLASSES)


def _what_was_built(network) -> tuple[int, set[int]]:
    """Trainable parameters, and the kernel sides of the strided convolutions on the bottlenecks' main path."""
    blocks = [block for stage in network.features for block in getattr(stage, "_children", {}).values()]
    convolutions = [layer for block in blocks if hasattr(block, "body") for layer in block.body]
    strided = {
        layer._kwargs["kernel"][0]
        for layer in convolutions
        if hasattr(layer, "_kwargs") and layer._kwargs.get("stride") == (2, 2)
    }
    return mxnet_loop.trainable(network), strided


if __name__ == "__main__":
    main()
