"""What proves that the workloads of several frameworks compute the same: one start, a few steps, what came of them.

Standard library and NumPy. `evalsuite equivalence` starts one `<framework>_equivalence.py` after the other, each in its
own environment. The first to come writes the start: weights by their canonical names (those of torchvision and
torch.nn, in PyTorch's layout) and one batch; all the others read it. Each then trains a few steps with the code that
the workload trains with, and writes its answer: losses, the norm of each gradient, what was counted.
"""

import argparse
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace

import bert
import cifar10
import common
import face
import gpt2
import llama
import numpy
import wide_deep

STEPS = 3
ALIKE = 1e-9  # of losses of one framework, laid out otherwise; measured: 2e-16
IMAGE_SIZE = 64
IMAGES = 4  # in the batch: with fewer, batch norm over the last 2×2 maps amplifies every rounding
SEQUENCE_LENGTH = 16
SEQUENCES = 2
SAMPLES = 16  # of clicks
MODELS = (
    *("resnet50_v1.5", "resnet50_cifar10", "mobilenetv2_cifar10"),
    *("bert_tiny", "gpt2_tiny", "llama_tiny", "wide_and_deep_tiny", "face_tiny"),
)
SIZED = {"gpt2": gpt2, "llama": llama, "bert": bert, "wide_deep": wide_deep, "face": face}  # by kind of model


@dataclass(frozen=True)
class Setting:
    """How the steps are done: the workload's own rates, or those of a probe that shows how decay enters."""

    name: str
    dtype: str
    learning_rate: float
    weight_decay: float
    steps: int = STEPS


@dataclass(frozen=True)
class Task:
    """One model of one framework as it is about to be proven."""

    model: str
    start: Mapping[str, numpy.ndarray]

    @property
    def weights(self) -> dict[str, numpy.ndarray]:
        return {name[2:]: array for name, array in self.start.items() if name.startswith("w/")}


@dataclass(frozen=True)
class Placed:
    """A canonical weight as it lies in a framework: in one piece or several, each laid out as the framework has it."""

    shape: tuple[int, ...]  # the canonical one
    pieces: tuple[object, ...]  # the framework's own
    laid: Callable[[numpy.ndarray], list[numpy.ndarray]]  # the canonical array → an array for each piece


def whole(piece, shape) -> Placed:
    """A weight that lies as the canonical one does."""
    return Placed(tuple(int(side) for side in shape), (piece,), lambda array: [array])


def norm_of(arrays) -> float:
    """The norm of a gradient that lies in pieces."""
    return float(numpy.sqrt(sum(numpy.linalg.norm(numpy.asarray(each, "float64").ravel()) ** 2 for each in arrays)))


def kind(model: str) -> str:
    return model.replace("_and_", "_").rpartition("_")[0]


def size(model: str):
    """Of one that has several, and without dropout."""
    found = SIZED[kind(model)].SIZES[size_of(model)]
    return replace(found, dropout=0.0) if hasattr(found, "dropout") else found


def is_small(model: str) -> bool:
    """Whether the workload's images have 32×32 pixels and its steps are timed in parts."""
    return model.endswith("_cifar10")


def of_words(model: str) -> bool:
    """Whether its items are sequences and its optimiser AdamW."""
    return kind(model) in ("bert", "gpt2", "llama")


def of_images(model: str) -> bool:
    """Whether its items are images and its optimiser SGD with momentum."""
    return not of_words(model) and kind(model) != "wide_deep"


def settings(model: str) -> tuple[Setting, ...]:
    own, probe = (common.LEARNING_RATE, common.WEIGHT_DECAY), (1e-2, 5e-2)
    if model == "resnet50_cifar10":  # MXNet keeps its rates in float32: this probe tells a rounded rate from another
        probe = (2**-7, 2**-4)
    if of_words(model):
        own, probe = (bert.LEARNING_RATE, bert.WEIGHT_DECAY), (1e-3, 1.0)
    if kind(model) == "face":
        own, probe = (face.LEARNING_RATE, face.WEIGHT_DECAY), (1e-5, 50.0)
    if kind(model) == "wide_deep":  # Adam
        own, probe = (wide_deep.LEARNING_RATE, 0.0), (1e-2, 0.0)
    undecayed = Setting("undecayed", "float64", own[0], 0.0)  # tells decay from the optimiser's own step
    return (
        *(Setting("own", "float64", *own), Setting("probe", "float64", *probe), *([undecayed] if own[1] else [])),
        Setting("float32", "float32", *own, steps=1),
    )


def arguments_of(model: str) -> argparse.Namespace:
    """As the workload would be given them."""
    return argparse.Namespace(
        batch_size=SEQUENCES if of_words(model) else IMAGES if of_images(model) else SAMPLES,
        sequence_length=SEQUENCE_LENGTH,
        image_size=face.IMAGE_SIZE if kind(model) == "face" else IMAGE_SIZE,
        steps=STEPS,
        precision="fp32",
        compile=False,
        device="cpu",
        threads=1,
        hosts="",
        model=model.removesuffix("_cifar10"),
        size=size_of(model),
        recompute=False,
        accumulation=1,
        fsdp=1,
    )


def size_of(model: str) -> str:  # of `--size`: "tiny"
    return model.rpartition("_")[2]


