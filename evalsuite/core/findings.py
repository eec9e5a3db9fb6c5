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
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from evalsuite.core.model import STAMPS, UNKNOWN, Finding, Measurement, Protocol, Summary

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


class DeviceReadings(typing.Protocol):
    """The sensors' readings of a run's devices while its steps were measured."""

    def each(self, quantity: str) -> Iterable[Sequence[float]]:
        """The readings of each device that has some, in order of time."""

    def sent_bytes_per_s(self, *, ports: bool) -> float | None:
        """Of several nodes, over ports of InfiniBand adapters or over interfaces; None where there are none."""


class DuplicateRepeat(Finding, code="D04", severity="exclude"):
    repeat: Count


class SameBytes(Finding, code="D04", severity="exclude"):
    first: Name  # that counts


class SameFigures(Finding, code="D04", severity="exclude"):
    first: Name
    steps: Count = 20  # step times that follow each other


class OneTraining(Finding, code="D04", severity="exclude"):
    first: Name
    step: Count


class AtOnce(Finding, code="D04", severity="exclude"):
    first: Name  # that was not over


class EqualRepeats(Finding, code="D04", severity="exclude"):
    first: Name
    repeats: Count
    limit: Limit = 1e-5


class ShortWindow(Finding, code="D07", severity="note"):
    skipped_steps: Count
    measured_steps: Count
    full_skipped_steps: Count = Protocol.warmup_steps
    full_measured_steps: Count = Protocol.measured_steps


class TooShortWindow(Finding, code="D07", severity="exclude"):
    skipped_steps: Count
    measured_steps: Count
    least_steps: Count = 20


class EpochWindow(Finding, code="D07", severity="note"):
    measured_epochs: Count
    full_measured_steps: Count = Protocol.measured_steps


class Drift(Finding, code="D10", severity="flag"):
    change: Change
    limit: Limit = 0.05


class SteepDrift(Finding, code="D10", severity="flag", grounds="disputed", timing=True):
    change: Change
    factor: Factor = 1.3  # 317 of 318 honest runs: up to 1.26


class ThinSamples(Finding, code="D18", severity="flag"):
    resources: tuple[Resource, ...]
    coverage: Share  # of the resource with the fewest
    wanted: Limit = 0.8


class ImpossibleSamples(Finding, code="D18", severity="flag"):
    resources: tuple[Resource, ...]
    samples: Count


class OverlappingPhases(Finding, code="D19", severity="flag"):
    phases: tuple[Phase, ...]
    sum_s: Seconds
    whole_s: Seconds
    limit: Limit = 1.02  # clocks may differ by that


class AboveCapacity(Finding, code="D20", severity="flag"):
    resource: Resource
    mean: Reading
    capacity: Reading
    unit: Name
    limit: Limit = 1.02  # no link or disk does so


class DeviceAboveCapacity(Finding, code="D20", severity="flag"):
    resource: Resource
    device: Name  # "eth0"
    mean: Reading
    capacity: Reading
    unit: Name
    limit: Limit = AboveCapacity.limit


class HostClocksDiffer(Finding, code="D21", severity="flag"):
    host: Name
    first: Name
    offset_s: Seconds
    limit_s: Seconds = 5.0  # a job's processes start and end one after the other


class ClockBackwards(Finding, code="D21", severity="flag"):
    reports: Count
    of_reports: Count

    @classmethod
    def in_run(cls, run: Measurement) -> Iterator[Finding]:
        """By the log's own stamps, not by arrivals: two lines in one write have the same, and nothing is wrong."""
        measured = run.throughput
        times = measured.step_time_s if measured is not None and measured.method == STAMPS else ()
        if (count := sum(seconds <= 0 for seconds in times)) > 0:
            yield cls(reports=count, of_reports=len(times))


class LogCut(Finding, code="D25", severity="reject"):
    line: Count


class LogWithoutEnd(Finding, code="D25", severity="reject"):
    script: Name


