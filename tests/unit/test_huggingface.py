"""The Trainer of Hugging Face and those built on it: what their times and final figures count."""
# ruff: noqa: E501 (a line of a log is kept whole)

import json

from evalsuite.model import Protocol
from tests.readings import LOGS, each, on, row, seen, table

FINAL = (
    "{'train_runtime': 225.8005, 'train_samples_per_second': 3.543, 'train_steps_per_second': 0.886, 'epoch': 0.32}\n"
)
TOKENS = LOGS / "hf_trainer_tokens.log"


def clock(seconds):
    return f"{seconds // 60:02}:{seconds % 60:02}"


def bar(step, of, elapsed):
    return f"\r{100 * step // of:3}%|████      | {step}/{of} [{elapsed}<01:00,  1.13s/it]"


def loss(step, of, elapsed):
    return f"{{'loss': 1.5, 'epoch': 0.1}}\n{bar(step, of, elapsed)}"


def joined(step):
    """Two seconds a step, and an evaluation of 100 behind the 43rd."""
    drawn = bar(step, 60, clock(step * 2 + (100 if step > 43 else 0)))
    evaluation = "\r{'eval_loss': 1.2, 'eval_runtime': 100.0, 'epoch': 0.1}\n" if step == 43 else ""
    return f"{drawn}\r{{'loss': 1.5, 'epoch': 0.1}}\n{drawn}{evaluation}"


def timer(step):
    return f"[timer.py:197:stop] 0/{step}, RunningAvgSamplesPerSec=20.0, CurrSamplesPerSec=20.0, "


def swift_5(step):
    return f"{{'loss': '0.3713', 'grad_norm': '0.89', 'epoch': '0.086', 'global_step/max_steps': '{step}/60', 'elapsed_time': '{40 * step // 60}m {40 * step % 60}s', 'memory(GiB)': '14.3', 'train_speed(s/it)': '40.00'}}"


STATE = {
    "global_step": 150,
    "log_history": [
        {"epoch": 0.1, "loss": 2.5, "step": 10},
        {"epoch": 1.5, "step": 150, "train_runtime": 100.0, "train_samples_per_second": 16.0},
    ],
    "max_steps": 200,
}
ROWS = {
    "the bar behind a loss tells step and time, and a report behind an evaluation is left out": row(
        LOGS / "hf_trainer.log", {},
        {"dialect": "hf_trainer", "total_devices": 2, "batch_per_device": 8, "items_per_s": 16 / 2.5},
        **{"index": [n for n in range(10, 151, 10) if n != 110], "loss": 2.0751}),
    "an evaluation between two reports that are joined is not lost": row(
        "".join(map(joined, range(1, 61))) + "\n", on(1, 4, protocol=Protocol(warmup_steps=10, measured_steps=40)),
        items_per_s=2.0),
    "losses without a bar leave the final figure": row(
        each(range(1, 9), lambda n: f"{{'loss': 1.6, 'learning_rate': 0.0002, 'epoch': 0.{n}}}") + f"{FINAL}{bar(200, 200, '03:45')}\n",
        **{"dialect": "hf_trainer", "method": "final figure", "items_per_s": 3.543}),
    "a run that ended early trained only its share of the samples": row(
        f"{FINAL}{bar(50, 200, '03:45')}\nTrainOutput(global_step=50, training_loss=1.2, metrics={FINAL.rstrip()})\n",
        items_per_s=3.543 / 4),
    "the bar of an evaluation behind the final figure says nothing of the training": row(
        f"{FINAL}{bar(1, 125, '00:01')}{bar(125, 125, '00:09')}\n", items_per_s=3.543),
    "the table of metrics alone is read": row(
        "***** train metrics *****\n  train_samples_per_second =      8.543\n", items_per_s=8.543),
    "transformers 5 prints powers of ten": row(
        "{'train_runtime': '3.707e+04', 'train_samples_per_second': '1.234e+04', 'epoch': '1.198'}\n",
        items_per_s=12_340.0),
    "a run from a checkpoint has no final figure": row(
        f"  Continuing training from global step 500\n{FINAL}",
        **{"throughput": None, "reason": "500 steps before the checkpoint"}),
    "unsloth's banner gives the batch": row(
        "\\        /    Data Parallel GPUs = 1 | Total batch size (2 x 4 x 1) = 8\n" + each(range(1, 20), lambda n: loss(10 * n, 200, clock(20 * n))),
        items_per_s=8 * 10 / 20),
    "trainer_state counts the steps taken": row(json.dumps(STATE, indent=2), dialect="hf_trainer", items_per_s=12.0),
    "ms-swift with transformers 5 prints seconds per step": row(
        each(range(5, 61, 5), swift_5), on(2, 4), items_per_s=2 * 4 / 40),
    "a figure with a decimal comma is not cut at the comma": row(
        "{'train_runtime': 225,8005, 'train_samples_per_second': 3,543, 'epoch': 0,32}\n", throughput=None),
    # the engine's timer leaves out data loading, logging and evaluation: 20 samples/s of 16 that are trained
    "with the timers of DeepSpeed too, the trainer's own clock counts": row(
        "[2021-05-25 06:38:26,359] [INFO] [config.py:752:print]   train_batch_size ............. 16\n" + each(range(10, 210, 10), lambda step: f"{timer(step)}\n{loss(step, 300, clock(step))}"),
        **{"dialect": "hf_trainer", "items_per_s": 16.0}),
    "the timers of DeepSpeed are read where the trainer shows no bar": row(
        each(range(10, 210, 10), timer), dialect="deepspeed"),
    "tokens that were rounded are left unread": row(
        TOKENS.read_text().replace("'num_input_tokens_seen': ", "'num_input_tokens_seen': '1"), dialect="hf_trainer"),
}  # fmt: skip


@table(ROWS)
def test_a_log_of_a_trainer_is_read_as_it_counts(row, tmp_path):
    assert seen(tmp_path, row) == row.expected
