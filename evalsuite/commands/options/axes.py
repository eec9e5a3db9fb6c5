"""The axes on the command line: the same options for `compare`, `plan` and `run`, laid over a spec."""

import argparse
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from evalsuite.commands.options import engine_options
from evalsuite.commands.options.common import add_options
from evalsuite.errors import EvalsuiteError
from evalsuite.plan import spec
from evalsuite.plan.spec import Spec

DEFAULT_PROFILE = "quick"
Value = TypeVar("Value")  # of an axis
MATRIX = {  # option → metavar, help
    "frameworks": ("A,B,…", "adapters by name; see `evalsuite adapters`"),
    "models": ("M,…", "models by name, such as resnet50_v1.5"),
    "recipe": ("R,…", "recipes by name, or a kind: reference (default) or official"),
    "scales": ("NxD,…", "nodes x devices per node, such as 1x1,1x8,2x8"),
    "batch-sizes": ("B,…", "items per device and step; max: the most that fits, found by short runs"),
    "memory-per-device": ("GB", "that a CPU device has while the most that fits is searched for"),
    "scaling": ("S", "weak (default): each device keeps its batch; strong: the job keeps that of the smallest scale"),
    "precision": ("P,…", "fp32, amp"),
    "xla": ("X,…", "off, on: XLA or the framework's own graph compiler"),
    "repeats": ("N", "runs of each case, or 5-7: up to 7 where 5 decide too little"),
    "steps": ("W+M", "warm-up and measured steps, such as 20+100"),
}
WHERE = {
    "cores-per-device": (
        "C",
        "a CPU device is C cores (default: the machine's ÷ the most devices asked for)",
    ),
    "retries": ("N", "of runs that a node or the launcher failed, not the training (2)"),
    "max-device-hours": ("H", "start no run once so many are spent"),
    "seed": ("N", "of the order of the frameworks within each scale and repeat (0)"),
    "container": ("C", "run each recipe in its image: docker, podman, apptainer, enroot, pyxis or charliecloud"),
}
SWITCHES = {
    "stop-after-window": "end each script once its measured steps are done (always, where it has no limit of its own)",
    "oversubscribe": "let CPU devices share cores, and mark the cases",
    "share": "run at the same time as another evaluation here instead of waiting for it, and mark both",
    "sandbox": "let a script write into its scratch folder alone and reach no network (bubblewrap; one node)",
    "measure-network": "before the first run of a scale of several devices, time all-reduces and reads from storage",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options that say what shall be compared, and where."""
    matrix = parser.add_argument_group("the test matrix (each given axis replaces that of the profile or spec)")
    for name, (metavar, help_text) in MATRIX.items():
        matrix.add_argument(f"--{name}", metavar=metavar, help=help_text)
    _add_repeatable(matrix, "option", "NAME=VALUE", "such as image_size=224; repeatable")
    source = parser.add_mutually_exclusive_group()
    profiles = "quick (default), full, bert, cifar10, wide-deep, face, official-cpu"
    source.add_argument("--profile", metavar="NAME", help=profiles)
    source.add_argument("--spec", metavar="FILE", type=Path, help="a spec of your own (TOML)")
    where = parser.add_argument_group("where")
    devices, default = ("auto", "cpu", "gpu", "npu"), "default: the accelerators if there are any"
    where.add_argument("--device", choices=devices, default="auto", help=default)
    managed = "managed: a virtual environment for each framework (default); current: this interpreter"
    where.add_argument("--environment", choices=("managed", "current"), default="managed", help=managed)
    for name, (metavar, help_text) in WHERE.items():
        where.add_argument(f"--{name}", metavar=metavar, help=help_text)
    for name, help_text in SWITCHES.items():
        where.add_argument(f"--{name}", action="store_true", help=help_text)
    images = "the image of all recipes, or of a framework's, in place of their own; repeatable; with --container"
    _add_repeatable(where, "image", "[FRAMEWORK=]IMAGE", images)
    engine_options.add_arguments(where)
    add_options(where, "adapters", "dialects", "runs", "group")


def _add_repeatable(group: "argparse._ArgumentGroup", name: str, metavar: str, help_text: str) -> None:
    group.add_argument(f"--{name}", metavar=metavar, action="append", default=[], help=help_text)


def spec_from(arguments: argparse.Namespace) -> Spec:
    """The spec of the profile or file, with the axes given on the command line in place of its own."""
    base = spec.read(arguments.spec) if arguments.spec else spec.profile(arguments.profile or DEFAULT_PROFILE)
    given = {field: read(text) for argument, (field, read) in FIELDS.items() if (text := getattr(arguments, argument))}
    if arguments.batch_sizes:
        given |= _read_batches(arguments.batch_sizes)
    if arguments.repeats:
        given |= spec.repeats(arguments.repeats)
    return _lay_over(base, given, arguments.option)


def _lay_over(base: Spec, given: Mapping[str, Any], options: list[str]) -> Spec:
    """*base* with what was *given*. A spec of several parts has all of it replaced in each, but its frameworks,
    recipes and models are chosen from: a part of which nothing is left is not asked for."""
    whole = replace(base, **{**given, **_lay_options(base, options)})
    if not base.parts:
        return whole
    parts = [_lay_over_part(part, given, options) for part in base.parts]
    kept = tuple(part for part in parts if all(getattr(part, axis) for axis in CHOSEN))
    if not kept:
        words = ", ".join(word for axis in CHOSEN for word in given.get(axis, ()))
        raise EvalsuiteError.of(
            "commands.profile_frameworks",
            names=words,
            profile=base.name,
            known=sorted({name for part in base.parts for name in part.frameworks}),
        )
    return replace(whole, parts=kept)


CHOSEN = ("frameworks", "recipes", "models")


def _lay_over_part(part: Spec, given: Mapping[str, Any], options: list[str]) -> Spec:
    chosen = {
        axis: tuple(word for word in getattr(part, axis) if word in given[axis]) for axis in CHOSEN if axis in given
    }
    return replace(part, **{**given, **chosen, **_lay_options(part, options)})


def _read_batches(text: str) -> dict[str, Any]:
    """`8,16` → these batches; `max` → the most that fits, searched for from the spec's own."""
    if text.strip() == "max":
        return {"find_batch": True}
    return {"batch_per_device": _split_into(spec.batch)(text), "find_batch": False}


def _split(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))


