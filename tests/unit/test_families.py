"""Trainers that print one line in many variants: Megatron's descendants, nanoGPT's relatives, NeMo 2, LitGPT, verl."""
# ruff: noqa: E501 (a line of a log is kept whole)

import re
from dataclasses import replace
from pathlib import Path

import pytest

from evalsuite.logs.reading import Reading, read_file
from evalsuite.model import Protocol

LOGS = Path(__file__).resolve().parents[1] / "logs"
ALL = Protocol(warmup_steps=0, measured_steps=1000)


def read(folder: Path, *lines: str) -> Reading:
    log = folder / "train.log"
    log.write_text("\n".join(lines) + "\n")
    return read_file(log, protocol=ALL)


# 32 sequences in 2 s, as each of them prints it
@pytest.mark.parametrize(
    "columns",
    [
        # NVIDIA-NeMo/Megatron-Bridge@067f987df:src/megatron/bridge/training/utils/train_utils.py
        "consumed samples: {samples:12d} | elapsed time per iteration (ms): 2000.0 | throughput per GPU (TFLOP/s/GPU): 400.0 |",
        "consumed samples: {samples:12d} | skipped samples:           32 | elapsed time per iteration (ms): 2000.0 |",
        # deepspeedai/Megatron-DeepSpeed@4efb479d:megatron/training.py
        "consumed samples: {samples:12d} | consumed tokens: {tokens:12d} | elapsed time per iteration (ms): 2000.0 |",
        "consumed samples: {samples:12d} | consumed tokens: 1.258B | elapsed time per iteration (ms): 2000.0 | eta: 0:10:00 |",
        # bigscience-workshop/bigscience@9e64edec2a:train/tr11-176B-ml/README.md
        "consumed samples: {samples:12d} | consumed tokens: {tokens:12d} | elapsed time per iteration (s): 2.00 |",
        # AMD-AGI/Primus@fd1eeabb:docs/04-technical-guides/hybrid-models/kda-guide.md: this interval/mean of the run
        "consumed samples: {samples:12d} | elapsed time per iteration (ms): 2000.0/2750.5 |",
        "elapsed time per iteration (ms): 2000.0/2750.5 |",
        "consumed samples: {samples:12d} | elapsed time per iteration(ms): 2000.0 |",
    ],
)
def test_megatrons_line_is_read_with_the_columns_that_others_add(tmp_path, columns):
    lines = [
        f" iteration {step:8d}/    1000 | {columns.format(samples=32 * step, tokens=65536 * step)} "
        "learning rate: 3.000E-05 | global batch size:    32 | lm loss: 9.100000E+00 | loss scale: 1.0 |"
        for step in range(10, 110, 10)
    ]

    reading = read(tmp_path, *lines)

    assert reading.dialect == "megatron"
    assert reading.throughput.items_per_s == pytest.approx(16.0)
    assert reading.steps[-1].loss == 9.1


def test_gpt_neox_is_not_megatron_and_its_rate_is_read_without_a_batch(tmp_path):
    lines = [
        f" samples/sec: 16.000 | iteration {step:8d}/    1000 | elapsed time per iteration (ms): 2000.0 | lm_loss: 9.1E+00 |"
        for step in range(10, 110, 10)
    ]

    reading = read(tmp_path, *lines)

    assert reading.dialect == "gpt_neox"
    assert reading.throughput.items_per_s == pytest.approx(16.0)


def test_nemo_goes_on_counting_where_a_resumed_attempt_numbers_its_iterations_anew(tmp_path):
    line = "Training epoch {}, iteration {}/999 | lr: 3e-06 | global_batch_size: 512 | global_step: {} | reduced_train_loss: 11.03 | train_step_timing in s: 40"

    reading = read(tmp_path, *(line.format(int(step > 18), step % 19, step) for step in range(38)))

    assert [step.index for step in reading.steps] == list(range(1, 39))
    assert reading.throughput.items_per_s == pytest.approx(512 / 40)


