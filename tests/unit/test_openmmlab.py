"""mmengine's lines: what their seconds cover, and what the log says of batch and devices."""

from pathlib import Path

import pytest

from evalsuite.logs.reading import read_file
from evalsuite.model import Protocol

LOGS = Path(__file__).resolve().parents[1] / "logs"
SHORT = Protocol(warmup_steps=10, measured_steps=30)
HEAD = """\
    Distributed launcher: pytorch
    Distributed training: True
    GPU number: 8
train_cfg = dict(max_epochs=12, type='EpochBasedTrainLoop', val_interval=1)
train_dataloader = dict(
    batch_sampler=dict(type='AspectRatioBatchSampler'),
    batch_size=2,
    num_workers=2)
val_dataloader = dict(
    batch_size=1,
    num_workers=2)
"""


def epoch_line(epoch, step, seconds):
    return (
        f"2022/12/13 19:00:12 - mmengine - INFO - Epoch(train) [{epoch}][{step:4}/3104]  lr: 1.0000e-02  eta: 0:26:28  "
        f"time: {seconds:.4f}  data_time: 0.0040  memory: 2581  loss: 0.7176  loss_rpn_cls: 0.1582  acc: 92.1875"
    )


def iteration_line(step, seconds):
    return (
        f"06/13 14:04:55 - mmengine - INFO - Iter(train) [{step:4}/2000]  lr: 9.6207e-03  eta: 0:02:56  "
        f"time: {seconds:.4f}  data_time: 0.0178  memory: 3979  loss: 0.0454  decode.loss_ce: 0.0321"
    )


@pytest.fixture
def read(tmp_path):
    def reading(text, **more):
        log = tmp_path / "log"
        log.write_text(text)
        return read_file(log, protocol=SHORT, **more)

    return reading


def test_a_real_log_of_two_gpus_is_read():
    reading = read_file(LOGS / "mmengine.log", devices=2, batch_per_device=128)
    times = (0.1993, 0.2052, 0.2013, 0.2025, 0.1999, 0.2013, 0.1975, 0.1993, 0.1995, 0.1966)

    assert reading.dialect == "mmengine"
    assert reading.throughput.items_per_s == pytest.approx(2 * 128 * 10 / sum(times))


def test_a_real_log_counted_in_iterations_is_read():
    reading = read_file(LOGS / "mmengine_iter.log", devices=1, batch_per_device=1)

    assert (reading.dialect, reading.status) == ("mmengine_iter", "partial")
    assert reading.throughput.items_per_s == pytest.approx(1 / 2.721, rel=0.001)


def test_times_without_a_batch_are_no_throughput_and_the_reason_names_the_options():
    reading = read_file(LOGS / "mmengine.log")

    assert reading.throughput is None
    assert "--batch-per-device and --devices" in reading.reason


def test_the_configuration_in_the_log_gives_batch_and_devices(read):
    reading = read(HEAD + "\n".join(epoch_line(1, step, 0.125) for step in range(10, 100, 10)) + "\n")

    assert (reading.total_devices, reading.batch_per_device) == (8, 2)
    assert reading.throughput.items_per_s == pytest.approx(8 * 2 / 0.125)


def test_the_report_behind_an_evaluation_inside_the_run_is_left_out(read):
    lines = [iteration_line(step, 0.5) for step in range(10, 60, 10)]
    evaluation = "06/13 14:03:51 - mmengine - INFO - Iter(val) [11/11]    aAcc: 87.9000  mIoU: 51.3200  time: 0.4532"
    slow = [iteration_line(30, 60.0)]

    reading = read("\n".join([*lines[:2], evaluation, *slow, *lines[3:]]) + "\n", devices=1, batch_per_device=4)

    assert [step.index for step in reading.steps] == [10, 20, 40, 50]
    assert reading.throughput.items_per_s == pytest.approx(4 / 0.5)


def test_the_first_versions_print_the_time_behind_the_losses(read):
    line = (
        "2022/08/22 18:42:22 - mmengine - INFO - Epoch(train) [1][{}/70]  lr: 7.0000e-03  memory: 7730  "
        "data_time: 0.4496  loss_prob: 14.6061  loss_thr: 2.2904  loss_db: 0.9879  loss: 17.8843  time: 0.5000"
    )

    reading = read("\n".join(map(line.format, range(10, 70, 10))) + "\n", devices=1, batch_per_device=16)

    assert reading.throughput.items_per_s == pytest.approx(16 / 0.5)


def test_the_json_beside_the_log_is_read_with_its_steps_over_all_epochs():
    reading = read_file(LOGS / "mmengine_json.log", devices=8, batch_per_device=32)

    assert reading.dialect == "mmengine_json"
    assert reading.throughput.items_per_s == pytest.approx(8 * 32 / 0.25)
    assert reading.steps[-1].index == 200
    assert reading.steps[-1].loss == 6.9