class StrangeText(Finding, code="D26", severity="note"):
    attributes: tuple[Attribute, ...]


class UnknownOrigin(Finding, code="D27", severity="note"):
    origin: Name


class FarBelow(Finding, code="far_below", severity="note"):
    rate: Rate
    unit: Name
    others: Count  # frameworks
    median: Rate  # of theirs
    limit: Factor = 4.0  # more than libraries of one generation differ by


class SlowBase(Finding, code="slow_base", severity="note"):
    efficiency: Share  # the highest of all frameworks
    base: Scale
    share: Share  # of the median base of the others
    limit: Limit = 0.7


class AtChance(Finding, code="at_chance", severity="note"):
    accuracy: Score
    classes: Count
    guess: Score


class ArrivalsBursty(Finding, code="arrivals_bursty", severity="note"):
    together: Count
    lines: Count
    limit: Share = 1 / 3  # above it, only the ends of writes tell the time
    moved: Limit = 0.02  # of the window that lies in writes at its ends


class BatchDoubted(Finding, code="batch_doubted", severity="flag", keeps="D03"):
    clock_items_per_s: Rate
    printed_items_per_s: Rate
    factor: Factor
    limit: Factor = 1.5


class BatchFromArgument(Finding, code="batch_from_argument", severity="note"):
    text: Quote


class LineLeftOut(Finding, code="line_left_out", severity="note"):
    bytes: Annotated[int, "bytes"]


class StepsLeftOut(Finding, code="steps_left_out", severity="note"):
    steps: Count


class BeginsAgain(Finding, code="begins_again", severity="flag"):
    line: Count


class BusyMachine(Finding, code="busy_machine", severity="flag", disturbs=True):
    others: Share  # of the usable cores
    limit: Limit = 0.1  # the system and the node agent take one or two per cent


class NcclSilent(Finding, code="nccl_silent", severity="flag"):
    devices: Count


class SocketsUsed(Finding, code="infiniband_unused", severity="flag"):
    line: Count
    text: Quote


class InfinibandIdle(Finding, code="infiniband_unused", severity="flag"):
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


class VirtualInterface(Finding, code="virtual_interface", severity="flag"):
    names: tuple[Name, ...]
    line: Count
    text: Quote


class LoaderWaits(Finding, code="loader_bound", severity="flag"):
    share: Share  # of the step
    limit: Limit = 0.1

    @classmethod
    def in_run(cls, run: Measurement) -> Iterator[Finding]:
        """By what the script prints of its own wait for data."""
        waits_s, times_s = run.figure("data_wait_s"), run.throughput.step_time_s if run.throughput else ()
        if waits_s is not None and times_s and waits_s > cls.limit * (step_s := sum(times_s) / len(times_s)):
            yield cls(share=min(1.0, waits_s / step_s))


class LoaderBusy(Finding, code="loader_bound", severity="flag"):
    gpu: Share
    cpu: Share
    lowest_gpu: Limit = 0.8
    highest_cpu: Limit = 0.95

    @classmethod
    def in_run(cls, run: Measurement) -> Iterator[Finding]:
        shares = {use.resource: use.mean / 100 for use in run.utilisation if use.device is None}
        gpu, cpu = shares.get("gpu", 1.0), shares.get("cpu", 0.0)
        if gpu < cls.lowest_gpu and cpu > cls.highest_cpu:
            yield cls(gpu=gpu, cpu=cpu)


class MachineDrifts(Finding, code="machine_drifts", severity="flag"):
    campaign: Name
    least_s: Seconds
    most_s: Seconds
    blocks: Count
    change: Change  # of the slowest against the fastest
    limit: Limit = 0.05


class ProbeMoved(Finding, code="machine_drifts", severity="flag", disturbs=True):
    probe_s: Seconds
    least_s: Seconds  # of the blocks of its campaign
    factor: Factor = 1.2


