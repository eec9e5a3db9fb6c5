"""What an adapter says: the contract between a framework's module in `adapters/` and the engine.

An adapter is a Python file with a name `ADAPTER`. It says *what* to run; engines say *where*. It is found
because it lies in `adapters/` or in a folder given with `--adapters DIR`.
"""

import importlib.util
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from evalsuite import paths
from evalsuite.errors import EvalsuiteError, did_you_mean
from evalsuite.model import Case, Device


@dataclass(frozen=True, kw_only=True)
class Command:
    """One command line as the node agent starts it.

    Tokens may hold placeholders, `{python}` or `{nodes}` for example: `evalsuite.placeholders` lists them. The plan
    fills some, the node agent the rest.
    """

    argv: tuple[str, ...]
    environment: Mapping[str, str] = None  # type: ignore[assignment]
    files: Mapping[str, str] = field(default_factory=dict)
    """Files that the script wants to be configured by: name → text, written into `{scratch}` before the start."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "environment", dict(self.environment or {}))


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Model × script: how one training script is launched and what its printed number means."""

    name: str  # "reference-resnet50"; unique inside the adapter
    model: str  # "resnet50_v1.5"
    unit: str = "images/s"
    dialect: str  # the log dialect that the script prints
    command: Callable[[Case], Command]  # pure: the same case gives the same command
    spawn: Literal["once", "per_node", "per_device"] = "per_node"
    """`once`: the command starts everything itself (mpirun, horovodrun). `per_node`: started on every node,
    it starts its own workers (torchrun). `per_device`: the node agent starts one process per device, with
    RANK, LOCAL_RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT set."""
    unsupported: Callable[[Case], str | None] = lambda case: None
    """Why this recipe cannot serve the case (one sentence), or None if it can."""
    requirements: tuple[str, ...] = ()  # exact pins for the virtual environment, the framework's first
    requirements_gpu: tuple[str, ...] = ()  # the same for a machine with GPUs, where they differ
    python: str = "3.11"
    import_name: str = ""  # the module whose import proves that the environment works: "torch"
    package: str = ""  # the distribution whose version names the framework: "torch"
    built: tuple[str, ...] = ()
    """Pins that are compiled against the first ones: installed after them, without build isolation and without
    pip's cache, which would hand back a Horovod that was built for another framework."""
    build_environment: Mapping[str, str] = field(default_factory=dict)  # for that build
    system: tuple[str, ...] = ()  # programs that must be on the machine: ("mpirun",)
    kind: Literal["reference", "official"] = "official"
    checkout: str = ""  # the official repository at its pinned commit: a name in `data/models.toml`
    brought_by: Path | None = None  # the folder of the adapter, where a `models.toml` may name more; set by `discover`
    options: Mapping[str, tuple[str, ...]] | None = None
    """Further axes: name → the values it takes, the default first; () = any whole number. None: `unsupported`
    decides."""
    amp: str | None = None  # what "amp" is here: "APEX O1"; "" = there is none; None: `unsupported` decides
    xla: str | None = None  # likewise the graph compiler
    needs_gpu: str = ""  # why the script cannot train on a CPU
    batch_scope: Literal["device", "node", "global", "tokens"] = "device"  # what the script's own flag counts
    step_bound: Literal["steps", "examples", "none"] = "steps"
    """How the script is told to end: after steps, after so many examples, or not at all: then the runner ends
    it when the last measured step has been seen."""
    scope: Literal["global", "per_device", "own"] | None = None
    """Whose rate the script prints, where its dialect cannot tell: the whole job's, one device's printed once for
    all, or each printer's own."""
    printed_by: Literal["rank0", "last_rank", "every_rank", "every_node"] = "rank0"
    outside: str = ""  # how evaluation and checkpoints are kept out of the measured steps
    source: str = ""  # repository of an official script, or of the model definition
    commit: str = ""
    image: str = ""  # container image, where there is one

    def refusal(self, case: Case) -> str | None:
        """Why this recipe cannot serve *case*, from what it declares and from its own `unsupported`."""
        return _undeclared(self, case) or self.unsupported(case)

    def meant(self, options: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
        """The axes of a spec that say something about this recipe: an image size says nothing about words.

        The size of an input is always said, the recipe's default where the spec has none: it is part of the case.
        """
        declared = self.options or {}
        no_images = self.options is not None and self.unit != "images/s" and "image_size" not in declared
        given = {name: value for name, value in options if not (no_images and name == "image_size")}
        sizes = {name: (*declared[name], default)[0] for name, default in INPUT_SIZES.items() if name in declared}
        return tuple(sorted({**sizes, **given}.items()))

    def option(self, case: Case, name: str) -> str:
        """The value of the axis *name*: the case's, or the recipe's default."""
        return case.option(name) or self.options[name][0]

    def pins(self, device: Device) -> tuple[str, ...]:
        """The exact pins of the virtual environment for that kind of device."""
        return self.requirements_gpu if device == "gpu" and self.requirements_gpu else self.requirements


@dataclass(frozen=True, kw_only=True)
class Adapter:
    """One framework."""

    name: str  # "pytorch": what `--frameworks` takes
    title: str  # "PyTorch": how its makers write it
    recipes: tuple[Recipe, ...]

    def recipe(self, name: str) -> Recipe:
        for recipe in self.recipes:
            if recipe.name == name:
                return recipe
        known = [recipe.name for recipe in self.recipes]
        raise EvalsuiteError(f'adapter {self.name}: unknown recipe "{name}"; {_known("recipes", name, known)}')


REFERENCE_ENVIRONMENT = {
    # OpenMP threads sleep at a barrier and do not spin: spinning slowed PyTorch from 0.12 to 12 s a step on two
    # cores that something else was using too. On idle cores sleeping costs something as well: at most 15 % in the
    # one comparison made, at 64 pixels.
    "OMP_WAIT_POLICY": "PASSIVE",
}


def input_size(case: Case, name: str) -> str:
    """The size of the input called *name* in INPUT_SIZES: the case's, or the default."""
    return case.option(name, INPUT_SIZES[name])


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
        return f"image_size {size} is too small for ResNet-50, which divides it by 32."
    return None


def reference_bert_arguments(case: Case) -> tuple[str, ...]:
    """The arguments of the reference workloads that pre-train BERT; which of the two, the case's model says."""
    size = case.model.removeprefix("bert_")
    return reference_arguments(case, "--size", size, "--sequence-length", input_size(case, "sequence_length"))


def reference_bert_unsupported(case: Case) -> str | None:
    length = input_size(case, "sequence_length")
    if length.isdigit() and not 8 <= int(length) <= BERT_POSITIONS:
        return f"sequence_length {length} is outside BERT's 8 to {BERT_POSITIONS} positions."
    return None


def reference_bert(resnet50: Recipe, **differing) -> tuple[Recipe, Recipe]:
    """BERT-Base and BERT-Tiny, declared as the framework's *resnet50* but for the input and what is *differing*."""
    declared = {
        "unit": "sequences/s",
        "options": {"sequence_length": ()},
        "unsupported": reference_bert_unsupported,
        **differing,
    }
    base, tiny = (replace(resnet50, model=f"bert_{size}", **declared) for size in ("base", "tiny"))
    return replace(base, name="reference-bert-base"), replace(tiny, name="reference-bert-tiny")


def reference_cifar10_arguments(case: Case) -> tuple[str, ...]:
    """The arguments of the reference workloads on images as small as CIFAR-10's."""
    return reference_arguments(case, "--model", case.model.removesuffix("_cifar10"))


def reference_cifar10(
    resnet50: Recipe, command: Callable[[Case], Command], mobilenetv2_source: str
) -> tuple[Recipe, Recipe]:
    """ResNet-50 and MobileNetV2 on images as small as CIFAR-10's, declared as the framework's *resnet50*."""
    small = replace(
        resnet50,
        command=command,
        options={"image_size": (CIFAR10_SIZE,)},
        unsupported=reference_cifar10_unsupported,
    )
    return (
        replace(small, name="reference-resnet50-cifar10", model="resnet50_cifar10"),
        replace(small, name="reference-mobilenetv2-cifar10", model="mobilenetv2_cifar10", source=mobilenetv2_source),
    )


def reference_cifar10_unsupported(case: Case) -> str | None:
    size = case.option("image_size", CIFAR10_SIZE)
    if size != CIFAR10_SIZE:
        return f"image_size {size} is not CIFAR-10's, whose images are {CIFAR10_SIZE} pixels high and wide."
    return None


def _undeclared(recipe: Recipe, case: Case) -> str | None:
    """The first axis of *case* that *recipe* says it has not, as a sentence."""
    if case.device == "cpu" and recipe.needs_gpu:
        return recipe.needs_gpu
    if case.precision == "amp" and recipe.amp == "":
        return f"The script of {recipe.name} has no AMP at this commit."
    if case.xla and recipe.xla == "":
        return f"The script of {recipe.name} has no XLA and no graph compiler of its own at this commit."
    if recipe.options is None:
        return None
    return next((reason for axis in case.options if (reason := _option_refused(recipe, *axis))), None)


INPUT_SIZES = {"image_size": "224", "sequence_length": "128"}  # of recipes that take any
BERT_LENGTH = {"sequence_length": ("128",)}  # the axis of official BERT scripts, which are told this one
BERT_POSITIONS = 512  # rows of BERT's table of position embeddings
CIFAR10_SIZE = "32"


def _option_refused(recipe: Recipe, name: str, value: str) -> str | None:
    # The official scripts of image models train at 224 without an argument for it.
    if (name, value) == ("image_size", INPUT_SIZES["image_size"]) and recipe.unit == "images/s":
        return None
    if name not in recipe.options:
        known = f"its axes are {', '.join(sorted(recipe.options))}" if recipe.options else "it has no further axes"
        return f"The script of {recipe.name} has no axis {name}; {known}."
    values = recipe.options[name]
    if not values and not (value.isdigit() and int(value)):
        return f"{name}={value} is no whole number of at least 1."
    if values and value not in values:
        return f"{name} takes {', '.join(values)}, and not {value}."
    return None


def discover(folders: Iterable[Path] = ()) -> dict[str, Adapter]:
    """All adapters by name: those of the house and those in *folders*. A later folder wins.

    Two modules of one folder may speak for the same framework (`pytorch.py`, `pytorch_official.py`): then the
    adapter has the recipes of both.
    """
    found = {}
    for folder in (paths.ADAPTERS, *folders):
        if not Path(folder).is_dir():
            raise EvalsuiteError(f"{folder}: there is no such folder; --adapters takes a folder of adapter modules.")
        found |= _of_folder(Path(folder))
    return found


def _of_folder(folder: Path) -> dict[str, Adapter]:
    found: dict[str, Adapter] = {}
    for file in sorted(folder.glob("[!_]*.py")):
        adapter = _brought(load(file), folder)
        before = found[adapter.name].recipes if adapter.name in found else ()
        found[adapter.name] = replace(adapter, recipes=(*before, *adapter.recipes))
    return found


def _brought(adapter: Adapter, folder: Path) -> Adapter:
    return replace(adapter, recipes=tuple(replace(recipe, brought_by=folder) for recipe in adapter.recipes))


def load(file: Path) -> Adapter:
    """The adapter in *file*. Raises EvalsuiteError if the file declares none."""
    spec = importlib.util.spec_from_file_location(f"evalsuite_adapter_{file.stem}", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    adapter = getattr(module, "ADAPTER", None)
    if not isinstance(adapter, Adapter):
        raise EvalsuiteError(
            f"{file}: the module has no ADAPTER = Adapter(…); see docs/adding-a-framework.md for one that works."
        )
    return adapter


def chosen(names: Iterable[str], adapters: Mapping[str, Adapter]) -> list[Adapter]:
    """The adapters of *names*, in that order. Raises EvalsuiteError on an unknown name, with the nearest one."""
    return [_adapter(name, adapters) for name in names]


def _adapter(name: str, adapters: Mapping[str, Adapter]) -> Adapter:
    if name in adapters:
        return adapters[name]
    raise EvalsuiteError(f'--frameworks: unknown framework "{name}"; {_known("frameworks", name, adapters)}')


def _known(what: str, name: str, known: Iterable[str]) -> str:
    known = sorted(known)
    hint = did_you_mean(name, known, cutoff=0.4)
    return f"the {what} are {', '.join(known)}.{hint}"
