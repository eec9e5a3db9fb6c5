"""The axes that the command line gives, laid over a spec."""

import argparse
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from evalsuite.contracts import registry
from evalsuite.core.errors import EvalsuiteError
from evalsuite.plan import spec, variants
from evalsuite.plan.spec import Spec

DEFAULT_PROFILE = "quick"
OF_LENGTH = ("models", "scales", "recipes", "precision", "batch_per_device")  # axes that a run's length hangs on
Value = TypeVar("Value")  # of an axis


def spec_from(arguments: argparse.Namespace) -> Spec:
    """The spec of the profile or file, with the axes given on the command line in place of its own."""
    base = spec.read(arguments.spec) if arguments.spec else spec.profile(arguments.profile or DEFAULT_PROFILE)
    arguments.adapters = [*arguments.adapters, *base.brings]  # of the page, too
    for option in (*FIELDS, "batch_sizes"):
        if isinstance(text := getattr(arguments, option), str) and "" in _split(text):
            raise EvalsuiteError.of("commands.list_empty", option=option.replace("_", "-"), text=text)
    given = {field: read(text) for argument, (field, read) in FIELDS.items() if (text := getattr(arguments, argument))}
    if arguments.batch_sizes:
        text, read = arguments.batch_sizes, _split_into(spec.batch)
        given["find_batch"] = text.strip() == "max"
        given |= {} if given["find_batch"] else {"batch_per_device": read(text)}
    told = {each for part in (base, *base.parts) for name in OF_LENGTH for each in getattr(part, name)}
    if "protocol" in given or any(not {*given[name]} <= told for name in given.keys() & {*OF_LENGTH}):
        given["expected_run_s"] = None  # it is of the spec's own steps and axes
    if arguments.repeats:
        given |= spec.repeats(arguments.repeats)
    whole = _lay_over(base, given, arguments.option)
    participants = variants.choose_participants(whole.participants, arguments.participant)
    return replace(whole, participants=participants, stated=base.words)


def _lay_over(base: Spec, given: Mapping[str, Any], options: list[str]) -> Spec:
    """Of a spec of several parts frameworks, recipes and models are chosen from: an emptied part is not asked for."""
    whole = replace(base, **{**given, **_lay_options(base, options)})
    beside = base.brings and any(part.frameworks for part in (whole, *whole.parts))
    if base.participants and given.keys() & ({"recipes"} if base.brings else {"frameworks", "recipes"}) and not beside:
        raise EvalsuiteError.of("commands.spec_participants", name=base.name)
    if not base.parts:
        return whole
    kept, axes = [], [axis for axis in ("frameworks", "recipes", "models") if axis in given]
    for part in base.parts:
        chosen = {axis: tuple(word for word in getattr(part, axis) if word in given[axis]) for axis in axes}
        if all(chosen.values()):
            kept.append(replace(part, **{**given, **chosen, **_lay_options(part, options)}))
    if not kept:
        raise EvalsuiteError.of(
            "commands.profile_frameworks",
            names=", ".join(word for axis in axes for word in given[axis]),
            profile=base.name,
            known=sorted({name for part in base.parts for name in part.frameworks}),
        )
    return replace(whole, parts=tuple(kept))


def _split(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(str.strip, text.split(","))))


def _split_into(convert: Callable[[str], Value]) -> Callable[[str], tuple[Value, ...]]:
    return lambda text: tuple(dict.fromkeys(convert(word) for word in _split(text)))


FIELDS: dict[str, tuple[str, Callable[[Any], Any]]] = {  # argument → field of the spec, and what reads its text
    "frameworks": ("frameworks", _split_into(registry.framework)),
    "models": ("models", _split),
    "recipe": ("recipes", _split),
    "scales": ("scales", _split_into(spec.scale)),
    "scaling": ("scaling", spec.scaling),
    "precision": ("precision", _split_into(spec.precision)),
    "xla": ("xla", _split_into(spec.switch)),
    "steps": ("protocol", spec.steps),
    "cores_per_device": ("cores_per_device", spec.cores),
    "retries": ("retries", spec.retries),
    "timeout": ("timeout_s", spec.timeout),
    "quiet_rounds": ("quiet_rounds", spec.quiet_rounds),
    "max_device_hours": ("max_device_hours", spec.device_hours),
    "stop_after_window": ("stop_after_window", bool),
    "oversubscribe": ("oversubscribe", bool),
}


def _lay_options(base: Spec, given: list[str]) -> dict[str, Any]:
    pairs = dict(base.options)
    for text in given:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise EvalsuiteError.of("commands.option", text=text)
        pairs |= dict([spec.option(name, value)])
    preset = tuple(name for name in base.preset if not any(text.startswith(f"{name}=") for text in given))
    return {"options": tuple(sorted(pairs.items())), "preset": preset}
