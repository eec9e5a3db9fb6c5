"""Every data rule: its code, severity, fields and limits.

A finding is one of these classes with its values: `Drift(change=0.07, where=run.id)`. The sentences about it are in
`data/rules/<code>.toml`; the limits that judge are the defaults of its fields (`Drift.limit`).

To add a rule: declare it here, write its file of words and its test; tests/unit/test_findings.py names what lacks. A
rule of samples, of a run or of all cases detects by itself, with one of the methods in `DETECTORS`; what only the
reading of a log or another calculation sees is raised there.
"""

import dataclasses
import re
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, TypeVar, dataclass_transform, get_args, get_origin, get_type_hints

from evalsuite.model import STAMPS, UNKNOWN, Finding, Grounds, Measurement, Protocol, Severity, Summary, declare_fields

F = TypeVar("F", bound=Finding)


# what a field holds, and so how `report/text/findings.py` words it
Count = Annotated[int, "count"]
Share = Annotated[float, "share"]  # 1.0 is all
Limit = Annotated[float, "limit"]  # a chosen share: as few digits as it needs
Change = Annotated[float, "change"]  # a share with its sign
Rate = Annotated[float, "rate"]  # items per second
Ratio = Annotated[float, "ratio"]  # of two speeds
Factor = Annotated[float, "factor"]
Seconds = Annotated[float, "seconds"]
Bytes = Annotated[float, "bytes"]  # of a memory
Reading = Annotated[float, "reading"]  # of a sensor, in the finding's `unit`
Score = Annotated[float, "score"]
Points = Annotated[float, "points"]  # between two scores
Measure = Annotated[float, "measure"]  # printed as the finding's `measure` is
Resource = Annotated[str, "resource"]
Phase = Annotated[str, "phase"]
Metric = Annotated[str, "metric"]  # of a score, with its split: "validation_top1"
Method = Annotated[str, "method"]
Option = Annotated[str, "option"]
Attribute = Annotated[str, "attribute"]  # of a run or its case
FactName = Annotated[str, "fact"]  # of a run: "precision"
SourceName = Annotated[str, "source"]  # who states it
FailureName = Annotated[str, "failure"]  # what ended a run: "out of memory"
Scale = Annotated[str, "scale"]  # nodes × devices per node: "2x8"
Name = Annotated[str, "name"]  # the same in every language
Quote = Annotated[str, "quote"]  # words of a log or a tool
Said = Annotated[str, "said"]  # words of another module

RULES: dict[str, type[Finding]] = {}  # by name
DETECTORS = {  # class methods of rules → what is given to them
    "in_samples": "DeviceReadings, of the measured steps of a run",
    "in_run": "Measurement",
    "in_cases": "Sequence[Summary], all cases with a value",
}
UNRAISED: Mapping[str, str] = {  # data rules without a finding → where they are kept
    "D01": "evalsuite.logs.text.records",
    "D02": "evalsuite.report.book.blocks",
    "D28": "evalsuite.importing.published_tables",
}
_NUMBERS: dict[str, str] = {}  # code → the data rule that it keeps


@dataclass_transform(frozen_default=True, kw_only_default=True)
def rule(
    code: str, severity: Severity, *, keeps: str | None = None, grounds: Grounds = "clock"
) -> Callable[[type[F]], type[F]]:
    """Declares the class under it as a rule. *keeps*: the data rule of a code that is a word; *grounds*: the most
    that the value of a run with it rests on.
    """

    def declared(kind: type[F]) -> type[F]:
        made = declare_fields(kind)
        made.grounds = grounds
        made.code, made.severity, made.name = code, severity, re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()
        RULES[made.name] = made
        numbered = re.match(r"D\d\d", code)
        if keeps or numbered:
            _NUMBERS[code] = keeps or code[:3]
        return made

    return declared


class DeviceReadings(typing.Protocol):
    """The sensors' readings of a run's devices while its steps were measured."""

    def each(self, quantity: str) -> Iterable[Sequence[float]]:
        """The readings of each device that has some, in order of time."""

    def sent_bytes_per_s(self, *, ports: bool) -> float | None:
        """Of several nodes, over ports of InfiniBand adapters or over interfaces; None where there are none."""


