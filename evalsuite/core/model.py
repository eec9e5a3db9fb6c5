"""The nouns, frozen, with units in their field names. `None`: not measured. Only `messages` of evalsuite is imported at
run time: every command imports this module."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, TypeVar, dataclass_transform, get_args, overload

from evalsuite.core.messages import Phrase

if TYPE_CHECKING:
    from evalsuite.core.author_document import AuthorNote, KeptProblem, LabDocument
    from evalsuite.core.documents import HostEnvironment, RunCommand
    from evalsuite.core.expressions import OwnColumn
    from evalsuite.core.workload import EquivalenceReceipt

UNKNOWN = "unknown"  # precision or device of an imported run that nobody recorded
# amp: whatever the script mixes
Precision = Literal["fp32", "tf32", "bf16", "fp16", "fp8", "amp", "amp-bf16", "amp-fp16", "unknown"]
Device = Literal["cpu", "gpu", "npu", "stand_in", "unknown"]  # stand_in: a rehearsal, which measures nothing
Severity = Literal["note", "flag", "exclude"]
Origin = Literal["measured", "imported", "cited", "digitised", "simulated"]
DECIDING_ORIGINS = ("measured", "imported")  # what is cited, digitised or simulated decides nothing
Grounds = Literal["clock", "printed", "cited", "disputed"]  # what a value rests on (docs/method.md)
GROUNDS = get_args(Grounds)  # the best first
FactSource = Literal["log", "command_line", "environment", "recipe", "stated", "case"]
Trained = Literal["trained", "too_seldom", "not_printed", "not_shown", "did_not_train"]  # what a log shows of its steps
Status = Literal["ok", "partial", "doubtful", "failed", "incomplete", "unrecognised", "timed_out"]
Certainty = Literal["two clocks agree", "one clock", "printed only", "assumed scope"]

Key = TypeVar("Key")
Value = TypeVar("Value")


def by_key(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    groups: dict[Key, list[Value]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """Steps discarded first, steps measured next; both are optimiser steps."""

    warmup_steps: int = 20  # kernels are chosen and caches filled in these
    measured_steps: int = 100

    @property
    def total_steps(self) -> int:
        return self.warmup_steps + self.measured_steps

    def __str__(self) -> str:
        return f"{self.warmup_steps}+{self.measured_steps}"


@dataclass(frozen=True, kw_only=True)
class Case:
    framework: str
    recipe: str  # model × script: "reference-resnet50"
    model: str  # "resnet50_v1.5"
    nodes: int = 1
    devices_per_node: int = 1
    batch_per_device: int
    precision: Precision = "fp32"
    xla: bool | None = False  # or the framework's own graph compiler; None: nobody recorded it
    device: Device = "cpu"
    cores_per_device: int | None = None  # None: the processes of a CPU case share them
    protocol: Protocol = field(default_factory=Protocol)
    options: tuple[tuple[str, str], ...] = ()  # further axes, sorted by name
    batch_policy: Literal["max"] | None = field(default=None, compare=False)  # max: declared to be the most that fits
    strong_batch: int | None = None  # items of the whole job at every scale; None: weak scaling
    nodes_unknown: bool | None = field(default=None, compare=False)  # True: devices alone are known; they stand as 1xN

    @property
    def known_nodes(self) -> int | None:
        return None if self.nodes_unknown else self.nodes

    @property
    def known_devices_per_node(self) -> int | None:
        return None if self.nodes_unknown else self.devices_per_node

    @property
    def kind(self) -> Literal["reference", "official"]:
        """ "reference": evalsuite's, alike in every framework; "official": the framework's own."""
        return "reference" if self.recipe.startswith("reference-") else "official"

    @property
    def total_devices(self) -> int:
        return self.nodes * self.devices_per_node

    @property
    def global_batch(self) -> int:
        return self.batch_per_device * self.total_devices

    @property
    def scale(self) -> str:
        """nodes × devices per node: "2x8"."""
        return f"{self.nodes}x{self.devices_per_node}"

    @cached_property
    def id(self) -> str:
        """Also its folder under `runs/`, and its anchor in the report."""
        return f"{self.series}-{self.scale}"

    @cached_property
    def series(self) -> str:
        """The case without its scale: a speed-up is computed within it (docs/numbers.md)."""
        cores = f"-c{self.cores_per_device}" if self.cores_per_device else ""
        switches = {True: "-xla", False: "", None: f"-xla={UNKNOWN}"}[self.xla]
        options = "".join(f"-{name}={value}" for name, value in self.options)
        batch = f"b{self.batch_per_device}" if self.strong_batch is None else f"g{self.strong_batch}"
        how = f"{self.device}{cores}-{self.precision}{switches}-{batch}{options}-s{self.protocol}"
        return f"{self.framework}-{self.recipe}-{how}"

    @overload
    def option(self, name: str) -> str | None: ...

    @overload
    def option(self, name: str, default: str) -> str: ...

    def option(self, name: str, default: str | None = None) -> str | None:
        return dict(self.options).get(name, default)

    def at_scale(self, nodes: int, devices_per_node: int) -> "Case":
        """Under strong scaling each device gets its part of the batch."""
        moved = replace(self, nodes=nodes, devices_per_node=devices_per_node)
        if self.strong_batch is None:
            return moved
        return replace(moved, batch_per_device=max(1, self.strong_batch // moved.total_devices))

    @property
    def series_batch(self) -> int:
        """Of a device or, under strong scaling, of the job."""
        return self.batch_per_device if self.strong_batch is None else self.strong_batch


@dataclass(frozen=True, kw_only=True)
class Run:
    """One launch of a case; *repeat* counts from 0."""

    case: Case
    repeat: int

    @cached_property
    def id(self) -> str:
        return f"{self.case.id}/r{self.repeat}"


@dataclass(frozen=True, kw_only=True)
class Skip:
    case: Case
    reason: Phrase
    kind: Literal["unsupported", "not_run"] = "not_run"


# question → how grave its findings are, and the most that the value of a run or case with one rests on
CONSEQUENCES: Mapping[int, tuple[Severity, Grounds]] = {
    1: ("note", "printed"),  # did a clock of ours time it?
    2: ("flag", "disputed"),  # was the work of the steps done in the steps?
    3: ("flag", "disputed"),  # did it learn?
    4: ("exclude", "clock"),  # is it possible?
    5: ("exclude", "disputed"),  # are these all runs, and each its own?
    6: ("flag", "clock"),  # was the machine left alone, and the same? A run is `disturbed`
    7: ("flag", "disputed"),  # is it the same work?
    8: ("flag", "clock"),  # are there enough runs to tell?
    9: ("flag", "clock"),  # do the figures agree, with each other and with what others printed?
    10: ("note", "clock"),  # how was it read?
}


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Rule:
    """A dataclass without methods of its own: to make those of all findings takes longer than to read many logs."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    code: ClassVar[str]  # "D08", "clock_disagrees": all of one answer one question
    name: ClassVar[str]  # of the rule; several may share a code
    question: ClassVar[int]
    noted: ClassVar[bool]  # within the limits: it costs nothing
    timing: ClassVar[bool]  # told by times alone, so that a neighbour on the machine may be its cause
    aside: ClassVar[bool]  # the value of its case comes from others
    severity: ClassVar[Severity]
    grounds: ClassVar[Grounds]

    def __init_subclass__(
        cls, code: str = "", question: int = 10, *, noted: bool = False, timing: bool = False, aside: bool = False
    ) -> None:
        cls.__doc__ = cls.__doc__ or cls.__name__  # else a signature is written there
        cls.code, cls.question, cls.noted, cls.timing, cls.aside = code, question, noted, timing, aside
        cls.severity, cls.grounds = ("note", "clock") if noted else CONSEQUENCES[question]
        cls.severity = "exclude" if aside else cls.severity
        cls.name = re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()
        dataclass(init=False, eq=False, repr=False, match_args=False, kw_only=True)(cls)


