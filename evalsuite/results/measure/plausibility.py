"""Whether a run trained what its case says, by its records: of runs made here alone."""

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence

from evalsuite.documents import HostEnvironment
from evalsuite.findings import (
    ChangedSinceRun,
    ClockDisagrees,
    ClocksFarApart,
    ContradictsLog,
    DevicesUnused,
    NodesMissing,
    OtherWorldSize,
    PrintedOnly,
    RanksMissing,
    WindowLongerThanRun,
)
from evalsuite.logs.reading import Reading
from evalsuite.model import ARRIVALS, DECIDING_ORIGINS, STAMPS, Case, Finding, Throughput
from evalsuite.runs.endings import Outcome
from evalsuite.runs.recordings import is_recording
from evalsuite.runs.store import RunFolder

NEARLY = 0.1  # a whole factor is distinguished from noise at this distance


def implausible(
    folder: RunFolder, case: Case, outcome: Outcome, environments: Mapping[str, HostEnvironment], read: Reading
) -> tuple[Finding, ...]:
    changed = folder.changed(outcome)
    against: list[Finding] = [ChangedSinceRun(files=changed)] if changed else []
    against += _far_apart(read.throughput)
    recorded = outcome.origin is None or is_recording(folder.path)  # by our agents
    against += _printed_only(outcome.origin, recorded, read.throughput)
    if not recorded:
        return tuple(against)
    hosts = set(environments) or {log.host for log in folder.logs()}
    if 0 < len(hosts) < case.nodes:
        against.append(NodesMissing(left=len(hosts), planned=case.nodes))
    against += _ranks(case, read)
    against += _unused(case, read.throughput)
    against += _too_long(read.throughput, outcome.duration_s)
    return tuple(against)


def _ranks(case: Case, read: Reading) -> Iterator[Finding]:
    """One process may speak for all, or one on each node; any other number below that of the devices is too few."""
    if 1 < read.printers < case.total_devices and read.printers != case.nodes:
        yield RanksMissing(seen=read.printers, planned=case.total_devices)
    for said in read.findings:
        if isinstance(said, ContradictsLog) and said.what == "devices" and said.printed != case.devices_per_node:
            yield OtherWorldSize(printed=round(said.printed), planned=case.total_devices)


def _unused(case: Case, measured: Throughput | None) -> Iterator[Finding]:
    """The clock counts the items of all devices; a script that prints a whole fraction of that trained a part."""
    for apart in _disagreements(measured):
        factor = apart.items_per_s / apart.other_items_per_s
        whole = round(factor)
        if whole > 1 and case.total_devices % whole == 0 and math.isclose(factor, whole, rel_tol=NEARLY):
            yield DevicesUnused(
                used=case.total_devices // whole,
                planned=case.total_devices,
                clock_items_per_s=apart.items_per_s,
                printed_items_per_s=apart.other_items_per_s,
            )
            return


def _far_apart(measured: Throughput | None) -> Iterator[Finding]:
    if measured is None or measured.items_per_s is None:
        return
    far = [clock for clock in _disagreements(measured) if clock.factor > ClocksFarApart.limit or _of_clocks(clock)]
    if far:
        yield ClocksFarApart(difference=max(far, key=lambda clock: clock.factor).difference)


def _of_clocks(apart: ClockDisagrees) -> bool:
    return {apart.method, apart.other_method} == {STAMPS, ARRIVALS} and apart.factor > 1 + ClocksFarApart.clocks


def _printed_only(origin: str | None, recorded: bool, measured: Throughput | None) -> Iterator[Finding]:
    if measured is None or measured.items_per_s is None or origin not in (None, *DECIDING_ORIGINS):
        return
    stamped = measured.stamps_within is not None and measured.stamps_within <= PrintedOnly.limit
    if not (measured.clock_items_per_s is not None if recorded or origin != "imported" else stamped):
        yield PrintedOnly(method=measured.method)


def _disagreements(measured: Throughput | None) -> Sequence[ClockDisagrees]:
    return [finding for finding in measured.findings if isinstance(finding, ClockDisagrees)] if measured else []


def _too_long(measured: Throughput | None, run_s: float | None) -> Iterator[Finding]:
    if measured is None or measured.window is None or not measured.step_time_s or run_s is None:
        return
    window_s = statistics.fmean(measured.step_time_s) * measured.window.steps
    if window_s > run_s * WindowLongerThanRun.limit:
        yield WindowLongerThanRun(window_s=window_s, run_s=run_s)
