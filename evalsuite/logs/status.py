"""What a log is worth: ok, partial, incomplete, failed or unrecognised, with the reason; and how sure its number is.

A clock and a printed rate that are far apart make no number: nothing tells which of them is true.
"""

import functools
from collections.abc import Sequence

from evalsuite.findings import (
    BatchDoubted,
    ClockDisagrees,
    CoarseFigures,
    JobAssumedLauncher,
    JobAssumedOnePrints,
    LogCut,
    LogWithoutEnd,
    OwnAssumed,
)
from evalsuite.logs.formatting import rate
from evalsuite.logs.scan import failures
from evalsuite.logs.steps.merging import Facts
from evalsuite.logs.steps.numbers import Numbers, Pass, is_nearly
from evalsuite.logs.text.records import Record, whole
from evalsuite.messages import Message
from evalsuite.model import ARRIVALS, RATES, STAMPS, TIMES, Certainty, Finding, Status, Throughput

FINAL = "final figure"  # the method of a throughput that is the script's own total
_PER_DEVICE = Message("logs.parse_devices")
_COARSE = Message("logs.log_coarse")
_IN_PIECES = Message("logs.log_in_pieces")
FAR = BatchDoubted.limit  # this many times apart, two figures do not measure the same thing
MOST_STEPS_APART = 64  # larger whole factors are met by chance
_ASSUMED = (JobAssumedLauncher, JobAssumedOnePrints, OwnAssumed)
_FIGURE = {
    STAMPS: Message("logs.clock_stamps"),
    ARRIVALS: Message("logs.clock_arrivals"),
    TIMES: Message("logs.clock_times"),
    RATES: Message("logs.clock_rates"),
}


def judge_status(numbers: Numbers, failure: failures.Failure | None) -> tuple[Status, str]:
    """With the reason why it is no better; *failure*: what ended the training before it was done."""
    run, steps, measured = numbers.run, numbers.merged.steps, numbers.throughput
    if failure is not None:
        return "failed", failure.reason
    if not steps and measured is None:
        return _without_steps(run)
    if (stop := unfinished(run)) and not _has_ended(run):
        return "incomplete", stop[1]
    if measured is None:
        return ("ok" if numbers.complete else "partial"), _missing(numbers)
    if not numbers.complete:
        return "partial", _too_short(numbers)
    if measured.method == FINAL:
        return "partial", Message("logs.log_total", why=_missing(numbers))
    return "ok", ""


def _without_steps(run: Pass) -> tuple[Status, str]:
    if resumed := whole(run.said.get("resumed_step")):
        reason = Message("logs.log_checkpoint", steps=resumed)
        return "partial", reason
    if run.final is not None:
        return "partial", _PER_DEVICE
    return "unrecognised", Message("logs.parse_dialect", name=run.dialect.name)


def unfinished(run: Pass) -> tuple[Finding, str] | None:
    """As a finding and in words."""
    cut = next((scan.cut_line for scan in run.scans if scan.cut_line is not None), None)
    if cut is not None:
        return LogCut(line=cut), Message("logs.log_middle", number=cut)
    script = run.dialect.title
    return (LogWithoutEnd(script=script), Message("logs.log_no_end", script=script)) if run.dialect.end else None


def has_trained(numbers: Numbers) -> bool:
    """Then a failure printed after it takes nothing from the figures.

    The script says so; or every process ended well, the window is complete, and no log with steps ends in a failure.
    """
    run = numbers.run
    if _has_ended(run):
        return True
    in_peace = not any(failures.failure(scan.behind.lines()) for scan in run.scans if scan.records)
    return run.given.ended_well and numbers.complete and in_peace


def _has_ended(run: Pass) -> bool:
    return any(scan.ended for scan in run.scans)


def _too_short(numbers: Numbers) -> str:
    steps, protocol = numbers.merged.steps, numbers.run.given.protocol
    if not steps:
        return Message("logs.log_final_alone")
    if numbers.merged.in_epochs:
        alone = Message("logs.log_epoch_report")
        return alone if len(steps) == 1 else Message("logs.log_epoch_reports", count=len(steps))
    trained = steps[-1].index
    wanted = Message("logs.log_wanted", warmup=protocol.warmup_steps, measured=protocol.measured_steps)
    if len(steps) == 1:
        return Message("logs.log_shortest", step=trained, wanted=wanted)
    return Message("logs.log_short", count=len(steps), step=trained, wanted=wanted)


