"""MLPerf logs: the number is derived twice from different keys, and none is given where they differ."""

import json

from tests.readings import near, row, seen, short, table


def event(key, second, value=None, **metadata):
    said = {"namespace": "", "time_ms": int(1000 * second), "event_type": "POINT_IN_TIME", "key": key, "value": value}
    return f":::MLLOG {json.dumps({**said, 'metadata': metadata})}\n"


def blocks(count=8, seconds=10, epochs=1, evaluated=8.0, begin=100):
    """Blocks of *seconds* each, whose evaluation begins after *evaluated* of them."""
    for number in range(count):
        at = begin + number * seconds
        yield event("block_start", at, first_epoch_num=1 + number * epochs, epoch_count=epochs)
        yield event("eval_start", at + evaluated, epoch_num=(number + 1) * epochs)
        yield event("block_stop", at + seconds - 0.5, first_epoch_num=1 + number * epochs)


def log(*events, samples=8000):
    """Events behind the number of samples; a sequence of several stands for each of them."""
    head = [event("train_samples", 90, samples)] if samples else []
    return "".join(part for one in (head, *events) for part in ([one] if isinstance(one, str) else one))


def epochs(count):
    """Epochs of 50 s with nothing between them."""
    return [
        event(key, 100 + 50 * (epoch + (key == "epoch_stop")), epoch_num=epoch + 1)
        for epoch in range(count)
        for key in ("epoch_start", "epoch_stop")
    ]


def parts_of_an_epoch():
    for number in range(5):
        yield event("eval_start", 100 + 15 * number, epoch_num=1.05 + 0.05 * number)
        yield event("eval_stop", 105 + 15 * number, epoch_num=1.05 + 0.05 * number)


def counted_blocks():
    for number in range(4):
        yield event("block_stop", 100 + 50 * number, samples_count=1600 + 400 * number)
        yield event("block_start", 100 + 50 * number, samples_count=200 + 50 * number)


def with_throughput(rate, seconds=100):
    yield event("global_batch_size", 80, 256)
    for number in range(6):
        at = 100 + number * seconds
        yield event("epoch_start", at, epoch_num=number)
        yield event("epoch_stop", at + seconds - 10, epoch_num=number)
        yield event("tracked_stats", at + seconds - 10, {"throughput": rate}, step=number + 1)
        yield event("eval_start", at + seconds - 10, epoch_num=number + 1)
    yield event("run_stop", 100 + 6 * seconds)


def gpt(steps, pause_s=0):
    """4,000 tokens in 10 s; behind the fifth report a validation of *pause_s*."""
    for number in steps:
        if number == 6 and pause_s:
            yield event("tracked_stats", 5, {"validation_step_timing in s": 4.3})
        at = 10 * number + 0.001 + (pause_s if number > 5 else 0)
        yield event("tracked_stats", at, {"train_step_timing in s": 9.9}, step=4000 * number)


def nemo(*, numbered):
    yield event("global_batch_size", 90, 64)
    for step in range(1, 140):
        at = {"step": step - 1.0, "samples_count": 64.0 * step} if numbered else {"step": 64.0 * step}
        yield event("tracked_stats", 100 + 0.5001 * step, {"train_step_time": 0.5, "reduced_train_loss": 8.3}, **at)
    yield event("run_stop", 180)


def losses():
    yield event("global_batch_size", 90, 8)
    for k in range(1, 20):
        yield event("tracked_stats", 100 + 5.001 * k, {"train_loss": 2.0}, samples_count=80 * k, lr=0.0005, step=10 * k)
    yield event("tracked_stats", 196, {"train_step_time": 0.5}, samples_count=1520)
    yield event("run_stop", 200)


