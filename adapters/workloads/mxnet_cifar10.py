"""ResNet-50 v1.5 and MobileNetV2 on 32×32 images in MXNet: gradients are summed by KVStore dist_sync after backward.

Prints through mx.callback.Speedometer itself, in every process. The engine would reduce a gradient while others are
being computed, and update weights beside it; here it is waited for after each part. The servers add up each gradient by
itself (Trainer.allreduce_grads), and each worker applies the optimiser. Each process keeps its own statistics of batch
normalisation.
"""

from collections.abc import Callable

import cifar10
import cifar10_pool
import common
import mxnet_loop
import mxnet_mobilenetv2
import mxnet_resnet50


def main() -> None:
    arguments, place = cifar10.arguments(), common.place()
    with mxnet_loop.job(arguments, place) as job:
        _train(job, arguments)


def _train(job: mxnet_loop.Job, arguments) -> None:
    mx, place = job.mx, job.place
    pool = cifar10_pool.Pool(arguments.batch_size, place.rank)
    network, definition = model(mx, arguments.model)
    network.initialize(mx.init.Xavier(rnd_type="gaussian", factor_type="in", magnitude=2), ctx=job.context)
    network.hybridize(static_alloc=True, static_shape=True)
    mxnet_loop.prepare(job, network, _on_device(job, *pool.next())[:1])
    if place.rank == 0:
        cifar10.announce_case("mxnet", mx.__version__, arguments, place.world_size)
        cifar10.announce_model(arguments, definition, mxnet_loop.trainable(network), "NCHW")
    step_done = stepper(job, network, trainer(job, network), arguments)
    report = _reporter(mx, arguments)
    for step in range(1, arguments.steps + 1):
        parts = cifar10.Parts()
        images, labels = _on_device(job, *pool.next())
        _ended(job, parts, "data", arguments)
        losses = step_done(images, labels, parts)
        mx.nd.waitall()
        loss = common.finite(float(losses.mean().asscalar()), step)
        if place.rank == 0:
            cifar10.announce_parts(step, parts, arguments)
        report(step, loss)


def model(mx, name: str, **settings: float):
    """(the model, where it is defined)."""
    if name == "mobilenetv2":
        return mxnet_mobilenetv2.mobilenetv2(mx, cifar10.CLASSES, **settings), "evalsuite_gluon_blocks"
    network = mxnet_resnet50.resnet50(mx)
    with network.name_scope():
        network.output = mx.gluon.nn.Dense(cifar10.CLASSES, in_units=network.output.weight.shape[1])
    return network, "gluon.model_zoo ResNetV1, own bottleneck"


def trainer(
    job: mxnet_loop.Job,
    network,
    learning_rate: float = common.LEARNING_RATE,
    weight_decay: float = common.WEIGHT_DECAY,
):
    """MXNet's SGD, made here: the servers would apply one that they are told by name, and reduce nothing."""
    settings = {"learning_rate": learning_rate, "momentum": common.MOMENTUM, "wd": weight_decay}
    return mxnet_loop.trainer(job, network, job.mx.optimizer.SGD(**settings))


def stepper(job: mxnet_loop.Job, network, updates, arguments) -> Callable:
    """One optimiser step: (images, labels, its parts so far) → the losses before it."""
    mx, amp, world_size = job.mx, job.amp, job.place.world_size
    scaled = amp is not None and arguments.device == "gpu"
    if scaled:
        amp.init_trainer(updates)

    def step(images, labels, parts: cifar10.Parts):
        with mx.autograd.record():
            losses = mxnet_resnet50.losses_of_batch(job, labels)(network(images))
            if scaled:
                with amp.scale_loss(losses, updates) as goal:
                    mx.autograd.backward(goal)
        if not scaled:
            losses.backward()
        _ended(job, parts, cifar10.FORWARD_BACKWARD, arguments)
        if world_size > 1:
            updates.allreduce_grads()
            _ended(job, parts, "allreduce", arguments)
        updates.update(arguments.batch_size * world_size)
        _ended(job, parts, "optimiser", arguments)
        return losses

    return step


def _ended(job: mxnet_loop.Job, parts: cifar10.Parts, part: str, arguments) -> None:
    """A part ends when its operations have: the engine is asynchronous on a CPU as well."""
    if arguments.device == "cpu":
        job.mx.nd.waitall()
    parts.ended(part)


def _on_device(job: mxnet_loop.Job, images, labels) -> list:
    return [job.mx.nd.array(each, ctx=job.context, dtype="float32") for each in (images, labels)]


def _reporter(mx, arguments) -> Callable[[int, float], None]:
    """(step, loss) → a line of Speedometer, whose clock starts here."""
    speedometer = mx.callback.Speedometer(arguments.batch_size, frequent=1)
    seen = mx.metric.EvalMetric("cross-entropy")

    def report(step: int, loss: float) -> None:
        seen.sum_metric, seen.num_inst = loss, 1
        speedometer(mx.model.BatchEndParam(epoch=0, nbatch=step, eval_metric=seen, locals=None))

    report(0, 0.0)  # the first call prints nothing
    return report


if __name__ == "__main__":
    main()
