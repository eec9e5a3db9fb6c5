"""What the numbers of a log are worth: its status, the doubts about it, what is found beside them."""

import math
import operator
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

from evalsuite.contracts.dialect import NO_ITEMS, PIECES
from evalsuite.core import findings as rules
from evalsuite.core.messages import Message, join
from evalsuite.core.model import (
    ARRIVALS,
    COUNTS,
    FINAL,
    RATES,
    STAMPS,
    TIMES,
    Breakdown,
    Certainty,
    Finding,
    Score,
    Status,
    Step,
    Throughput,
    Trained,
)
from evalsuite.logs.clocks import contradictions
from evalsuite.logs.formatting import rate, unit_of
from evalsuite.logs.scan.collectors import DEVICES, CollectiveLines
from evalsuite.logs.scan.scan import Failure, find_failure
from evalsuite.logs.steps import doubts
from evalsuite.logs.steps.merging import Facts, facts
from evalsuite.logs.steps.numbers import DOUBT, Numbers, is_nearly, several_finals
from evalsuite.logs.steps.throughput import disagreement
from evalsuite.logs.steps.window import CLOCKS
from evalsuite.logs.text.records import positive, whole

_PER_DEVICE = Message("logs.parse_devices")
_COARSE = Message("logs.log_coarse")
_CLOCKS = {STAMPS: "stamps", ARRIVALS: "arrivals", TIMES: "times", RATES: "rates", FINAL: "final", COUNTS: "counts"}
_FIGURE = {method: Message(f"logs.clock_{name}") for method, name in _CLOCKS.items()}
PUBLIC_SCOPE = {"global": "global", "per_device": "per_device", "own": "per_device"}
DISAGREE = rules.FinalDisagrees.limit
COUNT_DEVICES = DEVICES | {"global_batch", "epoch_items"}  # facts
BEGINS_AGAIN = rules.BeginsAgain | rules.SeveralRuns
UNLIKE = BEGINS_AGAIN | rules.SteepDrift | rules.LongStall | rules.RestDiffers  # not of one speed, perhaps
_COUNTS = operator.attrgetter("rate", "items", "consumed", "global_batch", "steps_per_s")  # of a record
FAR = 1.1  # times apart: then two clocks make a doubt
POWER = 0.03  # how near to a power of two a factor is named so
FEWEST_STEPS, FEW, SELDOM = 3, 5, 10  # reports of a run that died; figures of one step, in so many times as many steps


@dataclass(frozen=True, kw_only=True, repr=False)
class Reading:
    """One log, or the logs of one run, as numbers."""

    dialect: str | None
    framework: str | None
    model: str | None
    scope: str | None  # whose rate the log prints: "global" or "per_device"
    status: Status
    reason: str = ""
    steps: tuple[Step, ...] = ()
    throughput: Throughput | None = None
    reported_final: float | None = None  # the log's own summary figure, over all devices
    unit: str | None = None
    steps_reported: int = 0
    printers: int = 0  # processes that printed steps
    total_devices: int | None = None
    nodes: int | None = None
    batch_per_device: float | None = None
    breakdown: Breakdown | None = None  # by the script's own timers
    scores: tuple[Score, ...] = ()
    trained: Trained = "not_printed"
    findings: tuple[Finding, ...] = ()
    unfinished: Finding | None = None  # how the log stops short of its script's end, with status "incomplete"
    in_epochs: bool = False  # each report is an epoch of unknown length
    printed: Mapping[str, str] = field(default_factory=dict)  # by the names of criteria/facts.toml
    collectives: tuple[CollectiveLines, ...] = ()  # of each log
    may_leave_out: bool = True  # may its head say that the run leaves something out? few need to be read for that
    shape: str | None = None  # what the log was read by, where it has no dialect
    reading: str = "window"  # which of the readings gave it

    def __repr__(self) -> str:
        """What `parse` says first: at a prompt all fields are too many."""
        value = self.throughput.items_per_s if self.throughput else None
        figure = self.reason if value is None else f"{rate(value)} {self.unit}"
        return f"Reading({self.status}: {figure}; {self.dialect or 'no dialect'})"

    @property
    def certainty(self) -> Certainty | None:
        """How sure the number is; None if there is none."""
        measured = self.throughput
        if measured is None or measured.items_per_s is None:
            return None
        if any(isinstance(finding, rules.ScopeAssumed) for finding in self.findings):
            return "assumed scope"
        clock, within = measured.method in CLOCKS, measured.stamps_within
        stamped = not clock and within is not None and within <= rules.PrintedOnly.limit
        if not clock and measured.method != TIMES and not stamped:
            return "one clock" if (measured.implied_batch or 0.0) >= 1 else "printed only"
        clocked = stamped or (clock and measured.printed_items_per_s is not None)
        unsure = any(isinstance(finding, rules.ClockDisagrees | rules.CoarseFigures) for finding in measured.findings)
        return "two clocks agree" if clocked and not unsure else "one clock"

    @property
    def certainty_reason(self) -> str:
        sure = self.certainty
        if sure is None or (measured := self.throughput) is None:
            return ""
        if sure == "assumed scope":
            return Message("logs.sure_scope")
        if sure == "printed only":
            return Message("logs.sure_printed")
        if measured.implied_batch and sure == "one clock":
            unit = measured.unit.partition("/")[0]
            return Message("logs.sure_implied", batch=float(f"{measured.implied_batch:.3g}"), unit=unit)
        within = math.inf if measured.method in CLOCKS or measured.stamps_within is None else measured.stamps_within
        name = _FIGURE[STAMPS if within <= rules.PrintedOnly.limit else measured.method]
        if sure == "two clocks agree":
            return Message("logs.sure_agree", clock=name, share=100 * rules.ClockDisagrees.limit)
        others = [finding for finding in measured.findings if isinstance(finding, rules.ClockDisagrees)]
        if not others:
            return Message("logs.sure_alone", clock=name)
        apart = max(abs(finding.difference) for finding in others)
        second = _FIGURE.get(others[0].other_method, others[0].other_method)
        return Message("logs.sure_differ", clock=name, other=second, share=100 * apart)


