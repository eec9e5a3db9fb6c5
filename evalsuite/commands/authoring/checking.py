"""An author's check: what comes of an adapter or a dialect, and what is missing, with what to do.

Nothing is started: the command lines of a small matrix are built, and a log is read where one is given.
"""

import re
import shlex
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, product
from pathlib import Path

from evalsuite.contracts import launchers, registry
from evalsuite.contracts.adapter import GPT_SIZES, INPUT_SIZES, Adapter, Command, Recipe
from evalsuite.contracts.dialect import Dialect, Line
from evalsuite.core import placeholders
from evalsuite.core.errors import EvalsuiteError, did_you_mean
from evalsuite.core.messages import Message
from evalsuite.core.model import Case, Device, Precision, Protocol
from evalsuite.launch.provision import wheels
from evalsuite.logs import catalogue, reading
from evalsuite.logs.reading import Sniffer
from evalsuite.plan import repositories
from evalsuite.results.compare.units import SEQUENCES, TOKENS
from evalsuite.results.measure import facts
from evalsuite.results.measure.measurement import BATCH_ITEMS, NOT_SAID

SCALES = ((1, 1), (1, 2), (2, 2))
DEVICES: tuple[Device, ...] = ("cpu", "gpu")
PRECISIONS: tuple[Precision, ...] = ("fp32", "amp")
BATCHES = (32, 64, 128, 256, 512, 1)  # some scripts take one alone
STEPS_LONGER = Protocol(warmup_steps=2_000, measured_steps=100_000)  # more than the epochs of small data sets
PIN = re.compile(r"[\w.-]+(\[[\w,-]+\])?==[\w.+]+")
RELATIVE = re.compile(r"(?:(?<==)|^)(?:\.{1,2}/|data(?:sets?)?/)[^\s=]+")  # ./data/train, --data=../datasets/x
TIMES = {
    *("rate", "rate_k", "steps_per_s", "seconds", "ms", "us", "report_s", "report_ms", "mean_s", "elapsed_s"),
    *("elapsed_ms", "stamp", "unix_s", "unix_ms"),
}
CITED = re.compile(r"[\w.-]+/[\w.-]+@[\w.-]+:\S+|evalsuite \S+")


@dataclass(frozen=True)
class Lack:
    what: str
    advice: str


@dataclass(frozen=True, kw_only=True)
class Built:
    device: Device
    scale: str
    precision: Precision
    xla: bool | None
    argv: tuple[str, ...] = ()
    environment: Mapping[str, str]
    files: Mapping[str, str]  # and links: name → where it leads
    refused: str | None = None

    @property
    def switches(self) -> str:
        return self.precision + ("+XLA" if self.xla else "")


@dataclass(frozen=True, kw_only=True)
class Read:
    """What the dialect reads: in *log*, a file, or in its own samples where that is None."""

    log: str | None
    dialect: str
    status: str
    reason: str = ""
    steps: int
    items_per_s: float | None = None
    unit: str | None


@dataclass(frozen=True, kw_only=True)
class Checked:
    name: str
    file: str
    commands: tuple[Built, ...] = ()
    read: Read | None = None
    devices: tuple[Mapping[str, object], ...] | None = None  # of a sensor
    missing: tuple[Lack, ...]


# adapters


def check_adapters(
    adapters: Mapping[str, Adapter], file: Path, dialects: Mapping[str, Dialect], log: Path | None
) -> list[Checked]:
    return [
        _check_recipe(adapter, recipe, str(file), dialects, log)
        for adapter in adapters.values()
        for recipe in adapter.recipes
    ]


def _check_recipe(
    adapter: Adapter, recipe: Recipe, file: str, dialects: Mapping[str, Dialect], log: Path | None
) -> Checked:
    built = tuple(_matrix(adapter, recipe))
    read = _read(recipe.dialect_name, dialects, log or _log_beside(adapter, recipe), scope=recipe.scope)
    lacks = (_check_installation(recipe), _check_source(recipe), _check_commands(adapter, recipe, built),
             _check_reading(adapter, recipe, dialects, read), _check_against_others(adapter, recipe))  # fmt: skip
    return Checked(
        name=f"{adapter.name}/{recipe.name}",
        file=file,
        commands=built,
        read=read,
        missing=tuple(chain.from_iterable(lacks)),
    )


