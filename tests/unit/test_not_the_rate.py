"""Lines that look like the rate of the job and are another: one engine's timer, a second metric, an evaluation."""

import pytest

from evalsuite.logs import catalogue
from evalsuite.logs.reading import read_file
from evalsuite.model import Protocol

DIALECTS = catalogue.discover()


def read(tmp_path, lines, **options):
    path = tmp_path / "train.log"
    path.write_text("".join(f"{line}\n" for line in lines))
    protocol = Protocol(warmup_steps=2, measured_steps=5)
    return read_file(path, **{"dialects": DIALECTS, "protocol": protocol, **options})


def test_the_end_to_end_line_is_the_rate_of_deepspeed_chat_and_no_engines_timer(tmp_path):
    lines = []
    for step in range(1, 12):
        lines += [
            f"[2023-04-18 01:46:{step:02d},171] [INFO] [timer.py:199:stop] epoch=0/micro_step={step}/"
            f"global_step={step}, RunningAvgSamplesPerSec=90.1, CurrSamplesPerSec=91.2, MemAllocated=4.3GB",
            "|E2E latency=4.72s |Gather latency=0.00s (0.00%) |Generate time=1.73s (36.74%) "
            "|Training time=2.77s (58.73%) |Others=0.21 (4.54%)|CurSamplesPerSec=0.85 |AvgSamplesPerSec=1.03",
            "End-to-End => Latency: 2.50s, TFLOPs: 3.31, Samples/sec: 1.60, Time/seq 0.63s, Batch Size: 4, "
            "Total Seq. Length: 512",
        ]

    reading = read(tmp_path, lines)

    assert (reading.dialect, reading.throughput.items_per_s) == ("deepspeed_chat", pytest.approx(1.6))


def test_a_line_for_each_metric_of_a_batch_is_one_worker(tmp_path):
    lines = [
        f"2018-05-0{1} 10:00:{10 + step:02d},{123 + late} Epoch[0] Batch [{20 * step}]\tSpeed: {100 + step / 10:.2f} "
        f"samples/sec\t{metric}=0.1"
        for step in range(1, 12)
        for late, metric in ((0, "accuracy"), (1, "top_k_accuracy_5"))
    ]

    reading = read(tmp_path, lines)

    assert reading.throughput.items_per_s == pytest.approx(100.5, rel=0.01)
    assert "scope_assumed" not in {one.code for one in reading.findings}


BARS = ("{n}/{n} [====================] - 2s {ms}ms/step - loss: 0.5", "{n}/{n} - 2s - {ms}ms/step - loss: 0.5")


@pytest.mark.parametrize("bar", BARS)
def test_the_bar_of_an_evaluation_is_no_training(tmp_path, bar):
    lines = []
    for epoch in range(1, 4):
        lines += [f"Epoch {epoch}/3", bar.format(n=100, ms=20)]
        lines.append(bar.format(n=10, ms=2))  # model.evaluate()

    reading = read(tmp_path, lines, devices=1, batch_per_device=32)

    assert [step.steps for step in reading.steps] == [100] * 3
    assert reading.throughput.items_per_s == pytest.approx(1600.0)


def test_gnmts_own_total_is_read(tmp_path):
    lines = [
        f"{rank}: TRAIN [0][{step}/54]\tTime 0.519 (0.963)\tData 2.41e-04 (2.31e-04)\tTok/s {tokens} (32831)\t"
        "Loss/tok 9.2943 (10.0237)\tLR 4.082e-05"
        for step, tokens in ((0, 900), (10, 33892))
        for rank in (0, 1)
    ]

    reading = read(tmp_path, [*lines, "0: Performance: Epoch: 0\tTraining: 67000 Tok/s"])

    assert reading.reported_final == pytest.approx(67000.0)


def test_a_single_step_of_warm_up_is_no_window(tmp_path):
    # a log that prints every 1000th batch, of which one epoch has fewer: the first batch alone
    line = (
        "0: TRAIN [0][0/54]\tTime 9.519 (9.519)\tData 2.41e-04 (2.31e-04)\tTok/s 900 (900)\t"
        "Loss/tok 9.2943 (10.0237)\tLR 4.082e-05"
    )

    alone = read(tmp_path, [line], devices=1)
    with_total = read(tmp_path, [line, "0: Performance: Epoch: 0\tTraining: 67000 Tok/s"], devices=1)

    assert alone.throughput is None
    assert "warm-up" in alone.reason
    assert with_total.throughput.items_per_s == pytest.approx(67000.0)


