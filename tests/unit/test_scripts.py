"""What each script means by its lines: steps, rates, totals; and lines that look like a rate and are another."""
# ruff: noqa: E501 (a line of a log is kept whole)

import json

from evalsuite.model import Protocol
from tests.readings import LOGS, card_line, each, example_line, near, on, row, seen, short, speed_line, table

FULL, TEN_AND_30 = Protocol(), Protocol(warmup_steps=10, measured_steps=30)

# the four dialects of the reference workloads


def stamped_speed(rate):
    return each(range(1, 9), lambda step: f"2020-07-10 18:52:{10 + step},500 Node[0] {speed_line(step, rate)}")


def history_line(report):
    return f"I1120 23:37:{10 + 2 * report}.5 140651157302144 keras_utils.py:145] TimeHistory: 2.00 seconds, 80.00 examples/second between steps {10 * report} and {10 * report + 10}"


CARDS = each(range(8), card_line)
EXAMPLES = each(range(1, 9), example_line)
REFERENCE = {
    "ranks that repeat a step are counted once": row(
        each([(step, s) for step in range(1, 8) for s in (0.4, 0.6)], example_line), short(2, 8),
        {"items_per_s": 16 / 0.5, "ends": (1, 7), "covers": [1] * 7}),
    "whose rate a speedometer prints is told by the clock: that of one device": row(
        stamped_speed(8.0), short(2, 8), scope="per_device", items_per_s=16.0, printed_items_per_s=16.0),
    "whose rate a speedometer prints is told by the clock: that of all devices": row(
        stamped_speed(16.0), short(2, 8), scope="global", items_per_s=16.0, printed_items_per_s=16.0),
    "the rate of one card alone makes no number": row(CARDS, short(), throughput=None, reason="--devices"),
    "the rate of one card is brought to all cards": row(CARDS, short(4), items_per_s=64.0),
    # iterations 5 to 9 take 1 s each, the following ones 2 s: the mean is printed
    "a running mean is turned into what was added to it": row(
        each(range(5), lambda step: card_line(step, 9.0, 1.0, "lr")) + each([(9, 1.0), (11, (5 + 4) / 7), (13, (5 + 8) / 9)], lambda step, mean: card_line(step, mean, 8 / mean, "lr")),
        short(1, 8), last_seconds=near([4.0, 4.0], 1e-3), last_rates=near([4.0, 4.0], 1e-3)),
    # PaddleClas since 2024 resets its meters at each line, which says so no more than that it names the scheduler
    "a mean since the line before is taken as it stands": row(
        each((0, 10, 20, 30), lambda step: card_line(step, 0.5 + step / 100, 1.0)), short(1, 8),
        last_seconds=near([7.0, 8.0], 1e-6)),
    "TimeHistory covers the steps between its two numbers": row(
        each(range(5), history_line), on(2, 8, protocol=Protocol(warmup_steps=10, measured_steps=20)),
        {"method": "log stamps", "items_per_s": 16 * 10 / 2, "covers": [10] * 5}),
    # tf-models-official 2.1.0.dev2
    "TimeHistory once printed no seconds": row(
        each([(10 * n, 10 * n + 10) for n in range(4)], "keras_utils.py:122] TimeHistory: 100.00 examples/second between steps {} and {}"),
        on(protocol=TEN_AND_30), items_per_s=100.0),
    "a time of zero was not measured": row(
        each(range(1, 9), lambda n: example_line(n, *((0.0,) if n == 4 else ()), mean=0.0 if n == 4 else 0.5)),
        short(1, 8), seconds=[0.5, 0.5, 0.5, None, 0.5, 0.5, 0.5, 0.5]),
    "batch and devices are asked for where both lack": row(
        EXAMPLES, short(), reason="say --batch-per-device and --devices"),
    "with a batch, only the devices are asked for": row(
        EXAMPLES, short(None, 8), reason="trained in them: say --devices"),
    "with the devices, only the batch is asked for": row(
        EXAMPLES, short(8), reason="trained in them: say --batch-per-device"),
}  # fmt: skip

