"""The TensorFlow workloads as `evalsuite equivalence` asks for them: the same parts, from a start that is given."""

import functools

import cifar10
import common
import equivalence
import tensorflow_bert
import tensorflow_cifar10
import tensorflow_face
import tensorflow_gpt2
import tensorflow_loop
import tensorflow_mobilenetv2
import tensorflow_names
import tensorflow_resnet50
import tensorflow_wide_deep
from equivalence import Setting, Task

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
    modes = {"layout": "NHWC", "execution": "graph"}
    parts = functools.partial(_shapes, job), functools.partial(_done, job)
    equivalence.run(*("tensorflow", job.tf.__version__, *parts), scripts=SCRIPTS, timed=tensorflow_loop.TIMED, **modes)


def _shapes(job, model: str) -> dict[str, tuple]:
    network = _network(job, model)
    if not equivalence.of_images(model):  # a call makes the variables
        batch = equivalence.SIZED[equivalence.kind(model)].batch(equivalence.arguments_of(model), 0)
        network(*SCRIPTS[model].inputs_of(job.tf, batch, *(() if equivalence.of_words(model) else ("float32",))))
    return {name: weight.shape for name, weight in tensorflow_names.named(network).items()}


def _network(job, model: str):
    if (kind := equivalence.kind(model)) in equivalence.SIZED:
        return getattr(SCRIPTS[model], f"{kind}_model")(job.tf, equivalence.size(model))
    if model == "mobilenetv2_cifar10":
        return tensorflow_mobilenetv2.mobilenetv2(job.tf, equivalence.IMAGE_SIZE, cifar10.CLASSES, dropout=0.0)
    classes = cifar10.CLASSES if equivalence.is_small(model) else common.CLASSES
    return tensorflow_resnet50.resnet50(job.tf, equivalence.IMAGE_SIZE, classes)


def _parts(job, task: Task, setting: Setting):
    tf, arguments = job.tf, equivalence.arguments_of(task.model)
    rates = setting.learning_rate, setting.weight_decay
    script = SCRIPTS[task.model]
    if not equivalence.of_images(task.model):
        batch, loss_of = equivalence.batch_of(task), script.loss_of_batch
        if equivalence.of_words(task.model):
            optimiser = tensorflow_bert.optimiser_of(tf, arguments, *rates)
            return script.inputs_of(tf, batch), loss_of(job, batch), optimiser
        optimiser = tensorflow_wide_deep.adam(tf, arguments, setting.learning_rate)
        return script.inputs_of(tf, batch, setting.dtype), loss_of(job, batch), optimiser
    images = tf.constant(task.start["images"].transpose(0, 2, 3, 1), setting.dtype)
    if equivalence.kind(task.model) == "face":
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


if __name__ == "__main__":
    main()