class TimedBeside(Finding, code="disturbed", severity="flag", disturbs=True):
    codes: tuple[Name, ...]  # of what the times told
    work: Share  # of a step, of that of the other runs
    most: Limit = 0.25  # by which it may differ: 66 recorded cases: 17.4 %
    bytes: Limit = 0.06  # the same of bytes between processes: 4.9 %


class SetAside(Finding, code="disturbed", severity="exclude", disturbs=True):
    quiet: Count  # runs of its case that had the machine for themselves


class OtherNodes(Finding, code="other_nodes", severity="flag"):
    scale: Name
    nodes: tuple[Name, ...]
    others: tuple[Name, ...]
    runs: Count
    of_runs: Count


class ChangedSinceRun(Finding, code="changed_since_run", severity="exclude"):
    files: tuple[Name, ...]


class TouchedSinceRun(Finding, code="changed_since_run", severity="note"):
    files: tuple[Name, ...]  # that say the same as before, or that nothing reads


class ClockDisagrees(Finding, code="clock_disagrees", severity="flag", keeps="D16"):
    method: Method
    items_per_s: Rate
    other_method: Method
    other_items_per_s: Rate
    difference: Change
    limit: Limit = 0.02  # docs/report.md#definitions

    @property
    def factor(self) -> float:
        return max(1 + self.difference, 1 / (1 + self.difference))


class ClocksFarApart(Finding, code="clocks_far_apart", severity="flag", keeps="D16", grounds="disputed", timing=True):
    difference: Change
    limit: Factor = 1.2  # of a clock and a printed figure; further apart (`batch_doubted`) there is no value
    clocks: Limit = 0.02  # of the log's stamps and our own arrivals


class PrintedOnly(Finding, code="printed_only", severity="note", grounds="printed"):
    method: Method
    limit: Limit = 0.02  # of the window: as finely as that a clock must tell it


class CoarseFigures(Finding, code="coarse_figures", severity="flag"):
    share: Share  # by which the value may be wrong
    limit: Limit = 0.02


class ContradictsLog(Finding, code="contradicts_log", severity="flag", keeps="D03"):
    what: Option
    given: Factor
    printed: Factor


class ClocksHeldBack(Finding, code="clocks_held_back", severity="flag"):
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


class DeviceErrors(Finding, code="device_errors", severity="flag"):
    driver: Count  # critical ones that the driver reported
    memory: Count  # that ECC could not correct

    @classmethod
    def in_samples(cls, devices: DeviceReadings) -> Iterator[Finding]:
        driver = sum(int(counts[-1]) for counts in devices.each("gpus.driver_errors"))
        memory = sum(int(counts[-1] - counts[0]) for counts in devices.each("gpus.memory_errors_uncorrected"))
        if driver or memory > 0:
            yield cls(driver=driver, memory=max(0, memory))


class DevicesIdle(Finding, code="devices_idle", severity="exclude"):
    busy: Count  # at any reading of the window
    planned: Count


class CoresIdle(Finding, code="cores_idle", severity="flag"):
    busy: Share
    limit: Limit = 0.5


class NothingWaitedFor(Finding, code="cores_idle", severity="flag", grounds="disputed"):
    busy: Share
    moved_bytes: Bytes  # a step, over network, loopback and disks
    least_bytes: Bytes = 10e3


class AboveCores(Finding, code="above_cores", severity="exclude"):
    tflops: Rate
    cores: Rate
    busy: Share
    each: Rate = 0.416  # TFLOP/s: 64 operations in float32 a cycle (two fused multiply-adds of 512 bits) at 6.5 GHz
    tiles: Factor = 32.0  # as many in 16 bits: 2048 a cycle (Intel's AMX)


class NothingExchanged(Finding, code="nothing_exchanged", severity="flag"):
    exchanged_bytes: Bytes  # a step
    devices: Count
    least_bytes: Bytes = 10e3  # where the size of the gradients is not known
    share: Limit = 0.4  # of 2 (n - 1) gradients in float32; 192 honest runs: 0.97 to 2, in 16 bits 0.5, split 0.8