# the numbers of steps


def dll_line(n, step, rate=8.0, seconds=1):
    return f"DLL 2023-08-01 05:45:{10 + seconds * n}.500000 - Iteration: {step}  throughput_train : {rate} seq/s mlm_loss : 1.0"


def mmcv_line(epoch, i):
    return f"2021-05-31 09:18:37,085 - mmdet - INFO - Epoch [{epoch}][{i}/40]\tlr: 3.450e-03, eta: 0:00:08, time: 0.500, data_time: 0.027, memory: 29369, loss_cls: 2.1192, loss: 2.9123"


def chainer_report(*keys):
    entries = [{"epoch": n, "iteration": 100 * n, "elapsed_time": 50.0 * n, "main/loss": 1.5} for n in range(1, 6)]
    return json.dumps([{key: entry[key] for key in ("main/loss", *keys)} for entry in entries], indent=4) + "\n"


NUMBERS = {
    "step numbers that restart with each epoch go on": row(
        each([(n, e) for e in range(3) for n in range(1, 5)], lambda n, epoch: example_line(n, epoch=epoch, of=4)),
        short(1, 8), {"index": [*range(1, 13)], "paused": [5, 9]}),
    "an overflow that repeats its number is no restart": row(
        each(enumerate([1, 1, 1, 2, 3, 4, 5, 6, 7]), dll_line), short(1, 8),
        {"codes": set(), "index": [*range(1, 8)], "items_per_s": 8.0}),
    "an overflow that takes back the step before is no restart": row(
        each(enumerate([0, 1, 1, 0, 0, 1, 2, 3, 4, 5, 6], 21), "DLL 2023-07-28 14:{}:24.402209 - Training Epoch: 0 Training Iteration: {}  average_loss : 11.1"),
        short(1, 60), {"codes": set(), "index": [*range(1, 8)], "items_per_s": 1.0}),
    "mmcv's iterations begin again with each epoch": row(
        each([(epoch, i) for epoch in (1, 2) for i in (10, 20, 30, 40)], mmcv_line), on(8, 2, protocol=TEN_AND_30),
        {"index": [*range(10, 90, 10)], "items_per_s": 8 * 2 / 0.5}),
    "mmcv's lines with several learning rates": row(
        each((10, 20, 30, 40, 50), "2021-05-31 09:18:{0},085 - mmseg - INFO - Iter [{0}/80000]\tlr_backbone: 3.450e-04 lr_head: 3.450e-03, eta: 0:00:08, time: 1.000, data_time: 0.027, memory: 29369, decode.loss_seg: 2.1192, loss: 2.9123"),
        on(1, 2, protocol=TEN_AND_30), items_per_s=2 / 1.0),
    "the steps of NVIDIA's TensorFlow 1 go on over epochs": row(
        each([(step // 10, step // 30, step) for step in range(10, 100, 10)], "DLL 2022-11-24 04:11:{:02}.000000 - ({}, {}) imgs_per_sec : 2560.0 cross_entropy : 7.01 "),
        on(8, 32, protocol=TEN_AND_30), {"index": [*range(10, 100, 10)], "covers": [10] * 9}),
    **{
        f"Chainer's entries may have their keys in any order: {keys}": row(
            chainer_report(*keys),
            on(2, 16, protocol=TEN_AND_30),
            {"dialect": "chainer_logreport", "items_per_s": 2 * 16 * 100 / 50},
        )
        for keys in (
            ("epoch", "iteration", "elapsed_time"),
            ("elapsed_time", "epoch", "iteration"),
            ("iteration", "elapsed_time", "epoch"),
        )
    },
    "a speedometer without a metric counts iterations": row(
        each(((20, 10.0), (40, 64.0), (60, 64.0)), "INFO:root:Iter[0] Batch [{}]\tSpeed: {:.2f} samples/sec"),
        on(1, protocol=TEN_AND_30), {"dialect": "mxnet_speedometer", "items_per_s": 64.0}),
    "epochs of unknown length are not taken for steps": row(
        each(range(1, 6), "Time taken for epoch {} is 700.0 sec, avg 80.0 samples/sec"), short(1, 64),
        {"status": "partial", "items_per_s": 80.0}),
    "the speed of an epoch covers the batches that the line before counts": row(
        each([(epoch, 300 + epoch) for epoch in range(3)], "[1,0]<stderr>:INFO:root:Epoch[{0}] Rank[0] Batch[1251]\tTime cost=403.06\tTrain-metric=0.02\n[1,0]<stderr>:INFO:root:Epoch[{0}]\tSpeed: {1}.0 samples/sec"),
        **{"dialect": "gluoncv_epoch", "covers": [1251] * 3, "status": "ok", "items_per_s": near(301.5, 1e-4)}),
    "a task of unknown length makes no number whatever the batch": row(
        2 * "[2020-07-26 04:01:26,378] [DEBUG] [timing_utils.py:55:report_timing] task_process time is 12.5577 seconds\n",
        short(2, 64),
        {"throughput": None, "reason": "the log prints how long a report took and not how many steps it covers"}),
}  # fmt: skip

# bars and their means


def espnet_bars(step):
    """20 s for the first step, then one second each."""
    return "\r".join(
        f"Epoch 0, training loss 0.2:   5%|     | {step}/182 [00:00<08:22, {(more + step) / step:5.2f}s/it]"
        for more in (19, 19.1)
    )


def full_bars(epoch, took):
    def bar(steps, took, images):
        return f" [===== {steps}/{steps} =====>]  Step: 75ms | Tot: {took} | Loss: 1.8 | Acc: 32.2% (1/{images})"

    return f"Epoch: {epoch}\n{bar(391, took, 50000)}\n{bar(100, '9s', 1e4)}"


def chainer_bars():
    """One second each up to step 50, then two, with bars over a hundred."""
    ends = [10.0]
    for step in range(2, 151):
        ends.append(ends[-1] + (1 if step <= 50 else 2))
    said = "Num of GPUs : 4\nMinibatch-size: 8\n"
    for number, end in enumerate(ends):
        begin = max(0, number - 100)
        speed = f"{(number - begin) / (end - ends[begin]):10.5g}" if number else "       inf"
        said += f"{number + 1:10d} iter, 0 epoch / 10 epochs\n{speed} iters/sec. Estimated time to finish: 0:00:04.\n"
    return said


def lightning_bar(epoch, step):
    """Half a second for each of 40 steps, then a quarter, in both epochs."""
    passed = 0.5 * step if step <= 40 else 20 + 0.25 * (step - 40)
    clock = f"{int(passed) // 60:02d}:{int(passed) % 60:02d}"
    counts = f"global_step={200 * epoch + step - 1}.0, consumed_samples={8 * (200 * epoch + step - 1)}.0"
    return f"Epoch {epoch}:   5%|     | {step}/200 [{clock}<01:00, {step / passed:5.2f}it/s, loss=2.5, {counts}]\r"


def keras_epochs(*epochs):
    """The last line of each epoch as Keras 3 prints it with verbose=2: (milliseconds per step, is it validated)."""
    scores = {False: "", True: " - val_accuracy: 0.1250 - val_loss: 2.3022"}
    numbered = [(number, len(epochs), ms, scores[validated]) for number, (ms, validated) in enumerate(epochs, 1)]
    return each(numbered, "Epoch {}/{}\n100/100 - 1s - {}ms/step - accuracy: 0.1 - loss: 2.3{}")


VALIDATED_BARS = "".join(
    f"\r\x1b[1m{done:3d}/100\x1b[0m {bar} \x1b[1m1s\x1b[0m {ms}ms/step - accuracy: 0.1 - loss: 2.3{more}"
    for done, bar, ms, more in (
        (50, "━━━━━━\x1b[37m━━\x1b[0m", 79, ""),
        (96, "━━━━━━\x1b[37m━━\x1b[0m", 80, ""),
        (100, "━━━━━━━━\x1b[37m\x1b[0m", 282, " - val_accuracy: 0.1 - val_loss: 2.3"),
    )
)
MINDSPORE_EPOCHS = each(
    (61_000, 30_010, 30_020, 30_000), lambda ms: f"epoch time: {ms}.125 ms, per step time: {ms / 100:.3f} ms"
)
BARS = {
    "a bar whose rate is the mean since the epoch began is no rate of its steps": row(
        "Number of GPUs: 4\rNamespace(aux=True, aux_weight=0.5, batch_size=16, ngpus=4)\r" + "".join(f"{espnet_bars(step)}\r" for step in range(1, 121)),
        **{"total_devices": 4, "batch_per_device": 4, "findings": (), "items_per_s": near(16, 0.01)}),
    "the full bar of an epoch counts its images and that of its test does not": row(
        each(enumerate(["9m9s", "1m2s", "62s0ms", "1m2s"]), full_bars),
        **{"covers": [390] * 4, "items_per_s": 50000 * 390 / 391 / 62}),
    "a bar before DLLogger has a smoothed rate and its last one is no result": row(
        "device: cuda n_gpu: 1, distributed training: False\n  Batch size = 4\n" + each(range(1, 10), lambda n: f"Iteration:   1%|     | {n}/9 [00:00<00:09,  {2.0 if n < 9 else 2.5}it/s]") + " training throughput: 10.0\n",
        short(), {"items_per_s": 8.0, "reported_final": 10.0, "codes": {"final_disagrees"}}),
    "a bar of Chainer prints the mean since its first": row(
        chainer_bars(), on(protocol=Protocol(warmup_steps=20, measured_steps=30)), items_per_s=near(32, 1e-3)),
    "a bar of Chainer prints the mean over its last hundred": row(
        chainer_bars(), on(protocol=Protocol(warmup_steps=120, measured_steps=30)), items_per_s=near(16, 1e-3)),
    "Lightning's bar prints the mean since its epoch began": row(
        "".join(lightning_bar(epoch, step) for epoch in (0, 1) for step in range(2, 201)),
        on(protocol=Protocol(warmup_steps=40, measured_steps=100)),
        {"items_per_s": near(8 / 0.25, 0.04), "paused": [202]}),
    **{
        f"the bar of an evaluation is no training: {bar}": row(
            each(range(1, 4), lambda epoch, bar=bar: f"Epoch {epoch}/3\n{bar.format(100, 20)}\n{bar.format(10, 2)}"),
            short(1, 32),
            **{"covers": [100] * 3, "items_per_s": 1600.0},
        )
        for bar in (
            "{0}/{0} [====================] - 2s {1}ms/step - loss: 0.5",
            "{0}/{0} - 2s - {1}ms/step - loss: 0.5",
        )
    },
    # 96 of 100 batches at 80 ms; with 20 s of validation the last bar says 282 ms
    "of Keras epochs that all validate the last bar before the validation is read": row(
        each(range(1, 5), f"Epoch {{}}/4\n{VALIDATED_BARS}"), short(1, 32), items_per_s=32 / 0.080),
    "Keras epochs that were validated are left out where others were not": row(
        keras_epochs((90, False), (20, False), (35, True), (20, False), (35, True), (20, False)), on(1, 32),
        items_per_s=32 / 20 * 1000),
    "Keras epochs that were validated are read where all were": row(
        keras_epochs((90, True), (35, True), (35, True), (35, True)), on(1, 32), items_per_s=32 / 35 * 1000),
    "a second fit of Keras is another attempt": row(
        2 * keras_epochs((90, False), (20, False), (20, False)), on(1, 32), items_per_s=1600.0, codes={"copied"}),
    # an appended copy: its first epoch, with start-up, is not measured a second time
    "epochs without a number are counted": row(MINDSPORE_EPOCHS, short(1, 32), items_per_s=near(32 / 0.3001, 1e-3)),
    "epochs without a number that stand twice count once": row(
        2 * MINDSPORE_EPOCHS, short(1, 32), items_per_s=near(32 / 0.3001, 1e-3), codes={"copied"}),
    "a lone report of the first steps is warm-up": row(
        "{'loss': 2.1, 'learning_rate': 1e-05, 'epoch': 0.03}\n\r  3%|▎         | 10/300 [00:28<01:47,  2.70it/s]\n",
        on(1, 8),
        {"throughput": None, "reason": "the log reports the first 10 steps together and no more: they are warm-up"}),
}  # fmt: skip

# whose rate


def gnmt_line(step, tokens, rank=0, seconds="0.519 (0.963)"):
    return f"{rank}: TRAIN [0][{step}/54]\tTime {seconds}\tData 2.41e-04 (2.31e-04)\tTok/s {tokens} (32831)\tLoss/tok 9.2943 (10.0237)\tLR 4.082e-05"


GNMT_TOTAL = "0: Performance: Epoch: 0\tTraining: 67000 Tok/s\n"
FIRST_OF_GNMT = gnmt_line(0, 900, seconds="9.519 (9.519)") + "\n"
DONE = "Done benchmarking. Total images: 5600\ttotal time: 80.478\tAverage images/sec: 69.585\tMedian\n"
THREE_METRICS = each(
    [(n, 20 * n, 100 + n, it) for n in range(1, 40) for it in ("accuracy", "top_k_accuracy_5", "cross-entropy")],
    "2026-04-07 23:58:{:02d},100 Node[0] Epoch[0] Batch [{}]\tSpeed: {}.50 samples/sec\t{}=0.01",
)


def deepspeed_chat(step):
    return f"[2023-04-18 01:46:{step:02d},171] [INFO] [timer.py:199:stop] epoch=0/micro_step={step}/global_step={step}, RunningAvgSamplesPerSec=90.1, CurrSamplesPerSec=91.2, MemAllocated=4.3GB\n|E2E latency=4.72s |Gather latency=0.00s (0.00%) |Generate time=1.73s (36.74%) |Training time=2.77s (58.73%) |Others=0.21 (4.54%)|CurSamplesPerSec=0.85 |AvgSamplesPerSec=1.03\nEnd-to-End => Latency: 2.50s, TFLOPs: 3.31, Samples/sec: 1.60, Time/seq 0.63s, Batch Size: 4, Total Seq. Length: 512"


def paddlenlp(batch, seconds, last):
    """16 reports of 10 steps; older versions print the rate of one step of one device."""
    rate = batch / seconds if last == "progress_or_epoch" else batch / (10 * seconds)
    return each(
        range(10, 170, 10),
        lambda step: (
            f"[    INFO] - loss: 0.85, learning_rate: 3e-06, global_step: {step}, interval_runtime: {10 * seconds:.4f}, interval_samples_per_second: {rate:.4f}, interval_steps_per_second: {1 / seconds:.3f}, {last}: {step / 20}"
        ),
    )


PADDLENLP_BATCH = "  Total train batch size (w. parallel, distributed & accumulation) = 64\n"
PADDLENLP_TOKENS = each(
    range(1, 150),
    "loss: 12.0, global_step: {}, max_memory_reserved: 7.7, interval_runtime: 0.25, interval_samples_per_second: 32.0, interval_tokens_per_second_per_device: 4096.0, interval_steps_per_second: 4.0, progress_or_epoch: 0.0",
)
EVALUATED = "[31d03h29m46s][HUGECTR][INFO]: Evaluation, AUC: 0.77\n"
PADDLE_BERT = LOGS / "paddle_bert_1.8.log"
PADDLE_NODES = "worker_endpoints:['a:1', 'b:1'] trainers_num:2 current_endpoint:a:1               trainer_id:0\n"
RATES = {
    "a batch that the clock denies is not multiplied with": row(
        each(range(1, 9), lambda n: dll_line(n, n, 352.0, 2)), short(1, 8), items_per_s=352.0, codes={"batch_doubted"}),
    "a mislabelled rate is found out by the log's own total": row(
        each(range(10), "Iter #{}: 4000.0 img/sec GPU") + "Total img/sec on 32 GPU(s): 4000.0 +-2.0\n", short(),
        {"items_per_s": 4000.0, "scope": "global"}),
    "a final figure of one device asks for their number": row(
        DONE, short(), status="partial", throughput=None, reason="--devices"),
    "a final figure of one device is multiplied with their number": row(DONE, short(8), items_per_s=8 * 69.585),
    "the end-to-end line is the rate of DeepSpeed-Chat and no engine's timer": row(
        each(range(1, 12), deepspeed_chat), short(), dialect="deepspeed_chat", items_per_s=1.6),
    "the DeepSpeed of 2022 prints the rate of the last step beside the mean": row(
        each((10, 20, 30, 40, 50), "[2022-09-01 10:00:{0},000] [INFO] [timer.py:197:stop] 0/{0}, RunningAvgSamplesPerSec=90.0, CurrSamplesPerSec=100.0, MemAllocated=3.96GB, MaxMemAllocated=5.12GB"),
        on(protocol=TEN_AND_30), {"dialect": "deepspeed", "items_per_s": 100.0}),
    # samples_per_iter leaves the batch of a device out: accumulation x devices ÷ seconds
    "wordplay's tokens are counted and not its samples": row(
        each(range(1, 50), "step={} loss=3.6 dt=80.0 dtf=4.3 dtb=75.0 sps=100.0 mtps=1.6384 mfu=-100.0"),
        on(protocol=TEN_AND_30), {"unit": "tokens/s", "items_per_s": 1_638_400.0}),
    "a line for each metric of a batch is one worker": row(
        each([(10 + n, ms, n, n, it) for n in range(1, 12) for ms, it in ((123, "accuracy"), (124, "top_k_accuracy_5"))], "2018-05-01 10:00:{:02d},{} Epoch[0] Batch [{}0]\tSpeed: 100.{:02d} samples/sec\t{}=0.1"),
        short(), {"items_per_s": near(100.5, 0.01), "codes": set()}),
    "a file that begins between the metrics of a batch holds one worker": row(
        THREE_METRICS.split("\n", 2)[2], short(), printers=1, certainty="printed only"),
    "lines that are all as long are not cut": row(
        each(range(10, 40), "Epoch[0] Batch [{}]\tSpeed: 100.00 samples/sec\taccuracy=0.1"), short(), status="ok"),
    "GNMT's own total is read": row(
        each([(s, t, rank) for s, t in ((0, 900), (10, 33892)) for rank in (0, 1)], gnmt_line) + GNMT_TOTAL, short(),
        reported_final=67000.0),
    # a log that prints every 1000th batch, of which one epoch has fewer: the first batch alone
    "a single step of warm-up is no window": row(FIRST_OF_GNMT, short(1), throughput=None, reason="warm-up"),
    "the total beside a single step of warm-up is read": row(FIRST_OF_GNMT + GNMT_TOTAL, short(1), items_per_s=67000.0),
    "the rate of one step of one device that older PaddleNLP prints is not read": row(
        paddlenlp(64, 0.5, "epoch"), throughput=None, reason="say --batch-per-device and --devices"),
    "the time of the steps of older PaddleNLP is read": row(
        PADDLENLP_BATCH + paddlenlp(64, 0.5, "epoch"), items_per_s=128.0),
    "the rate of newer PaddleNLP is that of all devices": row(
        paddlenlp(64, 0.5, "progress_or_epoch"), items_per_s=128.0),
    "tokens of PaddleNLP's pre-training are those of one device": row(PADDLENLP_TOKENS, throughput=None),
    "tokens of PaddleNLP's pre-training are multiplied with the devices": row(
        PADDLENLP_TOKENS, on(8), items_per_s=8 * 4096.0),
    "Paddle's steps per second need the number of nodes": row(
        PADDLE_BERT, on(8, 64), dialect="paddle_bert_1.8", throughput=None, reason="nodes"),
    "the number of nodes of Paddle may stand in the log": row(
        PADDLE_NODES + PADDLE_BERT.read_text(), on(16, 64), items_per_s=near(16 * 64 * 1.0684 / 2, 0.01)),
    # v1.0_gigabyte_dlrm_hugectr: 1.57 s for 1000 iterations, 2.20 s with an evaluation
    "a report of HugeCTR whose time holds an evaluation is left out": row(
        ':::MLLOG {"namespace": "", "time_ms": 1, "key": "global_batch_size", "value": 16, "metadata": {}}\n' + each([("" if n % 4 else EVALUATED, 1000 * n, 1.6 if n % 4 else 2.2) for n in range(1, 9)], "{}[31d03h29m41s][HUGECTR][INFO]: Iter: {} Time(1000 iters): {}s Loss: 0.12"),
        short(2),
        {"dialect": "hugectr", "index": [1000, 2000, 3000, 5000, 6000, 7000], "items_per_s": 16 * 1000 / 1.6}),
}  # fmt: skip

# what stands between and before the lines

PREFIXES = ("[1,{}]<stdout>:", "{}: ", "[rank{}]:", "[{}]<stdout>:", "Thu Jun  9 09:15:17 2022[1,{}]<stderr>:")
MIDNIGHT = ("23:59:58.500", "23:59:59.500", *(f"00:00:0{second}.500" for second in range(7)))
AROUND = {
    **{
        f"launchers' prefixes say who prints: {prefix}": row(
            each(
                [(step, rank) for step in range(1, 9) for rank in (0, 1)],
                lambda step, rank, prefix=prefix: speed_line(step, 10.0 + rank, prefix.format(rank)),
            ),
            short(2, scope="own"),
            items_per_s=21.0,
        )
        for prefix in PREFIXES
    },
    "colours, carriage returns and broken text do not hide a line": row(
        b"".join(
            f"\x1b[32m 10%|██\x1b[0m| 3/30\r\x1b[36m{speed_line(step)}\x1b[0m".encode() + b"\xff\xfe\r\n"
            for step in range(1, 9)
        ),
        short(),
        {"items_per_s": 10.0, "lines": [*range(1, 9)]},
    ),
    "a restart within the file leaves the attempt with the most steps": row(
        each(range(1, 4), lambda step: example_line(step, 9.0)) + EXAMPLES, short(1, 8),
        {"items_per_s": 16.0, "codes": {"restarted"}}),
    "a time of day goes on after midnight": row(
        each(enumerate(MIDNIGHT, 1), lambda n, time: f"{time} {speed_line(n, 8.0)}"), short(1, 8), items_per_s=8.0),
    "evaluation between steps is a pause also where the file is read in pieces": row(
        each(range(1, 5), lambda step: example_line(step, of=9)) + f"Test: [  1/196]\tTime 1.2 ( 1.2)\n{('x' * 100 + chr(10)) * 400}" + each(range(5, 10), lambda step: example_line(step, of=9)),
        short(1, 8), paused=[5]),
    "a log of something else has no number": row("hello\n12 images/s\n", status="unrecognised", throughput=None),
    # found by fuzzing
    "digits that make no number are no step": row(
        f"epoch time: 360760.9.5 ms, per step time: 288.378 ms\nepoch time: {'9' * 400} ms, per step time: 1 ms\n",
        short(1, 8, dialect="mindspore"), {"steps": (), "throughput": None}),
    "a log cut off in the middle of a line loses that line": row(
        each(range(1, 12), example_line).rpartition("Time")[0] + "Time  0.", short(1, 8),
        {"status": "incomplete", "reason": "the log ends in the middle of line 11", "ends": (1, 10)}),
}  # fmt: skip

# failures are results


def failed(text):
    return f"{example_line(1)}\n{text}\nbye\n"


FAILURES = {
    **{
        kind: row(
            failed(text),
            short(1, 8),
            status="failed",
            reason=f"{kind}, line {2 + text.count(chr(10))}: {text.splitlines()[-1]}",
        )
        for kind, text in {
            "out of memory": "RuntimeError: CUDA out of memory. Tried to allocate 1.02 GiB (GPU 0)",
            "Python exception": (
                'Traceback (most recent call last):\n  File "a.py", line 1\n    x()\nValueError: no such layer'
            ),
            "communication": "RuntimeError: NCCL error in: ProcessGroupNCCL.cpp:825, unhandled system error",
            "segmentation fault": "mpiexec noticed that process rank 1 exited on signal 11 (Segmentation fault).",
            "timed out": "slurmstepd: error: *** STEP 1.0 ON n7 CANCELLED AT 2021-05-26T17:04:05 DUE TO TIME LIMIT ***",
            "killed": "Killed",
            "wrong options": "train.py: error: unrecognized arguments: --num-warmup-batches 1",
        }.items()
    },
    "the cause is named and not its consequences": row(
        failed("[1] Connection reset by peer\ntorch.OutOfMemoryError: CUDA out of memory.\nChildFailedError: train.py"),
        short(1, 8), reason="out of memory, line 3: torch.OutOfMemoryError: CUDA out of memory."),
    "a warning that was survived is no failure": row(
        EXAMPLES + "tried to allocate: CUDA out of memory, but went on\n" + each(range(9, 12), example_line),
        short(1, 8), status="ok"),
}  # fmt: skip

# the number of devices


WORLD_SIZES = (
    "Namespace(batch_size=32, world_size=8, dist_url='env://')\n",
    "[06/20 09:59:40] detectron2 INFO: Rank of current process: 0. World size: 8\n",
    "WORLD_SIZE=8\n",
)
OTHER_SIZES = (
    "Namespace(batch_size=32, world_size=1, dist_url='env://')\n",  # a default, before the processes have met
    *("tensor model parallel world size: 8\n", "data_parallel_world_size=8\n", "local world size: 8\n"),
)
NANOGPT = each(range(1, 9), "iter {}: loss 2.0, time 500.00ms, mfu 30.00%")
HEADER = "reference workload: framework=pytorch batch_per_device=16 processes=2 global_batch=32\n"
ASSUMED = {"devices_assumed"}
DEVICES = {
    **{
        f"the number of devices: {it}": row(it + CARDS, short(), total_devices=8, items_per_s=128.0)
        for it in WORLD_SIZES
    },
    **{
        f"a part or a default: {it}": row(it + CARDS, short(), total_devices=None, throughput=None)
        for it in OTHER_SIZES
    },
    "an option says more than a world size": row(f"world_size=8\n{CARDS}", short(2), total_devices=2),
    "a batch that contradicts the log is a finding": row(
        HEADER + EXAMPLES, short(4), batch_per_device=16, codes={"contradicts_log"}),
    "that eight devices share a step whose time alone is printed is assumed": row(
        NANOGPT, short(8, 4096), codes=ASSUMED),
    "that one device takes its own steps is no assumption": row(NANOGPT, short(1, 4096), codes=set()),
    "nothing is assumed where the log says the batch of the whole job": row(
        f"tokens per iteration will be: 491,520\n{NANOGPT}", short(8, 4096), codes=set()),
    "whose rate it is, is assumed where no clock tells": row(
        each(range(1, 9), speed_line), short(8, 4096), codes={"scope_assumed"}),
}  # fmt: skip


@table({**REFERENCE, **NUMBERS, **BARS, **RATES, **AROUND, **FAILURES, **DEVICES})
def test_a_log_is_read_as_its_script_means_it(row, tmp_path):
    assert seen(tmp_path, row) == row.expected