def run(
    framework: str,
    version: str,
    shapes: Callable[[str], Mapping[str, tuple]],
    done: Callable[[Task, Setting], dict],
    *,
    scripts: Mapping[str, object],
    timed: Sequence[str],
    layout: str,
    execution: str,
    dtypes: Sequence[str] = ("float64", "float32"),
    further: Callable[[Task, list[dict]], Mapping[str, str]] = lambda task, settings: {},
) -> None:
    """The whole of a `<framework>_equivalence.py`.

    *shapes* gives the trainable weights of a model by canonical names, *done* trains one setting from the start.
    *scripts*: by model the module of its workload; *timed*: what that does between two readings of its clock; *layout*
    of images, *execution* and what is *further* to be declared may differ.
    """
    common.limit_threads(1)  # before the framework is imported
    parser = argparse.ArgumentParser(description=f"Trains a workload of {framework} for `evalsuite equivalence`.")
    parser.add_argument("--model", choices=MODELS, required=True)
    parser.add_argument("--start", required=True, help="the .npz of the start; made if there is none")
    parser.add_argument("--answer", required=True, help="the .json to write")
    asked = parser.parse_args()
    own = {name: tuple(int(side) for side in shape) for name, shape in shapes(asked.model).items()}
    if not os.path.exists(asked.start):
        _write_start(asked.start, asked.model, own)
    with numpy.load(asked.start) as file:
        task = Task(asked.model, dict(file))
    check_names(task.weights, own)
    trained = [done(task, setting) for setting in settings(asked.model) if setting.dtype in dtypes]
    document = {
        "schema": 1,  # of evalsuite/runs/equivalence.py, WorkloadAnswer
        "framework": framework,
        "version": version,
        "model": asked.model,
        "script": os.path.basename(scripts[asked.model].__file__),
        "settings": trained,
        "parameters": {name: "x".join(map(str, shape)) for name, shape in sorted(own.items())},
        "timed": [*(cifar10.TIMED if is_small(asked.model) else timed)],
        "modes": {
            **({"layout": layout} if of_images(asked.model) else {}),
            **{"execution": execution, **further(task, trained)},
        },
    }
    with open(f"{asked.answer}.part", "w") as file:
        json.dump(document, file, indent=1)
    os.replace(f"{asked.answer}.part", asked.answer)


def setting_done(setting: Setting, losses: list[float], norms: Mapping[str, float]) -> dict:
    """One setting as the answer holds it. *norms* are of the gradients of the first step, without decay."""
    return {
        "name": setting.name,
        "dtype": setting.dtype,
        "learning_rate": setting.learning_rate,
        "weight_decay": setting.weight_decay,
        "losses": [common.finite(loss, step) for step, loss in enumerate(losses, 1)],
        "gradient_norms": dict(sorted(norms.items())),
    }


def proven_alike(losses: Sequence[float], variants: Mapping[str, Sequence[float]]) -> str:
    """*variants* of a workload with the distance of their losses in float64 from the plain one's, if it is small."""
    apart = {
        name: max(abs(ours / theirs - 1) for ours, theirs in zip(losses, found, strict=True))
        for name, found in variants.items()
    }
    if wrong := [name for name, distance in apart.items() if not distance < ALIKE]:
        sys.exit(f"{wrong[0]}: losses {variants[wrong[0]]} in place of {losses}, apart by more than {ALIKE:.0e}")
    return ", ".join(f"{name}: {distance:.0e}" for name, distance in apart.items())


def check_names(weights: Mapping[str, numpy.ndarray], here: Mapping[str, tuple]) -> None:
    """Ends the process where the model has other weights than the start."""
    there = {name: array.shape for name, array in weights.items()}
    apart = sorted(name for name in here.keys() | there.keys() if here.get(name) != there.get(name))
    if apart:
        told = ", ".join(f"{name} {there.get(name)} → {here.get(name)}" for name in apart[:5])
        sys.exit(f"the model has other weights than the start, {len(apart)} of them: {told}")


def batch_of(task: Task):
    """The batch in the start of what is no image: of the workload's own class."""
    of_kind = type(SIZED[kind(task.model)].batch(arguments_of(task.model), 0))
    return of_kind(**{each.name: task.start[each.name].tolist() for each in fields(of_kind)})


def _write_start(file: str, model: str, shapes: Mapping[str, tuple]) -> None:
    chance = numpy.random.default_rng(common.SEED)
    found = {f"w/{name}": _weight(chance, name, shapes[name], model) for name in sorted(shapes)}
    numpy.savez(f"{file}.part.npz", **found, **_batch(chance, model))
    os.replace(f"{file}.part.npz", file)


def _weight(chance, name: str, shape: tuple, model: str) -> numpy.ndarray:
    """Random also where a script would start from 0 or 1, so that no two tensors can be taken for each other."""
    noise = chance.standard_normal(shape)
    if len(shape) == 1:
        return 0.1 * noise + (1.0 if name.endswith("weight") else 0.0)
    if of_words(model):
        return bert.DEVIATION * noise
    return noise * numpy.sqrt(2.0 / numpy.prod(shape[1:]))


def _batch(chance, model: str) -> dict[str, numpy.ndarray]:
    arguments = arguments_of(model)
    if not of_images(model):
        made = SIZED[kind(model)].batch(arguments, 0)
        return {name: numpy.array(rows) for name, rows in vars(made).items()}
    classes = 10 if is_small(model) else common.CLASSES  # of faces: as many identities in the small size
    shape = (arguments.batch_size, 3, arguments.image_size, arguments.image_size)
    return {"images": chance.standard_normal(shape), "labels": chance.integers(classes, size=shape[0])}
