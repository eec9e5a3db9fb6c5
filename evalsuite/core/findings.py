"""Every finding: its code, which of the ten questions it answers, its fields and limits (docs/method.md). A finding is
one of these classes with its values: `Drift(change=0.07, where=run.id)`. What it costs follows from its question
(`model.CONSEQUENCES`), unless it is only *noted*. The limits that judge are the defaults of its fields. To add one:
declare it here, write its words into data/questions.toml and its test; tests/unit/test_findings.py names what lacks.
The calculation that sees it raises it."""

import dataclasses
from collections.abc import Mapping
from typing import Annotated, get_args, get_origin, get_type_hints

from evalsuite.core.model import Finding, Protocol

# what a field holds, and so how `report/text/findings.py` words it
Count = Annotated[int, "count"]
Share = Annotated[float, "share"]  # 1.0 is all
Limit = Annotated[float, "limit"]  # a chosen share: as few digits as it needs
Change = Annotated[float, "change"]  # a share with its sign
Rate = Annotated[float, "rate"]  # items per second
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
FactName = Annotated[str, "fact"]  # of a run: "precision"
SourceName = Annotated[str, "source"]  # who states it
FailureName = Annotated[str, "failure"]  # what ended a run: "out of memory"
Name = Annotated[str, "name"]  # the same in every language
Quote = Annotated[str, "quote"]  # words of a log or a tool
Said = Annotated[str, "said"]  # words of another module


class SameBytes(Finding, code="D04", question=5):
    first: Name  # that counts


class SameFigures(Finding, code="D04", question=5):
    first: Name
    steps: Count
    fewest: Count = 20
    chance: Limit = 1e-6  # that honest ones share so many values


class Reshaped(Finding, code="D04", question=5):
    first: Name
    steps: Count
    groups: Count = 8  # of step times further apart than from the other's: 2,047 honest pairs have up to 4
    correlation: Limit = 0.9  # of the ranks, step by step, of times and of their differences: honest ones up to 0.73
    together: Limit = 0.5  # the same on the mean, of two or more runs of its case: honest ones up to 0.37


class ScaledFigures(Finding, code="D04", question=5):
    other: Name  # case
    runs: Count
    ratio: Factor
    within: Limit = 0.05  # of their own scatter: the ratios of five honest figures lie in it in 2.5 of a million pairs
    fewest: Count = 5


class SameLine(Finding, code="D04", question=5):
    other: Name  # case of another framework
    source: Name


class FiguresConstant(Finding, code="clock_disagrees", question=9):
    reports: Count
    text: Quote
    share: Limit = 0.9  # of all reports, and *fewest*
    fewest: Count = 20
    limit: Limit = 2e-5  # of a figure, which its digits tell: clocks scatter by more


class OneTraining(Finding, code="D04", question=5):
    first: Name
    step: Count


class AtOnce(Finding, code="D04", question=5):
    first: Name  # that was not over


class EqualRepeats(Finding, code="D04", question=5):
    first: Name
    repeats: Count
    limit: Limit = 1e-5
    digit: Limit = 2e-3  # of a rate: rounded more coarsely, repeats are equal by chance


class ShortWindow(Finding, code="D07", question=8, noted=True):
    skipped_steps: Count
    measured_steps: Count
    full_skipped_steps: Count = Protocol.warmup_steps
    full_measured_steps: Count = Protocol.measured_steps


class TooShortWindow(Finding, code="D25", question=5):
    skipped_steps: Count
    measured_steps: Count
    least_steps: Count = 20


class EpochWindow(Finding, code="D07", question=8, noted=True):
    measured_epochs: Count
    full_measured_steps: Count = Protocol.measured_steps


class Drift(Finding, code="D10", question=2, noted=True):
    change: Change
    limit: Limit = 0.05


class SteepDrift(Finding, code="D10", question=2, timing=True):
    change: Change
    factor: Factor = 1.3  # 286 of 288 honest runs; 14 of 17 of language models


class ThinSamples(Finding, code="D18", question=10):
    resources: tuple[Resource, ...]
    coverage: Share  # of the resource with the fewest
    wanted: Limit = 0.8