def detect(how: str, evidence: object) -> Iterator[Finding]:
    for known in RULES.values():
        detector: Callable[[Any], Iterable[Finding]] | None = getattr(known, how, None)
        if detector is not None:
            yield from detector(evidence)


@rule("D04", "exclude")
class DuplicateRepeat(Finding):
    repeat: Count


@rule("D04", "exclude")
class SameBytes(Finding):
    first: Name  # that counts


@rule("D04", "exclude")
class SameFigures(Finding):
    first: Name
    steps: Count = 20  # step times that follow each other


@rule("D04", "exclude")
class OneTraining(Finding):
    first: Name
    step: Count


@rule("D04", "exclude")
class EqualRepeats(Finding):
    first: Name
    repeats: Count
    limit: Limit = 1e-5


@rule("D07", "note")
class ShortWindow(Finding):
    skipped_steps: Count
    measured_steps: Count
    full_skipped_steps: Count = Protocol.warmup_steps
    full_measured_steps: Count = Protocol.measured_steps


@rule("D07", "exclude")
class TooShortWindow(Finding):
    skipped_steps: Count
    measured_steps: Count
    least_steps: Count = 20


@rule("D07", "note")
class EpochWindow(Finding):
    measured_epochs: Count
    full_measured_steps: Count = Protocol.measured_steps


@rule("D10", "flag")
class Drift(Finding):
    change: Change
    limit: Limit = 0.05


@rule("D18", "flag")
class ThinSamples(Finding):
    resources: tuple[Resource, ...]
    coverage: Share  # of the resource with the fewest
    wanted: Limit = 0.8


@rule("D18", "flag")
class ImpossibleSamples(Finding):
    resources: tuple[Resource, ...]
    samples: Count


@rule("D19", "flag")
class OverlappingPhases(Finding):
    phases: tuple[Phase, ...]
    sum_s: Seconds
    whole_s: Seconds
    limit: Limit = 1.02  # clocks may differ by that


@rule("D20", "flag")
class AboveCapacity(Finding):
    resource: Resource
    mean: Reading
    capacity: Reading
    unit: Name
    limit: Limit = 1.02  # no link or disk does so


@rule("D20", "flag")
class DeviceAboveCapacity(Finding):
    resource: Resource
    device: Name  # "eth0"
    mean: Reading
    capacity: Reading
    unit: Name
    limit: Limit = AboveCapacity.limit


@rule("D21", "flag")
class HostClocksDiffer(Finding):
    host: Name
    first: Name
    offset_s: Seconds
    limit_s: Seconds = 5.0  # a job's processes start and end one after the other


@rule("D21", "flag")
class ClockBackwards(Finding):
    reports: Count
    of_reports: Count

    @classmethod
    def in_run(cls, run: Measurement) -> Iterator[Finding]:
        """By the log's own stamps, not by arrivals: two lines in one write have the same, and nothing is wrong."""
        measured = run.throughput
        times = measured.step_time_s if measured is not None and measured.method == STAMPS else ()
        if (count := sum(seconds <= 0 for seconds in times)) > 0:
            yield cls(reports=count, of_reports=len(times))


@rule("D25", "reject")
class LogCut(Finding):
    line: Count


@rule("D25", "reject")
class LogWithoutEnd(Finding):
    script: Name


@rule("D26", "note")
class StrangeText(Finding):
    attributes: tuple[Attribute, ...]


@rule("D27", "note")
class UnknownOrigin(Finding):
    origin: Name


@rule("arrivals_bursty", "note")
class ArrivalsBursty(Finding):
    together: Count
    lines: Count
    limit: Share = 1 / 3  # above it, only the ends of writes tell the time
    moved: Limit = 0.02  # of the window that lies in writes at its ends


@rule("batch_doubted", "flag", keeps="D03")
class BatchDoubted(Finding):
    clock_items_per_s: Rate
    printed_items_per_s: Rate
    factor: Factor
    limit: Factor = 1.5


@rule("batch_from_argument", "note")
class BatchFromArgument(Finding):
    text: Quote


@rule("line_left_out", "note")
class LineLeftOut(Finding):
    bytes: Annotated[int, "bytes"]


@rule("begins_again", "flag")
class BeginsAgain(Finding):
    line: Count


@rule("busy_machine", "flag")
class BusyMachine(Finding):
    others: Share  # of the usable cores
    limit: Limit = 0.1  # the system and the node agent take one or two per cent


