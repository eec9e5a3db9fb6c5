"""What reference workloads share: arguments, sizes and refusals; and the facts of official scripts."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypedDict, Unpack

from evalsuite.contracts.adapter import INPUT_SIZES, Command, Recipe
from evalsuite.core.decode import whole
from evalsuite.core.messages import Message
from evalsuite.core.model import Case

# Facts that many official scripts share (`data/criteria/facts.toml`); adapters cite the lines at their recipes.
SGD = {"optimiser": "sgd", "clipping": "none", "weight_decay": "L2", "parallel_layout": "DP"}  # with momentum
IMAGES = {**SGD, "input_size": "224"}
IMAGENET = {**IMAGES, "data": "imagenet"}
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
SPLIT_TABLES = "DP, embedding tables split"
SPLIT_CLASSIFIER = "DP, classifier split"

REFERENCE_ENVIRONMENT = {
    # OpenMP threads sleep at a barrier: spinning slowed PyTorch from 0.12 to 12 s a step on two cores in other
    # use too. On idle cores sleeping cost at most 15 % in the one comparison made, at 64 pixels.
    "OMP_WAIT_POLICY": "PASSIVE",
}

REFERENCE_FACTS = {  # by `data/criteria/facts.toml`, for images
    "data": "synthetic",
    "optimiser": "sgd",
    "clipping": "none",
    "parallel_layout": "DP",
    "weight_decay": "L2",
}
BERT_LENGTH = {"sequence_length": ("128",)}  # of official BERT scripts
GPT2_POSITIONS = 1024  # rows of its position embeddings
BERT_POSITIONS = 512  # rows of its position embeddings
CIFAR10_SIZE = "32"
FACE_SIZE = "112"
WIDE_DEEP_FIELDS = "28 + 13"  # 28 ids and 13 numbers


class Own(TypedDict, total=False):
    """What the recipes of a framework have of their own."""

    command: Callable[[Case], Command]
    source: str
    dialect: str
    unsupported: Callable[[Case], str | None]


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
    if (whole(size) or 32) < 32:
        return Message("core.image_too_small", size=size)
    return None


def reference_on_one_device(case: Case, framework: str) -> str | None:
    if case.total_devices > 1:
        return Message("core.one_device", framework=framework)
    return reference_unsupported(case)


def reference_text_arguments(case: Case) -> tuple[str, ...]:
    """Of BERT and GPT-2, whose size ends the model's name: `bert_tiny`."""
    size = case.model.rpartition("_")[2]
    return reference_arguments(case, "--size", size, "--sequence-length", input_size(case, "sequence_length"))


def _needs_length(least: int, most: int, id: str) -> Callable[[Case], str | None]:
    def refusal(case: Case) -> str | None:
        length = input_size(case, "sequence_length")
        known = whole(length)
        fits = known is None or least <= known <= most
        return None if fits else Message(id, length=length, most=most)

    return refusal


reference_bert_unsupported = _needs_length(8, BERT_POSITIONS, "core.bert_length")
reference_gpt2_unsupported = _needs_length(2, GPT2_POSITIONS, "core.gpt2_length")


def reference_bert(resnet50: Recipe, **own: Unpack[Own]) -> tuple[Recipe, Recipe]:
    """BERT-Base and BERT-Tiny, like *resnet50* but for what is given."""
    ours = replace(replace(resnet50, unsupported=reference_bert_unsupported), **own)
    base, tiny = (
        replace(
            ours,
            name=f"reference-bert-{size}",
            model=f"bert_{size}",
            unit="sequences/s",
            options={"sequence_length": ()},
            facts={**resnet50.facts, "optimiser": "adam", "weight_decay": "decoupled"},
            equivalence=resnet50.equivalence if size == "tiny" else "",
        )
        for size in ("base", "tiny")
    )
    return base, tiny


def reference_gpt2(bert: Recipe, **own: Unpack[Own]) -> tuple[Recipe, Recipe]:
    """GPT-2 small and its two-layer variant, like *bert* but for what is given."""
    ours = replace(replace(bert, unsupported=reference_gpt2_unsupported), **own)
    small, tiny = (
        replace(ours, name=f"reference-gpt2-{size}", model=f"gpt2_{size}", equivalence=equivalence)
        for size, equivalence in (("124m", ""), ("tiny", bert.equivalence))
    )
    return small, tiny