def _missing(numbers: Numbers) -> str:
    """Which option would give a throughput of the whole job, or why none would."""
    run, dialect = numbers.run, numbers.run.dialect
    if dialect.steps_times_nodes:
        return Message("logs.log_nodes")
    found, facts = numbers.merged, numbers.facts
    if _is_too_coarse(numbers):
        return _COARSE
    if numbers.is_warmup:
        last = found.steps[0].index
        if last == 1:
            return Message("logs.log_first")
        return Message("logs.log_first_steps", count=last)
    rated = any(record.rate is not None for record in run.records)
    by_time = any(step.seconds for step in found.steps) and not found.in_epochs
    if found.scope == "unstated" and not by_time:
        return Message("logs.log_whose")
    if found.scope == "unstated":
        return Message("logs.log_whose_or")
    if found.scope != "global" and rated:
        return _PER_DEVICE
    if not any(map(_is_timed, run.records)):
        return Message("logs.log_nothing", count=len(found.steps))
    if found.in_epochs:
        return Message("logs.log_long")
    batch = facts.batch_per_device or facts.global_batch
    if batch and not facts.counts(dialect.unit, if_large=True):
        return Message("logs.log_pieces", items=dialect.unit.partition("/")[0], advice=_IN_PIECES)
    lacking = [option for option, known in (("--batch-per-device", batch), ("--devices", facts.devices)) if not known]
    if not lacking:
        return _COARSE
    bare = run.said.get("bare_batch_text")
    quoted = failures.shown(bare) if isinstance(bare, bytes) and not batch else ""
    options = Message("logs.log_options") if len(lacking) > 1 else lacking[0]
    told = Message("logs.log_batch", option=options)
    return Message("logs.log_batch_quoted", told=told, text=quoted) if quoted else told


def _is_too_coarse(numbers: Numbers) -> bool:
    """Many lines make one report, or few ticks of whole seconds."""
    found = numbers.merged
    if len(found.steps) == 1 and len(numbers.run.records) <= max(1, found.printers):
        return False  # one line is the start of a run, whatever its clock
    alone = bool(numbers.run.dialect.clock_s) and len(found.steps) == 1
    return alone or (found.tick_s is not None and any(step.items and step.seconds for step in found.steps))


def _is_timed(record: Record) -> bool:
    times = (record.stamp_s, record.report_s, record.step_s, record.mean_s, record.elapsed_s, record.steps_per_s)
    return any(time is not None for time in times)


# how sure the number is


def grade(measured: Throughput, findings: Sequence[Finding]) -> Certainty:
    """*findings*: those that are not of the window."""
    if any(isinstance(finding, _ASSUMED) for finding in findings):
        return "assumed scope"
    if measured.method not in (STAMPS, ARRIVALS, TIMES):
        return "printed only"
    clocked = measured.method != TIMES and measured.printed_items_per_s is not None
    unsure = any(isinstance(finding, ClockDisagrees | CoarseFigures) for finding in measured.findings)
    return "two clocks agree" if clocked and not unsure else "one clock"


def explain_grade(certainty: Certainty, measured: Throughput) -> Message:
    if certainty == "assumed scope":
        return Message("logs.sure_scope")
    if certainty == "printed only":
        return Message("logs.sure_printed")
    name = _FIGURE[measured.method]
    if certainty == "two clocks agree":
        return Message("logs.sure_agree", clock=name, share=100 * ClockDisagrees.limit)
    others = [finding for finding in measured.findings if isinstance(finding, ClockDisagrees)]
    if not others:
        return Message("logs.sure_alone", clock=name)
    apart = max(abs(finding.difference) for finding in others)
    second = _FIGURE.get(others[0].other_method, others[0].other_method)
    return Message("logs.sure_differ", clock=name, other=second, share=100 * apart)


def find_doubt(numbers: Numbers, measured: Throughput) -> str | None:
    """Two figures that contradict each other and what could explain their ratio; None if nothing denies *measured*."""
    far = [one for one in measured.findings if isinstance(one, ClockDisagrees) and _factor(one) >= FAR]
    if far:
        worst = max(far, key=_factor)
        method, other = (_FIGURE.get(each, each) for each in (worst.method, worst.other_method))
        relayed = any(step.relay_s is not None for step in numbers.merged.steps)  # kubectl may pass lines on late
        return Message(
            "logs.read_doubt",
            method=method,
            rate=rate(worst.items_per_s),
            unit=measured.unit,
            other=other,
            other_rate=rate(worst.other_items_per_s),
            factor=_factor(worst),
            why=functools.reduce(_either, _explanations(worst, numbers.facts, relayed=relayed)),
        )
    value = measured.items_per_s
    seconds = [scan.second for scan in numbers.run.scans if scan.second]
    return next((said for second in seconds if value is not None and (said := second.contradiction(value))), None)


def _either(first: str, second: str) -> Message:
    return Message("logs.either", first=first, second=second)


def _factor(finding: ClockDisagrees) -> float:
    ratio = finding.other_items_per_s / finding.items_per_s
    return max(ratio, 1 / ratio)


def _explanations(worst: ClockDisagrees, facts: Facts, *, relayed: bool) -> Sequence[str]:
    factor = _factor(worst)
    whole = round(factor)
    near = 2 <= whole <= MOST_STEPS_APART and is_nearly(factor, whole)
    found = []
    if facts.devices and facts.devices > 1 and is_nearly(factor, facts.devices):
        found.append(Message("logs.doubt_scope", devices=facts.devices))
    if facts.items_per_step is not None:
        accumulation = Message("logs.doubt_accumulation", steps=whole) if near else ""
        found.append(Message("logs.doubt_batch", accumulation=accumulation))
    if relayed:
        found.append(Message("logs.doubt_relay"))
    if not found and _clock_is_faster(worst):
        return [Message("logs.doubt_part")]
    return found or [Message("logs.doubt_paused")]


def _clock_is_faster(finding: ClockDisagrees) -> bool:
    """Was more trained in the time of the clock than the script says? No pause explains that."""
    clocked = finding.method in (STAMPS, ARRIVALS)
    return clocked == (finding.items_per_s > finding.other_items_per_s)