@rule("nccl_silent", "flag")
class NcclSilent(Finding):
    devices: Count


@rule("infiniband_unused", "flag")
class SocketsUsed(Finding):
    line: Count
    text: Quote


@rule("infiniband_unused", "flag")
class InfinibandIdle(Finding):
    infiniband: Reading  # sent by all nodes
    ethernet: Reading
    unit: Name
    limit: Limit = 0.01
    least_bytes_per_s = 10e6  # below it nothing worth naming was sent at all

    @classmethod
    def in_samples(cls, devices: DeviceReadings) -> Iterator[Finding]:
        if not any(True for _ in devices.each("gpus.utilisation_percent")):
            return
        sent, beside = devices.sent_bytes_per_s(ports=True), devices.sent_bytes_per_s(ports=False) or 0.0
        if sent is not None and beside > cls.least_bytes_per_s and sent < beside * cls.limit:
            yield cls(infiniband=sent, ethernet=beside, unit="bytes/s")


@rule("virtual_interface", "flag")
class VirtualInterface(Finding):
    names: tuple[Name, ...]
    line: Count
    text: Quote


@rule("loader_bound", "flag")
class LoaderWaits(Finding):
    share: Share  # of the step
    limit: Limit = 0.1

    @classmethod
    def in_run(cls, run: Measurement) -> Iterator[Finding]:
        """By what the script prints of its own wait for data."""
        waits_s, times_s = run.figure("data_wait_s"), run.throughput.step_time_s if run.throughput else ()
        if waits_s is not None and times_s and waits_s > cls.limit * (step_s := sum(times_s) / len(times_s)):
            yield cls(share=min(1.0, waits_s / step_s))


@rule("loader_bound", "flag")
class LoaderBusy(Finding):
    gpu: Share
    cpu: Share
    lowest_gpu: Limit = 0.8
    highest_cpu: Limit = 0.95

    @classmethod
    def in_run(cls, run: Measurement) -> Iterator[Finding]:
        shares = {one.resource: one.mean / 100 for one in run.utilisation if one.device is None}
        gpu, cpu = shares.get("gpu", 1.0), shares.get("cpu", 0.0)
        if gpu < cls.lowest_gpu and cpu > cls.highest_cpu:
            yield cls(gpu=gpu, cpu=cpu)


@rule("machine_drifts", "flag")
class MachineDrifts(Finding):
    campaign: Name
    least_s: Seconds
    most_s: Seconds
    blocks: Count
    change: Change  # of the slowest against the fastest
    limit: Limit = 0.05


@rule("other_nodes", "flag")
class OtherNodes(Finding):
    scale: Name
    nodes: tuple[Name, ...]
    others: tuple[Name, ...]
    runs: Count
    of_runs: Count


@rule("different_nodes", "flag")
class DifferentNodes(Finding):
    nodes: tuple[Name, ...]
    others: tuple[Name, ...]


@rule("changed_since_run", "exclude")
class ChangedSinceRun(Finding):
    files: tuple[Name, ...]


@rule("clock_disagrees", "flag", keeps="D16")
class ClockDisagrees(Finding):
    method: Method
    items_per_s: Rate
    other_method: Method
    other_items_per_s: Rate
    difference: Change
    limit: Limit = 0.02  # docs/report.md#definitions

    @property
    def factor(self) -> float:
        """By which the larger is more than the smaller."""
        return max(1 + self.difference, 1 / (1 + self.difference))


@rule("clocks_far_apart", "flag", keeps="D16", grounds="disputed")
class ClocksFarApart(Finding):
    difference: Change
    limit: Factor = 1.2  # of a clock and a printed figure; further apart (`batch_doubted`) there is no value
    clocks: Limit = 0.02  # of the log's stamps and our own arrivals


@rule("printed_only", "note", grounds="printed")
class PrintedOnly(Finding):
    method: Method
    limit: Limit = 0.02  # of the window: as finely as that a clock must tell it


@rule("coarse_figures", "flag")
class CoarseFigures(Finding):
    share: Share  # by which the value may be wrong
    limit: Limit = 0.02


@rule("contradicts_log", "flag", keeps="D03")
class ContradictsLog(Finding):
    what: Option
    given: Factor
    printed: Factor


