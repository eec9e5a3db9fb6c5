"""The files of a run as nouns: a frozen dataclass each, a JSON object on disk, key for field.

What lies in a file is checked once, when it is read: a noun holds what its fields say, or there is none and an
EvalsuiteError names the file and the key. A field that is None by default is one that some recordings lack; it is
left out of the file where it is None. Keys that are not known are passed over: a later evalsuite may add some
without a new schema. Here lie the two that the model names, `runs` holds the others and the files' names.
"""

import functools
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, Self, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from evalsuite.errors import EvalsuiteError
from evalsuite.messages import Message, Phrase, from_json

LONGEST_SHOWN = 60  # characters of a value that an error quotes
TRY = "Was the file edited, or written by another version? Move the run folder away and run the case again."
Noun = TypeVar("Noun")


@dataclass(frozen=True, kw_only=True)
class Document:
    """What one JSON file holds. Each class of documents has its fields as keys, and `schema` beside them."""

    SCHEMAS: ClassVar[range] = range(1, 2)  # those that are read; the last one is written
    TRY: ClassVar[str] = TRY  # what to do about a file that is not as it should be
    LEAST: ClassVar[Mapping[str, float]] = {}  # field → the least number that can stand there, or in its lists

    def to_json(self) -> dict[str, object]:
        """The object to write."""
        return {"schema": self.SCHEMAS[-1], **facts_of(self)}

    @classmethod
    def from_json(cls, facts: object, where: Path | str) -> Self:
        """The noun in *facts*, the JSON of the file *where*. Raises EvalsuiteError with the file and the key."""
        checked_schema(facts, cls.SCHEMAS, where, cls.TRY)
        found = noun(cls, facts, where, cls.TRY)
        for name, least in cls.LEAST.items():
            for value in _numbers(getattr(found, name)):
                if value >= least:
                    continue
                said = f"{name}: {_shown(value)} stands there; expected at least {least:g}"
                raise EvalsuiteError(f"{where}: {said}. {cls.TRY}")
        return found


@dataclass(frozen=True, kw_only=True)
class DialectSource:
    """Where the declaration of a dialect came from: the house, or an author's file and the option that brought it."""

    by: Literal["house", "author"]
    file: str | None = None
    sha256: str | None = None
    option: str | None = None


@dataclass(frozen=True, kw_only=True)
class UsedRecipe:
    """The recipe that a run was launched with, as its adapter declared it then."""

    name: str | None = None
    kind: str | None = None  # "official", "reference"; "imported", "cited"
    model: str | None = None
    dialect: str | None = None
    dialect_source: DialectSource | None = None
    unit: str | None = None
    scope: Literal["global", "per_device", "own"] | None = None
    spawn: str | None = None
    source: str | None = None
    commit: str | None = None
    image: str | None = None
    amp: str | None = None
    features: tuple[str, ...] | None = None  # "Horovod", "APEX": what the script runs on beside the framework
    facts: Mapping[str, str] | None = None  # what the adapter states of the script, by the names of facts.toml


@dataclass(frozen=True, kw_only=True)
class Checkout:
    """The official repository that a run used, as it stood."""

    name: str
    repository: str
    commit: str | None
    clean: bool
    absent: tuple[str, ...]  # files of the commit whose content the mirror did not hold
    licence: str


@dataclass(frozen=True, kw_only=True)
class Source:
    """A file that was imported: where it lay, and the hash of what was taken."""

    path: str
    sha256: str


@dataclass(frozen=True, kw_only=True)
class PrintedBeside:
    """What a table prints beside the figure that was taken from it."""

    speedup: str | None = None


@dataclass(frozen=True, kw_only=True)
class Citation:
    """One place that prints a figure: a row of a table, and what the table says that it was printed in."""

    row: str  # "dlperf.csv:154"
    source: str | None = None  # "README.md"
    speedup: str | None = None  # printed beside the figure, digits and all
    base: str | None = None  # the figure that this speed-up counts from, as printed
    base_row: str | None = None


@dataclass(frozen=True, kw_only=True)
class CitedFigure:
    """A figure that a table prints, wherever it does so: one figure cited often is no repeat of itself."""

    printed: str  # as the table has it, digits and all
    kind: Literal["run", "median"] | None = None  # None: the table does not say
    n: int | None = None  # the runs of a median, where the table says how many
    log_set: str | None = None  # whose repeat a single run is
    citations: tuple[Citation, ...] = ()
    runs: tuple[str, ...] = ()  # of a median: its single runs as the same source prints them
    others: tuple[Citation, ...] = ()  # where another figure is printed for the same case
    others_printed: tuple[str, ...] = ()  # those figures, in the same order


