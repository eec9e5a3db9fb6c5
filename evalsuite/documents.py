"""The files of a run as nouns: a frozen dataclass each, a JSON object on disk, key for field.

A field that is None by default is left out of the file where it is None. Keys that are not known are passed over: a
later evalsuite may add some without a new schema. Here lie the two that the model names, `runs` holds the others and
the files' names.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from evalsuite import decode
from evalsuite.decode import at_least
from evalsuite.errors import EvalsuiteError
from evalsuite.messages import Phrase

TRY = "try_run_folder"


@dataclass(frozen=True, kw_only=True)
class Document:
    """What one JSON file holds. Each class of documents has its fields as keys, and `schema` beside them."""

    SCHEMA: ClassVar[int] = 1
    TRY: ClassVar[str] = TRY  # message `decode.…` that says what to do about a file that is not as it should be

    def to_json(self) -> dict[str, object]:
        """The object to write."""
        return {"schema": self.SCHEMA, **decode.encode(self)}

    @classmethod
    def from_json(cls, facts: object, where: Path | str) -> Self:
        """The noun in *facts*, the JSON of the file *where*. Raises EvalsuiteError with all mistakes in it."""
        check_schema(facts, cls.SCHEMA, where)
        return decode.decode(cls, facts, where, cls.TRY)


def check_schema(facts: object, schema: int, where: Path | str) -> None:
    """Raises EvalsuiteError if *facts*, the JSON of the file *where*, were written by another *schema*."""
    found = facts.get("schema") if isinstance(facts, Mapping) else schema
    if isinstance(found, bool) or not isinstance(found, int) or found != schema:
        raise EvalsuiteError(decode.said("schema", where=where, found=decode.shown(found), schema=schema))


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
    timeout_s: Annotated[float, at_least(0)] | None = None
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

    host: str
    node_rank: Annotated[int, at_least(0)] | None = None
    os: str | None = None
    kernel: str | None = None
    architecture: str | None = None
    cpu_model: str | None = None
    cpu_count: Annotated[int, at_least(1)] | None = None
    cpu_count_usable: Annotated[float, at_least(0)] | None = None  # less, where affinity or a container leaves less
    cpu_governor: str | None = None
    numa_nodes: int | None = None
    memory_total_bytes: Annotated[int, at_least(0)] | None = None
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
