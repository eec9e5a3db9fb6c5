"""The TensorFlow workloads as `evalsuite equivalence` asks for them: the same parts, from a start that is given."""

import common
import equivalence
import numpy
import tensorflow_loop
import tensorflow_resnet50
from equivalence import Answer, Setting, Task

OWN_NAMES = {"kernel": "weight", "gamma": "weight", "beta": "bias", "bias": "bias"}


def main() -> None:
    job = tensorflow_loop.started(equivalence.arguments_of("resnet50_v1.5"), common.place())
    equivalence.run(
        "tensorflow",
        lambda model: {name: array.shape for name, array in _canonical(_network(job, model)).items()},
        lambda task: _answered(job, task),
    )


def _answered(job, task: Task) -> Answer:
    done = [_done(job, task, setting) for setting in equivalence.settings(task.model)]
    return Answer(
        version=job.tf.__version__,
        script=tensorflow_resnet50.__file__,
        settings=done,
        flops_per_item=_flops(job, task),
        timed=tensorflow_loop.TIMED,
        modes={"layout": "NHWC", "execution": "graph"},
    )


def _network(job, model: str):
    return tensorflow_resnet50.resnet50(job.tf, equivalence.IMAGE_SIZE)


def _named(network) -> dict[str, object]:
    """Canonical name → variable. The layers are called as torchvision's."""
    found = {}
    for variable in network.trainable_variables:
        layer, _, own = variable.name.split(":")[0].rpartition("/")
        found[f"{layer}.{OWN_NAMES[own]}"] = variable
    return found


def _canonical(network) -> dict[str, numpy.ndarray]:
    return {name: turned(variable.numpy()) for name, variable in _named(network).items()}


def turned(array: numpy.ndarray) -> numpy.ndarray:
    """From (height, width, in, out) or (in, out) to PyTorch's layout."""
    return array.transpose(3, 2, 0, 1) if array.ndim == 4 else array.T


def turned_back(array: numpy.ndarray) -> numpy.ndarray:
    return array.transpose(2, 3, 1, 0) if array.ndim == 4 else array.T


def _done(job, task: Task, setting: Setting) -> dict:
    tf, arguments = job.tf, equivalence.arguments_of(task.model)
    tf.keras.backend.set_floatx(setting.dtype)
    network = _network(job, task.model)
    for name, variable in _named(network).items():
        variable.assign(turned_back(task.weights[name]))
    images = tf.constant(task.start["images"].transpose(0, 2, 3, 1), setting.dtype)
    labels = tf.constant(task.start["labels"])
    loss_of = tensorflow_resnet50.loss_of_batch(job, labels, arguments)
    optimiser = tensorflow_resnet50.sgd(tf, arguments, setting.learning_rate, setting.weight_decay)
    gradients_of = tensorflow_loop.gradients_of(
        job, network, lambda images: loss_of(network(images, training=True)), optimiser, arguments
    )
    _, gradients = gradients_of(images)
    norms = [float(tf.norm(tf.cast(gradient, tf.float64))) for gradient in gradients]
    step = tensorflow_loop.stepper(job, network, (images,), loss_of, optimiser, arguments)
    losses = [float(step()) for _ in range(setting.steps)]
    return equivalence.setting_done(setting, losses, dict(zip(_named(network), norms, strict=True)))


def _flops(job, task: Task) -> int:
    """Two for each multiplication with a weight of a convolution or a dense layer, by the shapes of their outputs."""
    layers = job.tf.keras.layers
    network = _network(job, task.model)
    return sum(
        2 * int(numpy.prod(layer.output_shape[1:])) * int(numpy.prod(layer.kernel.shape[:-1]))
        for layer in network.layers
        if isinstance(layer, (layers.Conv2D, layers.Dense))
    )


if __name__ == "__main__":
    main()
