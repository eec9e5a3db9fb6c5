"""A training script declared in TOML: a `[[participant]]` with a `command`, which becomes an adapter with one recipe.
It lies in a spec, or in a file of its own for `--adapters` (docs/adding-a-framework.md)."""

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from evalsuite.contracts.adapter import INPUT_SIZES, Adapter, Command, Recipe
from evalsuite.contracts.dialect import Unit
from evalsuite.core import files, placeholders, redaction
from evalsuite.core.decode import Constraint, From, Mistake, Word, decode, message, read_toml, refusal
from evalsuite.core.errors import EvalsuiteError, did_you_mean
from evalsuite.core.messages import Message, message_of
from evalsuite.core.model import UNKNOWN, Case, Device, Precision

EXAMPLE = "docs/adding-a-framework.md"
TITLE = re.compile(r"[A-Za-z0-9][A-Za-z0-9 .+-]{0,39}", re.ASCII)
TORCHRUN = (
    "{python} -m torch.distributed.run --nnodes {nodes} --node_rank {node_rank} --nproc_per_node {devices_per_node}"
    " --master_addr {master_addr} --master_port {master_port}"
)
PLACEHOLDERS: Mapping[str, Callable[[Case], object]] = {  # of a case; what they say: docs/adding-a-framework.md
    "nodes": lambda case: case.nodes,
    "devices_per_node": lambda case: case.devices_per_node,
    "total_devices": lambda case: case.total_devices,
    "batch_per_device": lambda case: case.batch_per_device,
    "global_batch": lambda case: case.global_batch,
    "steps": lambda case: case.protocol.total_steps,
    "last_step": lambda case: case.protocol.total_steps - 1,
    "warmup_steps": lambda case: case.protocol.warmup_steps,
    "precision": lambda case: case.precision,
    "device": lambda case: "cuda" if case.device == "gpu" else case.device,
    "xla": lambda case: "on" if case.xla else "off",
}
BY_ENGINE = {name.strip("{}") for name in (*placeholders.BY_PLAN, *placeholders.BY_AGENT)}
AXES = {  # axis → what in a command passes it on
    "batch_per_device": {"batch_per_device", "global_batch"},
    "devices_per_node": {"devices_per_node", "total_devices", "torchrun", "processes_per_node", "hosts_slots"},
    "nodes": {"nodes", "total_devices", "torchrun", "node_rank", "hosts", "hosts_slots", "hosts_ports", "master_addr"},
    "precision": {"precision"},
}
PRECISIONS = tuple(name for name in get_args(Precision) if name != UNKNOWN)
BUILT_IN = {"devices_per_node": "1", "nodes": "1", "precision": "fp32"}  # of a command that does not pass it on
VARIABLE = re.compile(r"[A-Za-z_]\w*", re.ASCII)
NAMED = re.compile(r"\{(\w+)\}")


def _text(given: object) -> str:
    if isinstance(given, bool) or not isinstance(given, str | int | float) or not str(given).isprintable():
        raise EvalsuiteError(refusal(given, message("argument")))
    return str(given)


def _values(given: object) -> Mapping[str, str]:
    """Values of an axis → as the script spells them: of a list, a table or one value; empty: any whole number."""
    if isinstance(given, Mapping):
        return {str(name): _text(value) for name, value in given.items()}
    return {_text(value): _text(value) for value in (given if isinstance(given, list) else [given])}


Text = Annotated[str, From(object, _text)]
Axis = Annotated[Mapping[str, str], From(object, _values)]
Variable = Annotated[
    str,
    Constraint("variable", lambda name: VARIABLE.fullmatch(name) and not name.startswith("EVALSUITE_")),
    Constraint("no_secret", lambda name: not redaction.is_secret_name(name)),
]