class Finding(Rule):
    """A data rule that does not hold; the rules are in `findings.py`."""

    where: str = ""  # run id, case id, or file:line
    also: tuple[str, ...] = ()  # other runs of the case with the same finding

    def __init__(self, **values: Any) -> None:
        defaults = {each.name: each.default for each in fields(self)}
        self.__dict__.update(defaults | values)
        if defaults.keys() != self.__dict__.keys() or MISSING in self.__dict__.values():
            raise TypeError(f"{type(self).__name__} has the fields {[*defaults]}; got {[*values]}")

    def __setattr__(self, name: str, value: object = None) -> None:
        raise FrozenInstanceError(name)

    __delattr__ = __setattr__

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((type(self), *self.__dict__.values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.__dict__.items())})"


class Step(NamedTuple):
    """One report of a training log; a log that prints every k-th step gives one for k steps."""

    index: int  # type: ignore[assignment]  # hides tuple.index; the end of the report, from 1 over the whole run
    steps: int = 1  # since the previous report
    items: float | None = None  # of the whole job in those steps
    seconds: float | None = None  # by the script's own clock, for all those steps
    items_per_s: float | None = None  # as printed, brought to all devices of the run
    stamp_s: float | None = None  # printed in the log line; of any origin
    arrival_s: float | None = None  # since the run started, by the node's clock
    relay_s: float | None = None  # when kubectl or journald passed the line on; of any origin
    loss: float | None = None
    line: int | None = None  # from 1
    after_pause: bool = False  # since the previous report the script did more than train
    parts: tuple[tuple[int, float], ...] = ()  # (steps, seconds) of the lines joined, where the clock is coarse


