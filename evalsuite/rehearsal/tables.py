"""A rehearsal: the first steps of an unmodified official script on a CPU, with stand-ins for the accelerator.

`data/rehearsal/<framework>.toml` says how each recipe is rehearsed, or why it cannot be.
"""

import hashlib
import json
import os
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from evalsuite.contracts.adapter import Adapter, Command, Recipe
from evalsuite.core import decode, paths
from evalsuite.core.author_document import BothLanguages
from evalsuite.core.decode import From, Many, Mistake, Word, at_least, between
from evalsuite.core.errors import EvalsuiteError, look_up
from evalsuite.core.messages import Message
from evalsuite.core.model import Case, Protocol
from evalsuite.core.placeholders import VISIBLE, fill
from evalsuite.plan import repositories
from evalsuite.plan.spec import Options, Steps, scale
from evalsuite.runs import rehearsed as rehearsed_runs

FOLDER = paths.DATA / "rehearsal"
STAND_INS = paths.ADAPTERS / rehearsed_runs.FOLDER
HOOK = "hook"  # its sitecustomize.py starts the other stand-ins
DEVICES = "EVALSUITE_STAND_IN_DEVICES"  # how many a node seems to have
OF_A_NODE = 8  # whatever the case asks for: a script that takes all that it sees is found out
EXAMPLE = "evalsuite's own data/rehearsal/tensorflow.toml"


@dataclass(frozen=True, kw_only=True)
class Rehearsal:
    """How one recipe is rehearsed. Fields not given are as in the recipe."""

    impossible: BothLanguages | None = None  # why it cannot be rehearsed
    untried: BothLanguages | None = None  # why not yet, or with one rank alone
    device: Literal["cpu", "gpu", "npu"] = "gpu"  # whose command line
    scales: Many[Annotated[Any, From(str, scale)]] = ((1, 1),)
    batch: Annotated[int, at_least(1)] = 2
    steps: Steps = field(default_factory=lambda: Protocol(warmup_steps=5, measured_steps=20))
    options: Options = ()
    timeout_s: Annotated[int, between(1, 7200)] = 900
    stand_ins: tuple[Word, ...] = ()
    libraries: tuple[Word, ...] = ()  # repositories that an image would hold, put on PYTHONPATH
    python: Word | None = None
    pins: tuple[Word, ...] = ()
    built: tuple[Word, ...] | None = None
    system: tuple[Word, ...] = ()  # programs that the image holds and a build here needs
    build_environment: Mapping[str, str] | None = None
    without_dependencies: tuple[Word, ...] | None = None
    release: Word | None = None  # a package that holds the script, where the repository is too large to be had
    set: Mapping[str, str] = field(default_factory=dict)  # argument → value
    drop: tuple[Word, ...] = ()  # arguments
    append: tuple[Word, ...] = ()  # words at the end
    files: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)

    def mistakes(self) -> list[Mistake]:
        more = self.impossible and self != Rehearsal(impossible=self.impossible)
        return [Mistake("impossible", Message("plan.rehearsal_impossible_and"))] if more else []

    @property
    def changes(self) -> dict[str, object]:
        names = ("set", "drop", "append", "files", "environment")
        return {name: decode.encode(value) for name in names if (value := getattr(self, name))}


def of_framework(framework: str) -> dict[str, Rehearsal]:
    file = FOLDER / f"{framework}.toml"
    return read(file) if file.is_file() else {}


def read(file: Path) -> dict[str, Rehearsal]:
    tables = dict(decode.read_toml(file, EXAMPLE))
    for name, table in tables.items():
        if isinstance(table, dict) and "like" in table:  # what is not said here is as there, in this file or another
            of, _, other = str(table.pop("like")).rpartition("/")
            there = decode.read_toml(file.with_name(f"{of}.toml"), EXAMPLE) if of else tables
            tables[name] = {**look_up("plan.rehearsal_recipe", there, other), "untried": None, **table}
    return decode.decode(dict[str, Rehearsal], tables, file, strict=True)