@dataclass(frozen=True, kw_only=True)
class Script:
    """Keys that a recipe has too mean what they mean there. Paths count from the file that it lies in."""

    command: Word
    name: Annotated[str, Constraint("participant", TITLE.fullmatch)]
    unit: Unit = "samples/s"
    python: Word | None = None  # a virtual environment or an interpreter; or the version of one for *requirements*
    requirements: tuple[Word, ...] | Word = ()  # pins, or the file that has them
    requirements_gpu: tuple[Word, ...] = ()  # with GPUs, where they differ
    image: Word = ""
    model: Word | None = None  # None: that of the spec, else the name
    line: Word = ""  # that it prints for a step, as an example
    format: Word | None = None  # the log dialect; None: found by itself
    folder: Word = "."  # where it is started
    environment: Mapping[Variable, Text] = field(default_factory=dict)
    built_in: Mapping[Word, Text] = field(default_factory=dict)  # axis → its value where the command passes none on
    precision: Annotated[Mapping[Precision, Text], Constraint("filled", bool)] | None = None
    device: Mapping[Device, Text] = field(default_factory=dict)
    xla: Mapping[Literal["on", "off"], Text] = field(default_factory=dict)
    options: Mapping[Word, Axis] = field(default_factory=dict)
    links: Mapping[Word, Text] = field(default_factory=dict)
    refuse: tuple[Mapping[Word, Text], ...] = ()  # cases by their axes, * for anything, and `because`
    title: Word | None = None
    recipe: Word = "train"
    kind: Literal["reference", "official"] = "reference"
    spawn: Literal["once", "per_node", "per_device"] = "per_node"
    step_bound: Literal["steps", "examples", "none"] = "steps"
    scope: Literal["global", "per_device", "own"] | None = None
    import_name: Word = ""
    package: Word = ""
    checkout: Word = ""
    builds_in_checkout: bool = False
    amp: Word | None = None  # what mixed precision is in it
    compiler: Word | None = None  # likewise XLA
    facts: Mapping[Word, Word] = field(default_factory=dict)
    needs_gpu: Word = ""
    devices: tuple[Device, ...] = ("cpu", "gpu")
    outside: Word = ""
    source: Word = ""

    @property
    def names(self) -> set[str]:
        """The placeholders in it."""
        texts = (self.command, *self.environment.values(), *self.links.values())
        return {name for text in texts for name in NAMED.findall(text)}

    @property
    def version(self) -> str | None:
        return self.python if re.fullmatch(r"3\.(?:[6-9]|1\d)", self.python or "") else None

    def passes(self, axis: str) -> bool:
        of_agent = self.spawn == "per_device" and axis in ("nodes", "devices_per_node")
        return of_agent or not AXES[axis].isdisjoint(self.names)

    def mistakes(self) -> Iterator[Mistake]:
        known = {*PLACEHOLDERS, *BY_ENGINE, *INPUT_SIZES, *self.options, "torchrun"}
        for name in sorted(self.names - known):
            near = did_you_mean(name, known)
            yield Mistake("command", message("own_unknown", word=name, known=sorted(known), near=near))
        if self.step_bound == "steps" and self.names.isdisjoint(("steps", "last_step")):
            yield Mistake("command", message("own_no_steps"))
        if not (self.passes("batch_per_device") or "batch_per_device" in self.built_in):
            yield Mistake("command", message("own_no_batch"))
        for axis in sorted(axis for axis, values in self.options.items() if len(values) > 1 and axis not in self.names):
            yield Mistake("options", message("own_not_passed", axis=axis))
        if unknown := sorted(self.built_in.keys() - AXES.keys()):
            yield Mistake("built_in", message("unknown", key=unknown[0], known=sorted(AXES), near=""))
        if re.fullmatch(r"[\d.]*\d[\d.]*", self.python or "") and not self.version:
            yield Mistake("python", message("own_python", version=self.python))
        given, made = self.python and not self.version, self.requirements or self.image or self.checkout
        if bool(given) == bool(made):
            yield Mistake("", message("own_environment"))
        if self.line and self.format:
            yield Mistake("line", message("own_line_format"))


@dataclass(frozen=True, kw_only=True)
class ParticipantsFile:
    participant: tuple[Script, ...] = ()
    every: Mapping[Word, Text] = field(default_factory=dict)  # keys that each has, unless it says otherwise

    def mistakes(self) -> Iterator[Mistake]:
        names = [(each.name, each.recipe) for each in self.participant]
        for name, recipe in sorted({each for each in names if names.count(each) > 1}):
            yield Mistake("participant", message("own_twice", participant=name, recipe=recipe))


def read(file: Path) -> list[Adapter]:
    """The scripts in *file*, a spec or a file of its own, whose other tables are passed over."""
    tables = read_toml(file, EXAMPLE, "see_own_script")
    every = dict(shared) if isinstance(shared := tables.get("every"), Mapping) else {}
    named = (each for each in tables.get("participant", ()) if isinstance(each, Mapping))
    ours = [{**every, **each} for each in named if "command" in each]
    models = tables.get("models")
    model = models[0] if isinstance(models, list) and len(models) == 1 else models if isinstance(models, str) else None
    scripts = decode(ParticipantsFile, {"participant": ours}, file, "see_own_script", strict=True).participant
    for script in scripts:
        if isinstance(models, list) and len(models) > 1 and script.model not in models:
            raise EvalsuiteError.of("core.own_model", path=file, name=script.name, models=models)
    try:
        return [adapter(script, file, model) for script in scripts]
    except (OSError, ValueError) as error:  # a file of requirements, or a quotation without an end
        raise EvalsuiteError(message("no_toml", path=file, error=message_of(error), example=EXAMPLE)) from error


