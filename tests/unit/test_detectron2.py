"""detectron2's lines: a mean since the run began, from which each report is taken apart, and `metrics.json`."""

from pathlib import Path

import pytest

from evalsuite.logs.reading import read_file

LOGS = Path(__file__).resolve().parents[1] / "logs"
LINE = (
    "[11/01 11:27:04 d2.utils.events]: eta: 8:05:12  iter: {}  total_loss: 1.012  loss_cls: 0.714  "
    "loss_box_reg: 0.291  time: {:.4f}  data_time: 0.0334  lr: 0.010000  max_mem: 3961M"
)


def test_the_time_of_a_report_is_what_it_added_to_the_mean():
    reading = read_file(LOGS / "detectron2.log")

    assert reading.dialect == "detectron2"
    assert (reading.total_devices, reading.batch_per_device) == (8, 2)
    assert reading.throughput.items_per_s == pytest.approx(16 / 0.25, rel=0.001)


def test_the_batch_of_the_full_configuration_counts_and_not_that_of_the_file(tmp_path):
    log = tmp_path / "log.txt"
    log.write_text("SOLVER:\n  IMS_PER_BATCH: 64\n  BASE_LR: 0.02\n" + (LOGS / "detectron2.log").read_text())

    reading = read_file(log)

    assert reading.throughput.items_per_s == pytest.approx(16 / 0.25, rel=0.001)


def test_a_log_of_the_first_versions_is_read(tmp_path):
    log = tmp_path / "log.txt"
    log.write_text("\n".join(LINE.format(step, 0.5) for step in range(19, 200, 20)) + "\n")

    reading = read_file(log, devices=8, batch_per_device=2)

    assert reading.throughput.items_per_s == pytest.approx(16 / 0.5)
    assert reading.steps[0].index == 20


def test_late_in_a_run_the_digits_of_the_mean_tell_nothing_of_one_report(tmp_path):
    log = tmp_path / "log.txt"
    log.write_text("\n".join(LINE.format(step, 0.3322) for step in range(90_019, 90_200, 20)) + "\n")

    reading = read_file(log, devices=8, batch_per_device=2)

    assert reading.throughput is None
    assert "too coarse" in reading.reason


def test_a_log_without_times_says_so(tmp_path):
    log = tmp_path / "log.txt"
    log.write_text("[06/28 10:28:32 d2.utils.events]:  iter: 0  total_loss: 4.649  loss_cls: 2.798  lr: 0.000000  \n")

    reading = read_file(log)

    assert reading.throughput is None
    assert reading.dialect == "detectron2"


def test_a_real_metrics_json_is_read_with_the_median_that_it_holds():
    reading = read_file(LOGS / "detectron2_json.log", devices=1, batch_per_device=2)
    medians = (0.3218782915, 0.3144221280, 0.3417332680, 0.3409561720, 0.3355697025)

    assert reading.dialect == "detectron2_json"
    assert reading.throughput.items_per_s == pytest.approx(2 * 5 / sum(medians))
    assert [step.index for step in reading.steps[:3]] == [20, 40, 60]