@rule("clocks_held_back", "flag")
class ClocksHeldBack(Finding):
    devices: Count
    of: Count
    share: Share  # of the readings of the worst
    limit: Limit = 0.05

    @classmethod
    def in_samples(cls, devices: DeviceReadings) -> Iterator[Finding]:
        """By nvml.h, nvmlClocksEventReason…: slowed down by the hardware (8), by heat (32, 64) or by a brake on power
        (128). A busy device reaches its power cap (4): no finding."""
        slowed, fewest = 8 | 32 | 64 | 128, 5
        shares = [
            sum(int(bits) & slowed != 0 for bits in readings) / len(readings)
            for readings in devices.each("gpus.clock_limits")
            if len(readings) >= fewest
        ]
        if held := [share for share in shares if share > cls.limit]:
            yield cls(devices=len(held), of=len(shares), share=max(held))


@rule("device_errors", "flag")
class DeviceErrors(Finding):
    driver: Count  # critical ones that the driver reported
    memory: Count  # that ECC could not correct

    @classmethod
    def in_samples(cls, devices: DeviceReadings) -> Iterator[Finding]:
        driver = sum(int(counts[-1]) for counts in devices.each("gpus.driver_errors"))
        memory = sum(int(counts[-1] - counts[0]) for counts in devices.each("gpus.memory_errors_uncorrected"))
        if driver or memory > 0:
            yield cls(driver=driver, memory=max(0, memory))


@rule("devices_idle", "exclude")
class DevicesIdle(Finding):
    busy: Count  # at any reading of the window
    planned: Count


@rule("cores_idle", "flag")
class CoresIdle(Finding):
    busy: Share
    limit: Limit = 0.5


@rule("above_cores", "exclude")
class AboveCores(Finding):
    tflops: Rate
    cores: Rate
    busy: Share
    each: Rate = 0.416  # TFLOP/s: 64 operations in float32 a cycle (two fused multiply-adds of 512 bits) at 6.5 GHz
    tiles: Factor = 32.0  # as many in 16 bits: 2048 a cycle (Intel's AMX)


@rule("nothing_exchanged", "flag")
class NothingExchanged(Finding):
    exchanged_bytes: Bytes  # a step
    devices: Count
    least_bytes: Bytes = 10e3  # where the size of the gradients is not known
    share: Limit = 0.4  # of 2 (n - 1) gradients in float32; 192 honest runs: 0.97 to 2, in 16 bits 0.5, split 0.8


@rule("nothing_exchanged", "exclude")
class NothingSent(Finding):
    sent_bytes: Bytes
    nodes: Count
    least_bytes: Bytes = 10e3


@rule("devices_unused", "exclude")
class DevicesUnused(Finding):
    used: Count
    planned: Count
    clock_items_per_s: Rate
    printed_items_per_s: Rate


@rule("facts_disagree", "flag", keeps="D03")
class FactsDisagree(Finding):
    fact: FactName  # of data/criteria/facts.toml
    source: SourceName
    value: Name
    other_source: SourceName
    other_value: Name


@rule("failed_at_exit", "flag")
class FailedAtExit(Finding):
    failure: FailureName
    line: Count
    text: Quote


@rule("final_disagrees", "flag", keeps="D16")
class FinalDisagrees(Finding):
    final_items_per_s: Rate
    items_per_s: Rate
    difference: Change
    limit: Limit = 0.02


@rule("hung_at_end", "note")
class HungAtEnd(Finding):
    pass


@rule("long_stall", "flag")
class LongStall(Finding):
    share: Share  # of the window
    seconds: Seconds  # beyond what its steps usually take
    limit: Limit = 0.05


@rule("nodes_missing", "exclude")
class NodesMissing(Finding):
    left: Count
    planned: Count


@rule("other_world_size", "exclude")
class OtherWorldSize(Finding):
    printed: Count
    planned: Count


@rule("copied", "note")
class Copied(Finding):
    copies: Count


@rule("loss_nan", "flag")
class LossNotANumber(Finding):
    line: Count


@rule("partial_batch", "note")
class PartialBatch(Finding):
    step: Count
    share: Share  # of the items of the step before
    limit: Limit = 0.9


