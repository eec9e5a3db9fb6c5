"""The axes on the command line: the same options for `compare`, `plan` and `run`, laid over a spec."""

import argparse
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from evalsuite.commands.options import engine_options as reach
from evalsuite.commands.options import search_paths
from evalsuite.errors import EvalsuiteError
from evalsuite.plan import spec
from evalsuite.plan.spec import Spec

DEFAULT_PROFILE = "quick"
Value = TypeVar("Value")  # of an axis


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options that say what shall be compared, and where."""
    matrix = parser.add_argument_group("the test matrix (each given axis replaces that of the profile or spec)")
    matrix.add_argument("--frameworks", metavar="A,B,…", help="adapters by name; see `evalsuite adapters`")
    matrix.add_argument("--models", metavar="M,…", help="models by name, such as resnet50_v1.5")
    matrix.add_argument("--recipe", metavar="R,…", help="recipes by name, or a kind: reference (default) or official")
    matrix.add_argument("--scales", metavar="NxD,…", help="nodes x devices per node, such as 1x1,1x8,2x8")
    matrix.add_argument(
        "--batch-sizes", metavar="B,…", help="items per device and step; max: the most that fits, found by short runs"
    )
    matrix.add_argument(
        "--memory-per-device", metavar="GB", help="that a CPU device has while the most that fits is searched for"
    )
    matrix.add_argument(
        "--scaling",
        metavar="S",
        help="weak (default): each device keeps its batch; strong: the job keeps that of the smallest scale",
    )
    matrix.add_argument("--precision", metavar="P,…", help="fp32, amp")
    matrix.add_argument("--xla", metavar="X,…", help="off, on: XLA or the framework's own graph compiler")
    matrix.add_argument("--repeats", metavar="N", help="runs of each case, or 5-7: up to 7 where 5 decide too little")
    matrix.add_argument("--steps", metavar="W+M", help="warm-up and measured steps, such as 20+100")
    matrix.add_argument(
        "--option",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="such as image_size=224; repeatable",
    )
    source = parser.add_mutually_exclusive_group()
    source.add_argument(
        "--profile", metavar="NAME", help="quick (default), full, bert, cifar10, wide-deep, face, official-cpu"
    )
    source.add_argument("--spec", metavar="FILE", type=Path, help="a spec of your own (TOML)")
    where = parser.add_argument_group("where")
    where.add_argument(
        "--device",
        choices=("auto", "cpu", "gpu", "npu"),
        default="auto",
        help="default: the accelerators if there are any",
    )
    where.add_argument(
        "--cores-per-device",
        metavar="C",
        help="a CPU device is C cores of its own (default: the machine's ÷ the largest number of devices asked for)",
    )
    where.add_argument(
        "--retries", metavar="N", help="of runs that a node or the launcher failed, not the training (2)"
    )
    where.add_argument("--max-device-hours", metavar="H", help="start no run once so many are spent")
    where.add_argument(
        "--stop-after-window",
        action="store_true",
        help="end each script once its measured steps are done (done anyway where it has no limit of its own)",
    )
    where.add_argument("--seed", metavar="N", help="of the order of the frameworks within each scale and repeat (0)")
    where.add_argument("--oversubscribe", action="store_true", help="let CPU devices share cores, and mark the cases")
    where.add_argument(
        "--share",
        action="store_true",
        help="run beside another evaluation on this machine instead of waiting for it, and mark the runs of both",
    )
    where.add_argument(
        "--sandbox",
        action="store_true",
        help="let a script write into its scratch folder alone and reach no network (bubblewrap; one node)",
    )
    reach.add_arguments(where)
    where.add_argument(
        "--measure-network",
        action="store_true",
        help="before the first run of each scale with several devices, time all-reduces and a read from storage there",
    )
    where.add_argument(
        "--environment",
        choices=("managed", "current"),
        default="managed",
        help="managed: a virtual environment for each framework (default); current: this interpreter",
    )
    where.add_argument(
        "--container",
        metavar="C",
        help="run each recipe in its image: docker, podman, apptainer, enroot, pyxis or charliecloud",
    )
    where.add_argument(
        "--image",
        metavar="[FRAMEWORK=]IMAGE",
        action="append",
        default=[],
        help="the image of all recipes, or of a framework's, in place of their own; repeatable; with --container",
    )
    search_paths.add_arguments(where)
    where.add_argument("--runs", metavar="DIR", type=Path, default=Path("runs"), help="run folders (default: runs)")
    where.add_argument("--group", metavar="NAME", help="a Unix group that may read the run folders (owner alone)")


def spec_from(arguments: argparse.Namespace) -> Spec:
    """The spec of the profile or file, with the axes given on the command line in place of its own."""
    if arguments.spec is not None:
        base = spec.read(arguments.spec)
    else:
        base = spec.profile(arguments.profile or DEFAULT_PROFILE)
    given = {
        "frameworks": _words(arguments.frameworks),
        "models": _words(arguments.models),
        "recipes": _words(arguments.recipe),
        "scales": _each(spec.scale, arguments.scales),
        **_batches(arguments.batch_sizes),
        "memory_gb_per_device": spec.memory_gb(arguments.memory_per_device) if arguments.memory_per_device else None,
        "scaling": spec.scaling(arguments.scaling) if arguments.scaling is not None else None,
        "precision": _each(spec.precision, arguments.precision),
        "xla": _each(spec.switch, arguments.xla),
        "protocol": spec.steps(arguments.steps) if arguments.steps else None,
        "cores_per_device": spec.cores(arguments.cores_per_device) if arguments.cores_per_device else None,
        "retries": spec.retries(arguments.retries) if arguments.retries else None,
        "max_device_hours": spec.device_hours(arguments.max_device_hours) if arguments.max_device_hours else None,
        "seed": spec.seed(arguments.seed) if arguments.seed else None,
        "stop_after_window": arguments.stop_after_window or None,
        "oversubscribe": arguments.oversubscribe or None,
    }
    asked = {name: value for name, value in given.items() if value is not None}
    if arguments.repeats:
        asked |= spec.repeats(arguments.repeats)
    return _asked(base, asked, arguments.option)


def _asked(base: Spec, given: Mapping[str, Any], options: list[str]) -> Spec:
    """*base* with what was *given*. A spec of several parts has all of it replaced in each, but its frameworks,
    recipes and models are chosen from: a part of which nothing is left is not asked for."""
    whole = replace(base, **{**given, **_options(base, options)})
    if not base.parts:
        return whole
    parts = [_part(part, given, options) for part in base.parts]
    kept = tuple(part for part in parts if all(getattr(part, axis) for axis in CHOSEN))
    if not kept:
        words = ", ".join(word for axis in CHOSEN for word in given.get(axis, ()))
        raise EvalsuiteError(
            f"{words}: no part of the profile {base.name} has them; expected some of "
            f"{', '.join(sorted({name for part in base.parts for name in part.frameworks}))}."
        )
    return replace(whole, parts=kept)


CHOSEN = ("frameworks", "recipes", "models")


def _part(part: Spec, given: Mapping[str, Any], options: list[str]) -> Spec:
    chosen = {
        axis: tuple(word for word in getattr(part, axis) if word in given[axis]) for axis in CHOSEN if axis in given
    }
    return replace(part, **{**given, **chosen, **_options(part, options)})


def _batches(text: str | None) -> dict[str, Any]:
    """`8,16` → these batches; `max` → the most that fits, searched for from the spec's own."""
    if text is not None and text.strip() == "max":
        return {"find_batch": True}
    found = _each(spec.batch, text)
    return {} if found is None else {"batch_per_device": found, "find_batch": False}


def _words(text: str | None) -> tuple[str, ...] | None:
    if text is None:
        return None
    return tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))


def _each(convert: Callable[[str], Value], text: str | None) -> tuple[Value, ...] | None:
    words = _words(text)
    return None if words is None else tuple(convert(word) for word in words)


def _options(base: Spec, given: list[str]) -> dict[str, Any]:
    """The options of *base* with those *given*, which are then asked for."""
    pairs = dict(base.options)
    for text in given:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise EvalsuiteError(f'--option "{text}": expected NAME=VALUE, such as image_size=224.')
        pairs |= dict([spec.option(name, value)])
    asked = {text.partition("=")[0] for text in given}
    preset = tuple(name for name in base.preset if name not in asked)
    return {"options": tuple(sorted(pairs.items())), "preset": preset}