def judge(numbers: Numbers) -> Reading:
    run, merged, told = numbers.run, numbers.merged, numbers.facts
    measured, final = numbers.throughput, numbers.final
    if any(isinstance(finding, rules.SeveralRuns) for finding in merged.findings) and several_finals(run):
        numbers = replace(numbers, final=None)  # it may be of another run
    unit = unit_of(model, run.dialect.unit) if (model := run.given.known.model or told.model) else run.dialect.unit
    if measured is None and final is not None:
        measured = Throughput(items_per_s=final, unit=unit, method=FINAL, window=None)
    elif measured is not None:
        measured = replace(measured, unit=unit, findings=(*measured.findings, *contradictions(numbers)))
    numbers, window = replace(numbers, throughput=measured), measured.window if measured else None
    failures = [find_failure(scan.quiet, run.dialect) for scan in run.scans]
    failure = next(filter(None, failures), None)
    in_peace = not any(each for each, scan in zip(failures, run.scans, strict=True) if scan.records)
    ended = any(scan.ended for scan in run.scans) or (run.given.ended_well and numbers.complete and in_peace)
    at_exit = failure if ended else None  # takes nothing from the figures
    tells = measured is not None or len(merged.steps) >= FEWEST_STEPS  # else a run that died is no run
    died = failure if failure and not at_exit and tells and not run.given.case else None
    trained, learnt = doubts.judge_training(run.scans, merged.steps, window, run.dialect)
    findings = (*_findings(numbers, at_exit), *learnt)
    status, reason, stop = _judge_status(numbers, None if at_exit or died else failure)
    if why := died.reason if died else None:
        status, reason = "partial" if status == "ok" else status, join(reason, why)
    doubt, refused = find_doubt(numbers, measured, findings)
    noted = (*findings, *measured.findings) if measured else findings
    against = [one for one in noted if isinstance(one, UNLIKE) or (one.question in (2, 3) and not one.noted)]
    if against and status in ("ok", "partial") and not run.given.case and (unlike := _why_not_one_run(against)):
        status, reason = "doubtful", join(unlike, why)
    if doubt and status != "failed":
        status, reason = "doubtful", join(doubt, why if refused or doubt == reason else reason)
    measured = replace(measured, items_per_s=None) if measured and refused else measured
    named = {"global_batch": run.said.get("argued_total"), **run.said}  # what no case has
    batches = [(name, positive(named.get(name))) for name in ("global_batch", "accumulation")]
    scored = (scan.scores.scores(arrival) for scan, arrival in zip(run.scans, run.arrivals, strict=True) if scan.scores)
    return Reading(
        dialect=run.dialect.name,
        framework=run.dialect.framework,
        model=model,
        scope=PUBLIC_SCOPE.get(merged.scope),
        status=status,
        reason=reason,
        steps=merged.steps,
        throughput=measured,
        reported_final=final,
        unit=unit,
        steps_reported=len(merged.steps) + run.uncollected // max(1, merged.printers),
        printers=merged.printers,
        total_devices=told.devices,
        nodes=told.nodes,
        batch_per_device=None if run.dialect.epochs_are_steps else told.batch_on_device,
        breakdown=next(filter(None, (scan.timers.breakdown(window) for scan in run.scans if scan.timers.found)), None),
        scores=(scores := next(filter(None, scored), ())),  # by epochs
        trained="too_seldom" if trained == "not_printed" and any(of.metric == "loss" for of in scores) else trained,
        findings=findings,
        unfinished=stop if status == "incomplete" else None,
        in_epochs=merged.in_epochs,
        printed={name: f"{value:g}" for name, value in batches if value is not None},
        collectives=tuple(scan.collectives for scan in run.scans),
        may_leave_out=run.given.lines is not None or any(scan.incidents.may_leave_out for scan in run.scans),
    )