@dataclass(frozen=True, kw_only=True)
class CampaignPlace:
    """Where a run stands in its campaign: the start of an evaluation that launched it."""

    id: str
    plan_sha256: str  # the seal of what was to be run, as it was before the first run
    round: int  # the pass through the cases, from 0
    order: int  # of this start among those of the campaign, from 0
    attempt: int  # at this case and repeat, from 1: a second one means that the first was interrupted or taken away
    seed: int | None = None  # of the order of the frameworks within each block
    probe_s: float | None = None  # what a fixed computation took before this run's block


@dataclass(frozen=True, kw_only=True)
class RunCommand(Document):
    """What exactly was run."""

    LEAST: ClassVar[Mapping[str, float]] = {"timeout_s": 0}

    argv: tuple[str, ...]  # the whole line, from the engine inward; empty where nothing was launched
    command: tuple[str, ...]  # the training script's own part of it
    environment: Mapping[str, str]  # variables that the recipe sets
    recipe: UsedRecipe
    engine: str | None = None
    evalsuite: str | None = None  # the version that wrote this
    files: Mapping[str, str] | None = None  # name → text of what was written for the script
    container: str | None = None  # the runtime
    sandbox: str | None = None  # the program that kept the script from the rest of the machine: "bwrap"
    image_digest: str | None = None
    data_sets: tuple[Mapping[str, object], ...] | None = None  # "name", and what the folder's own file says
    timeout_s: float | None = None
    checkout: Checkout | None = None
    script_sha256: str | None = None
    workload_sha256: Mapping[str, str] | None = None  # of a reference workload: its script and what that imports
    framework_version: str | None = None
    packages: Mapping[str, str] | None = None  # distribution → version
    imported: tuple[Source, ...] | None = None
    printed: PrintedBeside | None = None
    stated: Mapping[str, str] | None = None  # facts as the user, a path or a table gave them at import
    corrected: Mapping[str, str] | None = None  # facts as they were given before a later import corrected them
    figure: CitedFigure | None = None
    campaign: CampaignPlace | None = None  # None: imported, or recorded before there were campaigns


@dataclass(frozen=True, kw_only=True)
class Gpu:
    """What an accelerator is."""

    index: int | None = None  # as its vendor's library numbers it
    kind: str | None = None  # "gpu", "npu"; None: recorded before there were several, and a GPU
    vendor: str | None = None  # "NVIDIA", "Huawei"
    uuid: str | None = None
    name: str | None = None
    memory_total_bytes: int | None = None
    power_limit_w: float | None = None
    of_job: bool | None = None  # whether the job uses it; said beside the samples alone


COLLECTIVES = {"gloo": "gloo", "nccl": "NCCL", "mpi": "MPI"}  # what carries all-reduces, as its makers write it


@dataclass(frozen=True, kw_only=True)
class AllReduceTimes:
    """All-reduces of one size."""

    bytes: int
    seconds: tuple[float, ...]  # of each, of the slowest rank


@dataclass(frozen=True, kw_only=True)
class StorageReading:
    """A file read back on one host, once it was no longer in its memory."""

    host: str
    bytes: int
    seconds: float


@dataclass(frozen=True, kw_only=True)
class NetworkMeasurement(Document):
    """What network and storage gave at a scale, measured beside the training in the same allocation."""

    nodes: int
    devices_per_node: int
    device: str
    at: str  # ISO 8601 with zone
    backend: str | None = None  # what carried the all-reduces: "gloo", "nccl", "mpi"
    tool: str | None = None  # "PyTorch 2.5.1", "Open MPI 4.1.4"
    engine: str | None = None
    campaign: str | None = None
    hosts: tuple[str, ...] | None = None
    link_mbit: int | None = None  # what the links give, where the runs' own option of that name says so
    all_reduce: tuple[AllReduceTimes, ...] = ()
    storage: tuple[StorageReading, ...] = ()
    error: Phrase | None = None  # why it could not be measured

    @property
    def scale(self) -> str:
        return f"{self.nodes}x{self.devices_per_node}"

    @property
    def devices(self) -> int:
        return self.nodes * self.devices_per_node


@dataclass(frozen=True, kw_only=True)
class Interface:
    """What a network interface is."""

    speed_mbit_s: int | None = None
    no_speed: str | None = None  # why there is none: "virtual" (a nominal one limits nothing), "unknown"


@dataclass(frozen=True, kw_only=True)
class ContainerLimits:
    """What the control groups of a container leave of its machine."""

    cpus: float | None  # cores' worth of CPU time
    memory_bytes: int | None