class ImpossibleSamples(Finding, code="D18", question=10):
    resources: tuple[Resource, ...]
    samples: Count
    limit: Limit = 1.02  # of its capacity no link or disk does more on the mean
    busy, power, memory = 0.5, 0.15, 0.5  # of the time; of its data sheet's, 0.07 to 0.14 at rest; of what is printed
    clock = 400.0  # MHz: at rest 135 to 345


class OverlappingPhases(Finding, code="D18", question=10):
    phases: tuple[Phase, ...]
    sum_s: Seconds
    whole_s: Seconds
    limit: Limit = 1.02  # clocks may differ by that


class LogCut(Finding, code="D25", question=5):
    line: Count


class LogWithoutEnd(Finding, code="D25", question=5):
    script: Name


class ArrivalsBursty(Finding, code="printed_only", question=1, noted=True):
    together: Count
    lines: Count
    limit: Share = 1 / 3  # above it, only the ends of writes tell the time
    moved: Limit = 0.02  # of the window that lies in writes at its ends


class ArrivalsInTicks(Finding, code="printed_only", question=1, noted=True):
    tick: Seconds  # as paddle.distributed.launch, which passes lines on every 2 s
    share: Share  # of the window
    limit: Limit = 0.02


class BatchDoubted(Finding, code="clock_disagrees", question=9):
    clock_items_per_s: Rate
    printed_items_per_s: Rate
    factor: Factor
    limit: Factor = 1.5


class BatchFromArgument(Finding, code="scope_assumed", question=10):
    text: Quote


class LineLeftOut(Finding, code="steps_left_out", question=10):
    bytes: Annotated[int, "bytes"]


class StepsLeftOut(Finding, code="steps_left_out", question=10):
    steps: Count


class BeginsAgain(Finding, code="restarted", question=2, noted=True):
    line: Count


class BusyMachine(Finding, code="busy_machine", question=6):
    others: Share  # of the usable cores
    limit: Limit = 0.1  # the system and the node agent take one or two per cent


class SocketsUsed(Finding, code="infiniband_unused", question=10):
    line: Count
    text: Quote


class InfinibandIdle(Finding, code="infiniband_unused", question=10):
    infiniband: Reading  # sent by all nodes
    ethernet: Reading
    unit: Name
    limit: Limit = 0.01
    least_bytes_per_s = 10e6  # below it nothing worth naming was sent at all


class LoaderWaits(Finding, code="loader_bound", question=10):
    share: Share  # of the step
    limit: Limit = 0.1


class LoaderBusy(Finding, code="loader_bound", question=10):
    gpu: Share
    cpu: Share
    lowest_gpu: Limit = 0.8
    highest_cpu: Limit = 0.95


class ProbeMoved(Finding, code="machine_drifts", question=6):
    probe_s: Seconds
    least_s: Seconds  # of the blocks of its campaign
    factor: Factor = 1.2


class TimedBeside(Finding, code="busy_machine", question=6):
    codes: tuple[Name, ...]  # of what the times told
    work: Share  # of a step, of that of the other runs
    most: Limit = 0.25  # by which it may differ: 66 recorded cases: 17.4 %
    bytes: Limit = 0.06  # the same of bytes between processes: 4.9 %


class SetAside(Finding, code="busy_machine", question=6, aside=True):
    quiet: Count  # runs of its case that had the machine for themselves


class ChangedSinceRun(Finding, code="changed_since_run", question=5):
    files: tuple[Name, ...]


class RecordsDisagree(Finding, code="changed_since_run", question=5):
    fact: Name
    record: Name
    value: Name
    other: Name
    other_value: Name
    samples: Limit = 0.2  # 338 honest runs: 0.02 at most
    fewest: Count = 8  # samples
    cpu: Limit = 1.05  # sampled, of what the agent counted of all processes that it waited for
    begin_s: Seconds = 10.0  # 365 honest runs: 0.01 at most
    around_s: Seconds = 60.0  # of the agent's time, on its own machine: 5.5 at most
    clocks_s: Seconds = 86400.0  # of two machines, with a queue between them