def _why_not_one_run(noted: Sequence[Finding]) -> Message | None:
    if any(isinstance(one, BEGINS_AGAIN) for one in noted):
        return Message("logs.several_starts")
    if any(isinstance(one, rules.SteepDrift) for one in noted):
        return Message("logs.read_drift")
    unlearnt = any(one.question in (2, 3) and not one.noted for one in noted)
    return find_unlike(noted) or (Message("logs.read_against") if unlearnt else None)


def find_unlike(findings: Iterable[Finding]) -> Message | None:
    """Why the window does not speak for its log: it stands still, or the log goes on at another speed."""
    for finding in findings:
        if isinstance(finding, rules.LongStall) and finding.share > rules.LongStall.doubtful:
            return Message("logs.read_stall", share=finding.share, seconds=finding.seconds)
        if isinstance(finding, rules.RestDiffers) and abs(finding.difference) > rules.RestDiffers.doubtful:
            return Message("logs.read_rest", steps=finding.steps, difference=finding.difference)
    return None


def _items_apart(counters: Sequence[tuple[int, int]], batch: float, numbers: Numbers) -> Iterator[Finding]:
    """The items that are counted a step, and the batch of each line, against the global *batch* that the log states."""
    lines = {each for _, each in counters}
    items = [step.items / step.steps for step in numbers.merged.steps if step.items is not None]
    counted = statistics.median(items) if items and counters else batch
    for found in (counted, *(lines if len(lines) == 1 else ())):
        if abs(found / batch - 1) > rules.ItemsApart.items_limit:
            yield rules.ItemsApart(items=found, batch=round(batch))
            return


def _findings(numbers: Numbers, at_exit: Failure | None) -> Iterator[Finding]:
    run, measured = numbers.run, numbers.throughput
    if at_exit:
        yield rules.FailedAtExit(failure=at_exit.kind, line=at_exit.line, text=at_exit.text)
    for scan in run.scans[:1]:
        seen = scan.incidents
        yield from filter(None, (seen.again, seen.resumed))
        stated = positive(run.said["global_batch"]) if "global_batch" in run.said else None
        yield from _items_apart(seen.counters, stated, numbers) if stated else ()
    yield from doubts.of_steps(measured, numbers.merged.steps) if measured else ()
    yield from numbers.merged.findings
    yield from numbers.findings
    if numbers.merged.printers > (planned := run.given.known.devices or math.inf):
        yield rules.OtherDevices(told="processes_printed", seen=numbers.merged.printers, planned=round(planned))
    known, own = run.given.known, facts(Facts(), run.said)
    forward = positive(run.said.get("batch_per_device", run.said.get("argued_batch_per_device")))
    total = 0.0 if run.given.case else next((one.global_batch for one in run.records if one.global_batch), 0.0)
    uneven = total / (known.devices or math.inf) % (known.batch_per_device or 1)
    batch = own.batch_on_device or (total / known.devices if known.devices and uneven else None)
    pairs = (("devices", known.devices, own.devices), ("batch_per_device", known.batch_per_device, batch))
    for what, given, printed in pairs:
        if given is None or printed is None or math.isclose(given, printed):
            continue
        if what == "devices" or given != forward:
            yield rules.ContradictsLog(what=what, given=given, printed=printed)
    if own.product is not None and own.global_batch is not None:
        yield rules.BatchesApart(total=own.global_batch, product=own.product)
    # a batch of sequences counts nothing where the rates printed are of tokens
    if numbers.facts.argument and measured and any(step.items is not None for step in numbers.merged.steps):
        yield rules.BatchFromArgument(text=numbers.facts.argument)
    if numbers.facts.assumed and run.dialect.unit not in NO_ITEMS:
        yield rules.ScopeAssumed(why="one_prints", printers=1)
    devices, unsaid = run.given.known.devices, COUNT_DEVICES.isdisjoint(run.said) and not run.given.case
    if measured and measured.window and unsaid and devices not in (None, 1) and numbers.merged.printers <= 1:
        counts = any(any(_COUNTS(record)) for record in run.records)
        if devices and numbers.facts.global_batch is None and not counts:
            yield rules.DevicesAssumed(devices=devices)
    if skipped := sum(scan.skipped for scan in run.scans):
        yield rules.LineLeftOut(bytes=skipped)
    if measured is not None and measured.items_per_s is not None and numbers.final is not None:
        value, apart = measured.items_per_s, numbers.final / measured.items_per_s - 1
        if abs(apart) > DISAGREE:
            yield rules.FinalDisagrees(final_items_per_s=numbers.final, items_per_s=value, difference=apart)