class NothingSent(Finding, code="nothing_exchanged", severity="exclude"):
    sent_bytes: Bytes
    nodes: Count
    least_bytes: Bytes = 10e3


class DevicesUnused(Finding, code="devices_unused", severity="exclude"):
    used: Count
    planned: Count
    clock_items_per_s: Rate
    printed_items_per_s: Rate


class FactsDisagree(Finding, code="facts_disagree", severity="flag", keeps="D03"):
    fact: FactName  # of data/criteria/facts.toml
    source: SourceName
    value: Name
    other_source: SourceName
    other_value: Name


class HeadDisagrees(Finding, code="contradicts_log", severity="flag", keeps="D03", grounds="disputed"):
    fact: FactName
    source: SourceName  # the log
    value: Name
    other_source: SourceName
    other_value: Name


class FailedAtExit(Finding, code="failed_at_exit", severity="flag"):
    failure: FailureName
    line: Count
    text: Quote


class FinalDisagrees(Finding, code="final_disagrees", severity="flag", keeps="D16"):
    final_items_per_s: Rate
    items_per_s: Rate
    difference: Change
    limit: Limit = 0.02


class HungAtEnd(Finding, code="hung_at_end", severity="note"):
    pass


class LongStall(Finding, code="long_stall", severity="flag"):
    share: Share  # of the window
    seconds: Seconds  # beyond what its steps usually take
    limit: Limit = 0.05
    doubtful: Limit = 0.2  # a log read alone


class NodesMissing(Finding, code="nodes_missing", severity="exclude"):
    left: Count
    planned: Count


class OtherWorldSize(Finding, code="other_world_size", severity="exclude"):
    printed: Count
    planned: Count


class CountedInTokens(Finding, code="counted_in_tokens", severity="note"):
    unit: Name  # of the log
    tokens: Count  # of a sequence


class Copied(Finding, code="copied", severity="note"):
    copies: Count


class LossNotANumber(Finding, code="loss_nan", severity="flag", grounds="disputed"):
    line: Count


class PartialBatch(Finding, code="partial_batch", severity="note"):
    step: Count
    share: Share  # of the items of the step before
    limit: Limit = 0.9


class LastBatchShort(Finding, code="last_batch_short", severity="flag"):
    step: Count
    items: Count  # of the epoch
    share: Share  # of a batch
    most: Share  # by which the value may be too high
    limit: Limit = 0.002


class RanksMissing(Finding, code="ranks_missing", severity="exclude"):
    seen: Count
    planned: Count


class MoreThanPlanned(Finding, code="more_than_planned", severity="exclude"):
    seen: Count  # processes that printed each step
    planned: Count  # devices


class MoreBusy(Finding, code="more_than_planned", severity="exclude"):
    busy: Count  # beside the run's own: idle when it began, busy while its steps were measured
    planned: Count


class RatesScatter(Finding, code="rates_scatter", severity="flag"):
    lowest_items_per_s: Rate
    highest_items_per_s: Rate
    limit: Factor = 10.0


class RestDiffers(Finding, code="rest_differs", severity="flag"):
    difference: Change
    steps: Count  # after the window
    limit: Limit = 0.02
    halves: Factor = 1.5  # where they are further apart, of one of them
    doubtful: Limit = 0.05  # then a window does not speak for its log


class Restarted(Finding, code="restarted", severity="note"):
    attempts: Count


class SeveralRuns(Finding, code="restarted", severity="flag", grounds="disputed"):
    attempts: Count
    as_long: Count  # as *share* of the longest, which is the one that is read, or before it as *earlier*
    share: Limit = 0.5  # some evaluate in lines like those of steps
    earlier: Limit = 0.1


