"""Scripts count their steps in ways of their own: what each prints, and which steps are made of it."""

import json

import pytest

from evalsuite.logs.reading import read_file
from evalsuite.model import Protocol

SHORT = Protocol(warmup_steps=10, measured_steps=30)


@pytest.fixture
def read(tmp_path):
    def reading(lines, **more):
        log = tmp_path / "log"
        log.write_text("\n".join(lines) + "\n")
        return read_file(log, protocol=SHORT, **more)

    return reading


def test_mmcvs_iterations_begin_again_with_each_epoch(read):
    def line(epoch, iteration):
        return (
            f"2021-05-31 09:18:37,085 - mmdet - INFO - Epoch [{epoch}][{iteration}/40]\tlr: 3.450e-03, eta: 0:00:08, "
            "time: 0.500, data_time: 0.027, memory: 29369, loss_cls: 2.1192, loss: 2.9123"
        )

    reading = read([line(epoch, i) for epoch in (1, 2) for i in (10, 20, 30, 40)], devices=8, batch_per_device=2)

    assert [step.index for step in reading.steps] == [10, 20, 30, 40, 50, 60, 70, 80]
    assert reading.throughput.items_per_s == pytest.approx(8 * 2 / 0.5)


def test_mmcvs_lines_with_several_learning_rates_are_read(read):
    line = (
        "2021-05-31 09:18:{0},085 - mmseg - INFO - Iter [{0}/80000]\tlr_backbone: 3.450e-04 lr_head: 3.450e-03, "
        "eta: 0:00:08, time: 1.000, data_time: 0.027, memory: 29369, decode.loss_seg: 2.1192, loss: 2.9123"
    )

    reading = read([line.format(i) for i in (10, 20, 30, 40, 50)], devices=1, batch_per_device=2)

    assert reading.throughput.items_per_s == pytest.approx(2 / 1.0)


def test_the_steps_of_nvidias_tensorflow_1_go_on_over_epochs(read):
    def line(epoch, step):
        when = f"2022-11-24 04:11:{step // 10:02}.000000"
        return f"DLL {when} - ({epoch}, {step}) imgs_per_sec : 2560.0 cross_entropy : 7.01 "

    reading = read([line(step // 30, step) for step in range(10, 100, 10)], devices=8, batch_per_device=32)

    assert [step.index for step in reading.steps] == list(range(10, 100, 10))
    assert all(step.steps == 10 for step in reading.steps)


@pytest.mark.parametrize(
    "keys",
    [
        ("epoch", "iteration", "elapsed_time"),
        ("elapsed_time", "epoch", "iteration"),
        ("iteration", "elapsed_time", "epoch"),
    ],
)
def test_chainers_entries_may_have_their_keys_in_any_order(read, keys):
    entries = [{"epoch": n, "iteration": 100 * n, "elapsed_time": 50.0 * n, "main/loss": 1.5} for n in range(1, 6)]
    text = json.dumps([{key: entry[key] for key in ("main/loss", *keys)} for entry in entries], indent=4)

    reading = read([text], devices=2, batch_per_device=16)

    assert reading.dialect == "chainer_logreport"
    assert reading.throughput.items_per_s == pytest.approx(2 * 16 * 100 / 50)


def test_a_speedometer_without_a_metric_counts_iterations(read):
    lines = [
        f"INFO:root:Iter[0] Batch [{batch}]\tSpeed: {rate:.2f} samples/sec"
        for batch, rate in ((20, 10.0), (40, 64.0), (60, 64.0))
    ]

    reading = read(lines, devices=1)

    assert reading.dialect == "mxnet_speedometer"
    assert reading.throughput.items_per_s == pytest.approx(64.0)


def test_the_deepspeed_of_2022_prints_the_rate_of_the_last_step_beside_the_mean(read):
    line = (
        "[2022-09-01 10:00:{0},000] [INFO] [timer.py:197:stop] 0/{0}, RunningAvgSamplesPerSec=90.0, "
        "CurrSamplesPerSec=100.0, MemAllocated=3.96GB, MaxMemAllocated=5.12GB"
    )

    reading = read([line.format(step) for step in (10, 20, 30, 40, 50)])

    assert reading.dialect == "deepspeed"
    assert reading.throughput.items_per_s == pytest.approx(100.0)


def test_wordplays_tokens_are_counted_and_not_its_samples(read):
    # samples_per_iter leaves the batch of a device out: accumulation x devices ÷ seconds
    lines = [f"step={n} loss=3.6 dt=80.0 dtf=4.3 dtb=75.0 sps=100.0 mtps=1.6384 mfu=-100.0" for n in range(1, 50)]

    reading = read(lines)

    assert (reading.unit, reading.throughput.items_per_s) == ("tokens/s", pytest.approx(1_638_400))


def test_time_history_once_printed_no_seconds(read):
    """As tf-models-official 2.1.0.dev2 does."""
    reading = read(
        f"keras_utils.py:122] TimeHistory: 100.00 examples/second between steps {step - 10} and {step}"
        for step in (10, 20, 30, 40)
    )

    assert reading.throughput.items_per_s == pytest.approx(100)
