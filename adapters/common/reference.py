"""What reference workloads share: arguments, sizes and refusals; and the facts of official scripts."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from evalsuite.contracts.adapter import INPUT_SIZES, Command, Recipe
from evalsuite.core.decode import whole
from evalsuite.core.messages import Message
from evalsuite.core.model import Case

# Facts that many official scripts share (`data/criteria/facts.toml`); adapters cite the lines at their recipes.
PLAIN = {"clipping": "none", "weight_decay": "none", "parallel_layout": "DP"}
SGD = {**PLAIN, "optimiser": "sgd", "weight_decay": "L2"}  # with momentum
IMAGES = {**SGD, "input_size": "224"}
IMAGENET = {**IMAGES, "data": "imagenet"}
TRAINING_IMAGES = 1_281_167  # of ImageNet; some scripts have it built in
"""Classification of images of 224 pixels, copies of the model exchanging gradients; IMAGENET reads them from files."""
FACES = {**SGD, "input_size": "112"}
# files of tokenised, mostly masked text; the text does not change the time
TEXT = {"weight_decay": "decoupled", "clipping": "1.0", "data": "text"}
ADAM = {**TEXT, "optimiser": "adam"}  # AdamW: the decay is another fact
LAMB = {**TEXT, "optimiser": "lamb"}
CLICKS = {"optimiser": "adam", "clipping": "none", "weight_decay": "none", "data": "criteo"}
"""Wide & Deep on Criteo's log of clicks."""
HOROVOD_ON_GPUS = {"HOROVOD_GPU_OPERATIONS": "NCCL"}
"""Of Horovod's build. Without it gradients go over MPI or Gloo, through the host's memory (install.rst:166)."""


def over_horovod(framework: Literal["TENSORFLOW", "PYTORCH", "MXNET"], recipe: Recipe, **own: Any) -> Recipe:
    """NCCL is looked for in HOROVOD_NCCL_HOME and in the system's places (install.rst:237)."""
    each = ("TENSORFLOW", "PYTORCH", "MXNET")
    wanted = {f"HOROVOD_WITH{'' if name == framework else 'OUT'}_{name}": "1" for name in each}
    return replace(
        recipe,
        python="3.8",
        features=("Horovod",),
        built=recipe.built or ("horovod==0.28.1",),
        build_environment={"HOROVOD_WITH_GLOO": "1", "HOROVOD_WITH_MPI": "1", **wanted},
        build_environment_gpu=HOROVOD_ON_GPUS,
        system=("mpirun", "mpicc", "cmake"),
        system_gpu=("nvcc",),
        **own,
    )


SPLIT_TABLES = "DP, embedding tables split"
SPLIT_CLASSIFIER = "DP, classifier split"

REFERENCE_ENVIRONMENT = {
    # OpenMP threads sleep at a barrier: spinning slowed PyTorch from 0.12 to 12 s a step on two cores in other
    # use too. On idle cores sleeping cost at most 15 % in the one comparison made, at 64 pixels.
    "OMP_WAIT_POLICY": "PASSIVE",
}

REFERENCE_FACTS = {**SGD, "data": "synthetic"}  # for images
BERT_LENGTH = {"sequence_length": ("128",)}  # of official BERT scripts
CIFAR10_SIZE = "32"


def reference_arguments(case: Case, *size: str) -> tuple[str, ...]:
    return (
        *("--device", case.device, "--threads", "{threads}"),
        *("--batch-size", str(case.batch_per_device)),
        *(size or ("--image-size", input_size(case, "image_size"))),
        *("--steps", str(case.protocol.total_steps), "--precision", case.precision),
        *(("--compile",) if case.xla else ()),
    )


def reference_unsupported(case: Case) -> str | None:
    size = input_size(case, "image_size")
    return Message("core.image_too_small", size=size) if (whole(size) or 32) < 32 else None


def reference_on_one_device(case: Case, framework: str) -> str | None:
    if case.total_devices > 1:
        return Message("core.one_device", framework=framework)
    return reference_unsupported(case)


