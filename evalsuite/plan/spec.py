"""The spec: axes and protocol from a TOML file, overridden by the command line."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from itertools import product, starmap
from math import prod
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from evalsuite.contracts import registry
from evalsuite.contracts.own_script import Script
from evalsuite.core import decode, paths, redaction
from evalsuite.core.decode import From, Many, Word, between
from evalsuite.core.documents import StatedMachine
from evalsuite.core.errors import EvalsuiteError, did_you_mean
from evalsuite.core.expressions import OwnColumn, OwnColumns, OwnCriterion, OwnCriterions
from evalsuite.core.messages import Message
from evalsuite.core.model import UNKNOWN, Precision, Protocol
from evalsuite.plan import variants
from evalsuite.plan.largest import SearchedBatch
from evalsuite.plan.variants import Participant, Rule, Variant

SCALE = re.compile(r"^([1-9][0-9]*)x([1-9][0-9]*)$")
STEPS = re.compile(r"^([0-9]+)\+([1-9][0-9]*)$")

# More is a typing error.
MOST_NODES, MOST_DEVICES, MOST_BATCH, MOST_CORES = 100_000, 1024, 10_000_000, 10_000
MOST_REPEATS, MOST_STEPS, MOST_SECONDS = 1000, 100_000_000, 366 * 86_400
MOST_CASES, MOST_RUNS = 20_000, 200_000
OPTION = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)  # image_size
LONGEST_VALUE = 1000
EXAMPLE = "data/specs/quick.toml"

PRECISIONS: Mapping[str, Precision] = {word: word for word in get_args(Precision) if word != UNKNOWN}
KINDS = ("reference", "official")
Scaling = Literal["weak", "strong"]
Point = tuple[tuple[int, int], str, int, Precision, bool]  # scale, model, batch, precision, xla


@dataclass(frozen=True, kw_only=True)
class Spec:
    name: str = "custom"
    frameworks: tuple[str, ...] = ()
    recipes: tuple[str, ...] = ("reference",)  # names or kinds ("official")
    models: tuple[str, ...] = ("resnet50_v1.5",)
    scales: tuple[tuple[int, int], ...] = ((1, 1),)  # (nodes, devices per node)
    batch_per_device: tuple[int, ...] = (32,)
    scaling: Scaling = "weak"
    find_batch: bool = False  # search for the most that fits, from *batch_per_device*
    searched: tuple[SearchedBatch, ...] = ()
    batch_policy: Literal["max"] | None = None  # max: the spec's author found these to be the most that fit
    precision: tuple[Precision, ...] = ("fp32",)
    xla: tuple[bool, ...] = (False,)
    protocol: Protocol = field(default_factory=Protocol)
    repeats: int = 5
    most_repeats: int | None = None  # of a case that fewer leave undecided; None: *repeats*
    timeout_s: float = 3600.0
    expected_run_s: float | None = None  # of a run that nothing is known of; None: its price is unknown
    cores_per_device: int | None = None  # of a CPU device; None: what the machine has for each
    retries: int = 2
    quiet_rounds: int | None = None  # at most so many more, of what others disturbed; None: half as many as *repeats*
    max_device_hours: float | None = None  # None: as many as it takes
    stop_after_window: bool = False  # end scripts after their measured steps
    seed: int = 0  # of the order of the frameworks within a scale
    oversubscribe: bool = False  # whether devices may share cores
    options: tuple[tuple[str, str], ...] = ()
    layouts: tuple[tuple[tuple[int, int], tuple[tuple[tuple[str, str], ...], ...]], ...] = ()  # further ones of a scale
    preset: tuple[str, ...] = ()  # options set by a profile, not by the user
    variants: tuple[Variant, ...] = ()
    participants: tuple[Participant, ...] = ()  # each makes every matrix; (): *frameworks* do
    brings: tuple[Path, ...] = ()  # its own file, where it declares scripts: *frameworks* then stand beside them
    entered: bool = False  # whether this is the matrix of one participant, which has no cases of other models
    container: str | None = None  # the runtime of images; None: as asked
    include: tuple[Rule, ...] = ()  # (): all cases
    exclude: tuple[Rule, ...] = ()
    stated: tuple[str, ...] = ()  # values of its axes, of which the command line chose
    columns: tuple[OwnColumn, ...] = ()
    criteria: tuple[OwnCriterion, ...] = ()
    machine: StatedMachine | None = None
    parts: tuple["Spec", ...] = ()
    """Several matrices measured as one: where scripts want models, batches or steps of their own, each is a spec
    of its own. The repeats of all are interleaved. () = the matrix is this spec's own."""

    def matrices(self) -> tuple["Spec", ...]:
        parts = self.parts or (self,)
        beside = [replace(part, participants=(), parts=()) for part in parts if self.brings and part.frameworks]
        entered = []
        for part, each in product(parts, self.participants):
            options = tuple(sorted({**dict(part.options), **each.axes}.items()))
            own: Any = {"frameworks": (each.name,), "recipes": KINDS, "preset": tuple({*part.preset, *each.axes})}
            entered.append(replace(part, **own, options=options, entered=True, participants=(), parts=()))
        return (*entered, *beside) or parts

    @property
    def words(self) -> tuple[str, ...]:
        each = (
            (
                *matrix.frameworks,
                *matrix.models,
                *matrix.precision,
                *map(str, matrix.batch_per_device),
                *(f"{n}x{d}" for n, d in matrix.scales),
            )
            for matrix in self.matrices()
        )
        return tuple({word for words in each for word in words})

    @property
    def base_devices(self) -> int:
        """Of the smallest scale, where each device has the batch that the spec names."""
        return min(nodes * devices for nodes, devices in self.scales)

    def points(self) -> Iterable[Point]:
        """The product of the axes but the framework, scales slowest."""
        return product(*self.axes())

    def options_at(self, scale: tuple[int, int]) -> list[tuple[tuple[str, str], ...]]:
        laid = dict(self.layouts).get(scale, ((),))
        return [tuple(sorted({**dict(self.options), **dict(each)}.items())) for each in laid]

    def axes(self) -> tuple[tuple[Any, ...], ...]:
        batches = (min(self.batch_per_device),) if self.find_batch else self.batch_per_device
        return (self.scales, self.models, batches, self.precision, self.xla)