def _matrix(adapter: Adapter, recipe: Recipe) -> Iterator[Built]:
    """The command lines of the small matrix; a switch that the recipe declares absent is left out."""
    precisions = (*(PRECISIONS[:1] if recipe.amp == "" else PRECISIONS), *recipe.precisions)
    compiled = (False,) if recipe.xla == "" else (False, True)
    batch = _batch(adapter, recipe)
    for device, (nodes, devices), precision, xla in product(DEVICES, SCALES, precisions, compiled):
        case = replace(_case(adapter, recipe, device, batch), nodes=nodes, devices_per_node=devices, xla=xla)
        yield _build(recipe, replace(case, precision=precision))


def _batch(adapter: Adapter, recipe: Recipe) -> int:
    for batch, device, precision in product(BATCHES, DEVICES, PRECISIONS):
        if recipe.refusal(replace(_case(adapter, recipe, device, batch), precision=precision)) is None:
            return batch
    return BATCHES[0]


def _case(adapter: Adapter, recipe: Recipe, device: Device, batch: int) -> Case:
    return Case(
        framework=adapter.name,
        recipe=recipe.name,
        model=recipe.model,
        batch_per_device=batch,
        device=device,
        options=recipe.meant(()),
    )


def _build(recipe: Recipe, case: Case) -> Built:
    refused = recipe.refusal(case)
    command = Command(argv=()) if refused else recipe.command_of(case)
    return Built(
        device=case.device,
        scale=case.scale,
        precision=case.precision,
        xla=case.xla,
        argv=command.argv,
        environment=command.environment,
        files={**command.files, **command.links},
        refused=refused,
    )


def _check_installation(recipe: Recipe) -> Iterator[Lack]:
    if not (recipe.requirements or recipe.requirements_gpu or recipe.checkout or recipe.image):
        yield Lack(Message("commands.nothing_to_install"), Message("commands.write_requirements"))
    for pin in (*recipe.requirements, *recipe.pins("gpu"), *chain(*recipe.other_wheels), *recipe.built):
        if not PIN.fullmatch(pin):
            yield Lack(Message("commands.no_exact_pin", pin=pin), Message("commands.write_exact_pin"))
    gpu_pins = (recipe.pins("gpu"), *recipe.other_wheels) if "gpu" in recipe.devices else ()
    for pin in (pins[0] for pins in gpu_pins if pins and wheels.is_without_gpu(pins[0])):
        yield Lack(Message("commands.pin_without_gpu", pin=pin), Message("commands.pin_for_gpu"))
    if recipe.requirements and not recipe.import_name:
        yield Lack(Message("commands.lacks", name="import_name"), Message("commands.name_import"))
    if not recipe.package and not recipe.image:
        yield Lack(Message("commands.lacks", name="package"), Message("commands.name_distribution"))


def _check_against_others(adapter: Adapter, recipe: Recipe) -> Iterator[Lack]:
    """What most other recipes of its model declare: without it no comparison with them is ranked."""
    every = [(adapter.name, each) for adapter in registry.discover().values() for each in adapter.recipes]
    own = (adapter.name, recipe.name)
    others = [each for name, each in every if each.model == recipe.model and (name, each.name) != own]
    model, units = recipe.model, [*dict.fromkeys(each.unit for each in others)]
    if units and recipe.unit not in units and not all(map(_in_tokens, (recipe, *others))):
        lacking = Message("commands.other_unit", unit=recipe.unit, model=model, others=units)
        yield Lack(lacking, Message("commands.count_alike", others=units))
    stated = {facts.rules().options.get(name, name) for name in recipe.options or ()} | {*recipe.facts}
    if names := _of_most([each.facts for each in others], stated):
        yield Lack(Message("commands.facts_lacking", model=model, names=names), Message("commands.state_facts"))
    sizes = {*INPUT_SIZES, *GPT_SIZES}
    declared = [sizes & {*(each.options or ())} for each in others]
    if recipe.options is not None and (names := _of_most(declared, recipe.options)):
        yield Lack(Message("commands.axes_lacking", model=model, names=names), Message("commands.take_axes"))


def _in_tokens(recipe: Recipe) -> bool:
    known = "sequence_length" in (recipe.options or ()) or "input_size" in recipe.facts
    return recipe.unit == TOKENS or (recipe.unit in SEQUENCES and known)


def _of_most(others: Sequence[Collection[str]], own: Collection[str]) -> list[str]:
    counted = Counter(chain.from_iterable(others))
    return sorted(name for name, n in counted.items() if 2 * n > len(others) and name not in own)


