"""Reading Ascend devices: through a small library that stands in for DCMI. As for NVML the library is compiled here and
answers fixed values; they are no measurements."""

import pytest

from evalsuite.core.documents import Gpu
from evalsuite.runs.samples import GpuReading
from tests import processes, sources

# Signatures as in Huawei's dcmi_interface_api.h: one card with two chips, numbered the other way round.
DCMI = sources.text("ascend_dcmi.c")


@pytest.fixture
def sampled(tmp_path):
    """Header, samples and environment of a short run with this library and these variables."""
    if not processes.COMPILER:
        pytest.skip("there is no C compiler to make the stand-in for DCMI")

    def run(init, **variables):
        library = processes.with_library("libdcmi.so", f"#define INIT {init}\n{DCMI}", tmp_path)
        return processes.sampled(library | variables, tmp_path, "0.6")

    return run


def test_devices_are_read_by_the_library_in_the_numbers_of_programs(sampled):
    header, samples, environment = sampled(init=0, ASCEND_RT_VISIBLE_DEVICES="1")

    assert header.gpus[0] == Gpu(
        index=0, kind="npu", vendor="Huawei", name="Ascend 910B3", memory_total_bytes=64 << 30, of_job=False
    )
    assert [gpu.of_job for gpu in header.gpus] == [False, True]
    assert (environment.driver, environment.cuda_driver) == ("23.0.rc3", None)
    first, second = samples[-1].gpus
    assert first == GpuReading(  # the second on the card, whose temperature is not told and whose ECC is off
        index=0,
        utilisation_percent=91,
        memory_used_bytes=4 << 30,
        memory_bandwidth_percent=40,
        power_w=pytest.approx(93.9),
        sm_clock_mhz=1800,
        memory_clock_mhz=1600,
    )
    assert (second.temperature_c, second.memory_errors_uncorrected) == (46, 1)


def test_a_library_without_a_driver_finds_no_device(sampled):
    header, samples, _ = sampled(init=-8005)

    assert (header.gpus, samples[0].gpus) == ((), ())
