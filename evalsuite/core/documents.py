"""The JSON files of a run, a frozen dataclass each. A field that is None by default is left out where it is None."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from evalsuite.core import decode, files
from evalsuite.core.decode import above, at_least
from evalsuite.core.errors import EvalsuiteError

TRY = "try_run_folder"


@dataclass(frozen=True, kw_only=True)
class Document:
    SCHEMA: ClassVar[int] = 1
    TRY: ClassVar[str] = TRY  # message `decode.…`: what to do about a bad file

    def to_json(self) -> dict[str, object]:
        return {"schema": self.SCHEMA, **decode.encode(self)}

    def write(self, file: Path, *, fresh: bool = False) -> None:
        """Raises EvalsuiteError, with nothing written, for what could not be read again."""
        facts = self.to_json()
        decode.decode(type(self), {name: facts[name] for name in facts if name != "schema"}, file, "try_unread")
        files.write_json(file, facts, fresh=fresh)

    @classmethod
    def from_json(cls, facts: object, where: Path | str) -> Self:
        """Raises EvalsuiteError with all mistakes in *facts*, the content of *where*."""
        if isinstance(facts, Mapping):
            number, facts = facts.get("schema"), {name: value for name, value in facts.items() if name != "schema"}
            if type(number) is not int or number != cls.SCHEMA:
                found = decode.shown(number)
                raise EvalsuiteError(decode.message("schema", where=where, found=found, schema=cls.SCHEMA))
        return decode.decode(cls, facts, where, cls.TRY)


@dataclass(frozen=True, kw_only=True)
class DialectSource:
    by: Literal["house", "author"]
    file: str | None = None
    sha256: str | None = None


@dataclass(frozen=True, kw_only=True)
class UsedRecipe:
    name: str | None = None
    kind: str | None = None  # "official", "reference", "imported", "cited"
    model: str | None = None
    dialect: str | None = None
    dialect_source: DialectSource | None = None
    unit: str | None = None
    scope: Literal["global", "per_device", "own"] | None = None
    steps_per_report: int | None = None  # of an imported log that does not count them
    line: str | None = None  # an example of its step lines, of which the dialect is made
    shape: str | None = None  # of the lines of a log in no known dialect, as the user accepted it
    spawn: str | None = None
    source: str | None = None
    commit: str | None = None
    image: str | None = None
    amp: str | None = None
    participant: str | None = None  # its title where a spec's participant brought it: "NGC PyTorch"
    made_by: str | None = None  # what outside the command makes a condition that the case states
    features: tuple[str, ...] | None = None  # what the script uses in addition to the framework: "Horovod", "APEX"
    facts: Mapping[str, str] | None = None  # by the names of facts.toml


@dataclass(frozen=True, kw_only=True)
class Checkout:
    name: str
    repository: str
    commit: str | None
    clean: bool
    absent: tuple[str, ...]  # files of the commit that the mirror did not hold
    licence: str


@dataclass(frozen=True, kw_only=True)
class Source:
    path: str
    sha256: str


@dataclass(frozen=True, kw_only=True)
class ReadData:
    """A data set that a run read; of one that evalsuite made up, what its manifest says."""

    name: str
    source: str | None = None  # "images"
    seed: int | None = None
    size: str | None = None  # "tiny"
    items: Mapping[str, int] | None = None  # split → how many
    decoded_sha256: Mapping[str, str] | None = None  # split → hash of its decoded items, the same in every file format
    format: str | None = None
    writer_sha256: str | None = None


@dataclass(frozen=True, kw_only=True)
class Citation:
    row: str
    source: str | None = None
    speedup: str | None = None  # as printed
    base: str | None = None  # the figure that the speed-up counts from, as printed


@dataclass(frozen=True, kw_only=True)
class CitedFigure:
    """A printed figure. However often it is cited, it is one repeat."""

    printed: str  # all digits
    kind: Literal["run", "median"] | None = None  # None: the table does not say
    n: int | None = None  # runs of the median
    log_set: str | None = None  # a single run is a repeat within its log set
    citations: tuple[Citation, ...] = ()
    runs: tuple[str, ...] = ()  # single runs of a median, as the same source prints them
    others: tuple[Citation, ...] = ()  # where other figures of the case are printed
    others_printed: tuple[str, ...] = ()  # those figures, in the same order


@dataclass(frozen=True, kw_only=True)
class StatedFigure:
    """What a source prints beside a throughput: of a run, by the name that `import` takes; never of its case."""

    name: str  # "latency"
    figure: str  # of the run, ends with its unit: "step_time_stated_s"
    unit: str  # "bytes", or as it is printed
    scale: float = 1.0  # of the printed unit
    least: float = 0.0  # as it is printed: more than that
    most: float = 1e12


STATED_FIGURES = (
    StatedFigure(name="latency", figure="step_time_stated_s", unit="s", scale=1e-3),  # ms
    StatedFigure(name="memory", figure="peak_memory_stated_bytes", unit="bytes", scale=1024**2),  # MiB, of one device
    StatedFigure(name="tflops", figure="tflops_stated_per_device", unit=""),
    StatedFigure(name="spread", figure="stated_spread_items_per_s", unit=""),  # ± in the throughput's unit
    StatedFigure(name="accuracy", figure="accuracy_stated_percent", unit="%", least=1, most=100),
    StatedFigure(name="hours", figure="training_stated_h", unit="h"),  # until that accuracy
)


def stated_amount(figure: StatedFigure, text: str) -> float | None:
    """A printed amount that the *figure* may have, with or without grouping signs; None if it is none."""
    amount = decode.number(text.replace(",", "").strip())
    return amount if amount and figure.least < amount <= figure.most else None


def stated_figures(stated: Mapping[str, str]) -> Iterator[tuple[str, float]]:
    for figure in STATED_FIGURES:
        if (value := stated_amount(figure, stated.get(figure.name, ""))) is not None:
            yield figure.figure, value * figure.scale


@dataclass(frozen=True, kw_only=True)
class StatedMachine:
    """What a spec states of its machine, where the machine does not: `[machine]`."""

    nic_gbit_s: Annotated[float, above(0)]  # of a node, all of its network together


@dataclass(frozen=True, kw_only=True)
class CampaignPlace:
    id: str
    plan_sha256: str  # hash of the plan before the first run
    round: int  # pass through the cases, from 0
    order: int  # of this start in the campaign, from 0
    attempt: int  # at this case and repeat, from 1
    seed: int | None = None  # of the order of frameworks within each block
    probe_s: float | None = None  # time of a fixed computation before the run's block


@dataclass(frozen=True, kw_only=True)
class RunCommand(Document):
    argv: tuple[str, ...]  # from the engine inward; empty where nothing was launched
    command: tuple[str, ...]  # the training script's own part
    environment: Mapping[str, str]  # set by the recipe
    recipe: UsedRecipe
    engine: str | None = None
    evalsuite: str | None = None
    files: Mapping[str, str] | None = None  # name → text written for the script
    links: Mapping[str, str] | None = None  # name next to the script → its data
    container: str | None = None  # the runtime
    image_digest: str | None = None
    data_sets: tuple[ReadData, ...] | None = None
    timeout_s: Annotated[float, at_least(0)] | None = None
    checkout: Checkout | None = None
    script_sha256: str | None = None
    workload_sha256: Mapping[str, str] | None = None  # of a reference workload: its script and imports
    framework_version: str | None = None
    packages: Mapping[str, str] | None = None  # distribution → version
    lock_sha256: str | None = None  # of the lock that its environment was made from; None: there was none
    imported: tuple[Source, ...] | None = None
    stated: Mapping[str, str] | None = None  # facts given at import
    figure: CitedFigure | None = None
    campaign: CampaignPlace | None = None


@dataclass(frozen=True, kw_only=True)
class Gpu:
    index: int | None = None  # by its vendor's library
    kind: str | None = None  # "gpu", "npu"
    vendor: str | None = None
    uuid: str | None = None
    name: str | None = None
    memory_total_bytes: int | None = None
    power_limit_w: float | None = None
    compute_capability: str | None = None  # of an NVIDIA device: "7.0"
    of_job: bool | None = None  # stated with the samples only


@dataclass(frozen=True, kw_only=True)
class Interface:
    speed_mbit_s: int | None = None
    no_speed: str | None = None  # "virtual": a nominal speed limits nothing; "unknown"


@dataclass(frozen=True, kw_only=True)
class ContainerLimits:
    """What a container's control groups leave of its machine."""

    cpus: float | None  # cores
    memory_bytes: int | None


@dataclass(frozen=True, kw_only=True)
class HostEnvironment(Document):
    host: str
    node_rank: Annotated[int, at_least(0)] | None = None
    os: str | None = None
    kernel: str | None = None
    cpu_model: str | None = None
    cpu_count: Annotated[int, at_least(1)] | None = None
    cpu_count_usable: Annotated[float, at_least(0)] | None = None  # less where affinity or a container limits it
    memory_total_bytes: Annotated[int, at_least(0)] | None = None
    container: ContainerLimits | None = None
    disks: tuple[str, ...] | None = None
    interfaces: Mapping[str, Interface] | None = None
    models: Mapping[str, str] | None = None  # of disks and interfaces, by their names
    gpus: tuple[Gpu, ...] | None = None
    driver: str | None = None
    cuda_driver: str | None = None
    topology: str | None = None  # by `nvidia-smi topo -m`
    python: str | None = None
    evalsuite: str | None = None
    environment_variables: Mapping[str, str] | None = None

    @property
    def cores(self) -> float | None:
        """Cores that the job may use; all of them where that is unknown."""
        return self.cpu_count_usable or self.cpu_count