def _check_source(recipe: Recipe) -> Iterator[Lack]:
    file = repositories.FILE
    for name in sorted(set(recipe.libraries) - repositories.of(recipe).keys()):
        advice = Message("commands.declare_next", file=file, near=did_you_mean(name, repositories.of(recipe)))
        yield Lack(Message("commands.checkout_undeclared", name=name, file=file), advice)
    if recipe.checkout:
        if recipe.checkout not in (known := repositories.of(recipe)):
            advice = Message("commands.declare_next", file=file, near=did_you_mean(recipe.checkout, known))
            yield Lack(Message("commands.checkout_undeclared", name=recipe.checkout, file=file), advice)
        return
    if not recipe.source:
        yield Lack(Message("commands.lacks", name="source"), Message("commands.name_repository"))
    if recipe.kind == "official":
        if not recipe.commit:
            yield Lack(Message("commands.lacks", name="commit"), Message("commands.name_commit"))
        yield Lack(Message("commands.lacks", name="licence"), Message("commands.declare_checkout", file=file))


def _check_commands(adapter: Adapter, recipe: Recipe, built: Sequence[Built]) -> Iterator[Lack]:
    served = [run for run in built if run.refused is None]
    if not served:
        yield Lack(Message("commands.all_refused"), Message("commands.see_reasons"))
        return
    known = {*placeholders.BY_PLAN, *placeholders.BY_AGENT}
    words = {word for run in served for word in (*run.argv, *run.environment.values(), *run.files.values())}
    for name in sorted({name for word in words for name in re.findall(r"\{\w+\}", word)} - known):
        advice = Message("commands.placeholders_are", names=known, near=did_you_mean(name, known))
        yield Lack(Message("commands.nothing_fills", name=name), advice)
    for path in sorted({path for word in words for path in RELATIVE.findall(word)}):
        yield Lack(Message("commands.path_relative", path=path), Message("commands.path_from_data"))
    if any("{checkout}" in word for word in words) and not recipe.checkout:
        yield Lack(Message("commands.checkout_unnamed"), Message("commands.name_checkout"))
    yield from _check_launcher(recipe, served)
    first = {run.device: run for run in reversed(served)}
    yield from dict.fromkeys(lack for run in first.values() for lack in _check_axes(adapter, recipe, run))
    for switch in ("amp", "xla"):
        if _same_with(switch, served):
            advice = Message("commands.add_argument", name=switch)
            yield Lack(Message("commands.same_with_and_without", name=switch), advice)


def _check_launcher(recipe: Recipe, served: Sequence[Built]) -> Iterator[Lack]:
    for run in served:
        pins = (*recipe.pins(run.device), *recipe.built)
        if pins and (absent := launchers.find_absent_launcher(run.argv, pins)):
            yield Lack(
                Message("commands.launcher_unpinned", launcher=run.argv[0], package=absent),
                Message("commands.pin_launcher", package=absent),
            )
            return
    named = {word for run in served for word in run.argv}
    for name in sorted({name for run in served if run.argv[0] == "mpirun" for name in run.environment} - named):
        yield Lack(Message("commands.not_forwarded", name=name), Message("commands.forward", name=name))


def _check_axes(adapter: Adapter, recipe: Recipe, run: Built) -> Iterator[Lack]:
    base = replace(_case(adapter, recipe, run.device, _batch(adapter, recipe)), precision=run.precision)

    def unchanged(other: Case) -> bool:
        return recipe.refusal(other) is None and recipe.command_of(base) == recipe.command_of(other)

    if unchanged(replace(base, batch_per_device=2 * base.batch_per_device)):
        yield Lack(Message("commands.batch_not_passed"), Message("commands.pass_batch"))
    if recipe.spawn != "per_device" and unchanged(replace(base, devices_per_node=2)):
        yield Lack(Message("commands.devices_not_passed"), Message("commands.pass_devices"))
    if recipe.step_bound != "none" and unchanged(replace(base, protocol=STEPS_LONGER)):
        yield Lack(Message("commands.steps_not_passed"), Message("commands.pass_steps"))
    if recipe.command_of(base) != recipe.command_of(base):
        yield Lack(Message("commands.two_commands"), Message("commands.command_depends"))


def _same_with(switch: str, served: Sequence[Built]) -> bool:
    on = [run for run in served if (run.xla if switch == "xla" else run.precision == "amp")]
    off = [replace(run, xla=False) if switch == "xla" else replace(run, precision="fp32") for run in on]
    return any(run in served for run in off)