class Resumed(Finding, code="resumed", severity="note"):
    line: Count
    text: Quote


class DevicesAssumed(Finding, code="devices_assumed", severity="note"):
    devices: Count


class JobAssumedOnePrints(Finding, code="scope_assumed", severity="flag"):
    pass


class JobAssumedLauncher(Finding, code="scope_assumed", severity="flag"):
    pass


class OwnAssumed(Finding, code="scope_assumed", severity="flag"):
    printers: Count


class UnreadableRun(Finding, code="unreadable", severity="exclude"):
    file: Name
    said: Said


class UnreadableSamples(Finding, code="unreadable_samples", severity="flag"):
    said: Said


class WindowLongerThanRun(Finding, code="window_longer_than_run", severity="exclude"):
    window_s: Seconds  # by the script's own figures
    run_s: Seconds
    limit: Factor = 1.1  # explained by a late clock and rounded step times


class EvaluatedBefore(Finding, code="evaluated_before", severity="note"):
    evaluations: Count


class OwnCriteria(Finding, code="own_criteria", severity="note"):
    differences: Quote  # "C1 30 % (80 %), no C2"


class NotRecorded(Finding, code="not_recorded", severity="note"):
    cases: Count
    facts: tuple[FactName, ...]

    @classmethod
    def in_cases(cls, summaries: Sequence[Summary]) -> Iterator[Finding]:
        asked = {"precision": ("precision", UNKNOWN), "device_model": ("device", UNKNOWN), "compiler": ("xla", None)}
        cases = [summary.case for summary in summaries]
        each = [{fact for fact, (name, none) in asked.items() if getattr(case, name) == none} for case in cases]
        if lacking := set().union(*each):
            yield cls(cases=sum(map(bool, each)), facts=tuple(fact for fact in asked if fact in lacking))


class StepsUnfinished(Finding, code="steps_unfinished", severity="flag", grounds="disputed"):
    tail_s: Seconds  # after the last step's line, as seconds of training
    window_s: Seconds
    steps: Count = 2
    share: Limit = 0.05  # of the window
    least_s: Seconds = 10.0  # of 413 honest runs the processes end within 9 s, and within 0.4 of the window
    lag_s: Seconds = 2.0  # of accelerators, whose readings follow by a second: processes end without them
    ending: Limit = 0.5


class ProcessesLeft(Finding, code="steps_unfinished", severity="flag", grounds="disputed"):
    processes: Count
    limit: Limit = 0.1  # of what the devices did in the window: idle helpers do less


class SlowWarmup(Finding, code="work_in_warmup", severity="flag", grounds="disputed", timing=True):
    factor: Factor  # of the median step of the warm-up and of the window
    beyond_s: Seconds  # of all its steps
    window_s: Seconds
    limit: Factor = 2.0  # honest scripts stay below 1.5; the first steps, which compile, do not move a median


class WorkInWarmup(Finding, code="work_in_warmup", severity="flag", grounds="disputed"):
    factor: Factor  # of CPU seconds (joules) a step in the warm-up, without its first steps, and in the window
    work_limit: Factor = 1.5  # honest runs: up to 1.3, and 1.8 in time
    first: Limit = 0.25  # of the warm-up, where steps compile


class MostlyOutside(Finding, code="mostly_outside", severity="note"):
    before_s: Seconds  # beyond the warm-up at the window's pace
    after_s: Seconds
    window_s: Seconds


class HardlyInside(Finding, code="mostly_outside", severity="flag", grounds="disputed", timing=True):
    before_s: Seconds
    after_s: Seconds
    window_s: Seconds
    limit: Factor = 100.0  # honest runs: up to 5


class LossConstant(Finding, code="loss_constant", severity="flag", grounds="disputed"):
    steps: Count
    loss: Rate
    fewest: Count = 20
    digits: Count = 4  # fewer may stay the same