class ClockDisagrees(Finding, code="clock_disagrees", question=9):
    method: Method
    items_per_s: Rate
    other_method: Method
    other_items_per_s: Rate
    difference: Change
    limit: Limit = 0.02  # docs/numbers.md

    @property
    def factor(self) -> float:
        return max(1 + self.difference, 1 / (1 + self.difference))


class ClocksFarApart(Finding, code="clocks_far_apart", question=2, timing=True):
    difference: Change
    limit: Factor = 1.2  # of a clock and a printed figure; further apart (`batch_doubted`) there is no value
    clocks: Limit = 0.02  # of the log's stamps and our own arrivals


class FigureDenies(Finding, code="clocks_far_apart", question=2):
    what: Option  # is printed beside the rate: "latency"
    items_per_s: Rate
    implied: Rate
    limit: Limit = 0.05  # beyond their digits


class PrintedOnly(Finding, code="printed_only", question=1):
    method: Method
    limit: Limit = 0.02  # of the window: as finely as that a clock must tell it


class CoarseFigures(Finding, code="printed_only", question=1, noted=True):
    share: Share  # by which the value may be wrong
    limit: Limit = 0.02


class ContradictsLog(Finding, code="facts_disagree", question=7):
    what: Option
    given: Factor
    printed: Factor


class BatchesApart(Finding, code="facts_disagree", question=7, noted=True):
    total: Factor  # as the log prints it
    product: Factor  # of the batch of one device, the accumulation and the devices


class ClocksHeldBack(Finding, code="machine_drifts", question=6, noted=True):
    devices: Count
    of: Count
    share: Share  # of the readings of the worst
    limit: Limit = 0.05


class DeviceErrors(Finding, code="machine_drifts", question=6):
    driver: Count  # critical ones that the driver reported
    memory: Count  # that ECC could not correct


class CoresIdle(Finding, code="cores_idle", question=2, noted=True):
    busy: Share
    limit: Limit = 0.5


class NothingWaitedFor(Finding, code="cores_idle", question=2):
    busy: Share
    moved_bytes: Bytes  # a step, over network, loopback and disks
    least_bytes: Bytes = 10e3


class AboveCores(Finding, code="D20", question=4):
    tflops: Rate
    cores: Rate
    busy: Share
    each: Rate = 0.416  # TFLOP/s: 64 operations in float32 a cycle (two fused multiply-adds of 512 bits) at 6.5 GHz
    tiles: Factor = 32.0  # as many in 16 bits: 2048 a cycle (Intel's AMX)


class NothingExchanged(Finding, code="nothing_exchanged", question=4, noted=True):
    exchanged_bytes: Bytes  # a step
    devices: Count
    least_bytes: Bytes = 10e3  # where the size of the gradients is not known
    share: Limit = 0.4  # of 2 (n - 1) gradients in float32; 192 honest runs: 0.97 to 2, in 16 bits 0.5, split 0.8


class NothingSent(Finding, code="nothing_exchanged", question=4):
    sent_bytes: Bytes
    nodes: Count
    least_bytes: Bytes = 10e3


class FactsDisagree(Finding, code="facts_disagree", question=7, noted=True):
    fact: FactName  # of data/criteria/facts.toml
    source: SourceName
    value: Name
    other_source: SourceName
    other_value: Name


class ClaimDenied(Finding, code="facts_disagree", question=7):
    fact: FactName
    source: SourceName
    value: Name
    other_source: SourceName
    other_value: Name


class LayoutImpossible(Finding, code="facts_disagree", question=7):
    said: Said


class SaidAlone(Finding, code="said_alone", question=7, noted=True):
    lines: Count
    text: Quote  # of the first of them
    longest: Count = 120
    most: Count = 8  # and half of all that it says: above, it is the log of another program


class FailedAtExit(Finding, code="D25", question=5, noted=True):
    failure: FailureName
    line: Count
    text: Quote


class FinalDisagrees(Finding, code="clock_disagrees", question=9):
    final_items_per_s: Rate
    items_per_s: Rate
    difference: Change
    limit: Limit = 0.02