@dataclass(frozen=True, kw_only=True)
class HostEnvironment(Document):
    """What one machine of a run is: hardware, drivers, versions, and the variables that change its speed."""

    LEAST: ClassVar[Mapping[str, float]] = {
        "node_rank": 0,
        "cpu_count": 1,
        "cpu_count_usable": 0,
        "memory_total_bytes": 0,
    }

    host: str
    node_rank: int | None = None
    os: str | None = None
    kernel: str | None = None
    architecture: str | None = None
    cpu_model: str | None = None
    cpu_count: int | None = None
    cpu_count_usable: float | None = None  # less, where affinity or a container leaves less
    cpu_governor: str | None = None
    numa_nodes: int | None = None
    memory_total_bytes: int | None = None
    container: ContainerLimits | None = None  # None: no limits
    disks: tuple[str, ...] | None = None
    interfaces: Mapping[str, Interface] | None = None
    gpus: tuple[Gpu, ...] | None = None
    driver: str | None = None
    cuda_driver: str | None = None
    topology: str | None = None  # as `nvidia-smi topo -m` draws it
    python: str | None = None
    evalsuite: str | None = None
    environment_variables: Mapping[str, str] | None = None

    @property
    def cores(self) -> float | None:
        """The cores that the job may use, or all of them where that is not known."""
        return self.cpu_count_usable or self.cpu_count


# from JSON to nouns and back


def noun(cls: type[Noun], facts: object, where: Path | str, hint: str = TRY) -> Noun:
    """The noun in *facts*, the JSON of the file *where*. Raises EvalsuiteError with the file, the key and *hint*."""
    try:
        return cast(Noun, _read(cls, facts))
    except _Wrong as error:
        raise EvalsuiteError(f"{where}: {error}. {hint}") from error


def facts_of(noun: Any) -> dict[str, object]:
    """The JSON object of *noun*, less what is None by default."""
    values = ((field, getattr(noun, field.name)) for field in fields(noun))
    return {field.name: _plain(value) for field, value in values if value is not None or field.default is not None}


def checked_schema(facts: object, schemas: range, where: Path | str, hint: str = TRY) -> Mapping[str, object]:
    """*facts*, the JSON of the file *where*. Raises EvalsuiteError if they were not written by one of *schemas*."""
    try:
        return _checked_schema(facts, schemas)
    except _Wrong as error:
        raise EvalsuiteError(f"{where}: {error}. {error.hint or hint}") from error


def _numbers(value: Any) -> Iterator[float]:
    """The numbers in *value*: itself, or those in its lists."""
    if isinstance(value, tuple):
        for one in value:
            yield from _numbers(one)
    elif value is not None:
        yield value


class _Wrong(Exception):
    """What stands at *key* is not what was expected there."""

    def __init__(self, said: str, key: str = "", hint: str = "") -> None:
        super().__init__(said)
        self.said = said
        self.key = key
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.key}: {self.said}" if self.key else self.said

    def inside(self, name: str) -> "_Wrong":
        """The same, seen from the object or list that holds it: `name` or `[0]` comes before the key."""
        dot = "." if self.key and not self.key.startswith("[") else ""
        return _Wrong(self.said, f"{name}{dot}{self.key}", self.hint)


class _Kind(NamedTuple):
    """What may stand at a key: in words, and as the function that takes it or raises _Wrong."""

    words: str
    taken: Callable[[object], Any]


class _Key(NamedTuple):
    """A field of a noun as a key of its object."""

    name: str
    kind: _Kind
    required: bool


def _checked_schema(facts: object, schemas: range) -> Mapping[str, object]:
    if not isinstance(facts, Mapping):
        raise _stands(facts, "an object")
    first, last = schemas[0], schemas[-1]
    read = str(first) if first == last else f"{first} to {last}"
    if "schema" not in facts:
        raise _Wrong(f"the key is missing; expected {read}", "schema")
    found = facts["schema"]
    if isinstance(found, bool) or not isinstance(found, int):
        raise _stands(found, read).inside("schema")
    if found not in schemas:
        raise _Wrong(
            f"it was written by schema {found}; this evalsuite reads {read}",
            "schema",
            "Read it with the evalsuite that wrote it, or with a newer one.",
        )
    return facts


def _read(cls: Any, facts: object) -> Any:
    if not isinstance(facts, Mapping):
        raise _stands(facts, "an object")
    values = {}
    for name, kind, required in _keys(cls):
        if name in facts:
            try:
                values[name] = kind.taken(facts[name])
            except _Wrong as error:
                raise error.inside(name) from error
        elif required:
            raise _Wrong(f"the key is missing; expected {kind.words}", name)
    return cls(**values)


@functools.cache
def _keys(cls: Any) -> tuple[_Key, ...]:
    hints = get_type_hints(cls)
    return tuple(_Key(field.name, _kind(hints[field.name]), _is_required(field)) for field in fields(cls))