def _check_reading(
    adapter: Adapter, recipe: Recipe, dialects: Mapping[str, Dialect], read: Read | None
) -> Iterator[Lack]:
    try:
        dialect = catalogue.recipe_dialect(adapter.name, recipe, dialects)
    except EvalsuiteError as error:
        yield Lack(Message("commands.dialect_unknown", name=recipe.dialect_name), error.message)
        return
    units = {recipe.unit, dialect.unit}
    if (dialect.unit, recipe.unit) == NOT_SAID or (len(units) > 1 and not units <= set(BATCH_ITEMS)):
        advice = Message("commands.write_unit", unit=dialect.unit)
        yield Lack(Message("commands.units_differ", recipe=recipe.unit, dialect=dialect.unit), advice)
    beside = Message("commands.check_log_next", name=adapter.name)
    yield from _check_log(dialect, read, Message("commands.give_log_or", other=beside))


def _log_beside(adapter: Adapter, recipe: Recipe) -> Path | None:
    folder = recipe.brought_by or Path()
    names = (f"{adapter.name}-{recipe.name}.log", f"{recipe.name}.log", f"{adapter.name}.log")
    return next((folder / name for name in names if (folder / name).is_file()), None)


# dialects


def check_dialect(dialect: Dialect, file: str, known: Mapping[str, Dialect], log: Path | None) -> Checked:
    read = _read(dialect.name, known, log)
    lacks = (_check_declaration(dialect, known, read), _check_log(dialect, read, Message("commands.give_log")))
    return Checked(name=dialect.name, file=file, read=read, missing=tuple(chain.from_iterable(lacks)))


def _check_declaration(dialect: Dialect, known: Mapping[str, Dialect], read: Read | None) -> Iterator[Lack]:
    if not dialect.step and not dialect.final:
        yield Lack(Message("commands.no_step_line"), Message("commands.declare_step"))
    if dialect.scope == "unstated":
        yield Lack(Message("commands.whose_rate"), Message("commands.say_scope"))
    for line in dialect.lines:
        if not CITED.match(line.source):
            yield Lack(Message("commands.source_no_place", text=line.source), Message("commands.write_source"))
    for line in dialect.step:
        if not line.literal:
            advice = Message("commands.begin_plain")
            yield Lack(Message("commands.pattern_not_plain", pattern=repr(line.pattern)), advice)
    named = {group for line in dialect.step for group in line.groups}
    if dialect.step and not ((read and read.items_per_s) or any(line.fields for line in dialect.step) or named & TIMES):
        yield Lack(Message("commands.no_rate_no_time"), Message("commands.name_groups", names=sorted(TIMES)))
    for other in _alike(dialect, known):
        yield Lack(Message("commands.samples_read_as", name=other), Message("commands.more_precise", name=other))


def _alike(dialect: Dialect, known: Mapping[str, Dialect]) -> list[str]:
    sniffer = Sniffer([*(other for other in known.values() if other.name != dialect.name), dialect])
    samples = [line.sample for line in dialect.step if line.telling]
    fits = {dialect.name for sample in samples for dialect in sniffer.fits(b"\n" + sample + b"\n")}
    return sorted(fits - {dialect.name})


# what is read


def _read(name: str, known: Mapping[str, Dialect], log: Path | None, scope: str | None = None) -> Read | None:
    if name not in known:
        return None
    if log is None:
        dialect = known[name]
        steps = sum(_has_number(line) for line in dialect.step)
        return Read(log=None, dialect=name, status="samples", steps=steps, unit=dialect.unit)
    if not log.is_file():
        raise EvalsuiteError.of("commands.check_log_none", path=log)
    result = reading.read_file(log, dialect=name, scope=scope, dialects=known)
    return Read(
        log=str(log),
        dialect=name,
        status=result.status,
        reason=result.reason,
        steps=result.steps_reported,
        items_per_s=result.throughput.items_per_s if result.throughput else None,
        unit=result.unit,
    )


def _has_number(line: Line) -> bool:
    match = line.compiled.search(line.sample)
    return match is not None and bool(line.read(match))


def _check_log(dialect: Dialect, read: Read | None, advice: str) -> Iterator[Lack]:
    """A built-in dialect has its logs in our tests; of an author's, one must be shown."""
    if read is None:
        return
    if read.log is None and dialect.origin is not None:
        yield Lack(Message("commands.only_samples"), advice)
    elif read.log is not None and read.steps == 0:
        explain = Message("commands.explain_line_by_line", log=shlex.quote(read.log), dialect=read.dialect)
        yield Lack(Message("commands.no_step_found", log=read.log), explain)