class LossNotFalling(Finding, code="loss_not_falling", severity="flag"):
    reports: Count
    first: Rate  # mean of the first stretch
    last: Rate  # of the last quarter
    most: Change  # by which it may have fallen, of the first, with this confidence
    confidence: Limit = 0.99
    limit: Limit = 0.01
    fewest: Count = 200  # reports: a benchmark of a hundred steps is no training


class SeedRepeated(Finding, code="seed_repeated", severity="note"):
    runs: Count
    seeds: Count


class RedoneApart(Finding, code="resumed_apart", severity="flag"):
    resumed_at: Count
    steps: Count  # trained again
    step: Count  # where the two losses differ most
    before: Rate
    after: Rate


class FirstLossApart(Finding, code="not_as_receipt", severity="flag"):
    loss: Rate
    receipt: Rate
    limit: Factor = 2.0  # either way: scripts with weights of their own start within 1.5


class ItemsApart(Finding, code="not_as_receipt", severity="flag", grounds="disputed"):
    items: Rate  # a step, by which the value was counted
    batch: Count
    items_limit: Limit = 0.02


class TwoKindsOfSteps(Finding, code="two_kinds_of_steps", severity="flag", grounds="disputed", timing=True):
    share: Share  # of the fast ones
    fast_s: Seconds
    slow_s: Seconds
    limit: Factor = 2.0
    fewest: Limit = 0.1  # fewer are no kind
    most: Limit = 0.67  # more, and it is the slow ones that are odd: a loader, or an epoch's end


class Excluded(Finding, code="excluded", severity="exclude"):
    pass


class FewRepeats(Finding, code="D05", severity="note"):
    repeats: Count
    needed: Count = 5


class ManyRepeats(Finding, code="D06", severity="note"):
    repeats: Count
    usual: Count = 7


class NoisyRepeats(Finding, code="D08", severity="flag"):
    cv: Share
    limit: Limit = 0.05


class UnstableRepeats(Finding, code="D08_unstable", severity="flag"):
    cv: Share
    limit: Limit = 0.15


class OutlyingRepeat(Finding, code="D09", severity="flag"):
    items_per_s: Rate
    limit_mads: Factor = 3.0  # scaled, of the repeats
    limit: Limit = 0.02  # of the median
    limit_cvs: Factor = 3.0  # of the other runs of the block: the MAD of five repeats says little


class RunTakenAway(Finding, code="taken_away", severity="flag"):
    attempts: Count


class RunMadeAgain(Finding, code="made_again", severity="note"):
    attempts: Count


class JournalBroken(Finding, code="journal_broken", severity="flag"):
    campaign: Name


class RepeatsMissing(Finding, code="repeats_missing", severity="flag"):
    repeats: Name  # "1–14"
    here: Count


class RowsMissing(Finding, code="repeats_missing", severity="flag"):
    stated: Count
    here: Count


class RepeatsAdded(Finding, code="repeats_added", severity="note"):
    planned: Count  # repeats, before the first run
    later: Count


class SuperLinear(Finding, code="D11", severity="flag"):
    efficiency: Share
    limit: Limit = 1.02


class OddEfficiency(Finding, code="D12", severity="flag"):
    efficiency: Share
    highest: Limit = 1.2
    lowest: Limit = 0.05


class SlowerAtScale(Finding, code="D13", severity="flag"):
    larger: Scale
    larger_items_per_s: Rate
    smaller: Scale
    smaller_items_per_s: Rate
    unit: Name


class OtherBase(Finding, code="D14", severity="flag"):
    base_devices: Count


class SeveralEnvironments(Finding, code="D15_environment", severity="flag"):
    environments: tuple[Name, ...]


class SeveralVersions(Finding, code="D15_framework_version", severity="flag"):
    versions: tuple[Name, ...]


class PublishedDiffers(Finding, code="D16_cited", severity="flag"):
    published_items_per_s: Rate
    median_items_per_s: Rate
    file: Name
    log: Name


