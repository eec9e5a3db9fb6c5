"""What the reference workloads in `adapters/workloads` have in common: their arguments, sizes and refusals."""

from collections.abc import Callable
from dataclasses import replace

from evalsuite.adapter import INPUT_SIZES, Command, Recipe
from evalsuite.messages import Message
from evalsuite.model import Case
from evalsuite.recipe_facts import SPLIT_CLASSIFIER

REFERENCE_ENVIRONMENT = {
    # OpenMP threads sleep at a barrier and do not spin: spinning slowed PyTorch from 0.12 to 12 s a step on two
    # cores that something else was using too. On idle cores sleeping costs something as well: at most 15 % in the
    # one comparison made, at 64 pixels.
    "OMP_WAIT_POLICY": "PASSIVE",
}

REFERENCE_FACTS = {  # of `data/criteria/facts.toml`: what every reference workload on images does
    "data": "synthetic",
    "optimiser": "sgd",
    "clipping": "none",
    "parallel_layout": "DP",
    "weight_decay": "L2",
}


def reference_arguments(case: Case, *size: str) -> tuple[str, ...]:
    """The arguments that every reference workload in `adapters/workloads` takes; *size* is the input's, as words."""
    return (
        *("--device", case.device, "--threads", "{threads}"),
        *(
            "--batch-size",
            str(case.batch_per_device),
            *(size or ("--image-size", input_size(case, "image_size"))),
        ),
        *("--steps", str(case.protocol.total_steps), "--precision", case.precision),
        *(("--compile",) if case.xla else ()),
    )


def reference_unsupported(case: Case) -> str | None:
    """Why no reference workload can serve the case, beyond what its recipe declares."""
    size = input_size(case, "image_size")
    if size.isdigit() and int(size) < 32:
        return Message("core.image_too_small", size=size)
    return None


def reference_on_one_device(case: Case, framework: str) -> str | None:
    """The same of a workload in *framework* that trains in one process."""
    if case.total_devices > 1:
        return Message("core.one_device", framework=framework)
    return reference_unsupported(case)


def reference_bert_arguments(case: Case) -> tuple[str, ...]:
    """The arguments of the reference workloads that pre-train BERT; which of the two, the case's model says."""
    size = case.model.removeprefix("bert_")
    return reference_arguments(case, "--size", size, "--sequence-length", input_size(case, "sequence_length"))


def reference_bert_unsupported(case: Case) -> str | None:
    length = input_size(case, "sequence_length")
    if length.isdigit() and not 8 <= int(length) <= BERT_POSITIONS:
        return Message("core.bert_length", length=length, most=BERT_POSITIONS)
    return None


def reference_bert(
    resnet50: Recipe,
    *,
    command: Callable[[Case], Command],
    source: str,
    dialect: str | None = None,
    unsupported: Callable[[Case], str | None] = reference_bert_unsupported,
) -> tuple[Recipe, Recipe]:
    """BERT-Base and BERT-Tiny, declared as the framework's *resnet50* but for the input and what is given here."""
    base, tiny = (
        replace(
            resnet50,
            name=f"reference-bert-{size}",
            model=f"bert_{size}",
            unit="sequences/s",
            options={"sequence_length": ()},
            facts={**resnet50.facts, "optimiser": "adam", "weight_decay": "decoupled"},
            command=command,
            source=source,
            dialect=dialect or resnet50.dialect,
            unsupported=unsupported,
            equivalence=resnet50.equivalence if size == "tiny" else "",
        )
        for size in ("base", "tiny")
    )
    return base, tiny


def reference_gpt2_arguments(case: Case) -> tuple[str, ...]:
    """The arguments of the reference workloads that train GPT-2; which of the two, the case's model says."""
    size = case.model.removeprefix("gpt2_")
    return reference_arguments(case, "--size", size, "--sequence-length", input_size(case, "sequence_length"))


def reference_gpt2_unsupported(case: Case) -> str | None:
    length = input_size(case, "sequence_length")
    if length.isdigit() and not 2 <= int(length) <= GPT2_POSITIONS:
        return Message("core.gpt2_length", length=length, most=GPT2_POSITIONS)
    return None


def reference_gpt2(
    bert: Recipe,
    *,
    command: Callable[[Case], Command],
    source: str,
    unsupported: Callable[[Case], str | None] = reference_gpt2_unsupported,
) -> tuple[Recipe, Recipe]:
    """GPT-2 small and its two-layer variant, declared as the framework's *bert* but for what is given here."""
    small, tiny = (
        replace(
            bert,
            name=f"reference-gpt2-{size}",
            model=f"gpt2_{size}",
            command=command,
            source=source,
            unsupported=unsupported,
            equivalence=equivalence,
        )
        for size, equivalence in (("124m", ""), ("tiny", bert.equivalence))
    )
    return small, tiny


