"""Face recognition in TensorFlow: IResNet with an ArcFace head, MultiWorkerMirroredStrategy, a process per device.

Prints the TimeHistory line of tensorflow/models official/utils/misc/keras_utils.py through absl, in every
process, every step; its rate counts the whole job. Layers are called as in deepinsight/insightface. Every process
holds the whole head. The optimiser is the SGD of `tensorflow_resnet50.py`.
"""

import math

import common
import face
import tensorflow_loop
import tensorflow_resnet50


def main() -> None:
    arguments, place = face.arguments(), common.place()
    job = tensorflow_loop.started(arguments, place)
    size = face.SIZES[arguments.size]
    with job.strategy.scope():
        model = face_model(job.tf, size)
        optimiser = tensorflow_loop.with_scaling(job, sgd(job.tf, arguments), arguments)
    if place.rank == 0:
        face.announce_case("tensorflow", job.tf.__version__, arguments, place.world_size)
        face.announce_model(size, "evalsuite_keras_layers", tensorflow_loop.trainable(job, model), "NHWC")
    images, labels = _batch(job.tf, arguments, place)
    step = tensorflow_loop.stepper(job, model, (images,), loss_of_batch(job, labels), optimiser, arguments)
    tensorflow_loop.train(job, step, arguments)


def _batch(tf, arguments, place: common.Place):
    chance = tf.random.Generator.from_seed(common.SEED + place.rank)
    images = chance.normal((arguments.batch_size, face.IMAGE_SIZE, face.IMAGE_SIZE, 3))
    return images, tf.constant(face.labels(arguments, place.rank))


def sgd(tf, arguments, learning_rate: float = face.LEARNING_RATE, weight_decay: float = face.WEIGHT_DECAY):
    return tensorflow_resnet50.sgd(tf, arguments, learning_rate, weight_decay)


def loss_of_batch(job, labels):
    """The mean over images, as this process's share of the whole job's."""
    tf = job.tf
    places = tf.stack([tf.range(tf.size(labels)), tf.cast(labels, tf.int32)], 1)

    def loss_of(cosines):
        cosines = tensorflow_loop.at_least_float32(tf, cosines)
        moved = with_margin(tf, tf.gather_nd(cosines, places))
        scores = face.SCALE * tf.tensor_scatter_nd_update(cosines, places, moved)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, scores)
        return tf.reduce_mean(losses) / job.place.world_size

    return loss_of


def with_margin(tf, cosines):
    """The cosines of the angles that are larger by the margin."""
    sines = tf.sqrt(tf.maximum(1 - tf.square(cosines), face.LEAST_SQUARE))
    moved = cosines * math.cos(face.MARGIN) - sines * math.sin(face.MARGIN)
    return tf.where(cosines > face.LEAST_COSINE, moved, cosines - face.LINE)


def face_model(tf, size: face.Size):
    layers, normal = tf.keras.layers, tf.keras.initializers.RandomNormal

    class Cosines(layers.Dense):
        """Of the angles between each face and the centre of each identity, which is a column of the kernel."""

        def call(self, faces):
            return tf.matmul(tf.math.l2_normalize(faces, 1), tf.math.l2_normalize(self.kernel, 0))

    def convolution(x, name: str, filters: int, kernel: int = 3, stride: int = 1):
        """Padded alike on all sides: with a stride, Keras's "same" pads only one, which is another function."""
        x = layers.ZeroPadding2D(1)(x) if kernel > 1 else x
        start = normal(stddev=face.DEVIATION)
        made = layers.Conv2D(filters, kernel, stride, use_bias=False, kernel_initializer=start, name=name)
        return made(x)

    def norm(x, name: str, **how):
        return layers.BatchNormalization(momentum=0.9, epsilon=face.BATCH_NORM_EPSILON, name=name, **how)(x)

    def prelu(x, name: str):
        start = tf.keras.initializers.Constant(face.SLOPE)
        return layers.PReLU(alpha_initializer=start, shared_axes=(1, 2), name=name)(x)

    def block(x, name: str, out: int, stride: int):
        shortcut = x
        if stride > 1:
            shortcut = convolution(x, f"{name}.downsample.0", out, 1, stride)
            shortcut = norm(shortcut, f"{name}.downsample.1")
        x = convolution(norm(x, f"{name}.bn1"), f"{name}.conv1", out)
        x = prelu(norm(x, f"{name}.bn2"), f"{name}.prelu")
        x = norm(convolution(x, f"{name}.conv2", out, 3, stride), f"{name}.bn3")
        return layers.Add()([x, shortcut])

    inputs = layers.Input((face.IMAGE_SIZE, face.IMAGE_SIZE, 3))
    x = norm(convolution(inputs, "backbone.conv1", size.widths[0]), "backbone.bn1")
    x = prelu(x, "backbone.prelu")
    for name, _, out, stride in face.stages(size):
        x = block(x, f"backbone.{name}", out, stride)
    x = layers.Flatten()(norm(x, "backbone.bn2"))
    x = norm(layers.Dense(size.features, name="backbone.fc")(x), "backbone.features", scale=False)
    centres = normal(stddev=face.CENTRE_DEVIATION)
    cosines = Cosines(size.identities, use_bias=False, kernel_initializer=centres, name="classifier")(x)
    return tf.keras.Model(inputs, cosines)


if __name__ == "__main__":
    main()