@rule("last_batch_short", "flag")
class LastBatchShort(Finding):
    step: Count
    items: Count  # of the epoch
    share: Share  # of a batch
    most: Share  # by which the value may be too high
    limit: Limit = 0.002


@rule("ranks_missing", "exclude")
class RanksMissing(Finding):
    seen: Count
    planned: Count


@rule("rates_scatter", "flag")
class RatesScatter(Finding):
    lowest_items_per_s: Rate
    highest_items_per_s: Rate
    limit: Factor = 10.0


@rule("rest_differs", "flag")
class RestDiffers(Finding):
    difference: Change
    steps: Count  # after the window
    limit: Limit = 0.02


@rule("restarted", "note")
class Restarted(Finding):
    attempts: Count


@rule("restarted", "flag", grounds="disputed")
class SeveralRuns(Finding):
    attempts: Count
    as_long: Count  # as half of the longest, which is the one that is read
    share: Limit = 0.5


@rule("resumed", "note")
class Resumed(Finding):
    line: Count
    text: Quote


@rule("devices_assumed", "note")
class DevicesAssumed(Finding):
    devices: Count


@rule("scope_assumed", "flag")
class JobAssumedOnePrints(Finding):
    pass


@rule("scope_assumed", "flag")
class JobAssumedLauncher(Finding):
    pass


@rule("scope_assumed", "flag")
class OwnAssumed(Finding):
    printers: Count


@rule("unreadable", "exclude")
class UnreadableRun(Finding):
    file: Name
    said: Said


@rule("unreadable_samples", "flag")
class UnreadableSamples(Finding):
    said: Said


@rule("window_longer_than_run", "exclude")
class WindowLongerThanRun(Finding):
    window_s: Seconds  # by the script's own figures
    run_s: Seconds
    limit: Factor = 1.1  # explained by a late clock and rounded step times


@rule("evaluated_before", "note")
class EvaluatedBefore(Finding):
    evaluations: Count


@rule("own_criteria", "note")
class OwnCriteria(Finding):
    differences: Quote  # "C1 30 % (80 %), no C2"


@rule("facts_amended", "flag", grounds="disputed")
class FactsAmended(Finding):
    facts: Quote  # "batch 128 → 256"


@rule("not_recorded", "note")
class NotRecorded(Finding):
    cases: Count
    facts: tuple[FactName, ...]

    @classmethod
    def in_cases(cls, summaries: Sequence[Summary]) -> Iterator[Finding]:
        asked = {"precision": ("precision", UNKNOWN), "device_model": ("device", UNKNOWN), "compiler": ("xla", None)}
        each = [{fact for fact, (name, none) in asked.items() if getattr(one.case, name) == none} for one in summaries]
        if lacking := set().union(*each):
            yield cls(cases=sum(map(bool, each)), facts=tuple(fact for fact in asked if fact in lacking))


@rule("steps_unfinished", "flag", grounds="disputed")
class StepsUnfinished(Finding):
    tail_s: Seconds  # after the last step's line, as seconds of training
    window_s: Seconds
    steps: Count = 2
    share: Limit = 0.05  # of the window
    least_s: Seconds = 10.0  # of 413 honest runs the processes end within 9 s, and within 0.4 of the window
    ending: Limit = 0.5


@rule("steps_unfinished", "exclude")
class MostAfterWindow(Finding):
    tail_s: Seconds
    window_s: Seconds


@rule("work_in_warmup", "flag", grounds="disputed")
class SlowWarmup(Finding):
    factor: Factor  # of the median step of the warm-up and of the window
    beyond_s: Seconds  # of all its steps
    window_s: Seconds
    limit: Factor = 2.0  # honest scripts stay below 1.5; the first steps, which compile, do not move a median


@rule("work_in_warmup", "flag", grounds="disputed")
class WorkInWarmup(Finding):
    factor: (
        Factor  # of CPU seconds (joules of devices) a step in the warm-up, without its first steps, and in the window
    )
    work_limit: Factor = 1.5  # honest runs: up to 1.3, and 1.8 in time
    first: Limit = 0.25  # of the warm-up, where steps compile


@rule("mostly_outside", "note")
class MostlyOutside(Finding):
    before_s: Seconds  # beyond the warm-up at the window's pace
    after_s: Seconds
    window_s: Seconds


