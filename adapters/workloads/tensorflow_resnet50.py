"""ResNet-50 v1.5 in TensorFlow: Keras layers, MultiWorkerMirroredStrategy with one process per device.

`tf.keras.applications.ResNet50` is v1 (its stride is on the first 1×1 convolution) and its convolutions carry
biases, so v1.5 is stated here. Prints the TimeHistory line of tensorflow/models official/utils/misc/keras_utils.py
through absl, in every process, every step; its rate counts the whole job.
"""

import common
import tensorflow_loop


def main() -> None:
    arguments, place = common.arguments(), common.place()
    job = tensorflow_loop.started(arguments, place)
    with job.strategy.scope():
        model = resnet50(job.tf, arguments.image_size)
        optimiser = tensorflow_loop.with_scaling(job, sgd(job.tf, arguments), arguments)
    if place.rank == 0:
        common.announce_case("tensorflow", job.tf.__version__, arguments, place.world_size)
        common.announce_model("evalsuite_keras_layers", *_what_was_built(job, model), "NHWC")
    images, labels = _batch(job.tf, arguments, place)
    loss_of = loss_of_batch(job, labels, arguments)
    step = tensorflow_loop.stepper(job, model, (images,), loss_of, optimiser, arguments)
    tensorflow_loop.train(job, step, arguments)


def loss_of_batch(job, labels, arguments):
    tf = job.tf
    losses_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")

    def loss_of(logits):
        logits = tensorflow_loop.at_least_float32(tf, logits)
        return tf.reduce_sum(losses_of(labels, logits)) / job.global_batch(arguments)

    return loss_of


def sgd(tf, arguments, learning_rate: float = common.LEARNING_RATE, weight_decay: float = common.WEIGHT_DECAY):
    """SGD whose decay is part of the gradient (L2), as in the other frameworks.

    Keras's own `weight_decay` shrinks the weights beside the gradient, so that it never enters the momentum.
    """

    class CoupledDecay(tf.keras.optimizers.SGD):
        def update_step(self, gradient, variable):
            super().update_step(gradient + tf.cast(weight_decay, variable.dtype) * variable, variable)

    return CoupledDecay(learning_rate, momentum=common.MOMENTUM, jit_compile=arguments.compile)


def _batch(tf, arguments, place: common.Place):
    chance = tf.random.Generator.from_seed(common.SEED + place.rank)
    shape = (arguments.batch_size, arguments.image_size, arguments.image_size, 3)
    return chance.normal(shape), chance.uniform(shape[:1], maxval=common.CLASSES, dtype=tf.int32)


def resnet50(tf, image_size: int, classes: int = common.CLASSES):
    """ResNet-50 v1.5 (arXiv:1512.03385 table 1, the stride on the 3×3 convolution); layers named as torchvision's."""
    layers = tf.keras.layers

    def convolution(x, names: tuple[str, str], filters: int, kernel: int, stride: int = 1):
        """Padded alike on all sides: with a stride, Keras's "same" pads only one, which is another function."""
        x = layers.ZeroPadding2D(kernel // 2)(x) if kernel > 1 else x
        x = layers.Conv2D(filters, kernel, stride, "valid", use_bias=False, name=names[0])(x)
        return layers.BatchNormalization(momentum=0.9, epsilon=1e-5, name=names[1])(x)

    def bottleneck(x, name: str, filters: int, stride: int, widens: bool):
        def numbered(number: int) -> tuple[str, str]:
            return f"{name}.conv{number}", f"{name}.bn{number}"

        widening = f"{name}.downsample.0", f"{name}.downsample.1"
        shortcut = convolution(x, widening, 4 * filters, 1, stride) if widens else x
        x = layers.ReLU()(convolution(x, numbered(1), filters, 1))
        x = layers.ReLU()(convolution(x, numbered(2), filters, 3, stride))
        x = convolution(x, numbered(3), 4 * filters, 1)
        return layers.ReLU()(layers.Add()([x, shortcut]))

    inputs = layers.Input((image_size, image_size, 3))
    x = layers.ReLU()(convolution(inputs, ("conv1", "bn1"), 64, 7, 2))
    x = layers.MaxPooling2D(3, 2)(layers.ZeroPadding2D(1)(x))  # behind ReLU nothing is smaller than the zeros
    for stage, blocks in enumerate((3, 4, 6, 3)):
        for block in range(blocks):
            first = block == 0
            x = bottleneck(x, f"layer{stage + 1}.{block}", 64 * 2**stage, 2 if first and stage > 0 else 1, first)
    x = layers.GlobalAveragePooling2D()(x)
    return tf.keras.Model(inputs, layers.Dense(classes, name="fc")(x))


def _what_was_built(job, model) -> tuple[int, set[int]]:
    """Trainable parameters, and the kernel sides of the strided convolutions on the bottlenecks' main path.

    The main path's convolution narrows (filters ≤ input channels), the shortcut's widens.
    """
    tf = job.tf
    strided = {
        layer.kernel_size[0]
        for layer in model.layers
        if isinstance(layer, tf.keras.layers.Conv2D) and layer.strides == (2, 2)
        if layer.input_shape[-1] >= layer.filters
    }
    return tensorflow_loop.trainable(job, model), strided


if __name__ == "__main__":
    main()