def _judge_status(numbers: Numbers, failure: Failure | None) -> tuple[Status, str, Finding | None]:
    """With the reason why it is no better, and how the log stops short of its script's end.

    *failure*: what ended the training before it was done.
    """
    run, steps, measured = numbers.run, numbers.merged.steps, numbers.throughput
    cut, script = next((scan.cut_line for scan in run.scans if scan.cut_line is not None), None), run.dialect.title
    if failure is not None:
        return "failed", failure.reason, None
    inside = run.dialect.evaluation_inside and len(run.records) > 1 and all(record.gap for record in run.records[1:])
    if measured is None and inside:
        return "partial", Message("logs.log_evaluated"), None
    if not steps and measured is None:
        if resumed := whole(run.said.get("resumed_step")):
            return "partial", Message("logs.log_checkpoint", steps=resumed), None
        if run.final is not None:
            return "partial", _PER_DEVICE, None
        return "unrecognised", Message("logs.parse_dialect", name=run.dialect.name), None
    ended = any(scan.ended for scan in run.scans)
    if cut is not None and not ended:
        return "incomplete", Message("logs.log_middle", number=cut), rules.LogCut(line=cut)
    if run.dialect.ends and not ended:
        return "incomplete", Message("logs.log_no_end", script=script), rules.LogWithoutEnd(script=script)
    if measured is None:
        return "partial", _missing(numbers), None
    if not numbers.complete:
        protocol, count = run.given.protocol, len(steps)
        wanted = Message("logs.log_wanted", warmup=protocol.warmup_steps, measured=protocol.measured_steps)
        if not steps:
            why = Message("logs.log_final_alone")
        elif numbers.merged.in_epochs:
            why = Message("logs.log_epoch_reports", count=count)
        elif count == 1:
            why = Message("logs.log_shortest", step=steps[-1].index, wanted=wanted)
        else:
            why = Message("logs.log_short", count=count, step=steps[-1].index, wanted=wanted)
        return "partial", why, None
    if measured.method == FINAL:
        return "partial", Message("logs.log_total", why=_missing(numbers)), None
    clocked = measured.method in CLOCKS or measured.clock_items_per_s is not None or measured.stamps_within is not None
    clocked = clocked or any(record.mean_s is not None for record in run.records)
    if run.dialect.averaging == "step" and not clocked and measured.window is not None:  # each is of one batch
        return "partial", Message("logs.read_one_timer"), None
    if all(record.evaluated for record in run.records) and measured.method != FINAL:
        return "partial", Message("logs.log_validated"), None
    return "ok", "", None


def _missing(numbers: Numbers) -> str:
    run, dialect, merged, facts = numbers.run, numbers.run.dialect, numbers.merged, numbers.facts
    if dialect.steps_times_nodes:
        return Message("logs.log_nodes")
    one_line = len(merged.steps) == 1 and len(run.records) <= max(1, merged.printers)  # the start, whatever its clock
    ticks = merged.tick_s is not None and any(step.items and step.seconds for step in merged.steps)
    coarse = not one_line and (ticks or (bool(dialect.clock_s) and len(merged.steps) == 1))
    if coarse or (dialect.unit in NO_ITEMS and numbers.complete):
        return _COARSE
    if numbers.is_warmup:
        return Message("logs.log_first_steps", count=merged.steps[0].index)
    if merged.scope == "unstated":
        return Message("logs.log_whose")
    if merged.scope != "global" and numbers.rated:
        return _COARSE if facts.devices else _PER_DEVICE
    times = operator.attrgetter("stamp_s", "report_s", "step_s", "mean_s", "elapsed_s", "steps_per_s")
    if all(time is None for record in run.records for time in times(record)):
        return Message("logs.log_nothing", count=len(merged.steps))
    if merged.in_epochs:
        return Message("logs.log_long")
    batch = facts.batch_per_device or facts.global_batch
    if batch and dialect.unit in PIECES and facts.in_pieces == "no":
        return Message("logs.log_pieces", items=dialect.unit.partition("/")[0])
    lacking = [option for option, known in (("--batch-per-device", batch), ("--devices", facts.devices)) if not known]
    option = Message("logs.log_options") if len(lacking) > 1 else "".join(lacking)
    return Message("logs.log_batch", option=option) if lacking else _COARSE