def test_nemo_without_a_global_step_counts_its_iterations(tmp_path):
    line = "Training epoch 0, iteration {}/99 | lr: 3e-06 | global_batch_size: 4 | reduced_train_loss: 1.3 | train_step_timing in s: 0.25 | consumed_samples: 604"

    reading = read(tmp_path, *(line.format(step) for step in range(20)))

    assert reading.steps[-1].index == 20
    assert reading.throughput.items_per_s == pytest.approx(16.0)


def test_the_running_mean_of_llm_c_is_not_taken_for_the_rate_of_a_step(tmp_path):
    text = (LOGS / "llm_c_cuda.log").read_text()
    smoothed = re.sub(r"\| \d+ tok/s", "| 180000 tok/s", text)

    reading = read(tmp_path, smoothed)

    assert reading.throughput.method == "step times"
    assert reading.throughput.items_per_s == pytest.approx(524_288 * 150 / (5 + 149 * 2.5), rel=0.01)


def test_a_batch_that_grows_in_stages_is_no_batch(tmp_path):
    # KellerJordan/modded-nanogpt@f411b3d346:records/track_1_short/2025-12-14_PartialKeyOffset
    script = "    train_bs_schedule: tuple = (8 * 2048 * 8, 16 * 2048 * 8, 24 * 2048 * 8)"

    reading = read(tmp_path, script, *(f"step:{n}/2110 train_time:{60 * n}ms step_avg:60.00ms" for n in range(1, 60)))

    assert reading.dialect == "modded_nanogpt"
    assert reading.throughput is None
    assert "how much was trained" in reading.reason


@pytest.mark.parametrize("rest", [" (step) remaining time: 1:02:03", " (step)"])
def test_the_time_of_one_pass_among_several_of_litgpt_is_not_read(tmp_path, rest):
    line = "Epoch 1 | iter {} step {} | loss train: 8.1, val: n/a | iter time: 357.90 ms" + rest

    reading = read(tmp_path, "micro_batch_size=4,", " 'devices': 2,", *(line.format(4 * n, n) for n in range(1, 30)))

    assert reading.dialect == "litgpt"
    assert [step.seconds for step in reading.steps[1:]] == [None] * 28
    assert reading.throughput is None


def test_a_step_of_verl_that_validated_is_left_out():
    reading = read_file(LOGS / "verl.log", devices=8, protocol=ALL)

    assert {5, 10}.isdisjoint(step.index for step in reading.steps)


def test_a_line_of_verl_that_is_longer_than_a_screen_is_found(tmp_path):
    metrics = " - ".join(f"actor/metric_{number}:np.float64(0.25)" for number in range(200))
    line = "step:{} - " + metrics + " - perf/total_num_tokens:800000 - perf/time_per_step:50.0 - perf/throughput:2000.0"

    reading = read(tmp_path, *(line.format(step) for step in range(1, 9)))

    assert reading.dialect == "verl"


@pytest.mark.parametrize(("name", "value"), [("olmo_core", 8 * 52_012), ("composer", 512.0), ("swin", 8 * 128 / 0.64)])
def test_what_stands_on_lines_of_its_own_is_found_behind_the_prefix_of_a_launcher(tmp_path, name, value):
    text = (LOGS / f"{name}.log").read_text().rstrip("\n")
    log = tmp_path / "train.log"
    log.write_text("".join(f"[rank0]: {line}\n" for line in text.split("\n")))

    reading = read_file(log, devices=8)

    assert reading.dialect == name
    assert reading.throughput.items_per_s == pytest.approx(value, rel=1e-3)


@pytest.mark.parametrize(("stamp", "value"), [("", 16.0), (" [2025-08-22 07:30:40]", 100 * 32 / (90 * 2.0 + 10 * 3.0))])
def test_megatrons_clock_runs_on_through_an_evaluation_until_its_lines_have_a_stamp(tmp_path, stamp, value):
    lines = [
        f"{stamp} iteration {step:8d}/    1000 | elapsed time per iteration (ms): {3000.0 if step == 110 else 2000.0} | "
        "learning rate: 3.000E-05 | global batch size:    32 |"
        for step in range(20, 130, 10)
    ]
    lines.insert(9, " validation loss at iteration 100 | lm loss value: 8.095942E+00 |")

    reading = read(tmp_path, *lines)

    assert reading.throughput.items_per_s == pytest.approx(value, rel=0.02)