class PrintedSpeedupDiffers(Finding, code="D16_speedup", severity="flag"):
    printed: Name  # all digits
    computed: Ratio


class SourcesDiffer(Finding, code="D16_sources", severity="flag"):
    printed: Name  # all digits
    source: Name
    other: Name
    other_source: Name


class ScaledTime(Finding, code="D17", severity="note"):
    trained_epochs: Count
    stated_epochs: Count
    factor: Factor


class AbovePeak(Finding, code="D20", severity="exclude"):
    device: Name
    tflops: Rate
    peak_tflops: Rate


class OddMemory(Finding, code="D22", severity="flag"):
    device: Name
    memory_bytes: Bytes
    sold_bytes: tuple[Bytes, ...]


class AuthorDiffers(Finding, code="D23", severity="flag"):
    written: Name  # all digits
    computed: Measure
    measure: Name  # "speedup"


class BelowTarget(Finding, code="D24", severity="flag"):
    metric: Metric
    value: Score
    epochs: Count
    target: Score
    difference: Points


class MethodsDiffer(Finding, code="methods_differ", severity="flag"):
    methods: tuple[Method, ...]
    base_methods: tuple[Method, ...]

    @classmethod
    def in_cases(cls, summaries: Sequence[Summary]) -> Iterator[Finding]:
        counted = [(each.case, [run.throughput for run in each.measurements if run.counts]) for each in summaries]
        of_case = {case: tuple(sorted({speed.method for speed in speeds if speed})) for case, speeds in counted}
        for summary in summaries:
            base = of_case.get(summary.base, ()) if summary.base else ()
            if base and summary.base != summary.case and of_case[summary.case] != base:
                yield cls(methods=of_case[summary.case], base_methods=base, where=summary.case.id)


class SideBySide(Finding, code="side_by_side", severity="flag", disturbs=True):
    evaluations: Count


class Oversubscribed(Finding, code="oversubscribed", severity="flag"):
    processes: Count
    cores: Count


RULES: Mapping[str, type[Finding]] = {rule.name: rule for rule in Finding.__subclasses__()}


def detect(how: str, evidence: object) -> Iterator[Finding]:
    for known in RULES.values():
        detector: Callable[[Any], Iterable[Finding]] | None = getattr(known, how, None)
        if detector is not None:
            yield from detector(evidence)


def number(code: str) -> str | None:
    """ "D16" for `clock_disagrees`; None where the code has no data rule."""
    return code if code in UNRAISED else next((rule.keeps for rule in of_code(code) if rule.keeps), None)


def codes() -> tuple[str, ...]:
    """Every code once: data rules first."""
    names = {*UNRAISED, *(rule.code for rule in RULES.values())}
    return tuple(sorted(names, key=lambda code: (code.islower(), code)))


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
        held = {}
        for field in dataclasses.fields(rule):
            if field.name not in ("where", "also"):
                hint = hints[field.name]
                inner = get_args(hint)[0] if get_origin(hint) is tuple else hint
                (held[field.name],) = (each for each in getattr(inner, "__metadata__", ()) if isinstance(each, str))
        _KINDS[rule] = held
    return _KINDS[rule]


def limits(code: str) -> dict[str, tuple[float, str]]:
    limits = {}
    for rule in of_code(code):
        kind_of = kinds(rule)
        for field in dataclasses.fields(rule):
            if field.name in kind_of and field.default is not dataclasses.MISSING:
                limits[field.name] = (field.default, kind_of[field.name])
    return limits


def values(finding: Finding) -> dict[str, object]:
    return {name: getattr(finding, name) for name in kinds(type(finding))}


def plain(finding: Finding) -> dict[str, object]:
    return {name: list(held) if isinstance(held, tuple) else held for name, held in values(finding).items()}


def order(finding: Finding) -> tuple[object, ...]:
    return (finding.code, finding.name, tuple(values(finding).values()), finding.where)