def _needs_length(least: int, most: int, id: str) -> Callable[[Case], str | None]:
    def refusal(case: Case) -> str | None:
        length = input_size(case, "sequence_length")
        known = whole(length)
        fits = known is None or least <= known <= most
        return None if fits else Message(id, length=length, most=most)

    return refusal


Launch = Callable[[Case, str, tuple[str, ...]], Command]
"""How a framework starts a script of `workloads` with its arguments."""


def plainly(case: Case, script: str, arguments: tuple[str, ...]) -> Command:
    return Command(argv=("{python}", f"{{workloads}}/{script}", *arguments), environment=REFERENCE_ENVIRONMENT)


def reference_resnet50(framework: str, launch: Launch = plainly, **own: Any) -> Recipe:
    """That of *framework*; *own*: what is not the same in all."""
    script = f"{framework}_resnet50.py"
    shared: dict[str, Any] = {
        "command": lambda case: launch(case, script, reference_arguments(case)),
        "options": {"image_size": ()},
        "facts": REFERENCE_FACTS,
        "outside": "it neither evaluates nor saves",
        "unsupported": reference_unsupported,
        "source": f"adapters/workloads/{script}",
        "equivalence": f"{framework}_equivalence.py",
    }
    return Recipe(name="reference-resnet50", model="resnet50_v1.5", kind="reference", **{**shared, **own})


@dataclass(frozen=True, kw_only=True)
class Workload:
    """The recipes of one script: names of models, and in what they differ from ResNet-50's."""

    models: tuple[str, ...]
    arguments: Callable[[Case], tuple[str, ...]]
    unit: str = "images/s"
    options: Mapping[str, tuple[str, ...]]
    facts: Mapping[str, str] = field(default_factory=dict)
    unsupported: Callable[[Case], str | None] | None = None  # None: as of ResNet-50


def _text(names: tuple[str, ...], least: int, most: int, id: str) -> Workload:
    """BERT or GPT-2, whose size ends the model's name: `bert_tiny`."""

    def arguments(case: Case) -> tuple[str, ...]:
        size = ("--size", case.model.rpartition("_")[2], "--sequence-length", input_size(case, "sequence_length"))
        again = ("--recompute",) if case.option("recompute") == "on" else ()
        parted = [(f"--{name}", value) for name in ("accumulation", "fsdp") if (value := case.option(name))]
        return reference_arguments(case, *size, *again, *itertools.chain(*parted))

    return Workload(
        models=names,
        arguments=arguments,
        unit="sequences/s",
        options={"sequence_length": ()},
        facts={"optimiser": "adam", "weight_decay": "decoupled"},
        unsupported=_needs_length(least, most, id),
    )


WORKLOADS = {  # the end of the script's name → its recipes
    # rows of the position embeddings: 512 and 1024
    "bert": _text(("bert_base", "bert_tiny"), 8, 512, "core.bert_length"),
    "gpt2": _text(("gpt2_124m", "gpt2_tiny"), 2, 1024, "core.gpt2_length"),
    "llama": replace(
        _text(("llama_tiny",), 2, 2048, "core.gpt2_length"),
        unit="tokens/s",
        options={"sequence_length": (), "recompute": ("off", "on")},
        facts={
            "optimiser": "adam",
            "weight_decay": "decoupled",
            "accumulation": "1",
            "packing": "packed",
            "token_kind": "packed",
        },
    ),
    "face": Workload(
        models=("face_r50", "face_r100", "face_tiny"),
        arguments=lambda case: reference_arguments(case, "--size", case.model.removeprefix("face_")),
        options={"image_size": ("112",)},
    ),
    "wide_deep": Workload(
        models=("wide_and_deep", "wide_and_deep_tiny"),
        arguments=lambda case: reference_arguments(case, "--size", "tiny" if case.model.endswith("_tiny") else "full"),
        unit="samples/s",
        options={},
        facts={"optimiser": "adam", "weight_decay": "none", "input_size": "28 + 13"},  # ids and numbers
        unsupported=lambda case: None,
    ),
    "cifar10": Workload(
        models=("resnet50_cifar10", "mobilenetv2_cifar10"),
        arguments=lambda case: reference_arguments(case, "--model", case.model.removesuffix("_cifar10")),
        options={"image_size": (CIFAR10_SIZE,)},
    ),
}


