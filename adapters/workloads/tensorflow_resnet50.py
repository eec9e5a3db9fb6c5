"""ResNet-50 v1.5 in TensorFlow: Keras layers, MultiWorkerMirroredStrategy with one process per device.

`tf.keras.applications.ResNet50` is v1 (its stride is on the first 1×1 convolution) and its convolutions carry
biases, so v1.5 is stated here. Prints the TimeHistory line of tensorflow/models official/utils/misc/keras_utils.py
through absl, in every process, every step; its rate counts the whole job.
"""

import json
import os
import time

import common


def main() -> None:
    arguments, place = common.arguments(), common.place()
    if arguments.device == "gpu":
        common.see_one_gpu(place.local_rank)
    if place.world_size > 1:
        os.environ["TF_CONFIG"] = _cluster(place, arguments.hosts)
    import tensorflow as tf
    from absl import logging

    logging.use_absl_handler()
    logging.set_verbosity(logging.INFO)
    tf.get_logger().setLevel("WARNING")  # the strategy reports every variable it broadcasts
    tf.config.threading.set_intra_op_parallelism_threads(arguments.threads)
    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)
    tf.keras.utils.set_random_seed(common.SEED)
    if arguments.precision == "amp":
        tf.keras.mixed_precision.set_global_policy(f"mixed_{common.amp_kind(arguments)}")
    strategy = tf.distribute.MultiWorkerMirroredStrategy() if place.world_size > 1 else tf.distribute.get_strategy()
    with strategy.scope():
        model = resnet50(tf, arguments.image_size)
        optimiser = _optimiser(tf, arguments)
    if place.rank == 0:
        common.announce_case("tensorflow", tf.__version__, arguments, place.world_size)
        common.announce_model("evalsuite_keras_layers", *_what_was_built(tf, model), "NHWC")
    step = _step(tf, strategy, model, optimiser, arguments, place)
    _train(step, logging, arguments, place)


def _train(step, logging, arguments, place: common.Place) -> None:
    global_batch = arguments.batch_size * place.world_size
    begun = time.perf_counter()
    for number in range(1, arguments.steps + 1):
        common.finite(float(step()), number)  # reading the loss waits for the step
        ended = time.perf_counter()
        logging.info(  # I1120 23:37:55.734810 140651157302144 keras_utils.py:145] TimeHistory: 1.08 seconds, …
            "TimeHistory: %.2f seconds, %.2f examples/second between steps %d and %d",
            ended - begun,
            global_batch / (ended - begun),
            number - 1,
            number,
        )
        begun = ended


def _step(tf, strategy, model, optimiser, arguments, place: common.Place):
    """One optimiser step over all processes; gives the mean loss of the global batch."""
    images, labels = _batch(tf, arguments, place)
    losses_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")
    global_batch = arguments.batch_size * place.world_size
    scaled = arguments.precision == "amp" and arguments.device == "gpu"

    @tf.function(jit_compile=arguments.compile)
    def gradients(images, labels):
        with tf.GradientTape() as tape:
            logits = tf.cast(model(images, training=True), tf.float32)
            loss = tf.reduce_sum(losses_of(labels, logits)) / global_batch
            goal = optimiser.get_scaled_loss(loss) if scaled else loss
        found = tape.gradient(goal, model.trainable_variables)
        return loss, optimiser.get_unscaled_gradients(found) if scaled else found

    def replica_step(images, labels):
        loss, found = gradients(images, labels)
        optimiser.apply_gradients(zip(found, model.trainable_variables, strict=True))  # sums over the processes
        return loss

    @tf.function
    def step():
        losses = strategy.run(replica_step, args=(images, labels))
        return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)

    return step


def _optimiser(tf, arguments):
    optimiser = tf.keras.optimizers.SGD(
        common.LEARNING_RATE,
        momentum=common.MOMENTUM,
        weight_decay=common.WEIGHT_DECAY,
        jit_compile=arguments.compile,
    )
    if arguments.precision == "amp" and arguments.device == "gpu":
        return tf.keras.mixed_precision.LossScaleOptimizer(optimiser)
    return optimiser


def _batch(tf, arguments, place: common.Place):
    chance = tf.random.Generator.from_seed(common.SEED + place.rank)
    shape = (arguments.batch_size, arguments.image_size, arguments.image_size, 3)
    return chance.normal(shape), chance.uniform(shape[:1], maxval=common.CLASSES, dtype=tf.int32)


def resnet50(tf, image_size: int):
    """ResNet-50 v1.5 (arXiv:1512.03385 table 1, with the stride on the 3×3 convolution)."""
    layers = tf.keras.layers

    def convolution(x, filters: int, kernel: int, stride: int = 1):
        x = layers.Conv2D(filters, kernel, stride, "same", use_bias=False)(x)
        return layers.BatchNormalization(momentum=0.9, epsilon=1e-5)(x)

    def bottleneck(x, filters: int, stride: int, widens: bool):
        shortcut = convolution(x, 4 * filters, 1, stride) if widens else x
        x = layers.ReLU()(convolution(x, filters, 1))
        x = layers.ReLU()(convolution(x, filters, 3, stride))
        x = convolution(x, 4 * filters, 1)
        return layers.ReLU()(layers.Add()([x, shortcut]))

    inputs = layers.Input((image_size, image_size, 3))
    x = layers.ReLU()(convolution(inputs, 64, 7, 2))
    x = layers.MaxPooling2D(3, 2, "same")(x)
    for stage, blocks in enumerate((3, 4, 6, 3)):
        for block in range(blocks):
            first = block == 0
            x = bottleneck(x, 64 * 2**stage, 2 if first and stage > 0 else 1, first)
    x = layers.GlobalAveragePooling2D()(x)
    return tf.keras.Model(inputs, layers.Dense(common.CLASSES)(x))


def _what_was_built(tf, model) -> tuple[int, set[int]]:
    """Trainable parameters, and the kernel sides of the strided convolutions on the bottlenecks' main path.

    The main path's convolution narrows (filters ≤ input channels), the shortcut's widens.
    """
    strided = {
        layer.kernel_size[0]
        for layer in model.layers
        if isinstance(layer, tf.keras.layers.Conv2D) and layer.strides == (2, 2)
        if layer.input_shape[-1] >= layer.filters
    }
    return sum(int(tf.size(variable)) for variable in model.trainable_variables), strided


def _cluster(place: common.Place, hosts: str) -> str:
    """TF_CONFIG: every worker's address in order of rank; worker r listens on MASTER_PORT + r."""
    names = hosts.split(",") if place.nodes > 1 else [place.master_addr]
    workers = [
        f"{names[rank // place.local_world_size]}:{place.master_port + rank}" for rank in range(place.world_size)
    ]
    return json.dumps({"cluster": {"worker": workers}, "task": {"type": "worker", "index": place.rank}})


if __name__ == "__main__":
    main()
