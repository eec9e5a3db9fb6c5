"""The Trainer of Hugging Face and those built on it: what their times and final figures count."""

import json
from pathlib import Path

import pytest

from evalsuite.logs.reading import read_file
from evalsuite.model import Protocol

LOGS = Path(__file__).resolve().parents[1] / "logs"
FINAL = (
    "{'train_runtime': 225.8005, 'train_samples_per_second': 3.543, 'train_steps_per_second': 0.886, 'epoch': 0.32}\n"
)


@pytest.fixture
def read(tmp_path):
    def reading(text, **more):
        log = tmp_path / "log"
        log.write_text(text, newline="")
        return read_file(log, **more)

    return reading


def bar(step, of, elapsed):
    return f"\r{100 * step // of:3}%|████      | {step}/{of} [{elapsed}<01:00,  1.13s/it]"


def test_the_bar_behind_a_loss_tells_step_and_time():
    reading = read_file(LOGS / "hf_trainer.log")

    assert (reading.dialect, reading.total_devices, reading.batch_per_device) == ("hf_trainer", 2, 8)
    assert reading.throughput.items_per_s == pytest.approx(16 / 2.5)
    assert reading.steps[0].loss == 2.0751


def test_the_report_behind_an_evaluation_is_left_out():
    reading = read_file(LOGS / "hf_trainer.log")

    assert 110 not in [step.index for step in reading.steps]
    assert {step.seconds for step in reading.steps[2:]} == {25.0}


def test_an_evaluation_between_two_reports_that_are_joined_is_not_lost(read):
    lines = []
    for step in range(1, 61):
        seconds = step * 2 + (100 if step > 43 else 0)
        clock = f"{seconds // 60:02}:{seconds % 60:02}"
        lines.append(f"{bar(step, 60, clock)}\r{{'loss': 1.5, 'epoch': 0.1}}\n{bar(step, 60, clock)}")
        if step == 43:
            lines.append("\r{'eval_loss': 1.2, 'eval_runtime': 100.0, 'epoch': 0.1}\n")
    text = "".join(lines) + "\n"

    reading = read(text, devices=1, batch_per_device=4, protocol=Protocol(warmup_steps=10, measured_steps=40))

    assert reading.throughput.items_per_s == pytest.approx(4 / 2.0)


def test_losses_without_a_bar_leave_the_final_figure(read):
    text = "".join(f"{{'loss': 1.6, 'learning_rate': 0.0002, 'epoch': 0.{n}}}\n" for n in range(1, 9)) + FINAL

    reading = read(text + bar(200, 200, "03:45") + "\n")

    assert (reading.dialect, reading.throughput.method) == ("hf_trainer", "final figure")
    assert reading.throughput.items_per_s == 3.543


def test_a_run_that_ended_early_trained_only_its_share_of_the_samples(read):
    train_output = f"TrainOutput(global_step=50, training_loss=1.2, metrics={FINAL.rstrip()})\n"

    reading = read(FINAL + bar(50, 200, "03:45") + "\n" + train_output)

    assert reading.throughput.items_per_s == pytest.approx(3.543 / 4)


def test_the_bar_of_an_evaluation_behind_the_final_figure_says_nothing_of_the_training(read):
    reading = read(FINAL + bar(1, 125, "00:01") + bar(125, 125, "00:09") + "\n")

    assert reading.throughput.items_per_s == 3.543


def test_the_table_of_metrics_alone_is_read(read):
    reading = read("***** train metrics *****\n  train_samples_per_second =      8.543\n")

    assert reading.throughput.items_per_s == 8.543


def test_transformers_5_prints_powers_of_ten(read):
    reading = read("{'train_runtime': '3.707e+04', 'train_samples_per_second': '1.234e+04', 'epoch': '1.198'}\n")

    assert reading.throughput.items_per_s == 12_340.0


def test_a_run_from_a_checkpoint_has_no_final_figure(read):
    reading = read("  Continuing training from global step 500\n" + FINAL)

    assert reading.throughput is None
    assert "500 steps before the checkpoint" in reading.reason


def test_unsloths_banner_gives_the_batch(read):
    banner = "\\        /    Data Parallel GPUs = 1 | Total batch size (2 x 4 x 1) = 8\n"
    clocks = [f"{step // 60:02}:{step % 60:02}" for step in range(0, 400, 20)]
    lines = [f"{{'loss': '2.4', 'epoch': '0.1'}}\n{bar(10 * n, 200, clock)}\n" for n, clock in enumerate(clocks) if n]

    reading = read(banner + "".join(lines))

    assert reading.throughput.items_per_s == pytest.approx(8 * 10 / 20)


def test_trainer_state_counts_the_steps_taken(read):
    entry = {"epoch": 1.5, "step": 150, "train_runtime": 100.0, "train_samples_per_second": 16.0}
    losses = [{"epoch": 0.1, "loss": 2.5, "step": 10}]

    reading = read(json.dumps({"global_step": 150, "log_history": [*losses, entry], "max_steps": 200}, indent=2))

    assert reading.dialect == "hf_trainer"
    assert reading.throughput.items_per_s == pytest.approx(12.0)