def _is_required(field: "Field[Any]") -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _kind(hint: Any) -> _Kind:
    """What a field with the annotation *hint* takes."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        if Message in arguments:
            inner = _Kind("a text or a message", _phrase)
        else:
            (inner,) = (_kind(each) for each in arguments if each is not types.NoneType)
        if types.NoneType not in arguments:
            return inner
        return _Kind(inner.words, lambda found: None if found is None else inner.taken(found))
    if origin is Literal:
        return _Kind(_listed(arguments), functools.partial(_one_of, arguments))
    if origin is tuple and arguments[-1] is not Ellipsis:
        return _Kind(f"a list of {len(arguments)}", functools.partial(_of_length, len(arguments), _kind(arguments[0])))
    if origin is tuple:
        return _Kind("a list", functools.partial(_items, _kind(arguments[0])))
    if origin is not None:  # Mapping[str, …]
        return _Kind("an object", functools.partial(_values, _kind(arguments[1])))
    if is_dataclass(hint):
        return _Kind("an object", functools.partial(_read, hint))
    return _SIMPLE[hint]


def _text(found: object) -> str:
    if not isinstance(found, str):
        raise _stands(found, "a text")
    if not _is_unicode(found):
        raise _Wrong(f"the text {ascii(found)[:LONGEST_SHOWN]} stands there; expected one of Unicode")
    return found


def _phrase(found: object) -> str:
    try:
        return _text(from_json(found))
    except ValueError as error:
        raise _stands(found, "a text or a message") from error


def _is_unicode(text: str) -> bool:
    """Whether no half of a pair stands alone in *text*, as JSON lets it; bytes of a name that is no UTF-8 may."""
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True


def _flag(found: object) -> bool:
    if not isinstance(found, bool):
        raise _stands(found, "true or false")
    return found


def _whole(found: object) -> int:
    if isinstance(found, bool) or not isinstance(found, int) or abs(found) > sys.float_info.max:
        raise _stands(found, "a whole number")
    return found


def _number(found: object) -> float:
    """JSON as Python reads it has NaN, Infinity and whole numbers beyond every float; none of them is measured."""
    if isinstance(found, bool) or not isinstance(found, int | float) or not abs(found) <= sys.float_info.max:
        raise _stands(found, "a number")
    return found


_SIMPLE: Mapping[Any, _Kind] = {
    str: _Kind("a text", _text),
    bool: _Kind("true or false", _flag),
    int: _Kind("a whole number", _whole),
    float: _Kind("a number", _number),
    object: _Kind("anything", lambda found: found),
}


def _one_of(known: tuple[object, ...], found: object) -> object:
    if not isinstance(found, str) or found not in known:
        raise _stands(found, _listed(known))
    return found


def _items(of: _Kind, found: object) -> tuple[Any, ...]:
    if not isinstance(found, list | tuple):
        raise _stands(found, "a list")
    try:
        return tuple(map(of.taken, found))
    except _Wrong:
        for place, each in enumerate(found):
            _inside(f"[{place}]", of, each)
        raise


def _of_length(length: int, of: _Kind, found: object) -> tuple[Any, ...]:
    """A tuple of *length* things of one kind, as `tuple[str, str]` is."""
    items = _items(of, found)
    if len(items) != length:
        raise _stands(found, f"a list of {length}")
    return items


def _values(of: _Kind, found: object) -> dict[str, Any]:
    if not isinstance(found, Mapping):
        raise _stands(found, "an object")
    try:
        return {_text(name): of.taken(each) for name, each in found.items()}
    except _Wrong:
        for name, each in found.items():
            _inside(ascii(name)[1:-1], of, each)
        raise


def _inside(name: str, of: _Kind, found: object) -> None:
    try:
        of.taken(found)
    except _Wrong as error:
        raise error.inside(name) from error


def _stands(found: object, expected: str) -> _Wrong:
    return _Wrong(f"{_shown(found)} stands there; expected {expected}")


def _shown(found: object) -> str:
    """A JSON value with its type, shortened: `the text "abc"`, `a list of 3`, `null`."""
    match found:
        case None:
            return "null"
        case bool():
            return str(found).lower()
        case int() | float():
            return f"the number {_shortened(repr(found))}"
        case str():
            return f'the text "{_shortened(found)}"'
        case Mapping():
            return f"an object of {len(found)} keys"
        case list() | tuple():
            return f"a list of {len(found)}"
    return f"a {type(found).__name__}"


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"


def _listed(words: tuple[object, ...]) -> str:
    *most, last = map(str, words)
    return f"{', '.join(most)} or {last}" if most else last


def _plain(value: object) -> object:
    if is_dataclass(value):
        return facts_of(value)
    if isinstance(value, Message):
        return value.to_json()
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value
