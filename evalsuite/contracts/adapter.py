"""The contract between an adapter and the engine. An adapter is a Python file that declares `ADAPTER`, in `adapters/`
or in a folder of `--adapters DIR`. It says *what* to run; launchers say *where*."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Literal

from evalsuite.contracts.dialect import Unit
from evalsuite.core.decode import Constraint, whole
from evalsuite.core.errors import EvalsuiteError, did_you_mean
from evalsuite.core.messages import Message
from evalsuite.core.model import Case, Device, Precision

MOST_WORDS = 10_000
Argument = Annotated[str, Constraint("process_argument", lambda text: "\0" not in text and len(text) < 1 << 17)]
Line = Annotated[tuple[Argument, ...], Constraint("few_words", lambda words: 0 < len(words) <= MOST_WORDS)]


@dataclass(frozen=True, kw_only=True)
class Command:
    """One command line for the node agent. Tokens may hold placeholders (`evalsuite.core.placeholders`): `{python}`."""

    argv: Line
    environment: Mapping[str, Argument] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    """Files that the script wants to be configured by: name → text, written into `{scratch}` before the start."""
    links: Mapping[str, str] = field(default_factory=dict)
    """For a script that reads files where it is started: name in `{scratch}` → "{data}/…" or "{checkout}/…"."""
    folder: str = ""  # where it is started, with the programs of its environment first; "": in `{scratch}`

    @property
    def tokens(self) -> tuple[str, ...]:
        return (*self.argv, *self.environment.values(), *self.files.values(), *self.links.values())


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Model × script: how a training script is launched."""

    name: str  # unique in the adapter: "reference-resnet50"
    model: str  # "resnet50_v1.5"
    unit: Unit = "images/s"
    dialect: str | None  # that the script prints, as `evalsuite adapters dialects` names it; None: each log shows it
    line: str = ""  # that the script prints for a step: a dialect of that name is made of this example
    command: Callable[[Case], Command]  # the same case gives the same command
    spawn: Literal["once", "per_node", "per_device"] = "per_node"
    """`once`: the command starts everything itself (mpirun, horovodrun). `per_node`: started on every node,
    it starts its own workers (torchrun). `per_device`: the node agent starts one process per device, with
    RANK, LOCAL_RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT set."""
    unsupported: Callable[[Case], str | None] = lambda case: None
    """Why this recipe cannot serve the case (one sentence), or None if it can."""
    requirements: tuple[str, ...] = ()  # exact pins, the framework's first
    requirements_gpu: tuple[str, ...] | None = ()
    """The same with GPUs, where they differ; None: no package index holds a wheel for GPUs."""
    other_wheels: tuple[tuple[str, ...], ...] = ()
    """Further pins for GPUs, in order, for devices that those wheels do not serve (`data/wheels.toml`)."""
    off_index: tuple[str, ...] = ()  # what it needs and no package index holds, by proper names: "APEX"
    python: str = "3.11"
    import_name: str = ""  # importing it proves the environment: "torch"
    package: str = ""  # its version is the framework's: "torch"; "": the imported or first one
    built: tuple[str, ...] = ()
    """Pins that are compiled against the first ones: installed after them, without build isolation and without
    pip's cache, which would hand back a Horovod that was built for another framework."""
    build_environment: Mapping[str, str] = field(default_factory=dict)
    build_environment_gpu: Mapping[str, str] = field(default_factory=dict)  # with GPUs, in addition
    without_dependencies: tuple[str, ...] = ()  # pins that are installed last, without what they ask for
    system: tuple[str, ...] = ()  # needed programs: ("mpirun",)
    system_gpu: tuple[str, ...] = ()  # with GPUs, in addition: ("nvcc",)
    kind: Literal["reference", "official"] = "official"
    checkout: str = ""  # a name in `data/repositories.toml`
    libraries: tuple[str, ...] = ()  # likewise: Python that the script imports and its image lacks, put on PYTHONPATH
    builds_in_checkout: bool = False
    """The script compiles a part of itself beside its sources: each run gets a copy of the repository to write in."""
    brought_by: Path | None = None  # the adapter's folder, where a `repositories.toml` may name more; set by `discover`
    options: Mapping[str, tuple[str, ...]] | None = None
    """Further axes: name → its values, the default first; () = any whole number. None: `unsupported` decides."""
    amp: str | None = ""  # "APEX O1"; "": there is none; None: `unsupported` decides
    precisions: tuple[Precision, ...] = ()  # that the script takes beside fp32 and amp
    xla: str | None = ""  # likewise the graph compiler
    features: tuple[str, ...] = ()
    """What the script runs on beside the framework, by proper names: "Horovod", "APEX". A data loader or a compiler
    that is an axis is added where the cases use it."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """What the script does that a fair comparison asks for and no log prints: optimiser, clipping, data, … by the
    names of `data/criteria/facts.toml`. What is not known is left out."""
    needs_gpu: str = ""  # why not on a CPU
    devices: tuple[Device, ...] = ("cpu", "gpu")  # "npu": an Ascend; "stand_in": only in a rehearsal
    step_bound: Literal["steps", "examples", "none"] = "steps"
    """How it is told to end: after N steps, N examples, or not at all (the runner ends it behind the window)."""
    epoch: Callable[[Case], int | str | None] = lambda case: None
    """Where the script ends, evaluates, saves or starts its loaders anew with a pass over its data, so that warm-up and
    window must lie in one: the data set (`data/data_sets.toml`), or the number of items that the script has built in.
    None: it counts steps, and nothing stands still between two passes."""
    scope: Literal["global", "per_device", "own"] | None = None
    """Whose rate the script prints, where its dialect cannot tell: the whole job's, one device's printed once for
    all, or each printer's own."""
    outside: str = ""  # how evaluation and checkpoints stay out of the measured steps
    made_by: str = ""  # what outside the command makes a condition that the case states: a command
    equivalence: str = ""
    """The program in the adapter's folder `workloads` that trains this workload from a given start, for
    `evalsuite equivalence`; "" = there is none."""
    source: str = ""  # of an official script or of the model
    commit: str = ""
    image: str = ""
    image_refusal: Callable[[Case, str], str | None] = lambda case, image: None  # why it cannot serve in another
    environment: Literal["container", "managed", "current"] | None = None  # a participant's; None: as asked for all
    interpreter: Path | None = None  # of an environment that somebody else has made, in place of a managed one
    participant: str | None = None  # whose it is: a title of the spec

    def command_of(self, case: Case) -> Command:
        """The command of *case*; asked for what `amp` is in this script, that of `amp`."""
        return self.command(self._switched(case))

    def _switched(self, case: Case) -> Case:
        is_amp = case.precision not in self.precisions and case.precision == exact_amp(self.amp, case.device)
        return replace(case, precision="amp") if is_amp else case

    def refusal(self, case: Case) -> str | None:
        case = self._switched(case)
        return _undeclared(self, case) or self.unsupported(case) or self.image_refusal(case, self.image)

    def meant(self, options: Iterable[tuple[str, str]], preset: Iterable[str] = ()) -> tuple[tuple[str, str], ...]:
        """The axes of a spec that concern this recipe. *preset*: axes of our own profiles, dropped where the recipe
        does not declare them. The sizes of input and GPT are always there, if need be the default: they are part of the
        case. A profile's gives way to the only one of a script."""
        declared = self.options or {}
        no_images = self.options is not None and self.unit != "images/s" and "image_size" not in declared
        # A recipe without an axis for the size trains at one size; another is refused.
        one_size = {"image_size"} if self.options is not None and not no_images else set()
        left_out = set(preset) - declared.keys() - one_size | ({"image_size"} if no_images else set())
        asked, own = dict(options).get("image_size"), declared.get("image_size")
        left_out |= {"image_size"} & set(preset) if own and asked not in own else set()
        given = {name: value for name, value in options if name not in left_out}
        sizes = {
            name: (*declared[name], default)[0]
            for name, default in {**INPUT_SIZES, **GPT_SIZES}.items()
            if name in declared
        }
        return tuple(sorted({**sizes, **given}.items()))

    def option(self, case: Case, name: str) -> str:
        return case.option(name) or (self.options or {})[name][0]

    def stated(self, case: Case) -> dict[str, str]:
        given = dict(case.options)
        left = {name: values[0] for name, values in (self.options or {}).items() if values and name not in given}
        return {**left, **self.facts}

    def variables_of_build(self, device: Device) -> dict[str, str]:
        return {**self.build_environment, **(self.build_environment_gpu if device == "gpu" else {})}

    def programs(self, device: Device) -> tuple[str, ...]:
        return (*self.system, *(self.system_gpu if device == "gpu" else ()))

    def pins(self, device: Device) -> tuple[str, ...]:
        if device == "gpu" and self.requirements_gpu != ():
            return self.requirements_gpu or ()
        return self.requirements