def adapter(script: Script, file: Path, model: str | None = None) -> Adapter:
    """*model*: the only one of the spec in *file*."""
    name = script.name.replace(" ", "_")
    same = {each.name for each in fields(Recipe)} & {each.name for each in fields(script)}
    taken: dict[str, Any] = {key: getattr(script, key) for key in same}
    words, folder = _words(script, file), "" if script.checkout else _folder(script, file)
    named = () if script.image or script.checkout else filter(_is_script, words)
    lost = next((word for word in named if word.startswith("/") and not Path(word).is_file()), None)
    interpreter = _interpreter(script, file)
    accepted = script.precision or (PRECISIONS if script.passes("precision") else ())
    sizes = {size: () for size in INPUT_SIZES if size in script.names}
    made = {
        "name": script.recipe,
        "model": script.model or model or script.name,
        "command": partial(_command, script, words, folder),
        "unsupported": partial(_refusal, script, lost and Message("core.own_no_file", path=lost)),
        "needs_gpu": _phrase(script.needs_gpu),
        "dialect": f"{name}_{script.recipe}" if script.line else script.format,
        "interpreter": interpreter,
        "python": script.version or "3.11",
        "environment": "managed" if interpreter else None if script.checkout or script.requirements else "container",
        "source": script.source or Path("" if script.checkout else next(filter(_is_script, words), file.name)).name,
        "requirements": _pins(script, file),
        "requirements_gpu": script.requirements_gpu or (() if "gpu" in script.devices else None),
        "options": {**sizes, **{axis: tuple(values) for axis, values in script.options.items()}},
        "precisions": tuple(name for name in accepted if name not in ("fp32", "amp")),
        "amp": script.amp or (None if "amp" in accepted or not (script.checkout or script.passes("precision")) else ""),
        "xla": script.compiler or (None if "xla" in script.names else ""),
    }
    recipe = Recipe(**{**taken, **made})
    return Adapter(name=name, title=script.title or script.name, recipes=(recipe,))


def _place(file: Path, word: str) -> Path:
    return (file.absolute().parent / Path(word).expanduser()).resolve()


def _folder(script: Script, file: Path) -> str:
    return script.folder if NAMED.search(script.folder) else str(_place(file, script.folder))


def _interpreter(script: Script, file: Path) -> Path | None:
    if script.python is None or script.version:
        return None
    named = file.absolute().parent / Path(script.python).expanduser()  # its own name: a link to it is another Python
    return named if named.is_file() else named / "bin" / "python"


def _pins(script: Script, file: Path) -> tuple[str, ...]:
    if not isinstance(script.requirements, str):
        return script.requirements
    listed = files.read_text(_place(file, script.requirements)).splitlines()
    return tuple(filter(None, (line.partition("#")[0].strip() for line in listed)))


def _words(script: Script, file: Path) -> tuple[str, ...]:
    """Of its command; a script is named by its whole path, so that its hash is recorded."""
    words, folder = shlex.split(script.command), Path(_folder(script, file))
    here = not (script.image or script.checkout or NAMED.search(script.folder))
    return tuple(str(folder / word) if here and _is_script(word) else word for word in words)


def _is_script(word: str) -> bool:
    return word.endswith(".py") and not NAMED.search(word)


def _command(script: Script, words: Iterable[str], folder: str, case: Case) -> Command:
    spelt = _spelt(script, case)

    def filled(text: str) -> str:
        return NAMED.sub(lambda match: spelt.get(match[1], match[0]), text)

    alone = ["{python}"] if case.total_devices == 1 else TORCHRUN.split()
    parts = (part for word in words for part in (alone if word == "{torchrun}" else [word]))
    return Command(
        argv=tuple(
            text
            for part in parts
            for text in (shlex.split(filled(part)) if NAMED.fullmatch(part) and part[1:-1] in spelt else [filled(part)])
        ),
        environment={name: filled(text) for name, text in script.environment.items()},
        links={name: filled(text) for name, text in script.links.items()},
        folder=folder,
    )


def _spelt(script: Script, case: Case) -> dict[str, str]:
    """What stands in the place of each name, as the script writes it."""
    values = {name: str(read(case)) for name, read in PLACEHOLDERS.items()}
    values["precision"] = (script.precision or {}).get(case.precision, values["precision"])
    values["device"] = script.device.get(case.device, values["device"])
    values["xla"] = script.xla.get("on" if case.xla else "off", values["xla"])
    defaults = {**INPUT_SIZES, **{name: next(iter(spelling), "") for name, spelling in script.options.items()}}
    for axis, value in {**defaults, **dict(case.options)}.items():
        values[axis] = script.options.get(axis, {}).get(value, value)
    return values


def _refusal(script: Script, absent: str | None, case: Case) -> str | None:
    if absent:
        return absent
    facts = {**{axis: str(getattr(case, axis)) for axis in (*AXES, "device", "total_devices")}, **dict(case.options)}
    for rule in script.refuse:
        wanted = ((facts.get(axis, ""), value) for axis, value in rule.items() if axis != "because")
        if all(fnmatchcase(each, value.removeprefix("!")) is not value.startswith("!") for each, value in wanted):
            return _phrase(rule["because"])
    for axis, names in AXES.items():
        value, built_in = str(getattr(case, axis)), script.built_in.get(axis, BUILT_IN.get(axis))
        if not script.passes(axis) and value != built_in:
            name = f"{{{min(names & PLACEHOLDERS.keys())}}}"
            return Message("core.own_built_in", recipe=script.name, axis=axis, value=built_in, got=value, name=name)
    if script.precision is not None and case.precision not in script.precision:
        known = sorted(script.precision)
        return Message("core.no_precision", name=script.name, precision=case.precision, known=known)
    return None


def _phrase(text: str) -> str:
    """One of ours by its name, which both languages have: adapters.one_node_only."""
    return Message(text) if re.fullmatch(r"\w+\.\w+", text) else text