def read(path: Path) -> Spec:
    file = decode.decode(_SpecFile, decode.read_toml(path, EXAMPLE, "try_profile"), path, "see_spec", strict=True)
    brings = (Path(path),) if any(isinstance(each, Script) for each in file.participant or ()) else ()
    wholes = _laid_over(Spec(name=Path(path).stem, brings=brings), file)
    parts = wholes if len(wholes) > 1 and not file.parts else ()
    for part in file.parts:
        for whole in wholes if part.options is None else wholes[:1]:
            parts += _laid_over(whole, part)
    return replace(wholes[0], parts=parts)


def _laid_over(base: Spec, part: "_Part") -> tuple[Spec, ...]:
    given = {key.name: value for key in fields(part) if (value := getattr(part, key.name)) is not None}
    if scripts := [each for each in given.get("participant", ()) if isinstance(each, Script)]:
        given["participant"] = tuple(map(_participant, given["participant"]))
        given.setdefault("models", tuple(dict.fromkeys(script.model or script.name for script in scripts)))
    changes: dict[str, Any] = {FIELDS.get(key, key): value for key, value in given.items() if key != "parts"}
    made = replace(base, **{**changes, **changes.get("repeats", {}), "options": base.options})
    if absent := [f"{nodes}x{devices}" for (nodes, devices), _ in made.layouts if (nodes, devices) not in made.scales]:
        raise EvalsuiteError.of("plan.layout_scale", names=absent, scales=[f"{n}x{d}" for n, d in made.scales])
    return tuple(replace(made, options=options) for options in changes.get("options", (base.options,)))


def _participant(each: Participant | Script) -> Participant:
    if isinstance(each, Participant):
        return each
    place: dict[str, Any] = (
        {"image": each.image} if each.image and not each.requirements else {"environment": "managed"}
    )
    return Participant(framework=each.name.replace(" ", "_"), recipes=(each.recipe,), title=each.name, **place)


def named(text: str) -> Spec:
    """A profile, or what the file of that name says."""
    return read(Path(text)) if text.endswith(".toml") else profile(text)


def profile(name: str) -> Spec:
    known = sorted(file.stem for file in (paths.DATA / "specs").glob("*.toml"))
    if name not in known:
        hint = did_you_mean(name, known)
        raise EvalsuiteError.of("plan.profile", name=name, names=known, near=hint)
    return _preset(read(paths.DATA / "specs" / f"{name}.toml"))


