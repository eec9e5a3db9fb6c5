"""Whether a run on CPUs can have done the work of its steps (docs/method.md): not proven is said, not done excludes."""

import math
from collections.abc import Iterator

from evalsuite.core import findings as rules
from evalsuite.core.model import Case, Finding, Measurement, Window
from evalsuite.results.measure import flops, measurement, units
from evalsuite.results.rules import flops_and_energy
from evalsuite.runs import equivalence

NETWORK = ("network_receive", "network_send", "loopback")
WAITED_FOR = (*NETWORK, "disk_read", "disk_write", "filesystem_read", "filesystem_write")


def findings(run: Measurement) -> Iterator[Finding]:
    window = run.throughput.window if run.throughput else None
    if run.origin != "measured" or run.value is None or window is None:
        return
    case, used_s = run.run.case, run.figure("cpu_s")
    planned = (case.cores_per_device or 0) * case.total_devices
    if planned and used_s and run.duration_s and used_s / run.duration_s > rules.OtherDevices.most * planned:
        yield rules.OtherDevices(told="cores_busy", seen=math.ceil(used_s / run.duration_s), planned=planned)
    yield from _against_receipt(run, window, run.value)
    if case.device != "cpu":
        return
    used = {name: reading.mean for name, reading in measurement.of_job(run.utilisation).items()}
    busy = used["job_cpu"] / 100 if "job_cpu" in used else None
    idle = busy is not None and busy < rules.CoresIdle.limit
    if idle and busy is not None and not any(isinstance(each, rules.BusyMachine) for each in run.findings):
        step_s = (window.length_s or 0.0) / window.steps
        moved = math.fsum(used.get(name, 0.0) for name in WAITED_FOR) * step_s
        nothing = moved < rules.NothingWaitedFor.least_bytes
        yield rules.NothingWaitedFor(busy=busy, moved_bytes=moved) if nothing else rules.CoresIdle(busy=busy)
    yield from _above_cores(run, planned, busy if idle else None)
    if "loopback" in used and "network_send" in used:
        yield from _exchanged(run, window, used["loopback"], used["network_send"])


def waits(run: Measurement) -> Iterator[Finding]:
    """For its data: by what the script prints of it, or by devices that idle beside full cores."""
    waits_s, times_s = run.figure("data_wait_s"), run.throughput.step_time_s if run.throughput else ()
    step_s = math.fsum(times_s) / max(1, len(times_s))
    if waits_s is not None and times_s and waits_s > rules.LoaderWaits.limit * step_s:
        yield rules.LoaderWaits(share=min(1.0, waits_s / step_s))
    shares = {use.resource: use.mean / 100 for use in run.utilisation}
    gpu, cpu = shares.get("gpu", 1.0), shares.get("cpu", 0.0)
    if gpu < rules.LoaderBusy.lowest_gpu and cpu > rules.LoaderBusy.highest_cpu:
        yield rules.LoaderBusy(gpu=gpu, cpu=cpu)


def _against_receipt(run: Measurement, window: Window, items_per_s: float) -> Iterator[Finding]:
    case, receipt = run.run.case, equivalence.receipt(run.run.case.model)
    if receipt is None:
        return
    each = units.items_of_one(run)
    items = items_per_s * (window.length_s or 0.0) / window.steps / (each or 1)
    if each and items > 0 and abs(items / case.global_batch - 1) > rules.ItemsApart.items_limit:
        yield rules.ItemsApart(items=items, batch=case.global_batch)


def _above_cores(run: Measurement, planned: int, busy: float | None) -> Iterator[Finding]:
    case, nodes = run.run.case, run.environment.nodes if run.environment else ()
    known = max((node.cores for node in nodes if node.cores), default=0) * case.nodes
    tflops, cores = flops_and_energy.run_tflops(run).get(flops.HOUSE), float(planned or known)
    most = rules.AboveCores.each * (1.0 if run.run.case.precision == "fp32" else rules.AboveCores.tiles)
    if tflops is not None and cores and tflops > cores * (1.0 if busy is None else busy) * most:
        yield rules.AboveCores(tflops=tflops, cores=cores, busy=1.0 if busy is None else busy)


def _exchanged(run: Measurement, window: Window, loopback: float, network: float) -> Iterator[Finding]:
    """Bytes per step between the devices of the job; processes of one host may also share memory."""
    case = run.run.case
    if case.total_devices < 2:
        return
    step_s = (window.length_s or 0.0) / window.steps
    exchanged, least = (loopback + network) * step_s, _least_exchanged(case)
    one_machine = case.devices_per_node == 1 and exchanged >= least  # which plays the nodes
    if case.nodes > 1 and network * step_s < rules.NothingSent.least_bytes and not one_machine:
        yield rules.NothingSent(sent_bytes=network * step_s, nodes=case.nodes)
    elif exchanged < least:
        yield rules.NothingExchanged(exchanged_bytes=exchanged, devices=case.total_devices, least_bytes=least)


def _least_exchanged(case: Case) -> float:
    """A ring sends 2 (n - 1) times the gradients; their size is in the receipts of `evalsuite equivalence`."""
    receipt = equivalence.receipt(case.model)
    if receipt is None:
        return rules.NothingExchanged.least_bytes
    gradients = 4 * min(answer.elements for answer in receipt.answers)  # in float32
    return rules.NothingExchanged.share * 2 * (case.total_devices - 1) * gradients
