"""ResNet-50 v1.5 and MobileNetV2 on 32×32 images in TensorFlow: one all-reduce after the backward pass.

MultiWorkerMirroredStrategy with one process per device, each of which prints the TimeHistory line. Each part is a graph
of its own, which returns, called eagerly on a CPU, when all its operations have ended. One for the whole step, as
in the other workloads, would be quicker and would have no parts.
"""

import time

import cifar10
import common
import tensorflow_loop
import tensorflow_mobilenetv2
import tensorflow_resnet50


def main() -> None:
    arguments, place = cifar10.arguments(), common.place()
    job = tensorflow_loop.started(arguments, place)
    with job.strategy.scope():
        model, definition = _model(job.tf, arguments)
        optimiser = tensorflow_loop.with_scaling(job, tensorflow_resnet50.sgd(job.tf, arguments), arguments)
        optimiser.build(model.trainable_variables)
    if place.rank == 0:
        cifar10.announce_case("tensorflow", job.tf.__version__, arguments, place.world_size)
        cifar10.announce_model(arguments, definition, tensorflow_loop.trainable(job, model), "NHWC")
    _train(job, model, optimiser, arguments)


def _train(job, model, optimiser, arguments) -> None:
    batches = Batches(job, arguments)
    forward_backward, reduced, applied = _parts_of_a_step(job, model, optimiser, arguments)
    for step in range(1, arguments.steps + 1):
        parts = cifar10.Parts()
        images, labels = batches.next()
        parts.ended("data")
        loss, gradients = forward_backward(images, labels)
        parts.ended(cifar10.FORWARD_BACKWARD)
        if job.place.world_size > 1:
            gradients = reduced(gradients)
            parts.ended("allreduce")
        applied(gradients)
        parts.ended("optimiser")
        common.finite(float(loss), step)
        ended = time.perf_counter()
        if job.place.rank == 0:
            cifar10.announce_parts(step, parts, arguments)
        tensorflow_loop.report(step, ended - parts.begun, job.global_batch(arguments))


def _parts_of_a_step(job, model, optimiser, arguments):
    """Three graphs: images and labels → loss and gradients; gradients → their sum over processes; that → update."""
    tf, strategy = job.tf, job.strategy

    def loss_of(images, labels):
        return tensorflow_resnet50.loss_of_batch(job, labels, arguments)(model(images, training=True))

    gradients_of = tensorflow_loop.gradients_of(job, model, loss_of, optimiser, arguments)

    @tf.function
    def forward_backward(images, labels):
        return strategy.run(gradients_of, args=(images, labels))

    def sums(gradients):
        """Of all gradients in one piece."""
        piece = tf.concat([tf.reshape(each, [-1]) for each in gradients], 0)
        piece = tf.distribute.get_replica_context().all_reduce(tf.distribute.ReduceOp.SUM, piece)
        sizes = [each.shape.num_elements() for each in gradients]
        return [tf.reshape(part, each.shape) for part, each in zip(tf.split(piece, sizes), gradients, strict=True)]

    @tf.function
    def reduced(gradients):
        return strategy.run(sums, args=(gradients,))

    def update(gradients):
        pairs = zip(gradients, model.trainable_variables, strict=True)
        optimiser.apply_gradients(pairs, skip_gradients_aggregation=True)

    @tf.function
    def applied(gradients):
        strategy.run(update, args=(gradients,))

    return forward_backward, reduced, applied


def _model(tf, arguments):
    """(the model, where it is defined)."""
    side = cifar10.IMAGE_SIZE
    if arguments.model == "resnet50":
        return tensorflow_resnet50.resnet50(tf, side, cifar10.CLASSES), "evalsuite_keras_layers"
    return tensorflow_mobilenetv2.mobilenetv2(tf, side, cifar10.CLASSES), "evalsuite_keras_layers"


class Batches:
    """Random images from this process's pool, half of them mirrored, scaled to between -1 and 1."""

    def __init__(self, job, arguments) -> None:
        import numpy

        self._tf, self._size = job.tf, arguments.batch_size
        self._chance = numpy.random.default_rng(common.SEED + job.place.rank)
        side = cifar10.IMAGE_SIZE
        self._images = self._chance.integers(256, size=(cifar10.POOL, side, side, 3), dtype="uint8")
        self._labels = self._chance.integers(cifar10.CLASSES, size=cifar10.POOL, dtype="int32")

    def next(self):
        chosen = self._chance.integers(cifar10.POOL, size=self._size)
        images = self._images[chosen].astype("float32") / cifar10.MEAN - 1.0
        images[::2] = images[::2, :, ::-1]
        return self._tf.constant(images), self._tf.constant(self._labels[chosen])


if __name__ == "__main__":
    main()
