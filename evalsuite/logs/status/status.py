"""What a log is worth as a whole: ok, partial, incomplete, failed or unrecognised, with the reason in words."""

from collections.abc import Sequence

from evalsuite.dialect import Dialect
from evalsuite.findings import LogCut, LogWithoutEnd
from evalsuite.logs.scan import failures
from evalsuite.logs.scan.scan import Scan
from evalsuite.logs.steps import merging as steps_room
from evalsuite.logs.steps.numbers import Given, Numbers, in_epochs, warmup_alone
from evalsuite.logs.text.records import Record, whole
from evalsuite.model import Finding, Protocol, Status, Step

FINAL = "final figure"  # the method of a throughput that is the script's own total
_COARSE = "the times that the log prints are too coarse to tell how long one report took"
_IN_PIECES = "give --batch-per-device in them (sequences × their length)"


def status(
    scans: Sequence[Scan],
    dialect: Dialect,
    numbers: Numbers,
    protocol: Protocol,
    failure: failures.Failure | None,
) -> tuple[Status, str]:
    """The status, and why it is no better; *failure*: what ended the training before it was done."""
    found, measured, complete = numbers.merged, numbers.throughput, numbers.complete
    ended = any(scan.ended for scan in scans)
    cut = next((scan.cut_line for scan in scans if scan.cut_line is not None), None)
    if failure is not None:
        return "failed", failure.reason
    resumed = whole(numbers.said.get("resumed_step"))
    if not found.steps and measured is None and resumed:
        return (
            "partial",
            f"its final figure counts the {resumed:,} steps before the checkpoint that it went on from",
        )
    if not found.steps and measured is None and any(scan.final is not None for scan in scans):
        return "partial", "the log prints the figure of one device and not how many there are: say --devices"
    if not found.steps and measured is None:
        return "unrecognised", f"no line of the dialect {dialect.name} was found"
    if cut is not None and not ended:
        return "incomplete", f"the log ends in the middle of line {cut}"
    if dialect.end and not ended:
        return "incomplete", f"the log has no end: {dialect.title} prints one"
    if measured is None:
        return ("ok" if complete else "partial"), _missing(scans, numbers, dialect, protocol)
    if not complete:
        return "partial", _too_short(found.steps, dialect, protocol)
    if measured.method == FINAL:
        return (
            "partial",
            f"the figure is the script's own total, start-up included; {_missing(scans, numbers, dialect, protocol)}",
        )
    return "ok", ""


def unfinished(scans: Sequence[Scan], dialect: Dialect) -> Finding | None:
    """How a log stops short of its script's end, as a finding."""
    cut = next((scan.cut_line for scan in scans if scan.cut_line is not None), None)
    if cut is not None:
        return LogCut(line=cut)
    return LogWithoutEnd(script=dialect.title) if dialect.end else None


def failure(scans: Sequence[Scan]) -> failures.Failure | None:
    """The first failure behind the last sign of training in a log."""
    return next((hit for scan in scans if (hit := failures.failure(scan.after))), None)


def trained(scans: Sequence[Scan], asked: Given, numbers: Numbers) -> bool:
    """Whether the training came to its end, so that a failure printed behind it takes nothing from the figures.

    The script says so; or every process ended well, the window is complete, and no log with steps ends in a failure.
    """
    if any(scan.ended for scan in scans):
        return True
    in_peace = not any(failures.failure(scan.after) for scan in scans if scan.records)
    return asked.ended_well and numbers.complete and in_peace


def _too_short(steps: Sequence[Step], dialect: Dialect, protocol: Protocol) -> str:
    if not steps:
        return "the log prints its final figure and no line per step"
    if in_epochs(steps, dialect):
        alone = "1 report, of epochs and not of steps"
        return alone if len(steps) == 1 else f"{len(steps):,} reports, each of epochs and not of steps"
    trained = steps[-1].index
    wanted = f"{protocol.warmup_steps} + {protocol.measured_steps} steps are wanted"
    if len(steps) == 1:
        return f"1 report up to step {trained}; {wanted}"
    return f"{len(steps):,} reports up to step {trained}; {wanted}"


def _missing(scans: Sequence[Scan], numbers: Numbers, dialect: Dialect, protocol: Protocol) -> str:
    """Which option would bring the printed figures to a throughput of the whole job, or why none would."""
    if dialect.steps_times_nodes:
        return "the log prints steps per second times the nodes, and not how many nodes there are"
    found, facts = numbers.merged, numbers.facts
    if _too_coarse(scans, found, dialect):
        return _COARSE
    if warmup_alone(scans, found.steps, dialect, protocol):
        last = found.steps[0].index
        if last == 1:
            return "the log reports the first step alone, which is warm-up"
        return f"the log reports the first {last} steps together and no more: they are warm-up"
    records = [record for scan in scans for record in scan.records]
    rated = any(record.rate is not None for record in records)
    by_time = any(step.seconds for step in found.steps) and not in_epochs(found.steps, dialect)
    if found.scope == "unstated" and not by_time:
        return "the log does not say whose rate it prints: say --scope"
    if found.scope == "unstated":
        return "the log does not say whose rate it prints: say --scope, or --batch-per-device and --devices"
    if found.scope != "global" and rated:
        return "the log prints the figure of one device and not how many there are: say --devices"
    if not any(map(_timed, records)):
        return f"no rate and no time stands in any of its reports ({len(found.steps)})"
    if in_epochs(found.steps, dialect):
        return "the log prints how long a report took and not how many steps it covers"
    batch = facts.batch_per_device or facts.global_batch
    if batch and not facts.may_count(dialect.unit):
        return f"the log counts {dialect.unit.partition('/')[0]} and does not say how long a sequence is: {_IN_PIECES}"
    lacking = [option for option, known in (("--batch-per-device", batch), ("--devices", facts.devices)) if not known]
    if not lacking:
        return _COARSE
    bare = numbers.said.get("bare_batch_text")
    quoted = failures.shown(bare) if isinstance(bare, bytes) and not batch else ""
    options = "--batch-per-device and --devices" if len(lacking) > 1 else lacking[0]
    told = f"the log prints times and not how much was trained in them: say {options}"
    return f"{told} ({quoted} stands in it, and not of how many devices)" if quoted else told


def _too_coarse(scans: Sequence[Scan], found: steps_room.Merged, dialect: Dialect) -> bool:
    """Is it for a coarse clock that many lines make no number? They are one report, or few ticks of whole seconds."""
    lines = sum(len(scan.records) for scan in scans)
    if len(found.steps) == 1 and lines <= max(1, found.printers):
        return False  # one line is the start of a run, whatever its clock
    alone = bool(dialect.clock_s) and len(found.steps) == 1
    return alone or (found.tick_s is not None and any(step.items and step.seconds for step in found.steps))


def _timed(record: Record) -> bool:
    times = (record.stamp_s, record.report_s, record.step_s, record.mean_s, record.elapsed_s, record.steps_per_s)
    return any(time is not None for time in times)
