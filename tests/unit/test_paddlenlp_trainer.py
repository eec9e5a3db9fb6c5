"""PaddleNLP's Trainer, and what JAX scripts report with clu: what the printed rates count, and evaluations between."""
# ruff: noqa: E501 (a line of a log is kept whole)

from pathlib import Path

import pytest

from evalsuite.logs.reading import Reading, read_file

LOGS = Path(__file__).resolve().parents[1] / "logs"


def read(folder: Path, text: str, **given) -> Reading:
    log = folder / "train.log"
    log.write_text(text)
    return read_file(log, **given)


def trainer(*, batch: int, seconds: float, last: str) -> str:
    """16 reports of 10 steps."""
    wrong = f"{batch / (10 * seconds):.4f}"
    right = f"{batch / seconds:.4f}"
    return "".join(
        f"[    INFO] - loss: 0.85, learning_rate: 3e-06, global_step: {step}, interval_runtime: {10 * seconds:.4f}, "
        f"interval_samples_per_second: {right if last == 'progress_or_epoch' else wrong}, "
        f"interval_steps_per_second: {1 / seconds:.3f}, {last}: {step / 20}\n"
        for step in range(10, 170, 10)
    )


def test_the_interval_that_holds_an_evaluation_is_left_out_of_the_stamps_too():
    found = read_file(LOGS / "paddlenlp_trainer.log")

    assert (found.status, found.certainty) == ("ok", "two clocks agree")
    assert found.throughput.items_per_s == pytest.approx(86.7, abs=0.1)  # 8 samples every 0.0923 s


def test_the_rate_of_one_step_of_one_device_that_older_versions_print_is_not_read(tmp_path):
    text = trainer(batch=64, seconds=0.5, last="epoch")
    batch = "  Total train batch size (w. parallel, distributed & accumulation) = 64\n"

    alone, told = read(tmp_path, text), read(tmp_path, batch + text)

    assert alone.throughput is None
    assert "say --batch-per-device and --devices" in alone.reason
    assert told.throughput.items_per_s == pytest.approx(128)


def test_the_rate_of_newer_versions_is_that_of_all_devices(tmp_path):
    found = read(tmp_path, trainer(batch=64, seconds=0.5, last="progress_or_epoch"))

    assert found.throughput.items_per_s == pytest.approx(128)


def test_tokens_of_pre_training_are_those_of_one_device(tmp_path):
    line = "loss: 12.0, global_step: {0}, max_memory_reserved: 7.7, interval_runtime: 0.25, interval_samples_per_second: 32.0, interval_tokens_per_second_per_device: 4096.0, interval_steps_per_second: 4.0, progress_or_epoch: 0.0\n"
    text = "".join(line.format(step) for step in range(1, 150))

    assert read(tmp_path, text).throughput is None
    assert read(tmp_path, text, devices=8).throughput.items_per_s == pytest.approx(8 * 4096)


def test_clu_reports_steps_and_the_batch_stands_in_the_first_lines():
    found = read_file(LOGS / "clu.log")

    assert found.dialect == "clu"
    assert found.throughput.items_per_s == pytest.approx(512 * 12.7, rel=0.01)  # 13.5, 13.1 and 11.5 steps/s
    assert found.findings == ()