def test_lines_that_are_all_as_long_are_not_cut(tmp_path):
    lines = [f"Epoch[0] Batch [{step}]\tSpeed: 100.00 samples/sec\taccuracy=0.1" for step in range(10, 40)]

    assert read(tmp_path, lines).status == "ok"


def keras(epochs):
    """The last line of each epoch as Keras 3 prints it with verbose=2: (milliseconds per step, is it validated)."""
    lines = []
    for number, (ms, validated) in enumerate(epochs, 1):
        score = " - val_accuracy: 0.1250 - val_loss: 2.3022" if validated else ""
        lines.append(f"Epoch {number}/{len(epochs)}\n100/100 - 1s - {ms}ms/step - accuracy: 0.1 - loss: 2.3{score}\n")
    return "".join(lines)


def test_of_epochs_that_all_validate_the_last_bar_before_the_validation_is_read(tmp_path):
    """96 of 100 batches at 80 ms; with 20 s of validation the last bar says 282 ms."""
    bars = [
        f"\r\x1b[1m {done}/100\x1b[0m ━━━━━━\x1b[37m━━\x1b[0m \x1b[1m1s\x1b[0m {ms}ms/step"
        f" - accuracy: 0.1 - loss: 2.3{more}"
        for done, ms, more in ((50, 79, ""), (96, 80, ""), (100, 282, " - val_accuracy: 0.1 - val_loss: 2.3"))
    ]
    bars[-1] = bars[-1].replace("[1m 100", "[1m100").replace("━━━━━━\x1b[37m━━", "━━━━━━━━\x1b[37m")
    epochs = [f"Epoch {number}/4\n{''.join(bars)}" for number in range(1, 5)]

    found = read(tmp_path, epochs, devices=1, batch_per_device=32)

    assert found.throughput.items_per_s == pytest.approx(32 / 0.080)


@pytest.mark.parametrize(
    ("epochs", "ms"),
    [
        ([(90, False), (20, False), (35, True), (20, False), (35, True), (20, False)], 20),
        ([(90, True), (35, True), (35, True), (35, True)], 35),  # each holds one: nothing else is known
    ],
)
def test_keras_epochs_that_were_validated_are_left_out_where_others_were_not(tmp_path, epochs, ms):
    log = tmp_path / "train.log"
    log.write_text(keras(epochs))

    reading = read_file(log, devices=1, batch_per_device=32)

    assert reading.throughput.items_per_s == pytest.approx(32 / ms * 1000)


def test_a_second_fit_of_keras_is_another_attempt(tmp_path):
    epochs = [(90, False), (20, False), (20, False)]
    log = tmp_path / "train.log"
    log.write_text(2 * keras(epochs))

    reading = read_file(log, devices=1, batch_per_device=32)

    assert reading.throughput.items_per_s == pytest.approx(1600)
    assert {one.name for one in reading.findings} & {"restarted", "copied"}


def test_epochs_without_a_number_that_stand_twice_count_once(tmp_path):
    """An appended copy: its first epoch, with start-up, is not measured a second time."""
    epochs = [f"epoch time: {ms}.125 ms, per step time: {ms / 100:.3f} ms" for ms in (61_000, 30_010, 30_020, 30_000)]

    once = read(tmp_path, epochs, devices=1, batch_per_device=32)
    twice = read(tmp_path, epochs + epochs, devices=1, batch_per_device=32)

    assert twice.throughput.items_per_s == once.throughput.items_per_s
    assert {one.name for one in twice.findings} == {"copied"}


def test_a_file_that_begins_between_the_metrics_of_a_batch_holds_one_worker(tmp_path):
    lines = [
        f"2026-04-07 23:58:{batch:02d},100 Node[0] Epoch[0] Batch [{20 * batch}]\t"
        f"Speed: {100 + batch}.50 samples/sec\t{metric}=0.01"
        for batch in range(1, 40)
        for metric in ("accuracy", "top_k_accuracy_5", "cross-entropy")
    ]

    found = read(tmp_path, lines[2:])

    assert (found.printers, found.certainty) == (1, "printed only")


def test_a_lone_report_of_the_first_steps_is_warm_up(tmp_path):
    """A log cut off behind its first report: ten steps, the slow first one among them."""
    log = tmp_path / "train.log"
    log.write_text(
        "{'loss': 2.1, 'learning_rate': 1e-05, 'epoch': 0.03}\n\r  3%|▎         | 10/300 [00:28<01:47,  2.70it/s]\n"
    )

    found = read_file(log, devices=1, batch_per_device=8)

    assert found.throughput is None
    assert found.reason == "the log reports the first 10 steps together and no more: they are warm-up"