def reference_recipes(
    framework: str,
    resnet50: Recipe,
    launch: Launch,
    workloads: Iterable[str] = ("bert", "gpt2", "face", "wide_deep", "cifar10"),
    *,
    sources: Mapping[str, str],
    refusal: Callable[[Case], str | None] = lambda case: None,
    laid: Iterable[str] = (),
) -> tuple[Recipe, ...]:
    """Those of *workloads*, like *resnet50* but for what each has of its own.

    *sources*: where a model is defined, by workload or model; else in `workloads`. *refusal*: what the framework
    refuses in all of them. *laid*: further axes of Llama.
    """
    return tuple(
        replace(
            resnet50,
            name=f"reference-{model.replace('_and', '').replace('_', '-')}",
            model=model,
            unit=workload.unit,
            command=_command(launch, f"{framework}_{name}", workload),
            options={**workload.options, **dict.fromkeys(laid if name == "llama" else (), ())},
            facts={**resnet50.facts, **workload.facts},
            unsupported=_refusal(refusal, workload.unsupported or resnet50.unsupported, _parts_refused),
            source=sources.get(model) or sources.get(name) or f"adapters/workloads/{framework}_{name}.py",
            equivalence=resnet50.equivalence if model.endswith(("_tiny", "_cifar10")) else "",
        )
        for name, workload in ((name, WORKLOADS[name]) for name in workloads)
        for model in workload.models
    )


def _parts_refused(case: Case) -> str | None:
    parts = whole(case.option("accumulation") or "1")
    said = Message("core.accumulation_divides", parts=parts, batch=case.batch_per_device)
    return said if parts and case.batch_per_device % parts else None


def _command(launch: Launch, script: str, workload: Workload) -> Callable[[Case], Command]:
    return lambda case: launch(case, f"{script}.py", workload.arguments(case))


def _refusal(*reasons: Callable[[Case], str | None]) -> Callable[[Case], str | None]:
    return lambda case: next((reason for each in reasons if (reason := each(case))), None)


def of_script(like: Iterable[Recipe], launch: Launch, script: str, suffix: str, **changes: Any) -> Iterator[Recipe]:
    """*like* by another script of the same workload, "pytorch_split_face". Proven by a test, not by a receipt."""
    for recipe in like:
        workload = next(each for each in WORKLOADS.values() if recipe.model in each.models)
        yield replace(
            recipe,
            name=f"{recipe.name}-{suffix}",
            command=_command(launch, script, workload),
            source=f"adapters/workloads/{script}.py",
            amp="",
            xla="",
            equivalence="",
            **changes,
        )


def reference_patterns(resnet50: Recipe, script: str) -> Recipe:
    """Ten patterns in noise, whose best accuracy is known; each repeat has a seed of its own."""

    def command(case: Case) -> Command:
        return plainly(case, script, reference_arguments(case, "--seed", "{repeat}", "--scratch", "{scratch}/work"))

    return replace(
        resnet50,
        name="reference-patterns",
        model="patterns_cifar10",
        command=command,
        dialect="reference_training",
        facts={**resnet50.facts, "weight_decay": "none"},
        options={"image_size": (CIFAR10_SIZE,)},
        amp="",
        xla="",
        spawn="per_node",
        outside="an evaluation and a checkpoint every ten steps",
        unsupported=lambda case: reference_on_one_device(case, "patterns"),
        source="adapters/workloads/patterns.py",
        equivalence="",
    )


def input_size(case: Case, name: str) -> str:
    return case.option(name, INPUT_SIZES[name])