class HungAtEnd(Finding, code="D25", question=5, noted=True):
    pass


class LongStall(Finding, code="D10", question=2, noted=True):
    share: Share  # of the window
    seconds: Seconds  # beyond what its steps usually take
    limit: Limit = 0.05
    doubtful: Limit = 0.2  # a log read alone


class OtherDevices(Finding, code="devices_unused", question=4):
    told: Option  # what was counted: "devices_busy", "processes_printed"
    seen: Count
    planned: Count
    most: Limit = 1.02  # CPU seconds of a second and a core; 266 honest runs: 0.9993 at most


class CountedInTokens(Finding, code="scope_assumed", question=10):
    unit: Name  # of the log
    tokens: Count  # of a sequence


class Copied(Finding, code="D04", question=5, noted=True):
    copies: Count


class LossNotANumber(Finding, code="no_learning", question=3):
    line: Count


class PartialBatch(Finding, code="steps_left_out", question=10):
    step: Count
    share: Share  # of the items of the step before
    limit: Limit = 0.9


class RatesScatter(Finding, code="printed_only", question=1, noted=True):
    lowest_items_per_s: Rate
    highest_items_per_s: Rate
    limit: Factor = 10.0


class RestDiffers(Finding, code="D10", question=2, noted=True):
    difference: Change
    steps: Count  # after the window
    limit: Limit = 0.02
    halves: Factor = 1.5  # where they are further apart, of one of them
    doubtful: Limit = 0.05  # then a window does not speak for its log


class Restarted(Finding, code="restarted", question=2, noted=True):
    attempts: Count


class SeveralRuns(Finding, code="restarted", question=2):
    attempts: Count
    as_long: Count  # as *share* of the longest, which is the one that is read, or before it as *earlier*
    share: Limit = 0.5  # some evaluate in lines like those of steps
    earlier: Limit = 0.1


class Resumed(Finding, code="training", question=3, noted=True):
    line: Count
    text: Quote


class DevicesAssumed(Finding, code="scope_assumed", question=10):
    devices: Count


class ScopeAssumed(Finding, code="scope_assumed", question=10):
    why: Option  # "one_prints"
    printers: Count


class UnreadableRun(Finding, code="D25", question=5):
    file: Name
    said: Said


class UnreadableSamples(Finding, code="D18", question=10):
    said: Said


class EvaluatedBefore(Finding, code="evaluated_before", question=5, noted=True):
    evaluations: Count


class OwnCriteria(Finding, code="own_criteria", question=10):
    differences: Quote  # "C1 30 % (80 %), no C2"


class StepsUnfinished(Finding, code="work_outside", question=2):
    tail_s: Seconds  # after the last step's line, as seconds of training
    window_s: Seconds
    steps: Count = 2
    share: Limit = 0.05  # of the window
    least_s: Seconds = 10.0  # of 413 honest runs the processes end within 9 s and 0.4 of the window; one more, 0.63
    lag_s: Seconds = 2.0  # of accelerators, whose readings follow by a second: processes end without them
    ending: Limit = 0.5


class ProcessesLeft(Finding, code="work_outside", question=2):
    processes: Count
    limit: Limit = 0.1  # of what the devices did in the window: idle helpers do less


class SlowWarmup(Finding, code="work_outside", question=2, timing=True):
    factor: Factor  # of the median step of the later warm-up and of the window
    beyond: Share  # of the window, in all its steps
    limit: Factor = 1.25  # with *most*: none of 42 example logs and 17 recorded runs that have such a warm-up
    most: Limit = 0.85  # of the pairs of a step of the warm-up and one of the window: the former is longer
    share: Limit = 0.03
    first: Limit = 0.25  # of the warm-up, where steps compile


class WorkInWarmup(Finding, code="work_outside", question=2):
    factor: Factor  # of CPU seconds (joules) a step in the later warm-up and in the window
    work_limit: Factor = 1.25  # honest runs: up to 1.07, and 1.22 beside others
    share: Limit = SlowWarmup.share
    first: Limit = SlowWarmup.first