@dataclass(frozen=True, kw_only=True)
class Log:
    """What the processes of a host wrote."""

    path: Path
    arrivals: Path  # when its lines arrived; may be absent
    host: str
    rank: int | None  # None: the whole node prints into one log
    name: str  # that it was recorded by: a user may have packed it since


@dataclass(frozen=True, kw_only=True)
class Window:
    first_step: int
    last_step: int
    steps: int
    begin_s: float | None = None  # on the run's clock; None: no arrival times
    end_s: float | None = None

    @property
    def length_s(self) -> float | None:
        return None if self.begin_s is None or self.end_s is None else self.end_s - self.begin_s


@dataclass(frozen=True, kw_only=True)
class Counted:
    """What a throughput is counted from: the sum of *items* ÷ the sum of *seconds*. Where only rates are printed, items
    are steps and seconds are steps ÷ rate: the harmonic mean."""

    items: tuple[float, ...]
    seconds: tuple[float, ...]
    before_s: tuple[float, ...] = ()  # seconds per step of reports before the window
    after_s: tuple[float, ...] = ()


@dataclass(frozen=True, kw_only=True)
class LogLine:
    number: int  # from 1
    text: str
    read: tuple[tuple[int, int], ...] = ()  # begin and end of each part that was read, in characters


STAMPS, ARRIVALS, TIMES, RATES = "log stamps", "arrival times", "step times", "harmonic mean of rates"
FINAL, COUNTS = "final figure", "other figures"  # the script's own total; what else its lines print


@dataclass(frozen=True, kw_only=True)
class Throughput:
    items_per_s: float | None
    unit: str
    method: str  # one of the above
    window: Window | None
    printed_items_per_s: float | None = None
    clock_items_per_s: float | None = None
    stamps_within: float | None = None  # share of the window to which the log's stamps confirm it
    implied_batch: float | None = None  # items of a step, by the printed rates and the log's stamps; no line tells it
    tick: float = 0.0  # of the coarse clock that the value was read by, as a share of the window
    step_time_s: tuple[float, ...] = ()  # one per report in the window
    line_first: int | None = None  # from 1, as is the next
    line_last: int | None = None
    findings: tuple[Finding, ...] = ()
    counted: Counted | None = field(default=None, compare=False, repr=False)  # None without a window


@dataclass(frozen=True, kw_only=True)
class Phase:
    """A part of the time of a step by the script's own timer: the mean over the measured steps."""

    name: str  # "data", "forward_backward", "allreduce", …
    seconds: float
    parent: str | None = None


@dataclass(frozen=True, kw_only=True)
class Breakdown:
    """The time of a step taken apart. A phase that the log does not print is absent, never 0."""

    seconds: float  # of the whole
    phases: tuple[Phase, ...]
    of: Literal["step", "task"] = "step"  # ElasticDL times tasks of several steps
    reports: int = 1  # steps or tasks in the mean

    def seconds_of(self, name: str) -> float | None:
        return next((phase.seconds for phase in self.phases if phase.name == name), None)


@dataclass(frozen=True, kw_only=True)
class Score:
    metric: str  # "top1", "top5", "accuracy" (per cent), "loss"
    split: Literal["train", "validation"]
    value: float
    epoch: int  # completed
    at_s: float | None = None  # since the run began; None: unknown
    line: int | None = None  # from 1


@dataclass(frozen=True, kw_only=True)
class Target:
    """What a trained model must reach, and in how many epochs."""

    model: str
    metric: str
    value: float
    epochs: int
    tolerance: float = 0.3  # in points of the metric: closer is the same (docs/numbers.md#convergence)


