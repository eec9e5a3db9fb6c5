"""ResNet-50 v1.5 in MXNet: the model zoo's ResNetV1 with v1.5 bottlenecks, KVStore dist_sync.

The model zoo's own BottleneckV1 is v1 (its stride is on the first 1×1 convolution) and its convolutions carry
biases. Prints through mx.callback.Speedometer itself, in every process, every step; its rate counts this
process only.
"""

import contextlib
import gc
import logging
import os
import subprocess
import sys

import common

SERVER_TIMEOUT_S = 20  # servers and scheduler leave by themselves when the workers have closed the store


def main() -> None:
    arguments, place = common.arguments(), common.place()
    common.limit_threads(arguments.threads)
    logging.basicConfig(level=logging.INFO)  # Speedometer logs to the root logger
    with _parameter_servers(place):
        _train(arguments, place)


def _train(arguments, place: common.Place) -> None:
    import mxnet as mx

    amp = _amp(arguments)
    mx.random.seed(common.SEED)
    context = mx.gpu(place.local_rank) if arguments.device == "gpu" else mx.cpu()
    network = resnet50(mx)
    network.initialize(mx.init.Xavier(rnd_type="gaussian", factor_type="in", magnitude=2), ctx=context)
    network.hybridize(static_alloc=True, static_shape=True)
    trainer = _trainer(mx, network, place)
    images, labels = _batch(mx, context, arguments, place)
    with mx.autograd.train_mode():  # the first pass finds the parameters' shapes; in predict mode oneDNN would
        network(images)  # change their layout, and then the store dies of "Check failed: init 4 first"
    mx.nd.waitall()
    if place.rank == 0:
        common.announce_case("mxnet", mx.__version__, arguments, place.world_size)
        common.announce_model("gluon.model_zoo ResNetV1, own bottleneck", *_what_was_built(network), "NCHW")
    scaled = amp is not None and arguments.device == "gpu"
    if scaled:
        amp.init_trainer(trainer)
    losses_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    metric = mx.metric.CompositeEvalMetric([mx.metric.Accuracy(), mx.metric.Loss("cross-entropy")])
    speedometer = mx.callback.Speedometer(arguments.batch_size, frequent=1)
    speedometer(_batch_end(mx, 0, metric))  # the first call starts its clock and prints nothing
    for step in range(1, arguments.steps + 1):
        with mx.autograd.record():
            output = network(images)
            losses = losses_of(output.astype("float32"), labels)
            if scaled:
                with amp.scale_loss(losses, trainer) as goal:
                    mx.autograd.backward(goal)
        if not scaled:
            losses.backward()
        trainer.step(arguments.batch_size * place.world_size)
        mx.nd.waitall()  # the engine is asynchronous: a step ends when its update is done
        common.finite(float(losses.mean().asscalar()), step)
        metric.metrics[0].update([labels], [output])
        metric.metrics[1].update(None, [losses])
        speedometer(_batch_end(mx, step, metric))


def _batch_end(mx, step: int, metric):
    return mx.model.BatchEndParam(epoch=0, nbatch=step, eval_metric=metric, locals=None)


def _trainer(mx, network, place: common.Place):
    settings = {"learning_rate": common.LEARNING_RATE, "momentum": common.MOMENTUM, "wd": common.WEIGHT_DECAY}
    store = "dist_sync" if place.world_size > 1 else None
    return mx.gluon.Trainer(network.collect_params(), "sgd", settings, kvstore=store)


def _amp(arguments):
    """MXNet's AMP rewrites the operators when it is started, so before the network is made."""
    if arguments.precision == "fp32":
        return None
    from mxnet.contrib import amp

    amp.init(target_dtype=common.amp_kind(arguments))
    return amp


def _batch(mx, context, arguments, place: common.Place):
    mx.random.seed(common.SEED + place.rank)
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
    parameters = network.collect_params().values()
    trainable = sum(parameter.data().size for parameter in parameters if parameter.grad_req != "null")
    blocks = [block for stage in network.features for block in getattr(stage, "_children", {}).values()]
    convolutions = [layer for block in blocks if hasattr(block, "body") for layer in block.body]
    strided = {
        layer._kwargs["kernel"][0]
        for layer in convolutions
        if hasattr(layer, "_kwargs") and layer._kwargs.get("stride") == (2, 2)
    }
    return trainable, strided


@contextlib.contextmanager
def _parameter_servers(place: common.Place):
    """Makes this process a worker of ps-lite's, and starts the scheduler and one server per node beside it.

    dmlc-core/tracker/dmlc_tracker/local.py does the same: one environment, the role is the difference.
    """
    if place.world_size == 1:
        yield
        return
    os.environ.update(
        DMLC_PS_ROOT_URI=place.master_addr,
        DMLC_PS_ROOT_PORT=str(place.master_port),
        DMLC_NUM_WORKER=str(place.world_size),
        DMLC_NUM_SERVER=str(place.nodes),
    )
    if place.nodes == 1:
        os.environ["DMLC_NODE_HOST"] = place.master_addr  # else ps-lite looks for a network card
    roles = ["scheduler"] * (place.rank == 0) + ["server"] * (place.local_rank == 0)
    helpers = [
        subprocess.Popen([sys.executable, "-c", "import mxnet"], env={**os.environ, "DMLC_ROLE": role})
        for role in roles
    ]
    os.environ["DMLC_ROLE"] = "worker"
    try:
        yield
        gc.collect()  # closes the store, where every worker waits for the others and the servers are told to end
        for helper in helpers:
            helper.wait(SERVER_TIMEOUT_S)
    finally:
        for helper in helpers:
            helper.kill()


if __name__ == "__main__":
    main()
