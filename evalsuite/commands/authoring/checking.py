"""An author's check: what comes of an adapter, a dialect or a sensor, and what is missing, with what to do. Nothing is
started: the command lines of a small matrix are built."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, product
from pathlib import Path
from typing import Any

from evalsuite.contracts import own_script
from evalsuite.contracts.adapter import Adapter, Command, Recipe
from evalsuite.contracts.dialect import Dialect
from evalsuite.core import placeholders
from evalsuite.core.decode import encode, whole
from evalsuite.core.errors import EvalsuiteError, did_you_mean
from evalsuite.core.messages import Message
from evalsuite.core.model import Case, Device, Precision, Protocol
from evalsuite.logs import catalogue
from evalsuite.machine.sensors.accelerators import Brought
from evalsuite.plan import repositories
from evalsuite.results.measure.units import BATCH_ITEMS, NOT_SAID

SCALES = ((1, 1), (1, 2), (2, 2))
DEVICES: tuple[Device, ...] = ("cpu", "gpu")
PRECISIONS: tuple[Precision, ...] = ("fp32", "amp")
BATCHES = (32, 64, 128, 256, 512, 1)  # some scripts take one alone
STEPS_LONGER = Protocol(warmup_steps=2_000, measured_steps=100_000)  # more than the epochs of small data sets
PIN = re.compile(r"[\w.-]+(\[[\w,-]+\])?==[\w.+]+")
CITED = re.compile(r"[\w.-]+/[\w.-]+@[\w.-]+:\S+|evalsuite \S+")
Built = Mapping[Case, Command]


@dataclass(frozen=True, kw_only=True)
class Checked:
    name: str
    file: str
    commands: Mapping[str, Command | str] | None = None  # "gpu 2x2 amp+XLA" → its command, or why it is refused
    devices: tuple[Mapping[str, Any], ...] | None = None  # of a sensor
    missing: tuple[Message, ...]


def _lack(id: str, /, **values: object) -> Message:
    return Message(f"commands.{id}", **values)


# adapters


def check_adapters(adapters: Mapping[str, Adapter], file: Path, dialects: Mapping[str, Dialect]) -> list[Checked]:
    return [
        _check_recipe(adapter, recipe, str(file), dialects)
        for adapter in adapters.values()
        for recipe in adapter.recipes
    ]


def _check_recipe(adapter: Adapter, recipe: Recipe, file: str, dialects: Mapping[str, Dialect]) -> Checked:
    cases = list(_matrix(adapter, recipe))
    built = {case: recipe.command_of(case) for case in cases if recipe.refusal(case) is None}
    lacks = (_check_installation(recipe), _check_source(recipe), _check_commands(recipe, built),
             _check_reading(adapter, recipe, dialects))  # fmt: skip
    return Checked(
        name=f"{adapter.name}/{recipe.name}",
        file=file,
        commands={
            f"{case.device} {case.scale} {case.precision}{'+XLA' if case.xla else ''}": built.get(case)
            or str(recipe.refusal(case))
            for case in cases
        },
        missing=tuple(chain.from_iterable(lacks)),
    )


def _matrix(adapter: Adapter, recipe: Recipe) -> Iterator[Case]:
    """A small matrix; a switch that the recipe declares absent is left out."""
    first = Case(
        framework=adapter.name,
        recipe=recipe.name,
        model=recipe.model,
        batch_per_device=BATCHES[0],
        device="cpu",
        options=recipe.meant(()),
    )
    for _ in own_script.AXES:  # what a command does not pass on is built in
        told: Mapping[str, Any] = getattr(recipe.refusal(first), "values", {})
        own: dict[str, Any] = {told["axis"]: whole(told["value"]) or told["value"]} if "axis" in told else {}
        first = replace(first, **own)
    tried = (
        replace(first, batch_per_device=batch, device=device, precision=precision)
        for batch, device, precision in product((first.batch_per_device, *BATCHES), DEVICES, PRECISIONS)
    )
    batch = next((case for case in tried if recipe.refusal(case) is None), first).batch_per_device
    asked = (*(PRECISIONS[:1] if recipe.amp == "" else PRECISIONS), *recipe.precisions, first.precision)
    precisions, scales = dict.fromkeys(asked), dict.fromkeys((*SCALES, (first.nodes, first.devices_per_node)))
    compiled = (False,) if recipe.xla == "" else (False, True)
    for device, (nodes, devices), precision, xla in product(DEVICES, scales, precisions, compiled):
        case = replace(first, batch_per_device=batch, device=device, nodes=nodes, devices_per_node=devices)
        yield replace(case, precision=precision, xla=xla)


def _check_installation(recipe: Recipe) -> Iterator[Message]:
    if not (recipe.interpreter or recipe.requirements or recipe.requirements_gpu or recipe.checkout or recipe.image):
        yield _lack("nothing_to_install")
    for pin in (*recipe.requirements, *recipe.pins("gpu"), *chain(*recipe.other_wheels), *recipe.built):
        if not PIN.fullmatch(pin):
            yield _lack("no_exact_pin", pin=pin)
    if recipe.requirements and not recipe.import_name:
        yield _lack("no_import_name")


def _check_source(recipe: Recipe) -> Iterator[Message]:
    file, known = repositories.FILE, repositories.of(recipe)
    for name in sorted({*recipe.libraries, *filter(None, [recipe.checkout])} - known.keys()):
        yield _lack("checkout_undeclared", name=name, file=file, near=did_you_mean(name, known))
    if recipe.checkout:
        return
    if not recipe.source:
        yield _lack("no_source")
    if recipe.kind == "official" and recipe.source.partition(" ")[0] not in recipe.requirements:  # nor a pinned package
        if not recipe.commit:
            yield _lack("no_commit")
        yield _lack("no_licence", file=file)


def _check_commands(recipe: Recipe, built: Built) -> Iterator[Message]:
    if not built:
        yield _lack("all_refused")
        return
    known = {*placeholders.BY_PLAN, *placeholders.BY_AGENT}
    words = {word for command in built.values() for word in command.tokens}
    for name in sorted({name for word in words for name in re.findall(r"\{\w+\}", word)} - known):
        yield _lack("nothing_fills", name=name, names=known, near=did_you_mean(name, known))
    if any("{checkout}" in word for word in words) and not recipe.checkout:
        yield _lack("checkout_unnamed")
    first = {case.device: case for case in reversed([*built])}
    yield from dict.fromkeys(lack for case in first.values() for lack in _check_axes(recipe, case))
    compiled = any(built.get(replace(case, xla=False)) == built[case] for case in built if case.xla)
    mixed = (case for case in built if case.precision == "amp")
    precise = any(built.get(replace(case, precision="fp32")) == built[case] for case in mixed)
    for switch in ("amp",) * precise + ("xla",) * compiled:
        yield _lack("same_with_and_without", name=switch)


def _check_axes(recipe: Recipe, base: Case) -> Iterator[Message]:
    base = replace(base, nodes=1, devices_per_node=1, xla=None)

    def unchanged(other: Case) -> bool:
        return recipe.refusal(other) is None and recipe.command_of(base) == recipe.command_of(other)

    if unchanged(replace(base, batch_per_device=2 * base.batch_per_device)):
        yield _lack("batch_not_passed")
    if recipe.spawn != "per_device" and unchanged(replace(base, devices_per_node=2)):
        yield _lack("devices_not_passed")
    if recipe.step_bound != "none" and unchanged(replace(base, protocol=STEPS_LONGER)):
        yield _lack("steps_not_passed")
    if recipe.command_of(base) != recipe.command_of(base):
        yield _lack("two_commands")


def _check_reading(adapter: Adapter, recipe: Recipe, dialects: Mapping[str, Dialect]) -> Iterator[Message]:
    try:
        dialect = catalogue.recipe_dialect(adapter.name, recipe, dialects)
    except EvalsuiteError as error:
        yield _lack("dialect_unknown", name=recipe.dialect, error=error.message)
        return
    if dialect is None:
        return
    counted = recipe.unit == "tokens/s" and "sequence_length" in (recipe.options or ()) and dialect.unit in BATCH_ITEMS
    units = {recipe.unit, dialect.unit} if not counted else set()
    if (dialect.unit, recipe.unit) == NOT_SAID or (len(units) > 1 and not units <= set(BATCH_ITEMS)):
        yield _lack("units_differ", recipe=recipe.unit, dialect=dialect.unit)


# dialects


def check_dialect(dialect: Dialect, file: str) -> Checked:
    lacks = [] if dialect.step or dialect.final else [_lack("no_step_line")]
    if dialect.scope == "unstated":
        lacks.append(_lack("whose_rate"))
    lacks += [_lack("source_no_place", text=line.source) for line in dialect.lines if not CITED.match(line.source)]
    return Checked(name=dialect.name, file=file, missing=tuple(lacks))


# sensors


def check_sensor(sensor: Brought) -> Checked:
    gpus, now = sensor.facts(), sensor.reading()
    sensor.visible(gpus, {}), sensor.processes(), sensor.versions()
    sensor.close()
    wrong = {
        "none": not gpus,
        "index": len({gpu.index for gpu in gpus} - {None}) < len(gpus),
        "kind": any(gpu.kind != sensor.kind for gpu in gpus),
        "named": not all(gpu.name and gpu.vendor and gpu.memory_total_bytes for gpu in gpus),
    }
    return Checked(
        name=sensor.file.stem,
        file=str(sensor.file),
        devices=tuple({**encode(gpu), "reading": encode(reading)} for gpu, reading in zip(gpus, now, strict=False)),
        missing=tuple(_lack(f"sensor_{name}") for name, is_wrong in wrong.items() if is_wrong),
    )