@rule("mostly_outside", "flag", grounds="disputed")
class HardlyInside(Finding):
    before_s: Seconds
    after_s: Seconds
    window_s: Seconds
    limit: Factor = 100.0  # honest runs: up to 5


@rule("loss_constant", "flag", grounds="disputed")
class LossConstant(Finding):
    steps: Count
    loss: Rate
    fewest: Count = 20
    digits: Count = 4  # fewer may stay the same


@rule("not_as_receipt", "flag")
class FirstLossApart(Finding):
    loss: Rate
    receipt: Rate
    limit: Factor = 2.0  # either way: scripts with weights of their own start within 1.5


@rule("not_as_receipt", "flag", grounds="disputed")
class ItemsApart(Finding):
    items: Rate  # a step, by which the value was counted
    batch: Count
    items_limit: Limit = 0.02


@rule("two_kinds_of_steps", "flag", grounds="disputed")
class TwoKindsOfSteps(Finding):
    share: Share  # of the fast ones
    fast_s: Seconds
    slow_s: Seconds
    limit: Factor = 2.0
    fewest: Limit = 0.1  # fewer are no kind
    most: Limit = 0.67  # more, and it is the slow ones that are odd: a loader, or an epoch's end


@rule("excluded", "exclude")
class Excluded(Finding):
    pass


@rule("D05", "note")
class FewRepeats(Finding):
    repeats: Count
    needed: Count = 5


@rule("D06", "note")
class ManyRepeats(Finding):
    repeats: Count
    usual: Count = 7


@rule("D08", "flag")
class NoisyRepeats(Finding):
    cv: Share
    limit: Limit = 0.05


@rule("D08_unstable", "flag")
class UnstableRepeats(Finding):
    cv: Share
    limit: Limit = 0.15


@rule("D09", "flag")
class OutlyingRepeat(Finding):
    items_per_s: Rate
    limit_mads: Factor = 3.0  # scaled, of the repeats
    limit: Limit = 0.02  # of the median
    limit_cvs: Factor = 3.0  # of the other runs of the block: the MAD of five repeats says little


@rule("taken_away", "flag")
class RunTakenAway(Finding):
    attempts: Count


@rule("made_again", "note")
class RunMadeAgain(Finding):
    attempts: Count


@rule("journal_broken", "flag")
class JournalBroken(Finding):
    campaign: Name


@rule("repeats_missing", "flag")
class RepeatsMissing(Finding):
    repeats: Name  # "1–14"
    here: Count


@rule("repeats_missing", "flag")
class RowsMissing(Finding):
    stated: Count
    here: Count


@rule("repeats_added", "note")
class RepeatsAdded(Finding):
    planned: Count  # repeats, before the first run
    later: Count


@rule("D11", "flag")
class SuperLinear(Finding):
    efficiency: Share
    limit: Limit = 1.02


@rule("D12", "flag")
class OddEfficiency(Finding):
    efficiency: Share
    highest: Limit = 1.2
    lowest: Limit = 0.05


@rule("D13", "flag")
class SlowerAtScale(Finding):
    larger: Scale
    larger_items_per_s: Rate
    smaller: Scale
    smaller_items_per_s: Rate
    unit: Name


@rule("D14", "flag")
class OtherBase(Finding):
    base_devices: Count


@rule("D15_environment", "flag")
class SeveralEnvironments(Finding):
    environments: tuple[Name, ...]


@rule("D15_framework_version", "flag")
class SeveralVersions(Finding):
    versions: tuple[Name, ...]


@rule("D16_cited", "flag")
class PublishedDiffers(Finding):
    published_items_per_s: Rate
    median_items_per_s: Rate
    file: Name
    log: Name


@rule("D16_speedup", "flag")
class PrintedSpeedupDiffers(Finding):
    printed: Name  # all digits
    computed: Ratio


@rule("D16_sources", "flag")
class SourcesDiffer(Finding):
    printed: Name  # all digits
    source: Name
    other: Name
    other_source: Name


@rule("D17", "note")
class ScaledTime(Finding):
    trained_epochs: Count
    stated_epochs: Count
    factor: Factor


@rule("D20", "flag")
class AbovePeak(Finding):
    device: Name
    tflops: Rate
    peak_tflops: Rate


@rule("D22", "flag")
class OddMemory(Finding):
    device: Name
    memory_bytes: Bytes
    sold_bytes: tuple[Bytes, ...]


