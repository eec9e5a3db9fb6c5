"""Devices that were held back by heat, or reported errors, while the steps were measured."""

import pytest

from evalsuite.documents import Gpu
from evalsuite.findings import ClocksHeldBack, DeviceErrors
from evalsuite.model import Window
from evalsuite.results.samples import utilisation
from evalsuite.runs.samples import GpuReading, Header, Sample
from tests import runfolders

WINDOW = Window(first_step=21, last_step=120, steps=100, begin_s=0.0, end_s=99.0)
HOT, CAPPED, IDLE = 64, 4, 1


def found(*devices, of_job=(True, True)):
    """The findings of 100 readings of *devices*, each a function of the reading's number."""
    gpus = tuple(Gpu(index=k, of_job=used) for k, used in zip(range(len(devices)), of_job, strict=False))
    readings = tuple(
        Sample(at_s=float(at), gpus=tuple(GpuReading(index=k, **device(at)) for k, device in enumerate(devices)))
        for at in range(100)
    )
    samples = {"n": runfolders.sampled(Header(hz=1.0, gpus=gpus), readings)}
    return [one for one in utilisation.of_job(samples, WINDOW)[1] if isinstance(one, ClocksHeldBack | DeviceErrors)]


def limits(bits, until):
    return lambda at: {"clock_limits": bits if at < until else 0}


def test_a_hot_device_is_told_with_its_share():
    assert found(limits(HOT | CAPPED, 30), limits(CAPPED, 100)) == [ClocksHeldBack(devices=1, of=2, share=0.3)]


@pytest.mark.parametrize("calm", [limits(HOT, 5), limits(CAPPED | IDLE, 100), lambda at: {"power_w": 1.0}])
def test_a_full_power_budget_a_moment_or_silence_is_no_finding(calm):
    assert found(calm) == []


def test_a_device_of_another_job_says_nothing_of_this_one():
    assert found(limits(0, 0), limits(HOT, 100), of_job=(True, False)) == []


def test_errors_are_told_and_those_of_before_are_not():
    before = found(lambda at: {"memory_errors_uncorrected": 7, "driver_errors": 0})
    during = found(lambda at: {"memory_errors_uncorrected": 7 + (at > 50), "driver_errors": 2 * (at > 60)})

    assert (before, during) == ([], [DeviceErrors(driver=2, memory=1)])
