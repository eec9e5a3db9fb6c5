"""The TensorFlow workloads as `evalsuite equivalence` asks for them: the same parts, from a start that is given."""

from dataclasses import replace

import bert
import cifar10
import common
import equivalence
import face
import gpt2
import numpy
import tensorflow_bert
import tensorflow_cifar10
import tensorflow_face
import tensorflow_gpt2
import tensorflow_loop
import tensorflow_mobilenetv2
import tensorflow_names
import tensorflow_resnet50
import tensorflow_wide_deep
import wide_deep
from equivalence import Answer, Setting, Task

SCRIPTS = {
    "resnet50_v1.5": tensorflow_resnet50,
    "resnet50_cifar10": tensorflow_cifar10,
    "mobilenetv2_cifar10": tensorflow_cifar10,
    "bert_tiny": tensorflow_bert,
    "gpt2_tiny": tensorflow_gpt2,
    "wide_and_deep_tiny": tensorflow_wide_deep,
    "face_tiny": tensorflow_face,
}


def main() -> None:
    job = tensorflow_loop.started(equivalence.arguments_of("resnet50_v1.5"), common.place())
    equivalence.run("tensorflow", lambda model: _shapes(job, model), lambda task: _answered(job, task))


def _shapes(job, model: str) -> dict[str, tuple]:
    network = _network(job, model)
    arguments = equivalence.arguments_of(model)
    if equivalence.is_gpt2(model):
        network(*tensorflow_gpt2.inputs_of(job.tf, gpt2.batch(arguments, 0)))
    if equivalence.is_bert(model):
        network(*tensorflow_bert.inputs_of(job.tf, bert.batch(arguments, 0)))  # makes the variables
    if equivalence.is_wide_deep(model):
        network(*tensorflow_wide_deep.inputs_of(job.tf, wide_deep.batch(arguments, 0), "float32"))
    return {name: weight.shape for name, weight in tensorflow_names.named(network).items()}


def _answered(job, task: Task) -> Answer:
    return Answer(
        version=job.tf.__version__,
        script=SCRIPTS[task.model].__file__,
        settings=[_done(job, task, setting) for setting in equivalence.settings(task.model)],
        flops_per_item=None if equivalence.of_words(task.model) else _flops(job, task),
        timed=cifar10.TIMED if equivalence.is_small(task.model) else tensorflow_loop.TIMED,
        modes=equivalence.modes(task.model, "NHWC", "graph"),
    )


def _network(job, model: str):
    if equivalence.is_gpt2(model):
        return tensorflow_gpt2.gpt2_model(job.tf, replace(gpt2.SIZES[model.removeprefix("gpt2_")], dropout=0.0))
    if equivalence.is_bert(model):
        return tensorflow_bert.bert_model(job.tf, replace(bert.SIZES[model.removeprefix("bert_")], dropout=0.0))
    if equivalence.is_wide_deep(model):
        size = replace(wide_deep.SIZES[equivalence.size_of(model)], dropout=0.0)
        return tensorflow_wide_deep.wide_deep_model(job.tf, size)
    if equivalence.is_face(model):
        return tensorflow_face.face_model(job.tf, face.SIZES[equivalence.size_of(model)])
    if model == "mobilenetv2_cifar10":
        return tensorflow_mobilenetv2.mobilenetv2(job.tf, equivalence.IMAGE_SIZE, cifar10.CLASSES, dropout=0.0)
    classes = cifar10.CLASSES if equivalence.is_small(model) else common.CLASSES
    return tensorflow_resnet50.resnet50(job.tf, equivalence.IMAGE_SIZE, classes)


def _parts(job, task: Task, setting: Setting):
    tf, arguments = job.tf, equivalence.arguments_of(task.model)
    rates = setting.learning_rate, setting.weight_decay
    if equivalence.is_bert(task.model):
        batch = equivalence.batch_of(task)
        optimiser = tensorflow_bert.optimiser_of(tf, arguments, *rates)
        return tensorflow_bert.inputs_of(tf, batch), tensorflow_bert.loss_of_batch(job, batch), optimiser
    if equivalence.is_gpt2(task.model):
        batch = equivalence.tokens_of(task)
        optimiser = tensorflow_bert.optimiser_of(tf, arguments, *rates)
        return tensorflow_gpt2.inputs_of(tf, batch), tensorflow_gpt2.loss_of_batch(job, batch), optimiser
    if equivalence.is_wide_deep(task.model):
        clicks = equivalence.clicks_of(task)
        inputs = tensorflow_wide_deep.inputs_of(tf, clicks, setting.dtype)
        optimiser = tensorflow_wide_deep.adam(tf, arguments, setting.learning_rate)
        return inputs, tensorflow_wide_deep.loss_of_batch(job, clicks), optimiser
    images = tf.constant(task.start["images"].transpose(0, 2, 3, 1), setting.dtype)
    if equivalence.is_face(task.model):
        loss_of = tensorflow_face.loss_of_batch(job, tf.constant(task.start["labels"]))
        return (images,), loss_of, tensorflow_face.sgd(tf, arguments, *rates)
    loss_of = tensorflow_resnet50.loss_of_batch(job, tf.constant(task.start["labels"]), arguments)
    return (images,), loss_of, tensorflow_resnet50.sgd(tf, arguments, *rates)


def _done(job, task: Task, setting: Setting) -> dict:
    job.tf.keras.backend.set_floatx(setting.dtype)
    network, arguments = _network(job, task.model), equivalence.arguments_of(task.model)
    inputs, loss_of, optimiser = _parts(job, task, setting)
    network(*inputs)
    named = tensorflow_names.named(network)
    for name, weight in named.items():
        for piece, array in zip(weight.pieces, weight.laid(task.weights[name]), strict=True):
            piece.assign(array)
    gradients_of = tensorflow_loop.gradients_of(
        job, network, lambda *inputs: loss_of(network(*inputs, training=True)), optimiser, arguments
    )
    _, gradients = gradients_of(*inputs)
    by_variable = {
        variable.ref(): gradient for variable, gradient in zip(network.trainable_variables, gradients, strict=True)
    }
    norms = {
        name: equivalence.norm_of(by_variable[piece.ref()] for piece in weight.pieces) for name, weight in named.items()
    }
    step = tensorflow_loop.stepper(job, network, inputs, loss_of, optimiser, arguments)
    return equivalence.setting_done(setting, [float(step()) for _ in range(setting.steps)], norms)


def _flops(job, task: Task) -> int:
    layers = job.tf.keras.layers
    network = _network(job, task.model)
    if equivalence.is_wide_deep(task.model):
        network(*_parts(job, task, Setting("float32", "float32", 0.0, 0.0))[0])
        dense = (layer for layer in network.submodules if isinstance(layer, layers.Dense))
        return sum(2 * int(numpy.prod(layer.kernel.shape)) for layer in dense)
    return sum(
        2 * int(numpy.prod(layer.output_shape[1:])) * _inner(layers, layer)
        for layer in network.layers
        if isinstance(layer, (layers.Conv2D, layers.DepthwiseConv2D, layers.Dense))
    )


def _inner(layers, layer) -> int:
    """Multiplications for one number of the output."""
    if isinstance(layer, layers.DepthwiseConv2D):
        return int(numpy.prod(layer.depthwise_kernel.shape[:2]))
    return int(numpy.prod(layer.kernel.shape[:-1]))


if __name__ == "__main__":
    main()
