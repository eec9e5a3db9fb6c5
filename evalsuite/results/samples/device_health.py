"""What held the accelerators of a run back, or ailed them, while the steps were measured: clocks, errors."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from evalsuite.findings import ClocksHeldBack, DeviceErrors
from evalsuite.model import Finding
from evalsuite.runs.samples import gpu_name

if TYPE_CHECKING:
    from evalsuite.results.samples.sample_arrays import Floats, Readings

# nvml.h, nvmlClocksEventReason…: slowed down by the hardware (8), by heat (32, 64) or by a brake on power (128). That
# the power cap is reached (4) is how a busy device works, and no more is said of it.
SLOWED = 8 | 32 | 64 | 128
FEWEST_READINGS = 5


def findings(hosts: Sequence["Readings"], begin_s: float, end_s: float) -> Iterator[Finding]:
    """Of the job's devices on *hosts*, from *begin_s* to *end_s* of the run's clock; nothing where nothing was told."""
    shares = [
        sum(int(number) & SLOWED != 0 for number in values) / len(values)
        for values in _told(hosts, "gpus.clock_limits", begin_s, end_s)
        if len(values) >= FEWEST_READINGS
    ]
    held = [share for share in shares if share > ClocksHeldBack.limit]
    if held:
        yield ClocksHeldBack(devices=len(held), of=len(shares), share=max(held))
    driver = [int(values[-1]) for values in _told(hosts, "gpus.driver_errors", begin_s, end_s)]
    memory = [int(values[-1] - values[0]) for values in _told(hosts, "gpus.memory_errors_uncorrected", begin_s, end_s)]
    if sum(driver) or sum(memory) > 0:
        yield DeviceErrors(driver=sum(driver), memory=max(0, sum(memory)))


def _told(hosts: Sequence["Readings"], quantity: str, begin_s: float, end_s: float) -> Iterator["Floats"]:
    for host in hosts:
        table = host.table(quantity)
        inside = (host.times_s >= begin_s) & (host.times_s <= end_s)
        for gpu in host.header.gpus or ():
            row = table.row(gpu_name(gpu.index)) if table and gpu.of_job is not False else None
            if row is not None and (values := row[0][row[1] & inside]).size:
                yield values