def test_automodels_rate_is_the_jobs_and_a_step_behind_a_validation_is_left_out(tmp_path):
    """Two devices that share each layer: `(…/gpu)` divides by the groups of data alone."""
    line = "2026-08-10 15:55:23 | INFO | root | step {} | epoch 0 | loss 0.8534 | grad_norm 1.5040 | lr 1.00e-05 | mem 29.67 GiB | tps {}({}/gpu) | num_label_tokens 29550"
    validated = '2026-08-10 15:59:23 | INFO | root | [val] name "default" | step 9 | epoch 0 | loss 0.8534 | lr 1.00e-05 | num_label_tokens 29550'
    rates = [16000.00] * 9 + [800.00] + [16000.00] * 10

    lines = [line.format(step, f"{rate:.2f}", f"{rate:.2f}") for step, rate in enumerate(rates)]
    found = read(tmp_path, *lines[:9], validated, *lines[9:])

    assert found.throughput.items_per_s == pytest.approx(16000.0)
    assert found.scope == "global"


def test_a_rate_far_from_stamps_in_whole_seconds_is_no_throughput():
    reading = read_file(LOGS / "fairseq_tpu.log", protocol=ALL)

    assert (reading.dialect, reading.status) == ("fairseq", "doubtful")
    assert reading.throughput.items_per_s is None
    assert "counts only some of the steps" in reading.reason  # 100 updates took 28 s: the line says 0.04 a second


def test_stamps_in_whole_seconds_do_not_deny_a_rate_that_they_are_too_coarse_for(tmp_path):
    line = "2020-07-10 10:00:{:02d} | INFO | train_inner | epoch 001: {} / 1093 loss=12.0, wps={}, wpb=9000, num_updates={},"

    reading = read(
        tmp_path, *(line.format(second, second, 4600, second) for second in range(1, 50))
    )  # the stamps: 9,000

    assert (reading.status, reading.throughput.items_per_s) == ("partial", pytest.approx(4600))


def test_a_step_after_some_that_are_left_out_is_counted_with_its_own_tokens(tmp_path):
    line = "step:{} - timing_s/gen:5.0 - {}perf/total_num_tokens:{} - perf/time_per_step:10.0 - perf/throughput:1.0"
    aside = [" - timing_s/testing:3.0 - " if step % 2 else "" for step in range(40)]

    reading = read(tmp_path, *(line.format(step, aside[step], 8000) for step in range(1, 40)))

    assert reading.throughput.items_per_s == pytest.approx(800)


@pytest.mark.parametrize(
    ("log", "batch", "printed", "items_per_s"),
    [
        ("lightning_imagenet", 2, [10, 20], 2 * 10 / (20 / 0.84 - 12.5)),  # 20 and 10 steps at 0.84 and 0.80 a second
        ("pytorch_word_language_model", 200, [*range(2, 11)], 200 * 8 / 58.20712),  # the second to ninth line
    ],
)
def test_what_a_script_of_today_prints_is_read_by_its_own_dialect(log, batch, printed, items_per_s):
    reading = read_file(LOGS / f"{log}.log", devices=1, batch_per_device=batch, protocol=replace(ALL, warmup_steps=2))

    assert [step.index for step in reading.steps] == printed
    assert reading.throughput.items_per_s == pytest.approx(items_per_s, rel=1e-4)


@pytest.mark.parametrize(("told", "batch"), [("Overriding: block_size = 128\n", 2), ("", 256)])
def test_the_tokens_of_nanogpt_are_sequences_where_an_option_sets_their_length(tmp_path, told, batch):
    steps = [f"iter {n}: loss 10.9, time 500.00ms, mfu 0.00%" for n in range(9)]

    log = tmp_path / "train.log"
    log.write_text("\n".join([f"{told}tokens per iteration will be: 256", *steps]))
    reading = read_file(log, protocol=ALL, devices=1)

    assert reading.batch_per_device == batch
    assert reading.throughput is None or reading.throughput.items_per_s == 512