def _preset(spec: Spec) -> Spec:
    names = tuple(name for name, _ in spec.options)
    return replace(spec, preset=names, parts=tuple(_preset(part) for part in spec.parts))


def scale(text: str) -> tuple[int, int]:
    """`2x8` → (2, 8): nodes × devices per node."""
    match = SCALE.match(text.strip()) if isinstance(text, str) else None
    if not match:
        raise EvalsuiteError.of("plan.scale", text=text)
    of = Message("plan.devices_per_node")
    return _at_most(match[1], MOST_NODES, f"nodes (scale {text[:40]})"), _at_most(match[2], MOST_DEVICES, of)


def _at_most(digits: str, most: int, what: str) -> int:
    if len(digits) > 12 or int(digits) > most:
        raise EvalsuiteError.of("plan.slip", shown=digits, what=what, most=most)
    return int(digits)


def _whole(name: str, least: int, most: int, of: type[float] = int) -> Callable[[object], Any]:
    def read(text: object) -> float:
        if not re.fullmatch(r"0|[1-9][0-9]{0,11}", str(text)) or not least <= int(str(text)) <= most:
            raise EvalsuiteError.of("plan.whole", name=name, text=text, least=least, most=most)
        return of(str(text))

    return read


batch = _whole("batch", 1, MOST_BATCH)
cores = _whole("cores_per_device", 1, MOST_CORES)
retries, quiet_rounds = (_whole(name, 0, 9) for name in ("retries", "quiet_rounds"))
timeout = _whole("timeout", 1, MOST_SECONDS, float)
seed = _whole("seed", 0, 999_999_999)


def device_hours(text: object) -> float:
    if not re.fullmatch(r"(?=.*[1-9])[0-9]{1,9}(\.[0-9]{1,9})?", str(text)):
        raise EvalsuiteError.of("plan.device_hours", text=text)
    return float(str(text))


def steps(text: str) -> Protocol:
    """`20+100` → 20 warm-up steps and 100 measured ones."""
    match = STEPS.match(text.strip())
    if not match:
        raise EvalsuiteError.of("plan.steps", text=text)
    return Protocol(
        warmup_steps=_at_most(match[1], MOST_STEPS, "warm-up steps"),
        measured_steps=_at_most(match[2], MOST_STEPS, "measured steps"),
    )


def switch(text: str | bool) -> bool:
    if isinstance(text, bool):
        return text
    if not isinstance(text, str) or text not in ("on", "off"):
        raise EvalsuiteError.of("plan.xla", text=text)
    return text == "on"


def precision(text: str) -> Precision:
    if not isinstance(text, str) or text not in PRECISIONS:
        raise EvalsuiteError.of("plan.precision", text=text, names=PRECISIONS)
    return PRECISIONS[text]


def scaling(given: str) -> Scaling:
    if given not in get_args(Scaling):
        raise EvalsuiteError.of("plan.scaling", text=given)
    return "strong" if given == "strong" else "weak"


def repeats(text: str | int) -> dict[str, int | None]:
    """`5` → 5 of each case; `3-7` → up to seven of those that fewer leave undecided."""
    match = re.fullmatch(r"([1-9][0-9]*)(?:-([1-9][0-9]*))?", str(text).strip())
    if not match:
        raise EvalsuiteError.of("plan.repeats", text=text)
    least = _at_most(match[1], MOST_REPEATS, "repeats")
    most = _at_most(match[2], MOST_REPEATS, "repeats") if match[2] else None
    if most is not None and (least, most) not in ADAPTIVE:
        known = ", ".join(f"{fewest}-{largest}" for fewest, largest in ADAPTIVE)
        raise EvalsuiteError.of("plan.repeats_range", text=text, known=known)
    return {"repeats": least, "most_repeats": most}


def _repeats(given: int | str) -> dict[str, int | None]:
    """Of a file, where a number is not a text."""
    if isinstance(given, str) and "-" not in given:
        raise EvalsuiteError(decode.refusal(given, decode.message("repeats")))
    return repeats(given)


ADAPTIVE = ((3, 7), (5, 7))  # what benchmarks/stopping.py simulates


def _choices(table: Mapping[str, object]) -> tuple[tuple[tuple[str, str], ...], ...]:
    lists = {name: value if isinstance(value, list) and value else [value] for name, value in sorted(table.items())}
    _at_most(str(prod(map(len, lists.values()))), MOST_CASES, "options")
    axes = [dict.fromkeys(option(name, value) for value in values) for name, values in lists.items()]
    return tuple(product(*axes))