def find_doubt(
    numbers: Numbers, measured: Throughput | None, findings: Iterable[Finding] = ()
) -> tuple[str | None, bool]:
    """(What denies *measured*, and what could explain it; is it refused, not shown as doubtful?)

    Of a case `clocks_far_apart` says what is merely doubtful.
    """
    for more in (finding for finding in findings if isinstance(finding, rules.OtherDevices)):
        return Message("logs.read_more", seen=more.seen, planned=more.planned), True
    mode = str(numbers.run.said.get("mode", b"training"), "ascii", "replace")  # type: ignore[arg-type]
    if mode in ("forward-only", "evaluation", "inference"):
        return Message("logs.untrained", mode=mode), True
    if measured is None:
        return None, False
    value = measured.items_per_s or 0.0
    apart = [finding for finding in measured.findings if isinstance(finding, rules.ClockDisagrees)]
    if (total := numbers.final or 0.0) > FAR * value > 0 and not numbers.run.given.case:  # no start makes it faster
        apart.append(disagreement(value, measured.method, total, FINAL))
    if measured.method == FINAL and (several := several_finals(numbers.run)):
        return join(several, Message("logs.several_finals_last")), False
    worst = max(apart, key=lambda finding: finding.factor, default=None)
    if worst and worst.factor >= DOUBT:
        why = Message("logs.read_neither", why=_explain(worst, numbers.facts))
        return join(two_figures(worst, measured), why), True
    for second in (scan.second for scan in numbers.run.scans if scan.second):
        if denied := second.contradiction(value):
            return denied, True
    if worst is not None and worst.factor >= FAR and not numbers.run.given.case:
        return two_figures(worst, measured), False
    counted = measured.method != FINAL and (measured.method != RATES or not numbers.rated)
    stepwise = numbers.facts.in_parts and counted and measured.unit not in NO_ITEMS and numbers.facts.items_per_step
    window, case = measured.window, numbers.run.given.case
    alone = measured.unit not in NO_ITEMS and not case
    if alone and numbers.facts.assumed and (counted or numbers.facts.devices):
        return Message("logs.batch_assumed", text=numbers.facts.assumed), False
    inside = [of for of in numbers.merged.steps if window and window.first_step <= of.index <= window.last_step]
    paces = [of.seconds or 1 / (of.items_per_s or math.inf) for of in inside]
    unsure = len(paces) < FEW or statistics.stdev(paces) > (FAR - 1) * math.sqrt(len(paces)) * statistics.fmean(paces)
    seldom = bool(inside) and unsure and inside[-1].index - inside[0].index > SELDOM * len(inside)
    if numbers.run.dialect.averaging == "step" and seldom and measured.stamps_within is None and not case:
        return Message("logs.read_one_timer"), False
    return Message("logs.in_parts", n=round(numbers.facts.accumulation)) if stepwise else None, False


def two_figures(apart: rules.ClockDisagrees, measured: Throughput) -> Message:
    clock, other = (_FIGURE.get(method, method) for method in (apart.method, apart.other_method))
    rates = {"rate": rate(apart.items_per_s), "other_rate": rate(apart.other_items_per_s), "unit": measured.unit}
    return Message("logs.read_doubt", method=clock, other=other, factor=apart.factor, **rates)


def _explain(worst: rules.ClockDisagrees, facts: Facts) -> Message:
    """By what the factor is, or else by which of the two is the greater."""
    known = {"devices": facts.devices, "accumulation": facts.accumulation, "sequence": facts.items_per_batch}
    told = [(name, value) for name, value in known.items() if value and value > 1 and is_nearly(worst.factor, value)]
    named = [Message(f"logs.factor_{name}", n=round(value)) for name, value in told]
    power = round(math.log2(worst.factor))
    if not named and power > 0 and abs(worst.factor / 2**power - 1) < POWER:
        named = [Message("logs.factor_power", n=2**power)]
    if facts.items_per_step is not None:
        named.append(Message("logs.doubt_batch"))
    if named:
        return reduce(lambda first, second: Message("logs.either", first=first, second=second), named)
    clocked = worst.method in (STAMPS, ARRIVALS)
    unpaused = clocked == (worst.items_per_s > worst.other_items_per_s)  # no pause explains that
    return Message("logs.doubt_part") if unpaused else Message("logs.doubt_paused")