def reference_wide_deep_arguments(case: Case) -> tuple[str, ...]:
    """The arguments of the reference workloads that train Wide & Deep; which of the two, the case's model says."""
    return reference_arguments(case, "--size", "tiny" if case.model.endswith("_tiny") else "full")


def reference_wide_deep(
    resnet50: Recipe,
    *,
    command: Callable[[Case], Command],
    source: str,
    unsupported: Callable[[Case], str | None] = lambda case: None,
) -> tuple[Recipe, Recipe]:
    """Wide & Deep on Criteo's fields and its variant for a CPU, declared as the framework's *resnet50* but for this."""
    full = replace(
        resnet50,
        name="reference-wide-deep",
        model="wide_and_deep",
        unit="samples/s",
        options={},
        facts={**resnet50.facts, "optimiser": "adam", "weight_decay": "none", "input_size": WIDE_DEEP_FIELDS},
        command=command,
        source=source,
        unsupported=unsupported,
        equivalence="",
    )
    tiny = replace(full, name="reference-wide-deep-tiny", model="wide_and_deep_tiny", equivalence=resnet50.equivalence)
    return full, tiny


def reference_face_arguments(case: Case) -> tuple[str, ...]:
    """The arguments of the reference workloads that recognise faces; which of the three, the case's model says."""
    return reference_arguments(case, "--size", case.model.removeprefix("face_"))


def reference_face_unsupported(case: Case) -> str | None:
    size = case.option("image_size", FACE_SIZE)
    if size != FACE_SIZE:
        return Message("core.face_size", size=size, wanted=FACE_SIZE)
    return None


def reference_face(
    resnet50: Recipe,
    *,
    command: Callable[[Case], Command],
    source: str,
    unsupported: Callable[[Case], str | None] = reference_face_unsupported,
) -> tuple[Recipe, Recipe, Recipe]:
    """IResNet with an ArcFace head, of 50 and 100 layers and small, as the framework's *resnet50* but for this."""
    r50, r100, tiny = (
        replace(
            resnet50,
            name=f"reference-face-{size}",
            model=f"face_{size}",
            options={"image_size": (FACE_SIZE,)},
            command=command,
            source=source,
            unsupported=unsupported,
            equivalence=resnet50.equivalence if size == "tiny" else "",
        )
        for size in ("r50", "r100", "tiny")
    )
    return r50, r100, tiny


def split_face(whole: Recipe, command: Callable[[Case], Command], source: str) -> Recipe:
    """The same network as *whole* trains, each process with a part of the head. Proven by a test, not by a receipt."""
    return replace(
        whole,
        name=f"{whole.name}-split",
        command=command,
        source=source,
        facts={**whole.facts, "parallel_layout": SPLIT_CLASSIFIER},
        amp="",  # the loss scale would have to be agreed on: each process sees other gradients of the head
        xla="",
        equivalence="",
    )


def reference_cifar10_arguments(case: Case) -> tuple[str, ...]:
    """The arguments of the reference workloads on images as small as CIFAR-10's."""
    return reference_arguments(case, "--model", case.model.removesuffix("_cifar10"))


def reference_cifar10_unsupported(case: Case) -> str | None:
    size = case.option("image_size", CIFAR10_SIZE)
    if size != CIFAR10_SIZE:
        return Message("core.cifar10_size", size=size, wanted=CIFAR10_SIZE)
    return None


def reference_cifar10(
    resnet50: Recipe,
    command: Callable[[Case], Command],
    mobilenetv2_source: str,
    unsupported: Callable[[Case], str | None] = reference_cifar10_unsupported,
) -> tuple[Recipe, Recipe]:
    """ResNet-50 and MobileNetV2 on images as small as CIFAR-10's, declared as the framework's *resnet50*."""
    small = replace(
        resnet50,
        command=command,
        options={"image_size": (CIFAR10_SIZE,)},
        unsupported=unsupported,
    )
    return (
        replace(small, name="reference-resnet50-cifar10", model="resnet50_cifar10"),
        replace(
            small,
            name="reference-mobilenetv2-cifar10",
            model="mobilenetv2_cifar10",
            source=mobilenetv2_source,
        ),
    )


BERT_LENGTH = {"sequence_length": ("128",)}  # the axis of official BERT scripts, which are told this one
GPT2_POSITIONS = 1024  # rows of GPT-2's table of position embeddings
BERT_POSITIONS = 512  # rows of BERT's table of position embeddings
CIFAR10_SIZE = "32"
FACE_SIZE = "112"
WIDE_DEEP_FIELDS = "28 + 13"  # of a sample: 28 ids and 13 numbers


def input_size(case: Case, name: str) -> str:
    """The size of the input called *name* in INPUT_SIZES: the case's, or the default."""
    return case.option(name, INPUT_SIZES[name])