def chosen(names: Iterable[str], adapters: Mapping[str, Adapter]) -> dict[tuple[str, str], Rehearsal]:
    """How each recipe of *names* ("pytorch/hal-resnet50") is rehearsed; all that can be, if none is named.

    Raises EvalsuiteError for one that is unknown or has no table.
    """
    known = {
        (framework, recipe.name): tables.get(recipe.name)
        for framework, adapter in sorted(adapters.items())
        for tables in [of_framework(framework)]
        for recipe in adapter.recipes
    }
    if not (wanted := list(dict.fromkeys(names))):
        return {name: how for name, how in known.items() if how and not how.impossible}
    official = {"/".join(name): name for name in known}
    asked: dict[tuple[str, str], Rehearsal] = {}
    for name in wanted:
        recipe = look_up("plan.rehearsal_recipe", official, name)
        if (how := known.get(recipe)) is None:
            raise EvalsuiteError.of("plan.rehearsal_none", name=name, path=FOLDER / f"{recipe[0]}.toml")
        asked[recipe] = how
    return asked


def rehearsed(recipe: Recipe, rehearsal: Rehearsal) -> Recipe:
    """*recipe* on the device "stand_in": its script gets the command line of the device that is rehearsed."""
    environment, bare = rehearsal.build_environment, rehearsal.without_dependencies
    return replace(
        recipe,
        command=lambda case: _changed(recipe.command(replace(case, device=rehearsal.device)), case, recipe, rehearsal),
        unsupported=lambda case: recipe.refusal(replace(case, device=rehearsal.device)),
        requirements=rehearsal.pins or recipe.requirements,
        requirements_gpu=(),
        import_name="" if rehearsal.pins else recipe.import_name,  # the rehearsal proves the environment
        needs_gpu="",
        environment="managed",  # a participant's image is none of a CPU's
        devices=(rehearsed_runs.DEVICE,),
        python=rehearsal.python or recipe.python,
        built=recipe.built if rehearsal.built is None else rehearsal.built,
        system=rehearsal.system or recipe.system,
        build_environment=recipe.build_environment if environment is None else environment,
        without_dependencies=(
            *(recipe.without_dependencies if bare is None else bare),
            *((rehearsal.release,) if rehearsal.release else ()),
        ),
        checkout="" if rehearsal.release else recipe.checkout,
        source=rehearsal.release or recipe.source,
    )


def case(framework: str, recipe: Recipe, rehearsal: Rehearsal, at: tuple[int, int]) -> Case:
    nodes, devices = at
    return Case(
        framework=framework,
        recipe=recipe.name,
        model=recipe.model,
        nodes=nodes,
        devices_per_node=devices,
        batch_per_device=rehearsal.batch,
        device=rehearsed_runs.DEVICE,
        protocol=rehearsal.steps,
        options=recipe.meant(rehearsal.options),
    )


def _changed(command: Command, case: Case, recipe: Recipe, rehearsal: Rehearsal) -> Command:
    argv = with_arguments(command.argv, rehearsal.set, rehearsal.drop, rehearsal.append)
    variables, known = {**command.environment, **rehearsal.environment}, repositories.of(recipe)
    stand_ins = (HOOK, *rehearsal.stand_ins) if rehearsal.stand_ins else ()
    python_path = [
        *(str(STAND_INS / name) for name in stand_ins),
        *(str(repositories.named(name, known).folder) for name in rehearsal.libraries),
        *(which.get("PYTHONPATH", "") for which in (rehearsal.environment, command.environment)),
    ]
    variables["PYTHONPATH"] = os.pathsep.join(filter(None, python_path))
    if rehearsal.stand_ins:
        variables[rehearsed_runs.VARIABLE] = ",".join(rehearsal.stand_ins)
        variables[DEVICES] = str(OF_A_NODE)
    variables = {name: value for name, value in variables.items() if value}
    if argv[0] == "mpirun":  # hands to other nodes the variables of -x (mpirun(1) of Open MPI 4.1)
        argv = (argv[0], *(word for name in variables for word in ("-x", name)), *argv[1:])
    installed = f"{{bin}}/../lib/python{rehearsal.python or recipe.python}/site-packages"
    places = {"{checkout}": installed} if rehearsal.release else {}
    unseen = () if rehearsal.device == "gpu" else (word for name in VISIBLE["gpu"] for word in ("-u", name))
    words = ("env", *unseen, *(f"{name}={value}" for name, value in variables.items()), *argv)
    return replace(
        command,
        argv=tuple(fill(word, places) for word in words),
        environment={},
        files={**command.files, **rehearsal.files},
    )


