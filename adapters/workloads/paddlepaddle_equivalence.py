"""The PaddlePaddle workloads as `evalsuite equivalence` asks for them: the same parts, from a start that is given."""

import cifar10
import equivalence
import numpy
import paddle
import paddlepaddle_bert
import paddlepaddle_cifar10
import paddlepaddle_face
import paddlepaddle_gpt2
import paddlepaddle_llama
import paddlepaddle_loop
import paddlepaddle_resnet50
import paddlepaddle_wide_deep
from equivalence import Placed, Setting, Task, whole

paddle.set_device("cpu")
JOB = paddlepaddle_loop.Job(paddle, 0, 1)
SCRIPTS = {
    "resnet50_v1.5": paddlepaddle_resnet50,
    "resnet50_cifar10": paddlepaddle_cifar10,
    "mobilenetv2_cifar10": paddlepaddle_cifar10,
    "bert_tiny": paddlepaddle_bert,
    "gpt2_tiny": paddlepaddle_gpt2,
    "llama_tiny": paddlepaddle_llama,
    "wide_and_deep_tiny": paddlepaddle_wide_deep,
    "face_tiny": paddlepaddle_face,
}


def shapes(model: str) -> dict[str, tuple]:
    return {name: weight.shape for name, weight in _named(_network(model)).items()}


def _network(model: str):
    if (kind := equivalence.kind(model)) in equivalence.SIZED:
        return getattr(SCRIPTS[model], f"{kind}_model")(paddle, equivalence.size(model))
    if equivalence.is_small(model):
        return paddlepaddle_cifar10.model(paddle, model.removesuffix("_cifar10"), dropout=0.0)
    return paddlepaddle_resnet50.resnet50(paddle)


def _named(network) -> dict[str, Placed]:
    """Canonical name → weight. Dense weights lie as (in, out) here; queries, keys and values have one each."""
    dense = {f"{name}.weight" for name, layer in network.named_sublayers() if isinstance(layer, paddle.nn.Linear)}
    own = {name: weight for name, weight in network.named_parameters() if not weight.stop_gradient}
    found = {}
    for name, weight in own.items():
        layer, _, kind = name.rpartition(".")
        if layer.endswith("self_attn.q_proj"):
            pieces = tuple(own[f"{layer[:-6]}{part}_proj.{kind}"] for part in "qkv")
            found[f"{layer[:-6]}in_proj_{kind}"] = _joined(pieces)
        elif not layer.endswith(("self_attn.k_proj", "self_attn.v_proj")):
            turned = Placed(tuple(weight.shape[::-1]), (weight,), lambda array: [array.T])
            canonical = name.replace("._weight", ".weight")  # as PReLU calls its slopes
            found[canonical] = turned if name in dense else whole(weight, weight.shape)
    return found


def _joined(pieces) -> Placed:
    """Queries, keys and values as torch.nn.MultiheadAttention has them: below one another."""
    *wide, out = pieces[0].shape
    return Placed((3 * out, *wide), pieces, lambda array: [each.T for each in numpy.split(array, 3)])


def _started(task: Task, dtype: str):
    paddle.set_default_dtype(dtype)
    network = _network(task.model)
    for name, weight in _named(network).items():
        for piece, array in zip(weight.pieces, weight.laid(task.weights[name]), strict=True):
            piece.set_value(numpy.ascontiguousarray(array).astype(dtype))
    return network


def _inputs_and_loss(task: Task, dtype: str):
    script = SCRIPTS[task.model]
    if not equivalence.of_images(task.model):
        batch, more = equivalence.batch_of(task), () if equivalence.of_words(task.model) else (dtype,)
        return script.inputs_of(paddle, batch, *more), script.loss_of(paddle, batch)
    images = paddle.to_tensor(task.start["images"].astype(dtype))
    script = paddlepaddle_face if equivalence.kind(task.model) == "face" else paddlepaddle_resnet50
    return [images], script.loss_of(paddle, paddle.to_tensor(task.start["labels"]))


def _done(task: Task, setting: Setting) -> dict:
    network = _started(task, setting.dtype)
    inputs, loss_of = _inputs_and_loss(task, setting.dtype)
    optimiser = _optimiser(task.model, network, setting)
    loss_of(network(*inputs)).backward()
    norms = {
        name: equivalence.norm_of(piece.grad.numpy() for piece in weight.pieces)
        for name, weight in _named(network).items()
    }
    optimiser.clear_grad()
    step = _stepper(task, network, inputs, loss_of, optimiser)
    return equivalence.setting_done(setting, [float(step()) for _ in range(setting.steps)], norms)


def _stepper(task: Task, network, inputs, loss_of, optimiser):
    arguments = equivalence.arguments_of(task.model)
    if not equivalence.is_small(task.model):
        return paddlepaddle_loop.stepper(JOB, network, inputs, loss_of, optimiser, arguments)
    step, labels = paddlepaddle_cifar10.stepper(JOB, network, optimiser, arguments), task.start["labels"]
    return lambda: step(*inputs, paddle.to_tensor(labels), cifar10.Parts())


def _optimiser(model: str, network, setting: Setting):
    if equivalence.kind(model) == "wide_deep":
        return paddlepaddle_wide_deep.optimiser(paddle, network, setting.learning_rate)
    of_images = paddlepaddle_face if equivalence.kind(model) == "face" else paddlepaddle_resnet50
    made_by = paddlepaddle_bert if equivalence.of_words(model) else of_images
    return made_by.optimiser(paddle, network, setting.learning_rate, setting.weight_decay)


if __name__ == "__main__":
    modes = {"layout": "NCHW", "execution": "eager"}
    equivalence.run(
        *("paddlepaddle", paddle.__version__, shapes, _done), scripts=SCRIPTS, timed=paddlepaddle_loop.TIMED, **modes
    )