def test_train_results_are_read():
    assert read_file(LOGS / "hf_trainer_json.log").throughput.items_per_s == 14.427


def test_ms_swifts_mean_since_the_start_is_taken_apart():
    reading = read_file(LOGS / "ms_swift.log", devices=1, batch_per_device=16)

    assert reading.dialect == "ms_swift"
    assert reading.throughput.items_per_s == pytest.approx(16 * 70 / (90 / 0.520707 - 20 / 0.500516))
    assert reading.reported_final == 8.177


def test_ms_swift_with_transformers_5_prints_seconds_per_step(read):
    def line(step):
        minutes, seconds = divmod(40 * step, 60)
        return (
            f"{{'loss': '0.3713', 'grad_norm': '0.89', 'epoch': '0.086', 'global_step/max_steps': '{step}/60', "
            f"'elapsed_time': '{minutes}m {seconds}s', 'memory(GiB)': '14.3', 'train_speed(s/it)': '40.00'}}\n"
        )

    reading = read("".join(map(line, range(5, 61, 5))), devices=2, batch_per_device=4)

    assert reading.throughput.items_per_s == pytest.approx(2 * 4 / 40)


def test_llamafactory_counts_the_tokens_of_the_whole_job():
    reading = read_file(LOGS / "llamafactory_tokens.log")

    assert (reading.dialect, reading.unit) == ("llamafactory_tokens", "tokens/s")
    assert reading.throughput.items_per_s == pytest.approx(13_000.0)


def test_llamafactory_without_tokens_needs_the_batch():
    reading = read_file(LOGS / "llamafactory.log")

    assert reading.throughput is None
    assert "--batch-per-device and --devices" in reading.reason


def test_a_real_log_of_llamafactory_is_read_in_samples():
    reading = read_file(LOGS / "llamafactory.log", devices=4, batch_per_device=384)

    assert reading.throughput.items_per_s == pytest.approx(4 * 384 * 100 / (47_230 - 7872))


def test_a_figure_with_a_decimal_comma_is_not_cut_at_the_comma(read):
    reading = read("{'train_runtime': 225,8005, 'train_samples_per_second': 3,543, 'epoch': 0,32}\n")

    assert reading.throughput is None


def test_a_log_with_the_timers_of_deepspeed_too_is_read_by_the_trainers_own_clock(read):
    """The engine's timer leaves out data loading, logging and evaluation: 20 samples/s of 16 that are trained."""

    def lines(step):
        timer = f"[timer.py:197:stop] 0/{step}, RunningAvgSamplesPerSec=20.0, CurrSamplesPerSec=20.0, \n"
        return timer + f"{{'loss': 1.5, 'epoch': 0.1}}\n{bar(step, 300, f'{step // 60:02}:{step % 60:02}')}\n"

    config = "[2021-05-25 06:38:26,359] [INFO] [config.py:752:print]   train_batch_size ............. 16\n"
    reading = read(config + "".join(map(lines, range(10, 210, 10))))

    assert (reading.dialect, reading.throughput.items_per_s) == ("hf_trainer", pytest.approx(16.0))


def test_the_timers_of_deepspeed_are_read_where_the_trainer_shows_no_bar(read):
    timer = "[timer.py:197:stop] 0/{step}, RunningAvgSamplesPerSec=20.0, CurrSamplesPerSec=20.0, \n"

    reading = read("".join(timer.format(step=step) for step in range(10, 210, 10)))

    assert reading.dialect == "deepspeed"


def test_the_tokens_seen_by_all_processes_need_no_batch():
    reading = read_file(LOGS / "hf_trainer_tokens.log")

    assert (reading.dialect, reading.unit) == ("hf_trainer_tokens", "tokens/s")
    assert reading.throughput.items_per_s == pytest.approx(32_768 / 2.5)


def test_tokens_that_were_rounded_are_left_unread(read):
    text = (
        (LOGS / "hf_trainer_tokens.log").read_text().replace("'num_input_tokens_seen': ", "'num_input_tokens_seen': '1")
    )

    assert read(text).dialect == "hf_trainer"


def test_axolotl_counts_the_tokens_of_all_processes_and_not_its_rate_of_one_gpu():
    reading = read_file(LOGS / "axolotl.log")

    assert (reading.dialect, reading.unit, reading.status) == ("axolotl", "tokens/s", "ok")
    assert reading.throughput.items_per_s == pytest.approx(65_536 / 2)


def test_trl_counts_the_tokens_of_all_processes_without_padding():
    reading = read_file(LOGS / "trl.log")

    assert (reading.dialect, reading.unit) == ("trl", "tokens/s")
    assert reading.throughput.items_per_s == pytest.approx(5200 / 1.6, rel=0.01)
