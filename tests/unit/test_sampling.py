"""Readings at varied intervals: a load that goes in step with the sensors is seen as it is."""

import random
from itertools import accumulate

import pytest

from evalsuite.agent.sampling import JITTER, interval_s
from evalsuite.model import Window
from evalsuite.results.samples import utilisation
from evalsuite.runs.samples import GpuReading, Header, Sample, read
from tests import runfolders

HZ = 2.0
SECONDS = 200


def busy_share(intervals, period_s, phase):
    """What is read of a device that works half of each *period_s*, at times apart by *intervals*."""
    times = [at_s for at_s in accumulate(intervals, initial=0.0) if at_s <= SECONDS]
    gpu = [GpuReading(index=0, utilisation_percent=100.0 * ((at_s / period_s + phase) % 1 < 0.5)) for at_s in times]
    header = Header.from_json({"header": True, "hz": HZ, "jitter": JITTER, "gpus": [{"index": 0}]}, "file")
    samples = runfolders.sampled(header, (Sample(at_s=at, gpus=(of,)) for at, of in zip(times, gpu, strict=True)))
    window = Window(first_step=1, last_step=2, steps=2, begin_s=1.0, end_s=SECONDS - 1.0)
    (figure,), findings = utilisation.of_job({"a": samples}, window)
    assert not findings and figure.coverage > 0.99
    return figure.mean


def drawn(seed):
    random.seed(seed)
    return [interval_s(1 / HZ, random.uniform(-1, 1)) for _ in range(round(1.2 * HZ * SECONDS))]


@pytest.mark.parametrize("phase", [0.0, 0.2, 0.5, 0.7])
def test_a_load_in_step_with_the_readings_is_neither_all_nor_nothing(phase):
    even = [1 / HZ] * round(HZ * SECONDS)

    assert busy_share(even, 1 / HZ, phase) in (0.0, 100.0)  # what a strict grid made of it
    assert all(30 < busy_share(drawn(seed), 1 / HZ, phase) < 70 for seed in range(10))


@pytest.mark.whole
@pytest.mark.parametrize("period_s", [0.05, 0.31, 0.5, 1.0, 3.0])
def test_over_many_runs_the_mean_is_right_whatever_the_period(period_s):
    means = [busy_share(drawn(seed), period_s, seed / 40) for seed in range(40)]

    assert sum(means) / len(means) == pytest.approx(50, abs=4)


def test_an_interval_is_the_period_on_the_mean_and_a_file_without_it_was_read_on_a_strict_grid(tmp_path):
    assert interval_s(0.5, 0) == 0.5
    assert 0.5 * 0.5 < interval_s(0.5, -1) < interval_s(0.5, 1) < 0.5 * 1.5

    (file := tmp_path / "samples.jsonl").write_text('{"header": true, "hz": 2.0}\n')
    assert read(file).header.jitter is None