def with_arguments(
    argv: tuple[str, ...], changes: Mapping[str, str], drop: Iterable[str] = (), append: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """*argv* with the arguments in *changes* (`--a B`, `--a=B`, `a.b=C`), added where they are absent, and without
    those in *drop*. `--a.b.c` is a value in the JSON of `--a=`. Raises EvalsuiteError for one to drop that is not
    there."""
    words = list(argv)
    for name in drop:
        first, last = _find_option(words, name)
        if first == last:
            raise EvalsuiteError.of("plan.rehearsal_drop", name=name)
        del words[first:last]
    for name, value in changes.items():
        holder, _, path = name.partition(".")
        place = next((place for place, word in enumerate(words) if word.startswith(holder + "={")), None)
        if path and place is not None:
            words[place] = f"{holder}={_with_value(words[place].partition('=')[2], path.split('.'), value)}"
            continue
        first, last = _find_option(words, name)
        joined = words[first].startswith(f"{name}=") if first < last else not name.startswith("-")
        words[first:last] = [f"{name}={value}"] if joined else [name, *([value] if value else [])]
    return (*words, *append)


def _with_value(text: str, path: list[str], value: str) -> str:
    whole = json.loads(text)
    inside = whole
    for name in path[:-1]:
        inside = inside.setdefault(name, {})
    try:
        inside[path[-1]] = json.loads(value)
    except ValueError:
        inside[path[-1]] = value
    return json.dumps(whole)


def _find_option(words: list[str], name: str) -> tuple[int, int]:
    for place, word in enumerate(words):
        if word.partition("=")[0] == name:
            follows = word == name and place + 1 < len(words) and not re.match(r"--?[A-Za-z]", words[place + 1])
            return place, place + 2 if follows else place + 1
    return len(words), len(words)


LAUNCHERS = (
    *("torch.distributed.run", *(f"{name}.distributed.launch" for name in ("torch", "oneflow", "paddle"))),
    *("multiproc.py", "launch.py", "horovodrun", "mpirun", "bfrun", "deepspeed", "msrun"),
)


def launcher(command: Command) -> str:
    """What starts or joins the processes of *command*; "python": the script alone, or the node agent for each rank."""
    named = (next((name for name in LAUNCHERS if name in re.split("[ /]", word)), None) for word in command.argv)
    return next(filter(None, named), "TF_CONFIG" if command.environment.get("TF_CONFIG") else "python")


def stand_in_hashes(names: Collection[str]) -> dict[str, str]:
    """Name → SHA-256 of its files, with that of the hook. Raises EvalsuiteError for an unknown one."""
    return {name: _hash(name) for name in ([HOOK, *names] if names else [])}


def _hash(name: str) -> str:
    folder = STAND_INS / name
    files = sorted(file for file in folder.rglob("*") if file.is_file() and "__pycache__" not in file.parts)
    if not files:
        known = {place.name: place for place in STAND_INS.glob("[a-z]*") if place != folder}
        look_up("core.unknown", known, name, where="stand-in", names=sorted(known))
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.relative_to(folder).as_posix()}\0{file.stat().st_size}\0".encode() + file.read_bytes())
    return digest.hexdigest()
