"""A dozen logs of one run, each with a trap in it: accumulated gradients, evaluations between, several printers, rates
of one device, numbers that older versions of a script count otherwise.

300 steps of 192 samples on 8 devices, 0.37 s each; the first takes 25 s, and 20 s of evaluation follow each hundredth.
Composed before the reader was run on them.
"""
# ruff: noqa: E501 (a line of a log is kept whole)

import math
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import cache

STEPS, DEVICES, EACH, TOKENS = 300, 8, 24, 1024
STEP_S, FIRST_S, EVALUATION_S = 0.37, 25.0, 20.0
BATCH = EACH * DEVICES
SAMPLES_PER_S, TOKENS_PER_S = BATCH / STEP_S, BATCH * TOKENS / STEP_S
BEGAN = datetime(2026, 4, 7, 23, 58, 10)


def took(step: int) -> float:
    return FIRST_S if step == 1 else STEP_S * (1 + 0.02 * math.sin(5 * step))


@cache
def trained(step: int) -> float:
    """Seconds of training up to the end of *step*."""
    return math.fsum(map(took, range(1, step + 1)))


def passed(step: int) -> float:
    """Seconds since the start at the end of *step*, evaluations included."""
    return trained(step) + EVALUATION_S * ((step - 1) // 100)


def mean(step: int, last: int) -> float:
    first = max(1, step - last + 1)
    return math.fsum(map(took, range(first, step + 1))) / (step - first + 1)


def at(step: int, more: float = 0.0) -> datetime:
    return BEGAN + timedelta(seconds=passed(step) + more)


def evaluated(step: int) -> bool:
    return step % 100 == 0 and step < STEPS


def stamp(when: datetime) -> str:
    return f"{when:%Y-%m-%d %H:%M:%S},{when.microsecond // 1000:03d}"


def clock(seconds: float) -> str:
    return f"{int(seconds) // 60:02d}:{int(seconds) % 60:02d}"


def reports(
    line: Callable[[int], str], *, evaluation: Callable[[int], str] = lambda step: "", head: str = "", every: int = 10
) -> Callable[[], str]:
    """A script that prints a line for each so many steps, and something of each evaluation."""
    steps = range(every, STEPS + 1, every)
    return lambda: head + "".join(line(step) + (evaluation(step) if evaluated(step) else "") for step in steps)


def bar(done: int, total: int, seconds: float) -> str:
    return f"\r{100 * done // total:3d}%|{'█' * (10 * done // total):<10}| {done}/{total} [{clock(seconds)}<00:10, {done / seconds:.2f}it/s]"


def trainer_with_accumulation_and_evaluation_bars() -> str:
    said = [
        f"***** Running training *****\n  Instantaneous batch size per device = 6\n  Total train batch size (w. parallel, distributed & accumulation) = {BATCH}\n  Gradient Accumulation steps = 4\n"
    ]
    for step in range(1, STEPS + 1):
        drawn = bar(step, STEPS, passed(step))
        said.append(drawn)
        if step % 10 == 0:
            said.append(
                f"\r{{'loss': 2.1, 'grad_norm': 1.1, 'learning_rate': 1e-05, 'epoch': {step / STEPS:.2f}}}\n{drawn}"
            )
        if evaluated(step):
            said += [bar(done, 20, float(done)) for done in range(1, 21)]
            said.append("\r{'eval_loss': 2.5, 'eval_runtime': 20.0, 'eval_samples_per_second': 160.0, 'epoch': 0.3}\n")
    return "".join(said)


def yolo_with_a_validation_bar_an_epoch() -> str:
    said = [
        "engine/trainer: task=detect, mode=train, epochs=3, batch=192, imgsz=640, device=[0, 1, 2, 3, 4, 5, 6, 7]\n"
    ]
    for epoch in range(3):
        said.append("\n      Epoch    GPU_mem   box_loss   cls_loss   dfl_loss  Instances       Size\n")
        for done in (*range(1, 100, 7), 100):
            seconds = trained(100 * epoch + done) - trained(100 * epoch)
            said.append(
                f"\r        {epoch + 1}/3      7.5G      1.2      1.3      1.1        210        640: {done:3d}%|{'█' * (done // 10):<10}| {done}/100 [{clock(seconds)}<00:10, {done / seconds:.2f}it/s]"
            )
        said.append(
            "\n\r                 Class     Images  Instances      Box(P          R      mAP50  mAP50-95): 100%|██████████| 14/14 [00:20<00:00,  1.43s/it]\n"
        )
    return "".join(said)


def mae_whose_iterations_are_parts_of_steps() -> str:
    """An iteration is a forward pass of 24 images on each device, and four of them are a step."""
    said = ["Namespace(batch_size=24,\naccum_iter=4,\nworld_size=8,\ndistributed=True)\neffective batch size: 768\n"]
    said += [
        f"Epoch: [0]  [{step - 1:3d}/300]  eta: 0:01:00  lr: 0.000000  loss: 1.0 (1.1)  time: {mean(step, 20):.4f}  data: 0.0010  max mem: 9000\n"
        for step in range(1, STEPS + 1, 20)
    ]
    return "".join(said)


def megatron_line(step: int) -> str:
    return f" [{at(step):%Y-%m-%d %H:%M:%S.%f}] iteration {step:8d}/     300 | consumed samples: {step * BATCH:12d} | elapsed time per iteration (ms): {1000 * mean(step, 10):.1f} | learning rate: 1.0E-04 | global batch size: {BATCH:5d} | lm loss: 3.1E+00 | loss scale: 1.0 | grad norm: 1.2 | number of skipped iterations:   0 | number of nan iterations:   0 |\n"


megatron_with_evaluations = reports(megatron_line,
    evaluation=lambda step: f" validation loss at iteration {step} | lm loss value: 3.1E+00 | lm loss PPL: 2.2E+01 |\n",
    head="  micro_batch_size ................................ 3\n  global_batch_size ............................... 192\n")  # fmt: skip
nemo_printed_by_two_ranks = reports(
    lambda step: "".join(
        f"[default{rank}]:Training epoch 0, iteration {step - 1}/299 | lr: 2.9e-06 | global_batch_size: {BATCH} | global_step: {step - 1} | reduced_train_loss: 11.0 | train_step_timing in s: {took(step):.4g} | consumed_samples: {step * BATCH}\n"
        for rank in range(2)
    )
)
torchtitan_printed_by_eight_ranks = reports(
    lambda step: "".join(
        f"[rank{rank}]:[titan] {stamp(at(step, 0.001 * rank))} - root - INFO - step: {step:2d}  loss: 8.1  grad_norm:  1.2  memory: 30.11GiB(31.70%)  tps: {round(EACH * TOKENS / mean(step, 10)):,}  tflops: 312.20  mfu: 31.57%\n"
        for rank in range(DEVICES)
    )
)
# the number in the epoch counts parts of steps, num_updates steps
fairseq_with_update_freq = reports(lambda step: f"{at(step):%Y-%m-%d %H:%M:%S} | INFO | train_inner | epoch 001: {4 * step:6d} / 1200 loss=12.1, nll_loss=11.2, ppl=2500.1, wps={BATCH * TOKENS / mean(step, 10):.1f}, ups={1 / mean(step, 10):.2f}, wpb={BATCH * TOKENS:.1f}, bsz={BATCH:.1f}, num_updates={step}, lr=1e-05, gnorm=2.1, clip=0, wall={passed(step):.0f}\n",
    evaluation=lambda step: f'{at(step):%Y-%m-%d %H:%M:%S} | INFO | fairseq_cli.train | begin validation on "valid" subset\n')  # fmt: skip


def keras_whose_last_bar_holds_the_validation() -> str:
    said = []
    for epoch in range(3):
        begun = trained(100 * epoch + 1)
        said.append(f"Epoch {epoch + 1}/3\n")
        for done in range(2, 101, 3):
            ms = 1000 * (trained(100 * epoch + done) - begun) / (done - 1)
            said.append(f"\r{done:3d}/100 ━━━━━━━━━━━━━━━━━━━━ 9s {ms:.0f}ms/step - accuracy: 0.1 - loss: 2.3")
        ms = 1000 * (trained(100 * epoch + 100) - begun + EVALUATION_S) / 99
        said.append(
            f"\r100/100 ━━━━━━━━━━━━━━━━━━━━ 57s {ms:.0f}ms/step - accuracy: 0.1 - loss: 2.3 - val_accuracy: 0.1 - val_loss: 2.2\n"
        )
    return "".join(said)


def paddlenlp_seconds(step: int) -> float:
    """Of an interval, with the evaluation before it."""
    return trained(step) - trained(step - 10) + EVALUATION_S * (step > 100 and evaluated(step - 10))


# the printed rate is the batch of one device over the time of ten steps
paddlenlp_of_2022 = reports(lambda step: f"[{stamp(at(step))}] [    INFO] - loss: 0.85, learning_rate: 3e-06, global_step: {step}, interval_runtime: {paddlenlp_seconds(step):.4f}, interval_samples_per_second: {EACH / paddlenlp_seconds(step):.3f}, interval_steps_per_second: {10 / paddlenlp_seconds(step):.3f}, epoch: 0.1\n",
    evaluation=lambda step: f"[{stamp(at(step))}] [    INFO] - ***** Running Evaluation *****\n",
    head=f"  Total train batch size (w. parallel, distributed & accumulation) = {BATCH}\n")  # fmt: skip
speedometer_with_three_metrics = reports(
    lambda step: "".join(
        f"{stamp(at(step))} Node[0] Epoch[0] Batch [{step - 20}-{step}]\tSpeed: {BATCH / mean(step, 20):.2f} samples/sec\t{metric}=0.01\n"
        for metric in ("accuracy", "top_k_accuracy_5", "cross-entropy")
    ),
    every=20,
)
composer_with_evaluations = reports(lambda step: f"[batch={step}/300]:\n\t Train time/batch: {step - 1}\n\t Train throughput/samples_per_sec: {BATCH / mean(step, 10):.4f}\n\t Train throughput/device/samples_per_sec: {EACH / mean(step, 10):.4f}\n",
    evaluation=lambda step: "[Eval batch=1/20] Eval on eval data:\n\t Eval metrics/eval/LanguageCrossEntropy: 3.1\n")  # fmt: skip


def gemma_with_evaluations() -> str:
    said = [
        f"I0407 23:58:11.000000 1302 train.py:652] Finished training step 0. Batch size: {BATCH}, Loss: 10.9, LR: 0.0\n"
    ]
    before = 1
    for step in range(40, STEPS + 1, 37):
        rate = (step - before) / (passed(step) - passed(before))
        said.append(f"I{at(step):%m%d %H:%M:%S.%f} 1402 logging_writer.py:48] [{step}] steps_per_sec={rate:.6g}\n")
        before = step
        if any(map(evaluated, range(step, step + 37))):
            said.append(f"I{at(step):%m%d %H:%M:%S.%f} 1402 train.py:420] Gathering evaluation metrics.\n")
    return "".join(said)


BRIEF_S = 0.021  # a step of a run that is short against the clock of its log


def briefly(step: int, evaluation_s: float = EVALUATION_S) -> float:
    """Seconds since the start at the end of *step* of the short run; its log does not print the evaluations."""
    return 1.3 + BRIEF_S * (step - 1) + evaluation_s * ((step - 1) // 100)


def llamafactory_in_whole_seconds(evaluation_s: float = EVALUATION_S) -> str:
    return "".join(
        f'{{"current_steps": {step}, "total_steps": {STEPS}, "loss": 2.1, "lr": 1e-06, "epoch": {step / STEPS}, "percentage": {step / 3:.2f}, "elapsed_time": "{timedelta(seconds=int(briefly(step, evaluation_s)))}", "remaining_time": "0:01:01"}}\n'
        for step in range(5, STEPS + 1, 5)
    )


def lightning_with_silent_evaluations() -> str:
    return "".join(
        f"\rEpoch 0: {100 * step // STEPS:3d}%|███       | {step}/{STEPS} [{clock(briefly(step))}<00:10, {step / briefly(step):5.2f}it/s, loss=10.9, v_num=0]"
        for step in range(10, STEPS + 1, 10)
    )


TRUTH: dict[Callable[[], str], float] = {
    trainer_with_accumulation_and_evaluation_bars: SAMPLES_PER_S,
    yolo_with_a_validation_bar_an_epoch: SAMPLES_PER_S,
    mae_whose_iterations_are_parts_of_steps: SAMPLES_PER_S,
    megatron_with_evaluations: SAMPLES_PER_S,
    nemo_printed_by_two_ranks: SAMPLES_PER_S,
    torchtitan_printed_by_eight_ranks: TOKENS_PER_S,
    fairseq_with_update_freq: TOKENS_PER_S,
    keras_whose_last_bar_holds_the_validation: SAMPLES_PER_S,
    paddlenlp_of_2022: SAMPLES_PER_S,
    speedometer_with_three_metrics: SAMPLES_PER_S,
    composer_with_evaluations: SAMPLES_PER_S,
    gemma_with_evaluations: SAMPLES_PER_S,
}