class LossConstant(Finding, code="no_learning", question=3):
    steps: Count
    values: Count
    loss: Rate
    fewest: Count = 5  # reports, and *covered* steps: while the rate warms up, 12 may be the same
    covered: Count = 20
    digits: Count = 4  # fewer may stay the same
    share: Limit = 0.1  # of the reports, that differ
    values_limit: Count = 10  # which are enough of any number
    again: Limit = 0.25  # of more digits, that are as in the report before: 0 of 212 logs above 0.05
    least: Limit = 1e-5  # below: zero


class LearntLess(Finding, code="no_learning", question=3):
    accuracy: Score  # in per cent
    usual: Score
    limit: Limit = 0.9  # of the median of two others at least of the same model


class CrossEntropyNegative(Finding, code="no_learning", question=3):
    reports: Count
    loss: Rate


class LossRises(Finding, code="no_learning", question=3):
    steps: Count
    first: Rate  # mean of the first quarter
    last: Rate
    scatters: Factor = 3.0
    limit: Limit = 0.25  # while the rate warms up: up to 0.15
    fewest: Count = 20


class GradientsZero(Finding, code="no_learning", question=3):
    reports: Count
    least: Limit = 1e-6
    share: Limit = 0.9  # of the norms: zero or not finite
    digits: Count = 3  # of one value: fewer may be rounded, or what norms are clipped to


class RateZero(Finding, code="no_learning", question=3):
    reports: Count


class CounterStands(Finding, code="no_learning", question=3):
    reports: Count
    value: Name


class UpdatesSkipped(Finding, code="no_learning", question=3):
    reports: Count
    of_reports: Count
    limit: Limit = 0.25  # of the later half of the reports
    in_words: Limit = 0.5  # of all of them, where a sentence says so
    scale: Limit = 1e-6  # below, no gradient is left of the loss


class LossNotFalling(Finding, code="training", question=3, noted=True):
    reports: Count
    first: Rate  # mean of the first eighth
    last: Rate  # of the last quarter
    most: Change  # by which it may have fallen, of the first
    deviations: Factor = 3.0  # of the noise of its reports
    limit: Limit = 0.01
    fewest: Count = 32  # reports, and *steps*: a benchmark of a hundred steps is no training
    steps: Count = 200


class LossesApart(Finding, code="losses_apart", question=7):
    step: Count  # of both; one global batch and sequence: so many tokens
    loss: Rate  # mean of the runs
    other: Name  # case
    other_loss: Rate
    limit: Limit = 0.05  # honest pairs of one language model: up to 0.8 %
    level: Limit = 0.01  # of Student's test over runs that differ, three of each at least
    falls: Limit = 0.2  # of other models: by so much that of the other, which trained,
    stands: Limit = 0.25  # and this one by less than so much of that


class ItemsApart(Finding, code="not_as_receipt", question=7):
    items: Rate  # a step, by which the value was counted
    batch: Count
    items_limit: Limit = 0.02


class TwoKindsOfSteps(Finding, code="D10", question=2, timing=True):
    share: Share  # of the fast ones
    fast_s: Seconds
    slow_s: Seconds
    limit: Factor = 2.0
    fewest: Limit = 0.1  # fewer are no kind
    most: Limit = 0.67  # more, and it is the slow ones that are odd: a loader, or an epoch's end


class Excluded(Finding, code="D25", question=5):
    pass


class FewRepeats(Finding, code="D05", question=8, noted=True):
    repeats: Count
    needed: Count = 5


class NoisyRepeats(Finding, code="D08", question=8, noted=True):
    cv: Share
    limit: Limit = 0.05


class UnstableRepeats(Finding, code="D08", question=8):
    cv: Share
    limit: Limit = 0.15


class Trend(Finding, code="D08", question=8):
    change: Change  # from the first to the last
    repeats: Count
    limit: Limit = 0.02
    deviations: Factor = 2.2  # Kendall's rank test: 1.7 % of sound cases of five repeats


class RunTakenAway(Finding, code="taken_away", question=5):
    attempts: Count