SPEEDOMETER = "".join(
    f"2022-05-25 14:35:{10 + step},500 Node[0] INFO:root:Epoch[0] Batch [{step - 1}-{step}]\t"
    "Speed: 16.00 samples/sec\taccuracy=0.01\n"
    for step in range(1, 9)
)
NO_NUMBER = {"status": "doubtful", "items_per_s": None}
NEMO = {"dialect": "mlperf_nemo", "status": "ok"}
ROWS = {
    "blocks that agree with the whole run have a number": row(
        log(blocks(), event("run_stop", 181)), status="partial", items_per_s=1000.0),
    "a block ends where its evaluation begins": row(
        log(blocks(4, 60, 4, evaluated=50), event("run_stop", 400), samples=10_000), short(),
        {"dialect": "mlperf_blocks", "covers": [4] * 4, "items_per_s": 40_000 / 50}),
    # v0.7 Google tpu-v4-128-TF dlrm, tpu-v3-8192-TF ssd: eval_start 12 ms behind block_start; 344 billion samples/s
    "an evaluation that runs beside its block does not end its training": row(
        log(blocks(evaluated=0.012), event("run_stop", 181)), **NO_NUMBER, reason="its epochs make"),
    # v1.1_baidu_8xA100_paddle_resnet: the first block claims four epochs and has three
    "epochs are believed before the block around them": row(
        log(
            *(event("block_start", 100, first_epoch_num=1, epoch_count=4), epochs(3)),
            *(event("block_stop", 260, first_epoch_num=3), event("run_stop", 400)),
            samples=10_000,
        ),
        short(),
        {"dialect": "mlperf_epochs", "covers": [1] * 3, "items_per_s": 10_000 / 50},
    ),
    # v0.7_inspur_8gpu_dlrm: evaluations every 0.05 epochs, and the run ends before the epoch does
    "an epoch that is evaluated within counts its parts": row(
        log(
            *(event("block_start", 90, first_epoch_num=1, epoch_count=1), event("epoch_start", 90, epoch_num=1)),
            *(parts_of_an_epoch(), event("run_stop", 165), event("epoch_stop", 165, epoch_num=1)),
            samples=10_000,
        ),
        short(),
        {"dialect": "mlperf_epochs", "items_per_s": 0.05 * 10_000 / 10},
    ),
    # v4.0_habana_gaudi2_lora: block_start says an eighth of what block_stop counts
    "blocks counted in samples do not trust the count of their start": row(
        log(counted_blocks(), event("run_stop", 300), samples=None), short(),
        {"dialect": "mlperf_samples", "items_per_s": 400 / 50}),
    # v4.0 Intel-HabanaLabs gpt3: 5.9 million samples/s
    "epochs that count tokens make no number": row(
        log(
            event("block_start", 100, first_epoch_num=0, epoch_count=50331648),
            event("epoch_start", 100, epoch_num=0),
            [event("eval_start", 300 + 160 * n, epoch_num=50331648 * (n + 1)) for n in range(8)],
            *(event("epoch_stop", 1580, epoch_num=402653184), event("run_stop", 1581)),
            samples=1574207408,
        ),
        **NO_NUMBER,
        reason="tokens",
    ),
    "games that a benchmark plays itself are no samples": row(
        event("submission_benchmark", 80, "minigo") + log(blocks()), **NO_NUMBER),
    # v0.7 NVIDIA dgx1 minigo: 0.001 samples/s
    "one training sample is no number of samples": row(log(blocks(), samples=1), **NO_NUMBER),
    # v4.0 GigaComputing ssd: throughput 290 on each of 8, train_samples 4572 batches of 256
    "a throughput that is of one device is found out by the epochs": row(
        log(with_throughput(1300.0 / 8), samples=4572 // 10), dialect="mlperf_mllog", **NO_NUMBER),
    "a throughput of all devices is confirmed by epochs in samples": row(
        log(with_throughput(1300.0), samples=117030), items_per_s=1300.0),
    "a throughput of all devices is confirmed by epochs in batches": row(
        log(with_throughput(1300.0), samples=457), items_per_s=1300.0),
    "the GPT benchmark counts tokens and leaves validation out": row(
        log(gpt(range(1, 10), pause_s=7), samples=None), short(),
        {"dialect": "mlperf_gpt", "unit": "tokens/s", "items_per_s": 400.0}),
    # found by mutated samples: the log's own figure is far from its own count, and no batch was given
    "items that the log counts itself are not doubted for ever": row(
        log(gpt(range(1, 9)), event("tracked_stats", 9, {"throughput": 9.0}), samples=None), short(),
        codes={"final_disagrees"}),
    "the steps of NeMo have stamps and times (v5.1 Lambda)": row(
        log(nemo(numbered=True), samples=None), **NEMO, certainty="two clocks agree", items_per_s=near(128.0, 0.005)),
    "the steps of NeMo have stamps and times (v5.0 Nebius)": row(
        log(nemo(numbered=False), samples=None), **NEMO, certainty="two clocks agree", items_per_s=near(128.0, 0.005)),
    # v5.1 Dell llama2_70b_lora: a loss each 10 steps, the mean step time at the end of a block alone
    "the losses of NeMo tell how many samples were trained": row(
        log(losses(), samples=None), **NEMO, items_per_s=near(16.0, 0.005)),
    "the global batch of the log proves whose rate its speedometer prints": row(
        event("global_batch_size", 80, 16) + SPEEDOMETER, short(2),
        {"scope": "global", "findings": (), "method": "log stamps", "items_per_s": 16.0}),
}  # fmt: skip


@table(ROWS)
def test_an_mlperf_log_gives_the_number_that_its_keys_agree_on_or_none(row, tmp_path):
    assert seen(tmp_path, row) == row.expected