@dataclass(frozen=True, kw_only=True)
class Utilisation:
    """One resource over the measured steps: time-weighted mean and spread."""

    resource: str  # "cpu", "disk_read", "gpu_memory", …
    unit: str
    mean: float
    p5: float
    p95: float
    samples: int
    coverage: float  # share of the window that has samples
    capacity: float | None = None


@dataclass(frozen=True, kw_only=True)
class Fact:
    """One statement on how a run was trained. There are no defaults."""

    key: str  # of `data/criteria/facts.toml`: "precision"
    value: str
    source: FactSource


@dataclass(frozen=True, kw_only=True)
class MachineNode:
    accelerators: tuple[tuple[str, int], ...] = ()  # (name, how many of it), by name
    cpu: str = "CPU"
    cores: float | None = None
    driver: str | None = None

    def __str__(self) -> str:
        accelerators = [f"{count} x {name}" for name, count in self.accelerators]
        cpu = f"{self.cpu} ({self.cores:g} cores)" if self.cores else self.cpu
        return ", ".join([*accelerators, cpu, *([f"driver {self.driver}"] if self.driver else [])])


@dataclass(frozen=True, kw_only=True, repr=False)
class Machine:
    """What a run was made on: the unlike nodes that recorded themselves, or the name that was given at import."""

    nodes: tuple[MachineNode, ...] = ()
    name: str = ""

    @cached_property
    def hardware(self) -> "Machine":
        """With the generation of each driver alone: two machines are the same if this is equal (550.54 and 550.90)."""
        return self.of(replace(node, driver=node.driver and node.driver.partition(".")[0]) for node in self.nodes)

    def of(self, nodes: Iterable[MachineNode]) -> "Machine":
        return replace(self, nodes=tuple(sorted(set(nodes), key=str)))

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return repr(self._text)  # `book.identity` hashes it: the hash is that of the words

    @cached_property
    def _text(self) -> str:
        return self.name or " + ".join(map(str, self.nodes))


INPUTS = ("data", "data_source", "image_digest")


@dataclass(frozen=True, kw_only=True)
class Measurement:
    run: Run
    status: Status
    origin: Origin = "measured"
    reason: str = ""  # why not ok
    throughput: Throughput | None = None
    utilisation: tuple[Utilisation, ...] = ()
    breakdown: Breakdown | None = None
    scores: tuple[Score, ...] = ()
    findings: tuple[Finding, ...] = ()
    started_at: str | None = None  # ISO 8601 with zone
    duration_s: float | None = None
    exit_code: int | None = None
    fault: Literal["infrastructure"] | None = None  # None: no fault of the machines
    host: str | None = None
    hosts: tuple[str, ...] = ()  # names
    environment: Machine | None = None
    framework_version: str | None = None
    log: str | None = None  # relative to the runs folder
    log_sha256: str | None = None
    records: Mapping[str, str] = field(default_factory=dict, repr=False)  # of each other file its name and SHA-256
    printed_steps: tuple[int, int] | None = None  # after which the log begins, and its last
    printed_each: tuple[float, ...] = field(
        default=(), compare=False, repr=False
    )  # what its steps print: times or rates
    printers: int = 0  # processes that print steps
    dialect: str | None = None  # in which the log was read
    lines: tuple[LogLine, ...] = field(default=(), compare=False, repr=False)  # first, middle and last of the window
    figures: tuple[tuple[str, float], ...] = ()  # those of `results/samples/run_figures` that were measured, by name
    facts: tuple[Fact, ...] = ()
    campaign: str | None = None  # id; None: unknown
    round: int | None = None  # pass through the campaign's cases, from 0
    probe_s: float | None = None  # time of a fixed computation before the run's block
    trained: Trained = "not_printed"
    first_losses: tuple[tuple[int, float], ...] = ()  # (step, loss) of its first reports
    course: tuple[tuple[float, float], ...] = ()  # (middle step, mean loss) of parts of the steps that were read

    @property
    def value(self) -> float | None:
        """Items per second over all devices; None: no valid number."""
        if self.status not in ("ok", "partial") or self.throughput is None:
            return None
        return self.throughput.items_per_s

    @property
    def grounds(self) -> Grounds:
        """The least that its findings leave it."""
        least: Grounds = "clock" if self.origin in DECIDING_ORIGINS else "cited"
        return max((least, *(finding.grounds for finding in self.findings)), key=GROUNDS.index)

    @cached_property
    def disturbed(self) -> bool:
        """Whether the machine was not left alone: by the sampler, or by the computation timed before its block."""
        return any(finding.question == 6 and not finding.noted for finding in self.findings)

    @property
    def set_aside(self) -> bool:
        """Whether it is one that others disturbed, of a case whose value others make."""
        return any(finding.aside for finding in self.findings)

    @cached_property
    def counts(self) -> bool:
        """Whether the value enters the median of its case."""
        excluded = any(finding.severity == "exclude" for finding in self.findings)
        return self.value is not None and not excluded

    def figure(self, name: str) -> float | None:
        return dict(self.figures).get(name)

    @property
    def inputs(self) -> dict[str, str]:
        """What it was made of beside its command: the data, with the hash of what evalsuite made up, and the image; and
        what its log says of it."""
        return {fact.key: fact.value for fact in self.facts if fact.key in INPUTS or fact.source == "log"}