class RunMadeAgain(Finding, code="taken_away", question=5, noted=True):
    attempts: Count
    failed: Count  # of them, by no fault of the machines: each is one more look (`significance`)


class LogBeside(Finding, code="taken_away", question=5, noted=True):
    file: Name  # of a run folder, that nobody reads


class JournalBroken(Finding, code="taken_away", question=5):
    campaign: Name


class RepeatsMissing(Finding, code="taken_away", question=5):
    repeats: Name  # "1–14"
    here: Count


class RoundsMissing(Finding, code="taken_away", question=5, noted=True):
    planned: Count
    here: Count


class RivalTakenAway(Finding, code="taken_away", question=5):
    other: Name  # case of the same model and scale, none of whose finished runs is here


class RepeatsAdded(Finding, code="taken_away", question=5, noted=True):
    planned: Count  # repeats, before the first run
    later: Count


class SuperLinear(Finding, code="D11", question=9):
    efficiency: Share
    limit: Limit = 1.02


class OddEfficiency(Finding, code="D11", question=9):
    efficiency: Share
    highest: Limit = 1.2
    lowest: Limit = 0.05


class BaseUnlike(Finding, code="D11", question=9):
    fact: FactName
    value: Name
    base_value: Name  # of the case from which its speed-up counts


class SourcesDiffer(Finding, code="D16", question=9):
    printed: Name  # all digits
    source: Name
    other: Name
    other_source: Name


class AbovePeak(Finding, code="D20", question=4):
    device: Name
    tflops: Rate
    peak_tflops: Rate


class PrintedImpossible(Finding, code="D20", question=4, noted=True):
    printed: Rate  # by the script, of itself: the throughput may be right
    recomputed: Rate
    ratio: Factor
    cause: Said
    fits: Limit = 0.003  # as near to a known factor
    apart: Limit = 0.02  # as far from every rule of counting
    spread: Factor = 1.05  # of the rates beside one and the same TFLOP/s


class AuthorDiffers(Finding, code="D16", question=9):
    written: Name  # all digits
    computed: Measure
    measure: Name  # "speedup"


class BelowTarget(Finding, code="D24", question=9):
    metric: Metric
    value: Score
    epochs: Count
    target: Score
    difference: Points


class UnevenMachine(Finding, code="machine_drifts", question=6, noted=True):
    what: Option  # of the machine, in all runs of one case and none of the others of its campaign, model and scale
    here: Name
    others: Name
    limit: Limit = 0.05


class SideBySide(Finding, code="busy_machine", question=6):
    evaluations: Count


class Oversubscribed(Finding, code="busy_machine", question=6, noted=True):
    processes: Count
    cores: Count


RULES: Mapping[str, type[Finding]] = {rule.name: rule for rule in Finding.__subclasses__()}


def codes() -> tuple[str, ...]:
    """Every code once, by its question."""
    return tuple(dict.fromkeys(rule.code for rule in sorted(RULES.values(), key=lambda rule: rule.question)))


def called(name: str) -> tuple[type[Finding], ...]:
    """The rules that *name* means: those of a code, or the one of its own name, in any case."""
    wanted = name.casefold()
    return tuple(rule for rule in RULES.values() if wanted in (rule.code.casefold(), rule.name))


def of_code(code: str) -> tuple[type[Finding], ...]:
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


def limits(rule: type[Finding]) -> dict[str, tuple[float, str]]:
    """What judges: the defaults of its fields, and their kinds."""
    kind_of, known = kinds(rule), dataclasses.fields(rule)
    return {
        field.name: (field.default, kind_of[field.name])
        for field in known
        if field.name in kind_of and field.default is not dataclasses.MISSING
    }


def values(finding: Finding) -> dict[str, object]:
    return {name: getattr(finding, name) for name in kinds(type(finding))}


def plain(finding: Finding) -> dict[str, object]:
    return {name: list(held) if isinstance(held, tuple) else held for name, held in values(finding).items()}


def order(finding: Finding) -> tuple[object, ...]:
    return (finding.code, finding.name, tuple(values(finding).values()), finding.where)