def reference_wide_deep_arguments(case: Case) -> tuple[str, ...]:
    return reference_arguments(case, "--size", "tiny" if case.model.endswith("_tiny") else "full")


def reference_wide_deep(resnet50: Recipe, **own: Unpack[Own]) -> tuple[Recipe, Recipe]:
    """Wide & Deep on Criteo's fields and its variant for a CPU, like *resnet50* but for what is given."""
    full = replace(
        replace(replace(resnet50, unsupported=lambda case: None), **own),
        name="reference-wide-deep",
        model="wide_and_deep",
        unit="samples/s",
        options={},
        facts={**resnet50.facts, "optimiser": "adam", "weight_decay": "none", "input_size": WIDE_DEEP_FIELDS},
        equivalence="",
    )
    tiny = replace(full, name="reference-wide-deep-tiny", model="wide_and_deep_tiny", equivalence=resnet50.equivalence)
    return full, tiny


def reference_face_arguments(case: Case) -> tuple[str, ...]:
    return reference_arguments(case, "--size", case.model.removeprefix("face_"))


def reference_face(resnet50: Recipe, **own: Unpack[Own]) -> tuple[Recipe, Recipe, Recipe]:
    """IResNet-50, -100 and a small one with an ArcFace head, like *resnet50* but for what is given."""
    ours = replace(resnet50, **own)
    r50, r100, tiny = (
        replace(
            ours,
            name=f"reference-face-{size}",
            model=f"face_{size}",
            options={"image_size": (FACE_SIZE,)},
            equivalence=resnet50.equivalence if size == "tiny" else "",
        )
        for size in ("r50", "r100", "tiny")
    )
    return r50, r100, tiny


def split_face(whole: Recipe, command: Callable[[Case], Command], source: str) -> Recipe:
    """*whole* with a part of the head in each process. Proven by a test, not by a receipt."""
    return replace(
        whole,
        name=f"{whole.name}-split",
        command=command,
        source=source,
        facts={**whole.facts, "parallel_layout": SPLIT_CLASSIFIER},
        amp="",  # each process sees other gradients of the head, so a loss scale would have to be agreed on
        xla="",
        equivalence="",
    )


def reference_cifar10_arguments(case: Case) -> tuple[str, ...]:
    return reference_arguments(case, "--model", case.model.removesuffix("_cifar10"))


def reference_cifar10(
    resnet50: Recipe, command: Callable[[Case], Command], mobilenetv2_source: str
) -> tuple[Recipe, Recipe]:
    """ResNet-50 and MobileNetV2 on images of CIFAR-10's size, like *resnet50* but for what is given."""
    small = replace(resnet50, command=command, options={"image_size": (CIFAR10_SIZE,)})
    resnet50_small = replace(small, name="reference-resnet50-cifar10", model="resnet50_cifar10")
    mobilenetv2 = replace(small, name="reference-mobilenetv2-cifar10", model="mobilenetv2_cifar10")
    return resnet50_small, replace(mobilenetv2, source=mobilenetv2_source)


def reference_patterns(resnet50: Recipe, script: str) -> Recipe:
    """Ten patterns in noise, whose best accuracy is known; each repeat has a seed of its own."""

    def command(case: Case) -> Command:
        arguments = reference_arguments(case, "--seed", "{repeat}", "--scratch", "{scratch}/work")
        argv = ("{python}", f"{{workloads}}/{script}", *arguments)
        return Command(argv=argv, environment=REFERENCE_ENVIRONMENT)

    return replace(
        resnet50,
        name="reference-patterns",
        model="patterns_cifar10",
        command=command,
        dialect="reference_training",
        printed_by="rank0",
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


def host_reduced(plain: Recipe, command: Callable[[Case], Command], source: str) -> Recipe:
    """*plain* with its gradients copied to the host to be summed. Proven by a test, not by a receipt."""
    name = f"{plain.name}-host-reduce"
    return replace(plain, name=name, command=command, source=source, amp="", xla="", equivalence="")


def input_size(case: Case, name: str) -> str:
    return case.option(name, INPUT_SIZES[name])