@rule("D23", "flag")
class AuthorDiffers(Finding):
    written: Name  # all digits
    computed: Measure
    measure: Name  # "speedup"


@rule("D23", "flag")
class AuthorContradicted(Finding):
    claim: Quote


@rule("D24", "flag")
class BelowTarget(Finding):
    metric: Metric
    value: Score
    epochs: Count
    target: Score
    difference: Points


@rule("methods_differ", "flag")
class MethodsDiffer(Finding):
    methods: tuple[Method, ...]
    base_methods: tuple[Method, ...]

    @classmethod
    def in_cases(cls, summaries: Sequence[Summary]) -> Iterator[Finding]:
        of_case = {
            one.case: tuple(
                sorted({run.throughput.method for run in one.measurements if run.counts and run.throughput})
            )
            for one in summaries
        }
        for one in summaries:
            base = of_case.get(one.base, ()) if one.base else ()
            if base and one.base != one.case and of_case[one.case] != base:
                yield cls(methods=of_case[one.case], base_methods=base, where=one.case.id)


@rule("peak_unverified", "flag")
class PeakUnverified(Finding):
    device: Name
    peak_tflops: Rate
    source: Name


@rule("winner_changes", "flag")
class AheadInFirstHalf(Finding):
    other: Name
    gap: Share


@rule("winner_changes", "flag")
class AheadInSecondHalf(Finding):
    other: Name
    gap: Share


@rule("side_by_side", "flag")
class SideBySide(Finding):
    evaluations: Count


@rule("oversubscribed", "flag")
class Oversubscribed(Finding):
    processes: Count
    cores: Count


def number(code: str) -> str | None:
    """ "D16" for `clock_disagrees`; None where the code has no data rule."""
    return code if code in UNRAISED else _NUMBERS.get(code)


def codes() -> tuple[str, ...]:
    """Every code once: data rules first."""
    found = {*UNRAISED, *(rule.code for rule in RULES.values())}
    return tuple(sorted(found, key=lambda code: (code.islower(), code)))


def called(name: str) -> tuple[str, ...]:
    """The codes that *name* means: a code, a data rule ("D16"), or a rule's own name, in any case."""
    wanted = re.sub(r"^d(\d)$", r"d0\1", name.casefold())
    exact = tuple(code for code in codes() if code.casefold() == wanted)
    kept = tuple(code for code in codes() if (number(code) or "").casefold() == wanted and code not in exact)
    named = tuple(rule.code for rule in RULES.values() if rule.name == wanted)
    return tuple(dict.fromkeys((*exact, *kept, *named)))


def of_code(code: str) -> tuple[type[Finding], ...]:
    """None for a data rule that is kept without a finding."""
    return tuple(rule for rule in RULES.values() if rule.code == code)


_KINDS: dict[type[Finding], Mapping[str, str]] = {}  # a cache


def kinds(rule: type[Finding]) -> Mapping[str, str]:
    """The fields of *rule*, without the places where it was found."""
    if rule not in _KINDS:
        hints = get_type_hints(rule, include_extras=True)
        fields = [field.name for field in dataclasses.fields(rule) if field.name not in ("where", "also")]
        _KINDS[rule] = {name: _kind(hints[name]) for name in fields}
    return _KINDS[rule]


def _kind(hint: object) -> str:
    inner = get_args(hint)[0] if get_origin(hint) is tuple else hint
    (found,) = (each for each in getattr(inner, "__metadata__", ()) if isinstance(each, str))
    return found


def limits(code: str) -> dict[str, tuple[float, str]]:
    found = {}
    for rule in of_code(code):
        kind_of = kinds(rule)
        for field in dataclasses.fields(rule):
            if field.name in kind_of and field.default is not dataclasses.MISSING:
                found[field.name] = (field.default, kind_of[field.name])
    return found


def values(finding: Finding) -> dict[str, object]:
    return {name: getattr(finding, name) for name in kinds(type(finding))}


def plain(finding: Finding) -> dict[str, object]:
    return {name: list(held) if isinstance(held, tuple) else held for name, held in values(finding).items()}


def order(finding: Finding) -> tuple[object, ...]:
    return (finding.code, finding.name, tuple(values(finding).values()), finding.where)