@dataclass(frozen=True, kw_only=True)
class Adapter:
    name: str  # for `--frameworks`: "pytorch"
    title: str  # as its makers write it: "PyTorch"
    recipes: tuple[Recipe, ...]

    def recipe(self, name: str) -> Recipe:
        recipes = {recipe.name: recipe for recipe in self.recipes}
        if name not in recipes:
            known = listed("recipes", name, recipes)
            raise EvalsuiteError.of("core.recipe_unknown", adapter=self.name, name=name, known=known)
        return recipes[name]


def exact_amp(amp: str | None, device: str) -> Precision | None:
    """What `amp` is on *device*, where *amp*, a recipe's words about its script, says so."""
    text = (amp or "").lower()
    if re.search(r"\bcast to float16", text):
        return "fp16"
    if text.startswith("bf16"):
        return "amp-bf16"
    if device == "cpu":
        return "amp-bf16" if "bfloat16 on cpu" in text else None
    return "amp-fp16" if re.search(r"(?<!b)float16|fp16|loss scal|apex o[12]", text) else None


def _undeclared(recipe: Recipe, case: Case) -> str | None:
    if case.device == "cpu" and recipe.needs_gpu:
        return recipe.needs_gpu
    if case.device not in recipe.devices:
        return Message("core.knows_no", name=recipe.name, kind=case.device.upper(), kinds=recipe.devices)
    if case.precision not in ("fp32", "amp", *recipe.precisions):
        known = [name for name in ("fp32", "amp", *recipe.precisions, exact_amp(recipe.amp, case.device)) if name]
        return Message("core.no_precision", name=recipe.name, precision=case.precision, known=known)
    if case.precision == "amp" and recipe.amp == "":
        return Message("core.no_amp", name=recipe.name)
    if case.xla and recipe.xla == "":
        return Message("core.no_xla", name=recipe.name)
    if recipe.options is None:
        return None
    return next((reason for axis in case.options if (reason := _option_refused(recipe, recipe.options, *axis))), None)


INPUT_SIZES = {"image_size": "224", "sequence_length": "128"}  # of recipes that take any
GPT_SIZES = {"num_layers": "24", "hidden_size": "1024"}  # likewise: 345 M


def _option_refused(recipe: Recipe, declared: Mapping[str, tuple[str, ...]], name: str, value: str) -> str | None:
    # official image scripts train at 224 without an argument for it
    if name == "image_size" and name not in declared and recipe.unit == "images/s":
        size = INPUT_SIZES[name]
        return None if value == size else Message("core.one_size", recipe=recipe.name, size=size)
    if name not in declared:
        known = Message("core.its_axes", names=sorted(declared)) if declared else Message("core.no_axes")
        return Message("core.no_further_axis", recipe=recipe.name, name=name, known=known)
    values = declared[name]
    if not values and not whole(value):
        return Message("core.option_whole", name=name, value=value)
    if values and value not in values:
        return Message("core.option_values", name=name, names=values, value=value)
    return None


def listed(what: str, name: str, known: Iterable[str]) -> str:
    known = sorted(known)
    hint = did_you_mean(name, sorted(known, key=len), cutoff=0.4)
    return Message("core.known", what=Message(f"core.{what}"), names=known, near=hint)