def _layouts(
    table: Mapping[str, object],
) -> tuple[tuple[tuple[int, int], tuple[tuple[tuple[str, str], ...], ...]], ...]:
    """Of each scale its table of options, or several: `"2x8" = [{ tensor_parallel = 8 }, { tensor_parallel = 4 }]`."""

    def choices(given: object) -> tuple[tuple[tuple[str, str], ...], ...]:
        if not isinstance(given, Mapping):
            raise EvalsuiteError.of("plan.layout_table", got=repr(given))
        return _choices(given)

    known = {scale(name): value if isinstance(value, list) else [value] for name, value in table.items()}
    return tuple((at, tuple(row for each in values for row in choices(each))) for at, values in known.items())


def option(name: str, value: object) -> tuple[str, str]:
    """Raises EvalsuiteError if no command line could hold them."""
    if not OPTION.fullmatch(name):
        raise EvalsuiteError.of("plan.option_name", name=repr(name))
    if redaction.find_secret({name: str(value)}):
        raise EvalsuiteError.of("plan.option_secret", name=name)
    simple = isinstance(value, str | int | float) and value == value
    text = str(value)
    if not simple or not text or not text.isprintable() or len(text) > LONGEST_VALUE:
        raise EvalsuiteError.of("plan.option_value", name=name, value=repr(text[:60]))
    return name, text


Steps = Annotated[Protocol, From(str, steps)]
Framework = Annotated[str, From(Word, registry.framework)]
Seed = Annotated[int, From(int, seed)]
Planned = Annotated[Precision, From(str, precision)]
Retries = Annotated[int, From(int, retries)]
QuietRounds = Annotated[int, From(int, quiet_rounds)]
Variants = Annotated[tuple[Variant, ...], decode.NAMES_ONCE]
Rules = tuple[Annotated[Rule, From(Mapping[variants.Axis, object], variants.rule)], ...]
Options = Annotated[
    tuple[tuple[str, str], ...], From(Mapping[str, object], lambda table: tuple(sorted(starmap(option, table.items()))))
]
Choices = Annotated[tuple[tuple[tuple[str, str], ...], ...], From(Mapping[str, object], _choices)]


@dataclass(frozen=True, kw_only=True)
class _Part:
    frameworks: Many[Framework] | None = None
    recipes: Many[Word] | None = None
    models: Many[Word] | None = None
    scales: Many[Annotated[Any, From(str, scale)]] | None = None
    batch_per_device: Many[Annotated[int, From(int, batch)]] | None = None
    batch_policy: Literal["max"] | None = None
    scaling: Scaling | None = None
    batch: Annotated[bool, From(Literal["max"], lambda word: word == "max")] | None = None
    precision: Many[Planned] | None = None
    xla: Many[Annotated[bool, From(Literal["on", "off"] | bool, switch)]] | None = None
    steps: Steps | None = None
    options: Choices | None = None
    layouts: Annotated[Any, From(Mapping[str, object], _layouts)] | None = None
    include: Rules | None = None
    exclude: Rules | None = None


@dataclass(frozen=True, kw_only=True)
class _SpecFile(_Part):
    repeats: Annotated[dict[str, Any], From(int | str, _repeats)] | None = None
    timeout_s: Annotated[float, From(Annotated[int, between(1, MOST_SECONDS)], float)] | None = None
    expected_run_s: Annotated[float, From(Annotated[int, between(1, MOST_SECONDS)], float)] | None = None
    cores_per_device: Annotated[int, From(int, cores)] | None = None
    seed: Seed | None = None
    retries: Retries | None = None
    quiet_rounds: QuietRounds | None = None
    max_device_hours: Annotated[float, From(int, device_hours)] | None = None
    stop_after_window: bool | None = None
    participant: tuple[Participant | Script, ...] | None = None
    container: Word | None = None
    variants: Variants | None = None
    column: OwnColumns | None = None
    criterion: OwnCriterions | None = None
    machine: StatedMachine | None = None
    parts: tuple[_Part, ...] = ()


# key of the file → field of Spec, where it is another
FIELDS = {"steps": "protocol", "batch": "find_batch"} | {f"{key}": f"{key}s" for key in ("participant", "column")}
FIELDS["criterion"] = "criteria"
