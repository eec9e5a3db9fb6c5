"""MLPerf logs: the number is derived twice from different keys, and none is given where they differ."""

import json

import pytest

from evalsuite.logs import catalogue
from evalsuite.logs.reading import read_file

DIALECTS = catalogue.discover()


def event(key, second, value=None, **metadata):
    said = {"namespace": "", "time_ms": int(1000 * second), "event_type": "POINT_IN_TIME", "key": key, "value": value}
    return f":::MLLOG {json.dumps({**said, 'metadata': metadata})}\n"


def read(tmp_path, *events):
    path = tmp_path / "result_0.txt"
    path.write_text("".join(events))
    return read_file(path, dialects=DIALECTS)


def blocks(count, seconds=10, epochs=1, evaluated=8, begin=100):
    """Blocks of *seconds* each, whose evaluation begins after *evaluated* of them."""
    for number in range(count):
        at = begin + number * seconds
        yield event("block_start", at, first_epoch_num=1 + number * epochs, epoch_count=epochs)
        yield event("eval_start", at + evaluated, epoch_num=(number + 1) * epochs)
        yield event("block_stop", at + seconds - 0.5, first_epoch_num=1 + number * epochs)


def test_blocks_that_agree_with_the_whole_run_have_a_number(tmp_path):
    reading = read(tmp_path, event("train_samples", 90, 8000), *blocks(8), event("run_stop", 181))

    assert (reading.status, reading.throughput.items_per_s) == ("partial", pytest.approx(1000.0))


def test_an_evaluation_that_runs_beside_its_block_does_not_end_its_training(tmp_path):
    # v0.7 Google tpu-v4-128-TF dlrm, tpu-v3-8192-TF ssd: eval_start 12 ms behind block_start; 344 billion samples/s
    reading = read(tmp_path, event("train_samples", 90, 8000), *blocks(8, evaluated=0.012), event("run_stop", 181))

    assert (reading.status, reading.throughput.items_per_s) == ("doubtful", None)
    assert "its epochs make" in reading.reason


def test_epochs_that_count_tokens_make_no_number(tmp_path):
    # v4.0 Intel-HabanaLabs gpt3: 5.9 million samples/s
    lines = [event("block_start", 100, first_epoch_num=0, epoch_count=50331648), event("epoch_start", 100, epoch_num=0)]
    lines += [event("eval_start", 300 + 160 * n, epoch_num=50331648 * (n + 1)) for n in range(8)]
    lines += [event("epoch_stop", 1580, epoch_num=402653184), event("run_stop", 1581)]

    reading = read(tmp_path, event("train_samples", 90, 1574207408), *lines)

    assert (reading.status, reading.throughput.items_per_s) == ("doubtful", None)
    assert "tokens" in reading.reason


def test_games_that_a_benchmark_plays_itself_are_no_samples(tmp_path):
    head = [event("submission_benchmark", 80, "minigo"), event("train_samples", 90, 8000)]

    assert read(tmp_path, *head, *blocks(8)).status == "doubtful"


def test_one_training_sample_is_no_number_of_samples(tmp_path):
    # v0.7 NVIDIA dgx1 minigo: 0.001 samples/s
    assert read(tmp_path, event("train_samples", 90, 1), *blocks(8)).status == "doubtful"


def with_throughput(rate, samples, seconds=100):
    yield event("global_batch_size", 80, 256)
    yield event("train_samples", 90, samples)
    for number in range(6):
        at = 100 + number * seconds
        yield event("epoch_start", at, epoch_num=number)
        yield event("epoch_stop", at + seconds - 10, epoch_num=number)
        yield event("tracked_stats", at + seconds - 10, {"throughput": rate}, step=number + 1)
        yield event("eval_start", at + seconds - 10, epoch_num=number + 1)
    yield event("run_stop", 100 + 6 * seconds)


def test_a_throughput_that_is_of_one_device_is_found_out_by_the_epochs(tmp_path):
    # v4.0 GigaComputing ssd: throughput 290 on each of 8, train_samples 4572 batches of 256
    reading = read(tmp_path, *with_throughput(1300.0 / 8, 4572 // 10))

    assert (reading.dialect, reading.status, reading.throughput.items_per_s) == ("mlperf_mllog", "doubtful", None)


@pytest.mark.parametrize("samples", [117030, 457], ids=["samples", "batches"])
def test_a_throughput_of_all_devices_is_confirmed_by_the_epochs(tmp_path, samples):
    reading = read(tmp_path, *with_throughput(1300.0, samples))

    assert reading.throughput.items_per_s == pytest.approx(1300.0)


def nemo(step, second, seconds=0.5, batch=64, numbered=True):
    at = {"step": float(step - 1), "samples_count": float(batch * step)} if numbered else {"step": float(batch * step)}
    return event("tracked_stats", second, {"train_step_time": seconds, "reduced_train_loss": 8.3}, **at)


@pytest.mark.parametrize("numbered", [True, False], ids=["v5.1 Lambda", "v5.0 Nebius"])
def test_the_steps_of_nemo_have_stamps_and_times(tmp_path, numbered):
    lines = [nemo(step, 100 + 0.5001 * step, numbered=numbered) for step in range(1, 140)]

    reading = read(tmp_path, event("global_batch_size", 90, 64), *lines, event("run_stop", 180))

    assert (reading.dialect, reading.status, reading.certainty) == ("mlperf_nemo", "ok", "two clocks agree")
    assert reading.throughput.items_per_s == pytest.approx(128.0, rel=0.005)


def test_the_losses_of_nemo_tell_how_many_samples_were_trained(tmp_path):
    # v5.1 Dell llama2_70b_lora: a loss each 10 steps, the mean step time at the end of a block alone
    lines = [
        event("tracked_stats", 100 + 5.001 * k, {"train_loss": 2.0}, samples_count=80 * k, lr=0.0005, step=10 * k)
        for k in range(1, 20)
    ]
    lines.append(event("tracked_stats", 196, {"train_step_time": 0.5}, samples_count=1520))

    reading = read(tmp_path, event("global_batch_size", 90, 8), *lines, event("run_stop", 200))

    assert (reading.dialect, reading.status) == ("mlperf_nemo", "ok")
    assert reading.throughput.items_per_s == pytest.approx(16.0, rel=0.005)