def _split_into(convert: Callable[[str], Value]) -> Callable[[str], tuple[Value, ...]]:
    return lambda text: tuple(convert(word) for word in _split(text))


FIELDS: dict[str, tuple[str, Callable[[Any], Any]]] = {  # argument → field of the spec, and what reads its text
    "frameworks": ("frameworks", _split),
    "models": ("models", _split),
    "recipe": ("recipes", _split),
    "scales": ("scales", _split_into(spec.scale)),
    "memory_per_device": ("memory_gb_per_device", spec.memory_gb),
    "scaling": ("scaling", spec.scaling),
    "precision": ("precision", _split_into(spec.precision)),
    "xla": ("xla", _split_into(spec.switch)),
    "steps": ("protocol", spec.steps),
    "cores_per_device": ("cores_per_device", spec.cores),
    "retries": ("retries", spec.retries),
    "max_device_hours": ("max_device_hours", spec.device_hours),
    "seed": ("seed", spec.seed),
    "stop_after_window": ("stop_after_window", bool),
    "oversubscribe": ("oversubscribe", bool),
}


def _lay_options(base: Spec, given: list[str]) -> dict[str, Any]:
    """The options of *base* with those *given*, which are then asked for."""
    pairs = dict(base.options)
    for text in given:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise EvalsuiteError.of("commands.option", text=text)
        pairs |= dict([spec.option(name, value)])
    asked = {text.partition("=")[0] for text in given}
    preset = tuple(name for name in base.preset if name not in asked)
    return {"options": tuple(sorted(pairs.items())), "preset": preset}
