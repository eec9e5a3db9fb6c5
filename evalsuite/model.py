"""The nouns: case, run, step, sample, measurement, summary, finding.

Every one is frozen, has its units in its field names, and says `None` for what was not measured.
Of ours this module names what an evaluation hands on (documents, what a lab wrote, what workloads answered), for type
checkers alone: nothing of ours is imported when it runs.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple, get_args, overload

if TYPE_CHECKING:  # only an evaluation holds them, and every command imports this module
    from evalsuite.author_document import AuthorNote, KeptProblem, LabDocument
    from evalsuite.documents import HostEnvironment, NetworkMeasurement, RunCommand
    from evalsuite.workload import EquivalenceReceipt

Language = Literal["zh", "en"]  # of reports, in the order in which they show them
Precision = Literal["fp32", "amp"]
Device = Literal["cpu", "gpu", "npu"]
Severity = Literal["note", "flag", "exclude", "reject"]
Origin = Literal["measured", "imported", "cited", "digitised", "simulated"]
FactSource = Literal["log", "command_line", "environment", "recipe", "stated", "case"]
Status = Literal["ok", "partial", "doubtful", "failed", "incomplete", "unrecognised", "timed_out"]
Certainty = Literal["two clocks agree", "one clock", "printed only", "assumed scope"]
LANGUAGES: tuple[Language, ...] = get_args(Language)


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """How long a run trains: steps discarded first, steps measured next, both in optimiser steps."""

    warmup_steps: int = 20  # kernels are chosen and caches filled in these (docs/report.md#definitions)
    measured_steps: int = 100

    @property
    def total_steps(self) -> int:
        return self.warmup_steps + self.measured_steps


@dataclass(frozen=True, kw_only=True)
class Case:
    """One point of the test matrix."""

    framework: str  # the adapter's name: "pytorch"
    recipe: str  # model × script, as the adapter names it: "reference-resnet50"
    model: str  # "resnet50_v1.5"
    nodes: int = 1
    devices_per_node: int = 1
    batch_per_device: int  # items on each device per optimiser step
    precision: Precision = "fp32"
    xla: bool = False  # XLA, or the framework's own graph compiler
    device: Device = "cpu"
    cores_per_device: int | None = None  # a CPU device is so many cores of its own; None: the processes share them
    protocol: Protocol = field(default_factory=Protocol)
    options: tuple[tuple[str, str], ...] = ()  # further axes, sorted by name: (("image_size", "64"),)
    batch_policy: Literal["max"] | None = field(default=None, compare=False)  # max: declared to be the most that fits
    strong_batch: int | None = None  # items of the whole job that strong scaling keeps at every scale; None: weak

    @property
    def kind(self) -> Literal["reference", "official"]:
        """Of its recipe: ours, which every framework has alike, or the framework's own. The name says it."""
        return "reference" if self.recipe.startswith("reference-") else "official"

    @property
    def total_devices(self) -> int:
        return self.nodes * self.devices_per_node

    @property
    def shares_cores(self) -> bool:
        """Whether its processes share the cores of one machine, so that a larger scale has no more of them."""
        return self.device == "cpu" and self.cores_per_device is None and self.devices_per_node > 1

    @property
    def global_batch(self) -> int:
        """Items of the whole job per optimiser step."""
        return self.batch_per_device * self.total_devices

    @property
    def scale(self) -> str:
        """`nodes × devices per node` as it is written on the command line: "2x8"."""
        return f"{self.nodes}x{self.devices_per_node}"

    @cached_property
    def id(self) -> str:
        """The name of the case: its folder under `runs/`, its anchor in the report."""
        return f"{self.series}-{self.scale}"

    @cached_property
    def series(self) -> str:
        """What a speed-up may be computed within: everything but the scale (docs/report.md#definitions)."""
        cores = f"-c{self.cores_per_device}" if self.cores_per_device else ""
        switches = "-xla" if self.xla else ""
        options = "".join(f"-{name}={value}" for name, value in self.options)
        steps = f"{self.protocol.warmup_steps}+{self.protocol.measured_steps}"
        batch = f"b{self.batch_per_device}" if self.strong_batch is None else f"g{self.strong_batch}"
        return (
            f"{self.framework}-{self.recipe}-{self.device}{cores}-{self.precision}{switches}-{batch}{options}-s{steps}"
        )

    @overload
    def option(self, name: str) -> str | None: ...

    @overload
    def option(self, name: str, default: str) -> str: ...

    def option(self, name: str, default: str | None = None) -> str | None:
        return dict(self.options).get(name, default)

    def at_scale(self, nodes: int, devices_per_node: int) -> "Case":
        """The case of its series at another scale; under strong scaling each device gets its part of the batch."""
        moved = replace(self, nodes=nodes, devices_per_node=devices_per_node)
        if self.strong_batch is None:
            return moved
        return replace(moved, batch_per_device=max(1, self.strong_batch // moved.total_devices))

    @property
    def series_batch(self) -> int:
        """The batch that all scales of its series have: that of a device or, under strong scaling, of the job."""
        return self.batch_per_device if self.strong_batch is None else self.strong_batch


@dataclass(frozen=True, kw_only=True)
class Run:
    """One launch of a case. *repeat* counts from 0."""

    case: Case
    repeat: int

    @property
    def id(self) -> str:
        return f"{self.case.id}/r{self.repeat}"


@dataclass(frozen=True, kw_only=True)
class Skip:
    """A case that will not be launched, and why."""

    case: Case
    reason: str
    kind: Literal["unsupported", "not_run"] = "not_run"  # the recipe cannot serve it, or this machine could not


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Finding:
    """Something a reader must know. Every rule that can be found broken is a class of its own, in `findings.py`."""

    code: ClassVar[str]  # a data rule ("D08") or a word ("clock_disagrees")
    name: ClassVar[str]  # of the rule; two of them may go by one code
    severity: ClassVar[Severity]
    where: str = ""  # a run id, a case id, or file:line
    also: tuple[str, ...] = ()  # the other runs of its case that have it, where it is said once for all

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((type(self), *self.__dict__.values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.__dict__.items())})"


class Step(NamedTuple):
    """One report of a training log: the end of step *index*, counted from 1 over the whole run.

    A log that prints every k-th step gives one Step for k training steps (*steps* = k). A named tuple, because logs
    have many.
    """

    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody asks of a step
    steps: int = 1  # training steps since the previous report
    items: float | None = None  # items of the whole job in those steps
    seconds: float | None = None  # the script's own time for those steps (all of them together)
    items_per_s: float | None = None  # the script's own figure, brought to all devices of the run
    stamp_s: float | None = None  # the time printed in the log line, seconds of any fixed origin
    arrival_s: float | None = None  # when the line arrived, seconds since the run started (node's clock)
    relay_s: float | None = None  # when a relay (kubectl, journald) passed the line on, seconds of any fixed origin
    loss: float | None = None
    line: int | None = None  # 1-based line of the log file
    after_pause: bool = False  # between the previous report and this one the script did more than train
    parts: tuple[tuple[int, float], ...] = ()  # (steps, seconds) of the lines joined to this report, of a coarse clock


@dataclass(frozen=True, kw_only=True)
class Window:
    """The steps a throughput was taken over, and when they were trained."""

    first_step: int
    last_step: int
    steps: int
    begin_s: float | None = None  # on the run's clock; None where the log has no arrival times
    end_s: float | None = None


@dataclass(frozen=True, kw_only=True)
class Counted:
    """The reports that a throughput is counted from: it is the sum of *items* ÷ the sum of *seconds*.

    Where only rates are printed the items are steps, and each second is steps ÷ rate: the harmonic mean.
    """

    items: tuple[float, ...]
    seconds: tuple[float, ...]
    before_s: tuple[float, ...] = ()  # seconds per step of some reports before the window
    after_s: tuple[float, ...] = ()  # and behind it


@dataclass(frozen=True, kw_only=True)
class LogLine:
    """A line of a log as it was printed, and where in it stands what was read of it."""

    number: int  # 1-based
    text: str
    read: tuple[tuple[int, int], ...] = ()  # begin and end of each part, in characters


# how a throughput was timed
STAMPS, ARRIVALS, TIMES, RATES = "log stamps", "arrival times", "step times", "harmonic mean of rates"


@dataclass(frozen=True, kw_only=True)
class Throughput:
    """The window turned into a number: *items_per_s* over all devices of the run."""

    items_per_s: float | None
    unit: str  # "images/s"
    method: str  # one of the four above, "final figure"
    window: Window | None
    printed_items_per_s: float | None = None  # the script's own figure over the same window
    clock_items_per_s: float | None = None  # items ÷ arrival times over the same window
    arithmetic_items_per_s: float | None = None  # mean of the printed rates, for comparison only
    step_time_s: tuple[float, ...] = ()  # one per report in the window, for percentiles
    line_first: int | None = None  # 1-based lines of the log that bound the window
    line_last: int | None = None
    findings: tuple[Finding, ...] = ()
    counted: Counted | None = field(default=None, compare=False, repr=False)  # None without a window

    @property
    def is_clock(self) -> bool:
        """Whether the value itself is that of the arrival clock, which then cannot confirm it."""
        return self.method == ARRIVALS and self.clock_items_per_s is not None

    @property
    def is_unconfirmed(self) -> bool:
        """Whether the arrival clock is all there is."""
        return self.is_clock and self.printed_items_per_s is None

    @property
    def is_mean_of_rates(self) -> bool:
        """Whether the value is the mean of the rates that the script prints, and no clock's."""
        return self.method == RATES


@dataclass(frozen=True, kw_only=True)
class Phase:
    """A part of the time of a step, by the script's own timer: the mean over the measured steps."""

    name: str  # "data", "forward_backward", "allreduce", "tensor_copy", "optimiser", …
    seconds: float
    parent: str | None = None  # the phase it lies inside


@dataclass(frozen=True, kw_only=True)
class Breakdown:
    """The time of a step of one run, taken apart. A phase that its log does not print is absent, never 0."""

    seconds: float  # of the whole
    phases: tuple[Phase, ...]
    of: Literal["step", "task"] = "step"  # ElasticDL times a task of several steps
    reports: int = 1  # how many steps or tasks the mean was taken over

    def seconds_of(self, name: str) -> float | None:
        return next((phase.seconds for phase in self.phases if phase.name == name), None)


@dataclass(frozen=True, kw_only=True)
class Score:
    """How good the model was after an epoch, as its log prints it."""

    metric: str  # "top1", "top5", "accuracy" (in per cent), "loss"
    split: Literal["train", "validation"]
    value: float
    epoch: int  # how many were completed
    at_s: float | None = None  # since the run began; None where nothing tells it
    line: int | None = None  # 1-based line of the log


@dataclass(frozen=True, kw_only=True)
class Target:
    """What a trained model must reach, and after how many epochs the training counts as complete."""

    model: str
    metric: str
    value: float
    epochs: int
    tolerance: float = 0.3  # in points of the metric: closer results are the same (docs/report.md#convergence)


@dataclass(frozen=True, kw_only=True)
class Utilisation:
    """One resource of one run over its measured steps (docs/report.md#definitions): time-weighted mean and spread."""

    resource: str  # "cpu", "memory", "disk_read", "disk_write", "network_receive", "gpu", "gpu_memory", …
    unit: str  # "%", "bytes/s", "W", …
    mean: float
    p5: float
    p95: float
    samples: int
    coverage: float  # share of the window that the samples cover, 0..1
    capacity: float | None = None  # in *unit*
    device: str | None = None  # "gpu0", "eth0"; None = the whole node or the job


@dataclass(frozen=True, kw_only=True)
class Fact:
    """One statement on how a run was trained, and who says so. What nobody states is no fact: there is no default."""

    key: str  # as `data/criteria/facts.toml` names it: "precision"
    value: str
    source: FactSource  # "stated": by the user, at import


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """One run as numbers, with the receipt that leads back to its log line."""

    run: Run
    status: Status
    origin: Origin = "measured"
    reason: str = ""  # why not ok: the decisive line of the log
    throughput: Throughput | None = None
    utilisation: tuple[Utilisation, ...] = ()
    breakdown: Breakdown | None = None  # of the time of a step; None where the log has no timers
    scores: tuple[Score, ...] = ()  # by epoch
    findings: tuple[Finding, ...] = ()
    started_at: str | None = None  # ISO 8601 with zone
    duration_s: float | None = None
    exit_code: int | None = None
    fault: Literal["infrastructure"] | None = None  # who failed the run, where it was not the framework
    host: str | None = None
    hosts: tuple[str, ...] = ()  # all that it ran on, by name
    environment: str | None = None  # key of the environment class (same key = same machine and versions)
    framework_version: str | None = None
    log: str | None = None  # path of the log, relative to the runs folder
    log_sha256: str | None = None
    lines: tuple[LogLine, ...] = field(default=(), compare=False, repr=False)  # first, middle, last of the window
    printed_memory_bytes: float | None = None  # the most that one device held, as the script prints it
    sampled_memory_bytes: float | None = None  # the same as the sensors read it, with all that is on the device
    energy_j: float | None = None  # of all devices over the window, by their counters
    cpu_s: float | None = None  # CPU seconds of all its processes, from the first to the end, by their control groups
    facts: tuple[Fact, ...] = ()  # what is stated of it, by every source beside its case
    campaign: str | None = None  # the start of an evaluation that it was made in; None: unknown
    round: int | None = None  # the pass through that campaign's cases, from 0: runs of one round follow one another
    probe_s: float | None = None  # what a fixed computation took before the run's block
    first_losses: tuple[tuple[int, float], ...] = ()  # (step, loss) of its first reports, as its log prints them
    left_s: float | None = None  # of the epoch in which it was stopped as planned, at its own rate; None: not known

    @property
    def value(self) -> float | None:
        """Items per second over all devices; None for a run that gives no valid number."""
        if self.status not in ("ok", "partial") or self.throughput is None:
            return None
        return self.throughput.items_per_s


@dataclass(frozen=True, kw_only=True)
class CampaignStart:
    """One start of an evaluation, and the seal of what was to be run."""

    id: str
    started_at: str  # ISO 8601 with zone
    plan_sha256: str
    whole: bool  # whether the plan that is kept is the one that was sealed


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One start of a run, whatever became of it, by the journal beside the run folders."""

    run: str  # its id
    number: int  # from 1
    campaign: str
    started_at: str  # ISO 8601 with zone
    status: Literal["completed", "stopped_as_planned", "failed", "timed_out"] | None = (
        None  # None: it did not come to an end
    )
    fault: Literal["infrastructure"] | None = None  # who failed it, where it was not the training
    items_per_s: float | None = None
    unit: str | None = None


@dataclass(frozen=True, kw_only=True)
class Interval:
    """A value with its interval and the coverage of that interval; without a coverage it is the range of the runs."""

    value: float
    low: float | None = None
    high: float | None = None
    coverage: float | None = None  # 0..1

    @property
    def is_range(self) -> bool:
        """Whether low and high are the extremes of the runs, of which nobody knows how often they hold the truth."""
        return self.low is not None and self.coverage is None


@dataclass(frozen=True, kw_only=True)
class Summary:
    """A case over its repeats, of which at least one gave a number; without any it is `Unmeasured`."""

    case: Case
    unit: str
    measurements: tuple[Measurement, ...]  # all of them, failed ones too, by repeat
    items_per_s: Interval  # the median of the valid runs
    n: int  # valid runs
    cv: float | None = None  # standard deviation ÷ mean of the valid runs
    base: Case | None = None  # what speed-up is computed against
    speedup: Interval | None = None
    efficiency: Interval | None = None  # 1.0 = linear; never clamped
    utilisation: tuple[Utilisation, ...] = ()  # median over repeats; samples are summed
    breakdown: Breakdown | None = None  # of the run whose step time is the median: parts of one run add up
    partial: bool = False  # fewer than five valid repeats or a short window (D05, D07)
    origin: Origin = "measured"
    findings: tuple[Finding, ...] = ()

    @property
    def items_per_s_per_device(self) -> float:
        return self.items_per_s.value / self.case.total_devices


@dataclass(frozen=True, kw_only=True)
class Unmeasured:
    """A case that was run and has no number: every run failed, or the data rules exclude it."""

    case: Case
    unit: str | None = None  # where a log named it all the same
    measurements: tuple[Measurement, ...]  # by repeat; each says why it does not count
    origin: Origin = "measured"
    findings: tuple[Finding, ...] = ()


Outcome = Literal["pass", "fail", "undetermined", "information"]


@dataclass(frozen=True, kw_only=True)
class VerdictCell:
    """A criterion for one framework, model and precision."""

    framework: str
    model: str
    precision: str
    outcome: Outcome
    scales: tuple[str, ...] = ()  # in scope, planned or measured: "20x8"
    measured: Interval | None = None
    n: int = 0
    case: Case | None = None  # the worst in scope
    reason: str = ""  # as in `Verdict`
    values: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """One acceptance criterion, decided or not."""

    criterion: str  # "C1"
    outcome: Outcome
    threshold: float | None = None
    min_nodes: int | None = None  # the smallest scale that the criterion is about
    scope: tuple[tuple[str, tuple[str, ...]], ...] = ()  # the cases it is about: axis → names; none: all
    largest_only: bool = False  # about the largest scale alone, and not every one
    measured: Interval | None = None
    n: int = 0
    case: Case | None = None  # the worst case in scope
    reason: str = ""  # key of the sentence in data/text, with *values*
    values: tuple[tuple[str, str], ...] = ()
    within_noise: bool = False
    cells: tuple[VerdictCell, ...] = ()  # what it is made of, one for each framework, model and precision


@dataclass(frozen=True, kw_only=True)
class BatchTrial:
    """A short run that tried, before the runs, whether a batch fits."""

    run: Run
    duration_s: float | None


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """Everything right of the wall: what the report is made of."""

    title: str
    profile: str  # name of the spec: "quick"
    planned: tuple[Case, ...]
    repeats: int
    skips: tuple[Skip, ...]
    summaries: tuple[Summary | Unmeasured, ...]
    verdicts: tuple[Verdict, ...]
    findings: tuple[Finding, ...]
    environments: "Mapping[str, HostEnvironment]"  # environment key → the first host seen with it
    commands: "Mapping[str, RunCommand]"  # run id → what exactly was run, where that can be read
    timelines: Mapping[str, "Timeline"] = field(default_factory=dict)  # run id → utilisation over time
    recorded_elsewhere: bool = False
    author_notes: "tuple[AuthorNote, ...]" = ()
    document: "LabDocument | None" = None  # how the lab publishes it
    kept_problems: "tuple[KeptProblem, ...]" = ()
    targets: tuple[Target, ...] = ()
    campaigns: tuple[CampaignStart, ...] = ()  # by the journal; none: imported, or recorded before there was one
    superseded: tuple[Attempt, ...] = ()  # attempts that count for nothing: made again, or taken away
    most_repeats: int | None = None  # of a case that *repeats* left open; None: every case got as many
    receipts: "tuple[EquivalenceReceipt, ...]" = ()  # the lab's own proofs that workloads compute the same
    networks: "tuple[NetworkMeasurement, ...]" = ()  # what network and storage gave, a scale each
    trials: tuple[BatchTrial, ...] = ()  # of the searches for the largest batch of its cases


@dataclass(frozen=True, kw_only=True)
class Timeline:
    """Utilisation over time of one run, for drawing: (resource, device) → [(at_s, value)], units as Utilisation."""

    window: Window | None
    series: Mapping[tuple[str, str | None], tuple[tuple[float, float], ...]]
    units: Mapping[str, str]