@dataclass(frozen=True, kw_only=True)
class CampaignStart:
    id: str
    started_at: str
    plan_sha256: str
    whole: bool  # the plan is the one that was sealed


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One start of a run, as the journal has it."""

    run: str
    number: int  # from 1
    campaign: str
    started_at: str
    status: Literal["completed", "stopped_as_planned", "failed", "timed_out"] | None = None  # None: it did not end
    fault: Literal["infrastructure"] | None = None
    items_per_s: float | None = None
    unit: str | None = None
    counts: bool | None = None  # whether the value enters the median of its case
    sha256: Mapping[str, str] | None = field(default=None, repr=False)  # of what it left in its folder
    ended_at: str | None = field(default=None, repr=False)


@dataclass(frozen=True, kw_only=True)
class Interval:
    """A value with its interval; without a coverage that is the range of the runs."""

    value: float
    low: float | None = None
    high: float | None = None
    coverage: float | None = None


@dataclass(frozen=True, kw_only=True)
class Summary:
    """A case with a value; without any it is `Unmeasured`."""

    case: Case
    unit: str
    measurements: tuple[Measurement, ...]  # all of them, by repeat
    items_per_s: Interval  # median of the valid runs
    n: int  # valid runs
    cv: float | None = None  # standard deviation ÷ mean of the valid runs
    base: Case | None = None  # of the speed-up
    speedup: Interval | None = None
    efficiency: Interval | None = None  # 1.0 = linear; never clamped
    utilisation: tuple[Utilisation, ...] = ()  # median over repeats; samples are summed
    breakdown: Breakdown | None = None  # of the run with the median step time: only parts of one run add up
    partial: bool = False  # fewer than five valid repeats, or a short window (D05, D07)
    origin: Origin = "measured"
    findings: tuple[Finding, ...] = ()
    own: tuple[tuple[str, float | None], ...] = ()  # columns that a spec defines

    @cached_property
    def grounds(self) -> Grounds:
        """Those of most runs that count: rank, base, criteria, headline and page ask for it."""
        each = sorted((run.grounds for run in self.measurements if run.counts), key=GROUNDS.index)
        middle = ("cited" if "cited" in each else "clock", *each[len(each) // 2 :][:1])
        return max((*middle, *(found.grounds for found in self.findings)), key=GROUNDS.index)

    @cached_property
    def trained(self) -> Trained:
        """Of most runs that count, as `grounds`."""
        each = sorted((run.trained for run in self.measurements if run.counts), key=get_args(Trained).index)
        return each[len(each) // 2] if each else "not_printed"

    @cached_property
    def doubts(self) -> tuple[str, ...]:
        """The codes that leave it no more than its grounds, each with its fact, those of most runs first."""
        each = (*self.findings, *(found for run in self.measurements if run.counts for found in run.findings))
        doubting = (found for found in each if found.grounds == self.grounds != "clock")
        causes = [" ".join(filter(None, (found.code, getattr(found, "fact", "")))) for found in doubting]
        return tuple(sorted(dict.fromkeys(causes), key=lambda code: -causes.count(code)))

    @cached_property
    def disturbed(self) -> bool:
        """Whether fewer than two of the runs that count had the machine for themselves; one of one is enough."""
        counted = [run.disturbed for run in self.measurements if run.counts]
        return any(counted) and counted.count(False) < 2

    @property
    def decides(self) -> bool:
        return self.grounds == "clock"

    @property
    def items_per_s_per_device(self) -> float:
        return self.items_per_s.value / self.case.total_devices


@dataclass(frozen=True, kw_only=True)
class Unmeasured:
    """A case that was run and has no valid number."""

    case: Case
    unit: str | None = None  # where a log named it
    measurements: tuple[Measurement, ...]  # by repeat
    origin: Origin = "measured"
    findings: tuple[Finding, ...] = ()


Row = Summary | Unmeasured  # a case of an evaluation
Outcome = Literal["pass", "fail", "undetermined"]
WORST_FIRST: Sequence[Outcome] = ("fail", "undetermined", "pass")


def answer(reason: str, *notes: str, **named: str) -> dict[str, Any]:
    """*reason*: met, not_met, not_decided, not_comparable, no_value; *notes*: keys of `verdict_notes` in data/text."""
    price = ("price" if "hours" in named else "price_runs",) if "runs" in named else ()
    return {"reason": reason, "values": (("notes", ", ".join((*notes, *price))), *named.items())}


@dataclass(frozen=True, kw_only=True)
class Judged:
    outcome: Outcome = "undetermined"
    measured: Interval | None = None
    n: int = 0
    case: Case | None = None  # the worst in scope
    reason: str = ""  # as `answer` gives it
    values: tuple[tuple[str, str], ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """Keys of the sentences that say why, in order."""
        notes = dict(self.values).get("notes", "")
        return tuple(notes.split(", ")) if notes else ()

    @property
    def judged(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(Judged)}


@dataclass(frozen=True, kw_only=True)
class VerdictCell(Judged):
    framework: str
    model: str
    precision: str
    scales: tuple[str, ...] = ()  # in scope: "20x8"

    @classmethod
    def of(cls, case: Case, /, scope: Iterable[Case], **others: Any) -> "VerdictCell":
        """Of the framework, model and precision of *case*, whose *scope* is to be judged."""
        about: dict[str, Any] = {"framework": case.framework, "model": case.model, "precision": case.precision}
        return cls(**about, scales=tuple(dict.fromkeys(each.scale for each in scope)), **others)


@dataclass(frozen=True, kw_only=True)
class Verdict(Judged):
    criterion: str
    threshold: float | None = None
    min_nodes: int | None = None  # smallest scale in scope
    holds: str = ""  # what must hold, of a criterion that a spec defines
    cells: tuple[VerdictCell, ...] = ()  # one for each framework, model and precision


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    title: str
    profile: str  # of the spec: "quick"
    planned: tuple[Case, ...]
    repeats: int
    skips: tuple[Skip, ...]
    summaries: tuple[Row, ...]
    verdicts: tuple[Verdict, ...]
    findings: tuple[Finding, ...]
    environments: "Mapping[str, HostEnvironment]"  # of the first host with each environment key
    commands: "Mapping[str, RunCommand]"  # by run id
    recorded_elsewhere: bool = False
    author_notes: "tuple[AuthorNote, ...]" = ()
    document: "LabDocument | None" = None
    kept_problems: "tuple[KeptProblem, ...]" = ()
    targets: tuple[Target, ...] = ()
    campaigns: tuple[CampaignStart, ...] = ()
    superseded: tuple[Attempt, ...] = ()  # count for nothing: made again, or taken away
    most_repeats: int | None = None  # of a case that *repeats* left open; None: no limit of its own
    receipts: "tuple[EquivalenceReceipt, ...]" = ()  # the lab's own
    columns: "tuple[OwnColumn, ...]" = ()
    against: "tuple[ReferenceComparison, ...]" = ()
    forecast: tuple[tuple[int, int], ...] = ()  # scales, (nodes, devices per node), that the report is asked about
    journal_sha256: tuple[str, ...] = ()  # of the last line of each folder's journal
    beside_runs: tuple[Mapping[str, str], ...] = ()  # of each folder: its files that are no run's → SHA-256


@dataclass(frozen=True, kw_only=True)
class ReferenceComparison:
    case: Case
    items_per_s: float
    reference: float  # items/s, the median of the figures
    unit: str
    figures: int
    differs: tuple[tuple[str, str], ...]  # what is not alike, and how it is in the reference
    source: str

    @property
    def share(self) -> float:
        return self.items_per_s / self.reference
