"""From log files to readings: prefixes, ranks, restarts, clocks, failures, bad input."""

import gzip
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalsuite import dialect
from evalsuite.logs import catalogue
from evalsuite.logs.reading import read_file, read_run
from evalsuite.logs.steps import merging
from evalsuite.model import Case, Protocol
from evalsuite.runs.store import Log

DIALECTS = catalogue.discover()
SHORT = Protocol(warmup_steps=2, measured_steps=5)


def case(**fields):
    known = {"framework": "pytorch", "recipe": "reference-resnet50", "model": "resnet50_v1.5", "batch_per_device": 8}
    return Case(**{**known, "protocol": SHORT, **fields})


def example_line(step, seconds=0.5, epoch=0, of=100, mean=0.6):
    return f"Epoch: [{epoch}][{step:3d}/{of}]\tTime {seconds:6.3f} ({mean:6.3f})\tData  0.002 ( 0.001)\tLoss 6.7e+00"


def speed_line(step, rate, prefix=""):
    return f"{prefix}INFO:root:Epoch[0] Batch [{step - 1}-{step}]\tSpeed: {rate:.2f} samples/sec\taccuracy=0.01"


def card_line(step, seconds, ips, of=100, epoch=1, lr="lr(P)"):
    return (
        f"[2026/11/20 23:40:38] ppcls INFO: [Train][Epoch {epoch}/1][Iter: {step}/{of}]{lr}: 0.1, top1: 0.1, "
        f"loss: 39.6, batch_cost: {seconds:.5f}s, reader_cost: 0.00022, ips: {ips:.5f} samples/s, eta: 0:00:16"
    )


def history_line(since, step, seconds, rate, stamp="23:37:53.561630"):
    return (
        f"I1120 {stamp} 140651157302144 keras_utils.py:145] TimeHistory: {seconds:.2f} seconds, {rate:.2f} "
        f"examples/second between steps {since} and {step}"
    )


@pytest.fixture
def log(tmp_path):
    """Writes lines as a log and returns it, with arrival times if they are given."""

    def write(lines, *, arrivals=None, rank=None, end="\n", name="log.a"):
        path = tmp_path / f"{name}{'' if rank is None else f'.r{rank}'}.txt"
        pieces = [(line if isinstance(line, bytes) else line.encode()) + end.encode() for line in lines]
        path.write_bytes(b"".join(pieces))
        beside = path.with_suffix(".csv")
        if arrivals:
            ends = [sum(map(len, pieces[: i + 1])) for i in range(len(pieces))]
            rows = [f"{at},{when:.6f}" for at, when in zip(ends, arrivals, strict=True)]
            beside.write_text("\n".join(["end_byte,at_s", *rows]) + "\n")
        return Log(path=path, arrivals=beside, host="a", rank=rank)

    return write


def read(written, **options):
    return read_file(written.path, dialects=DIALECTS, **{"protocol": SHORT, **options})


# the four dialects of the reference workloads


def test_a_log_of_step_times_becomes_items_over_time(log):
    written = log([example_line(step) for step in range(1, 8)])

    reading = read_run([written], case(devices_per_node=2), "pytorch_examples", dialects=DIALECTS)

    assert (reading.status, reading.unit, reading.scope) == ("ok", "images/s", "global")
    assert reading.throughput.items_per_s == pytest.approx(16 / 0.5)
    assert (reading.throughput.window.first_step, reading.throughput.window.last_step) == (3, 7)


BARRIER = (  # torchrun on one host, when that of the other has left first
    "E1122 11:00:13.538 31554 torch/distributed/elastic/agent/server/api.py:1008] Error waiting on exit barrier.",
    "E1122 11:00:13.538 31554 torch/distributed/elastic/agent/server/api.py:1008] Traceback (most recent call last):",
    "E1122 11:00:13.538 31554 torch/distributed/elastic/agent/server/api.py:1008] torch.distributed.DistNetworkError: "
    "Failed to recv, got 0 bytes. Connection was likely closed.",
)


@pytest.mark.parametrize(
    ("steps", "ended_well", "status"), [(8, True, "ok"), (8, False, "failed"), (5, True, "failed")]
)
def test_an_error_of_another_host_behind_the_whole_window_of_a_run_that_ended_well_is_a_finding(
    log, steps, ended_well, status
):
    first = log([example_line(step) for step in range(1, steps)])
    second = log([*BARRIER], name="log.b")

    reading = read_run(
        [first, second], case(devices_per_node=2), "pytorch_examples", dialects=DIALECTS, ended_well=ended_well
    )

    assert reading.status == status
    assert ("failed_at_exit" in [finding.code for finding in reading.findings]) is (status == "ok")


def test_ranks_that_repeat_a_step_are_counted_once(log):
    lines = [example_line(step, seconds) for step in range(1, 8) for seconds in (0.4, 0.6)]

    reading = read(log(lines), devices=2, batch_per_device=8)

    assert len(reading.steps) == 7
    assert reading.throughput.items_per_s == pytest.approx(16 / 0.5)


def test_the_arrival_of_lines_is_the_clock_where_there_is_no_stamp(log):
    lines = ["starting", *(example_line(step, 0.5) for step in range(1, 8))]
    written = log(lines, arrivals=[0.1, *(3.0 + 0.7 * step for step in range(1, 8))])

    reading = read_run([written], case(), "pytorch_examples", dialects=DIALECTS)

    assert reading.throughput.method == "arrival times"
    assert reading.throughput.items_per_s == pytest.approx(8 / 0.7)
    assert reading.throughput.window.begin_s == pytest.approx(4.4)
    assert "clock_disagrees" in [finding.code for finding in reading.throughput.findings]


def test_workers_that_print_their_own_share_are_summed_over_their_logs(log):
    logs = [log([speed_line(step, 10.0 * (rank + 1)) for step in range(1, 9)], rank=rank) for rank in (0, 1)]

    reading = read_run(logs, case(devices_per_node=2), "mxnet_speedometer", scope="own", dialects=DIALECTS)

    assert reading.throughput.printed_items_per_s == pytest.approx(30.0)
    assert reading.scope == "per_device"


def test_whose_rate_a_speedometer_prints_is_told_by_the_clock(log):
    def line(step, rate):
        return f"2020-07-10 18:52:{10 + step},500 Node[0] " + speed_line(step, rate)

    own = read(log([line(step, 8.0) for step in range(1, 9)]), devices=2, batch_per_device=8)
    whole = read(log([line(step, 16.0) for step in range(1, 9)]), devices=2, batch_per_device=8)

    assert (own.scope, whole.scope) == ("per_device", "global")
    assert own.throughput.items_per_s == whole.throughput.items_per_s == pytest.approx(16.0)
    assert own.throughput.printed_items_per_s == whole.throughput.printed_items_per_s == pytest.approx(16.0)


def test_the_rate_of_one_card_is_brought_to_all_cards(log):
    lines = [card_line(step, 0.5, 16.0) for step in range(8)]

    alone = read(log(lines))
    of_four = read(log(lines), devices=4)

    assert alone.throughput is None
    assert "--devices" in alone.reason
    assert of_four.throughput.items_per_s == pytest.approx(64.0)


def test_a_running_mean_is_turned_into_what_was_added_to_it(log):
    # iterations 5 to 9 take 1 s each, the following ones 2 s: the mean is printed
    means = {9: 1.0, 11: (5 + 4) / 7, 13: (5 + 8) / 9}
    lines = [card_line(step, 9.0, 1.0, lr="lr") for step in range(5)] + [
        card_line(i, mean, 8 / mean, lr="lr") for i, mean in means.items()
    ]

    reading = read(log(lines), devices=1, batch_per_device=8)

    assert [step.seconds for step in reading.steps[-2:]] == pytest.approx([4.0, 4.0], abs=1e-3)
    assert [step.items_per_s for step in reading.steps[-2:]] == pytest.approx([4.0, 4.0], rel=1e-3)


def test_a_mean_since_the_line_before_is_taken_as_it_stands(log):
    # PaddleClas since 2024 resets its meters at each line, which says so no more than that it names the scheduler
    lines = [card_line(step, 0.5 + step / 100, 1.0) for step in (0, 10, 20, 30)]

    reading = read(log(lines), devices=1, batch_per_device=8)

    assert [step.seconds for step in reading.steps[-2:]] == pytest.approx([7.0, 8.0])


def test_time_history_covers_the_steps_between_its_two_numbers(log):
    lines = [history_line(10 * i, 10 * i + 10, 2.0, 80.0, f"23:37:{10 + 2 * i}.5") for i in range(5)]

    reading = read(log(lines), devices=2, batch_per_device=8, protocol=Protocol(warmup_steps=10, measured_steps=20))

    assert reading.throughput.method == "log stamps"
    assert reading.throughput.items_per_s == pytest.approx(16 * 10 / 2)
    assert [step.steps for step in reading.steps] == [10] * 5


# from lines to steps


@pytest.mark.parametrize(
    "prefix", ["[1,{}]<stdout>:", "{}: ", "[rank{}]:", "[{}]<stdout>:", "Thu Jun  9 09:15:17 2022[1,{}]<stderr>:"]
)
def test_launchers_prefixes_say_who_prints(log, prefix):
    lines = [speed_line(step, 10.0 + rank, prefix.format(rank)) for step in range(1, 9) for rank in (0, 1)]

    reading = read(log(lines), devices=2, scope="own")

    assert reading.throughput.items_per_s == pytest.approx(21.0)


def test_colours_carriage_returns_and_broken_text_do_not_hide_a_line(log):
    lines = [
        f"\x1b[32m 10%|██\x1b[0m| 3/30\r\x1b[36m{speed_line(step, 10.0)}\x1b[0m".encode() + b"\xff\xfe\r"
        for step in range(1, 9)
    ]

    reading = read(log(lines))

    assert reading.throughput.items_per_s == pytest.approx(10.0)
    assert reading.steps[0].line == 1


def test_step_numbers_that_restart_with_each_epoch_go_on_counting(log):
    lines = [example_line(step, epoch=epoch, of=4) for epoch in (0, 1, 2) for step in (1, 2, 3, 4)]

    reading = read(log(lines), devices=1, batch_per_device=8)

    assert [step.index for step in reading.steps] == list(range(1, 13))
    assert [step.index for step in reading.steps if step.after_pause] == [5, 9]


def test_a_restart_within_the_file_leaves_the_attempt_with_the_most_steps(log):
    lines = [example_line(step, 9.0) for step in range(1, 4)] + [example_line(step, 0.5) for step in range(1, 8)]

    reading = read(log(lines), devices=1, batch_per_device=8)

    assert reading.throughput.items_per_s == pytest.approx(16.0)
    assert "restarted" in [finding.code for finding in reading.findings]


def test_a_time_of_day_goes_on_after_midnight(log):
    times = ["23:59:58.500", "23:59:59.500", *(f"00:00:0{second}.500" for second in range(7))]
    lines = [f"{time} {speed_line(step, 8.0)}" for step, time in enumerate(times, 1)]

    reading = read(log(lines), devices=1, batch_per_device=8)

    assert reading.throughput.items_per_s == pytest.approx(8.0)


def test_evaluation_between_steps_is_a_pause_also_where_the_file_is_read_in_pieces(log):
    lines = [example_line(step, of=9) for step in range(1, 5)]
    lines += ["Test: [  1/196]\tTime 1.2 ( 1.2)"] + ["x" * 100] * 400
    lines += [example_line(step, of=9) for step in range(5, 10)]

    reading = read(log(lines), devices=1, batch_per_device=8)

    assert [step.index for step in reading.steps if step.after_pause] == [5]


def test_a_time_of_zero_was_not_measured(log):
    lines = [example_line(step, 0.0 if step == 4 else 0.5, mean=0.0 if step == 4 else 0.5) for step in range(1, 9)]

    reading = read(log(lines), devices=1, batch_per_device=8)

    assert [step.seconds for step in reading.steps][2:5] == [0.5, None, 0.5]


def test_steps_behind_the_window_are_counted_and_not_kept(log):
    reading = read(log([example_line(step % 5000, of=5000) for step in range(1, 5000)]), devices=1, batch_per_device=8)

    assert reading.steps_reported == 4999
    assert len(reading.steps) < 1000


def test_a_log_too_short_for_the_window_is_merged_once(log, monkeypatch):
    increments, calls = merging.increments_of, []
    monkeypatch.setattr(merging, "increments_of", lambda *given: calls.append(given) or increments(*given))

    read(log([example_line(step, of=5000) for step in range(1, 100)]), batch_per_device=8, protocol=Protocol())

    assert len(calls) == 1


def test_an_option_that_contradicts_the_log_is_a_finding(log):
    header = "reference workload: framework=pytorch batch_per_device=16 processes=2 global_batch=32"

    reading = read(log([header, *(example_line(step) for step in range(1, 9))]), devices=4)

    assert [finding.code for finding in reading.findings] == ["contradicts_log"]
    assert reading.batch_per_device == 16


# failures are results


@pytest.mark.parametrize(
    ("lines", "kind"),
    [
        (["RuntimeError: CUDA out of memory. Tried to allocate 1.02 GiB (GPU 0)"], "out of memory"),
        (
            ["Traceback (most recent call last):", '  File "a.py", line 1', "    x()", "ValueError: no such layer"],
            "Python exception",
        ),
        (["RuntimeError: NCCL error in: ProcessGroupNCCL.cpp:825, unhandled system error"], "communication"),
        (["mpiexec noticed that process rank 1 exited on signal 11 (Segmentation fault)."], "segmentation fault"),
        (["slurmstepd: error: *** STEP 1.0 ON n7 CANCELLED AT 2021-05-26T17:04:05 DUE TO TIME LIMIT ***"], "timed out"),
        (["Killed"], "killed"),
        (["train.py: error: unrecognized arguments: --num-warmup-batches 1"], "wrong options"),
    ],
)
def test_a_failure_is_a_result_with_its_decisive_line(log, lines, kind):
    written = log([example_line(1), *lines, "bye"])

    reading = read(written, devices=1, batch_per_device=8)

    assert reading.status == "failed"
    assert reading.reason == f"{kind}, line {1 + len(lines)}: {lines[-1]}"


def test_the_cause_is_told_and_not_its_consequences(log):
    lines = [
        "[1] Connection reset by peer",
        "torch.OutOfMemoryError: CUDA out of memory.",
        "ChildFailedError: train.py",
    ]

    reading = read(log([example_line(1), *lines]), devices=1, batch_per_device=8)

    assert reading.reason == "out of memory, line 3: torch.OutOfMemoryError: CUDA out of memory."


def test_a_warning_that_was_survived_is_no_failure(log):
    lines = [example_line(step) for step in range(1, 9)]
    lines.insert(4, "tried to allocate: CUDA out of memory, but went on")

    reading = read(log(lines), devices=1, batch_per_device=8)

    assert reading.status == "ok"


def test_a_log_cut_off_in_the_middle_of_a_line_loses_that_line(log):
    written = log([example_line(step) for step in range(1, 12)])
    text = written.path.read_bytes()
    written.path.write_bytes(text[: text.rfind(b"Time") + 9])

    reading = read(written, devices=1, batch_per_device=8)

    assert (reading.status, reading.reason) == ("incomplete", "the log ends in the middle of line 11")
    assert len(reading.steps) == 10


# bad input


def test_a_log_of_something_else_is_not_recognised_and_has_no_number(log):
    reading = read(log(["hello", "12 images/s"]))

    assert (reading.status, reading.throughput) == ("unrecognised", None)


def test_digits_that_make_no_number_are_no_step(log):
    """Found by fuzzing."""
    lines = ["epoch time: 360760.9.5 ms, per step time: 288.378 ms", f"epoch time: {'9' * 400} ms, per step time: 1 ms"]

    reading = read(log(lines), dialect="mindspore", devices=1, batch_per_device=8)

    assert (reading.steps, reading.throughput) == ((), None)


def test_packed_logs_are_read_as_they_are(log, tmp_path):
    plain = log([example_line(step) for step in range(1, 9)])
    packed = tmp_path / "log.gz"
    packed.write_bytes(gzip.compress(plain.path.read_bytes()))

    found = [
        read_file(path, devices=1, batch_per_device=8, protocol=SHORT, dialects=DIALECTS)
        for path in (plain.path, packed)
    ]

    assert found[0] == found[1]


def test_logs_packed_with_zstd_are_read_or_what_is_missing_is_named(log, tmp_path):
    plain = log([example_line(step) for step in range(1, 9)])
    packed = tmp_path / "log.zst"
    try:
        import zstandard
    except ImportError:
        packed.write_bytes(b"\x28\xb5\x2f\xfd" + b"anything")
        wanted = "packed with zstd"
    else:
        packed.write_bytes(zstandard.compress(plain.path.read_bytes()))
        wanted = ""

    reading = read_file(packed, devices=1, batch_per_device=8, protocol=SHORT, dialects=DIALECTS)

    assert reading.reason.startswith(wanted)
    assert wanted or reading.throughput.items_per_s == pytest.approx(16.0)


def test_two_dialects_that_fit_equally_are_an_error_that_names_both(log):
    line = dialect.Line(pattern=rb"toy (?P<rate>\d+)", sample=b"toy 1", source="here")
    known = {"title": "Toy", "framework": None, "unit": "images/s", "scope": "global", "averaging": "step"}
    both = {name: dialect.Dialect(name=name, step=(line,), **known) for name in ("one", "other")}

    reading = read_file(log(["toy 1", "toy 2"]).path, dialects=both)

    assert reading.status == "unrecognised"
    assert reading.reason == "one and other fit this log equally well; say which with --dialect"


def test_a_batch_that_the_clock_denies_is_not_multiplied_with(log):
    stamps = [f"05:45:{10 + 2 * step}.500000" for step in range(1, 9)]
    lines = [
        f"DLL 2023-08-01 {stamp} - Iteration: {step}  throughput_train : 352.0 seq/s mlm_loss : 1.0"
        for step, stamp in enumerate(stamps, 1)
    ]

    reading = read(log(lines), devices=1, batch_per_device=8)

    assert reading.throughput.items_per_s == pytest.approx(352.0)
    assert [finding.code for finding in reading.findings] == ["batch_doubted"]


def test_items_that_the_log_counts_itself_are_not_doubted_for_ever(log):
    """Found by mutated samples: the log's own figure is far from its own count, and no batch was given."""

    def stats(number):
        return (
            f':::MLLOG {{"namespace": "", "time_ms": {1000 * number + 1}, "key": "tracked_stats", '
            f'"value": {{"train_step_timing in s": 0.9}}, "metadata": {{"step": {4000 * number}}}}}'
        )

    final = ':::MLLOG {"time_ms": 9000, "key": "tracked_stats", "value": {"throughput": 9.0}, "metadata": {}}'

    reading = read(log([*map(stats, range(1, 9)), final]))

    assert [finding.code for finding in reading.findings] == ["final_disagrees"]


def test_a_mislabelled_rate_is_found_out_by_the_logs_own_total(log):
    lines = [f"Iter #{step}: 4000.0 img/sec GPU" for step in range(10)]

    reading = read(log([*lines, "Total img/sec on 32 GPU(s): 4000.0 +-2.0"]))

    assert reading.throughput.items_per_s == pytest.approx(4000.0)
    assert reading.scope == "global"


def test_epochs_of_unknown_length_are_not_taken_for_steps(log):
    lines = [f"Time taken for epoch {epoch} is 700.0 sec, avg 80.0 samples/sec" for epoch in range(1, 6)]

    reading = read(log(lines), devices=1, batch_per_device=64)

    assert (reading.status, reading.throughput.items_per_s) == ("partial", pytest.approx(80.0))


def test_a_log_that_does_not_say_whose_rate_it_prints_makes_no_number(log):
    line = dialect.Line(pattern=rb"toy (?P<step>\d+) (?P<rate>\d+)", sample=b"toy 1 1", source="here")
    known = {"title": "Toy", "framework": None, "unit": "images/s", "scope": "unstated", "averaging": "step"}
    toy = {"toy": dialect.Dialect(name="toy", step=(line,), **known)}
    path = log([f"toy {step} 95" for step in range(1, 9)]).path

    unsaid, said = (read_file(path, dialects=toy, protocol=SHORT, scope=scope) for scope in (None, "global"))

    assert unsaid.throughput is None
    assert "--scope" in unsaid.reason
    assert said.throughput.items_per_s == pytest.approx(95)


def test_a_final_figure_of_one_device_asks_for_their_number(log):
    lines = ["Done benchmarking. Total images: 5600\ttotal time: 80.478\tAverage images/sec: 69.585\tMedian"]

    alone, of_eight = read(log(lines)), read(log(lines), devices=8)

    assert (alone.status, alone.throughput) == ("partial", None)
    assert "--devices" in alone.reason
    assert of_eight.throughput.items_per_s == pytest.approx(8 * 69.585)


def test_an_overflow_that_repeats_its_number_is_no_restart(log):
    numbers = [1, 1, 1, 2, 3, 4, 5, 6, 7]
    lines = [
        f"DLL 2023-08-01 05:45:{10 + row}.500000 - Iteration: {step}  throughput_train : 8.0 seq/s mlm_loss : 1.0"
        for row, step in enumerate(numbers)
    ]

    reading = read(log(lines), devices=1, batch_per_device=8)

    assert reading.findings == ()
    assert [step.index for step in reading.steps] == [1, 2, 3, 4, 5, 6, 7]
    assert reading.throughput.items_per_s == pytest.approx(8.0)


def test_an_overflow_that_takes_back_the_step_before_is_no_restart(log):
    numbers = [0, 1, 1, 0, 0, 1, 2, 3, 4, 5, 6]
    lines = [
        f"DLL 2023-07-28 14:{21 + row}:24.402209 - Training Epoch: 0 Training Iteration: {step}  average_loss : 11.1"
        for row, step in enumerate(numbers)
    ]

    reading = read(log(lines), devices=1, batch_per_device=60)

    assert reading.findings == ()
    assert [step.index for step in reading.steps] == [1, 2, 3, 4, 5, 6, 7]
    assert reading.throughput.items_per_s == pytest.approx(1.0)


def test_a_bar_whose_rate_is_the_mean_since_the_epoch_began_is_no_rate_of_its_steps(log):
    lines = ["Number of GPUs: 4", "Namespace(aux=True, aux_weight=0.5, batch_size=16, ngpus=4)"]
    for step in range(1, 121):  # 20 s for the first step, then one second each
        lines += [
            f"Epoch 0, training loss 0.2:   5%|     | {step}/182 [00:00<08:22, {(19 + step) / step:5.2f}s/it]",
            f"Epoch 0, training loss 0.3:   5%|     | {step}/182 [00:00<08:22, {(19.1 + step) / step:5.2f}s/it]",
        ]

    reading = read(log(lines, end="\r"), protocol=Protocol(warmup_steps=20, measured_steps=100))

    assert (reading.total_devices, reading.batch_per_device, reading.findings) == (4, 4, ())
    assert reading.throughput.items_per_s == pytest.approx(16, rel=0.01)


def test_the_full_bar_of_an_epoch_counts_its_images_and_that_of_its_test_does_not(log):
    def bar(steps, took, images):
        return f" [===== {steps}/{steps} =====>]  Step: 75ms | Tot: {took} | Loss: 1.8 | Acc: 32.2% (1/{images})"

    times = ["9m9s", "1m2s", "62s0ms", "1m2s"]
    lines = [
        line
        for epoch, took in enumerate(times)
        for line in (f"Epoch: {epoch}", bar(391, took, 50000), bar(100, "9s", 1e4))
    ]

    reading = read(log(lines), protocol=Protocol())

    assert len(reading.steps) == 4
    assert reading.throughput.items_per_s == pytest.approx(50000 * 390 / 391 / 62)


def test_a_bar_before_dllogger_has_a_smoothed_rate_and_its_last_one_is_no_result(log):
    lines = ["device: cuda n_gpu: 1, distributed training: False", "  Batch size = 4"]
    lines += [
        f"Iteration:   1%|     | {step}/9 [00:00<00:09,  {2.0 if step < 9 else 2.5}it/s]" for step in range(1, 10)
    ]

    reading = read(log([*lines, " training throughput: 10.0"]))

    assert reading.throughput.items_per_s == pytest.approx(8.0)
    assert reading.reported_final == 10.0
    assert "final_disagrees" in [finding.code for finding in reading.findings]


def test_a_task_of_unknown_length_makes_no_number_whatever_the_batch(log):
    line = "[2020-07-26 04:01:26,378] [DEBUG] [timing_utils.py:55:report_timing] task_process time is 12.5577 seconds"

    reading = read(log([line, line]), devices=2, batch_per_device=64)

    assert reading.throughput is None
    assert reading.reason == "the log prints how long a report took and not how many steps it covers"


def test_only_what_is_lacking_is_asked_for(log):
    lines = [example_line(step) for step in range(1, 9)]

    assert read(log(lines)).reason.endswith("say --batch-per-device and --devices")
    assert read(log(lines), batch_per_device=8).reason.endswith("say --devices")
    assert read(log(lines), devices=8).reason.endswith("say --batch-per-device")


def test_a_bar_of_chainer_prints_the_mean_since_its_first_or_over_a_hundred(log):
    ends = [10.0]  # seconds at the end of each step: one each up to step 50, then two, with two bars of a hundred
    for step in range(2, 151):
        ends.append(ends[-1] + (1 if step <= 50 else 2))
    lines = ["Num of GPUs : 4", "Minibatch-size: 8"]
    for number, end in enumerate(ends):
        begin = max(0, number - 100)
        speed = f"{(number - begin) / (end - ends[begin]):10.5g}" if number else "       inf"
        lines += [
            f"{number + 1:10d} iter, 0 epoch / 10 epochs",
            f"{speed} iters/sec. Estimated time to finish: 0:00:04.",
        ]

    early = read(log(lines), protocol=Protocol(warmup_steps=20, measured_steps=30))
    late = read(log(lines), protocol=Protocol(warmup_steps=120, measured_steps=30))

    assert early.throughput.items_per_s == pytest.approx(32, rel=1e-3)
    assert late.throughput.items_per_s == pytest.approx(16, rel=1e-3)


def test_lightnings_bar_prints_the_mean_since_its_epoch_began(log):
    # half a second for each of 40 steps, then a quarter, in both epochs
    def bar(epoch, step):
        passed = 0.5 * step if step <= 40 else 20 + 0.25 * (step - 40)
        clock = f"{int(passed) // 60:02d}:{int(passed) % 60:02d}"
        counts = f"global_step={200 * epoch + step - 1}.0, consumed_samples={8 * (200 * epoch + step - 1)}.0"
        return f"Epoch {epoch}:   5%|     | {step}/200 [{clock}<01:00, {step / passed:5.2f}it/s, loss=2.5, {counts}]"

    lines = [bar(epoch, step) for epoch in (0, 1) for step in range(2, 201)]

    reading = read(log(lines, end="\r"), protocol=Protocol(warmup_steps=40, measured_steps=100))

    assert reading.throughput.items_per_s == pytest.approx(8 / 0.25, rel=0.04)
    assert next(step.after_pause for step in reading.steps if step.index > 200)


def test_the_speed_of_an_epoch_covers_the_batches_that_the_line_before_counts(log):
    lines = [
        f"[1,0]<stderr>:INFO:root:Epoch[{epoch}] {text}"
        for epoch in range(3)
        for text in (
            "Rank[0] Batch[1251]\tTime cost=403.06\tTrain-metric=0.02",
            f"\tSpeed: {300 + epoch}.0 samples/sec",
        )
    ]

    reading = read(log([line.replace("] \t", "]\t") for line in lines]), protocol=Protocol())

    assert (reading.dialect, [step.steps for step in reading.steps]) == ("gluoncv_epoch", [1251, 1251, 1251])
    assert reading.status == "ok"
    assert reading.throughput.items_per_s == pytest.approx(301.5, rel=1e-4)


def test_the_global_batch_of_an_mlperf_log_proves_whose_rate_its_speedometer_prints(log):
    batch = (
        ':::MLLOG {"namespace": "", "time_ms": 1653482105120, "key": "global_batch_size", "value": 16, "metadata": {}}'
    )
    lines = [f"2022-05-25 14:35:{10 + step},500 Node[0] " + speed_line(step, 16.0) for step in range(1, 9)]

    reading = read(log([batch, *lines]), devices=2)

    assert (reading.scope, reading.findings) == ("global", ())
    assert (reading.throughput.method, reading.throughput.items_per_s) == ("log stamps", pytest.approx(16.0))


def event(key, at_s, **metadata):
    told = ", ".join(f'"{name}": {value}' for name, value in metadata.items())
    head = f':::MLLOG {{"namespace": "", "time_ms": {1000 * at_s:.0f}, "key": "{key}", "value": null, '
    return f'{head}"metadata": {{{told}}}}}'


SAMPLES = ':::MLLOG {"namespace": "", "time_ms": 1000, "key": "train_samples", "value": 10000, "metadata": {}}'


def test_a_block_ends_where_its_evaluation_begins(log):
    lines = [SAMPLES]
    for number in range(4):
        lines += [
            event("block_start", 100 + 60 * number, first_epoch_num=1 + 4 * number, epoch_count=4),
            event("eval_start", 150 + 60 * number, epoch_num=4 + 4 * number),
            event("eval_stop", 159 + 60 * number, epoch_num=4 + 4 * number),
            event("block_stop", 160 + 60 * number, first_epoch_num=1 + 4 * number, epoch_count=4),
        ]

    reading = read(log([*lines, event("run_stop", 400)]))

    assert (reading.dialect, len(reading.steps)) == ("mlperf_blocks", 4)
    assert reading.throughput.items_per_s == pytest.approx(40_000 / 50)


def test_epochs_are_believed_before_the_block_around_them(log):
    # v1.1_baidu_8xA100_paddle_resnet: the first block claims four epochs and has three
    lines = [SAMPLES, event("block_start", 100, first_epoch_num=1, epoch_count=4)]
    lines += [
        event(key, 100 + 50 * epoch + (50 if key == "epoch_stop" else 0), epoch_num=epoch + 1)
        for epoch in range(3)
        for key in ("epoch_start", "epoch_stop")
    ]

    reading = read(log([*lines, event("block_stop", 260, first_epoch_num=3), event("run_stop", 400)]))

    assert (reading.dialect, len(reading.steps)) == ("mlperf_epochs", 3)
    assert reading.throughput.items_per_s == pytest.approx(10_000 / 50)


def test_an_epoch_that_is_evaluated_within_counts_its_parts(log):
    # v0.7_inspur_8gpu_dlrm: evaluations every 0.05 epochs, and the run ends before the epoch does
    lines = [SAMPLES, event("block_start", 90, first_epoch_num=1, epoch_count=1), event("epoch_start", 90, epoch_num=1)]
    for number in range(5):
        progress = 1.05 + 0.05 * number
        lines += [
            event("eval_start", 100 + 15 * number, epoch_num=progress),
            event("eval_stop", 105 + 15 * number, epoch_num=progress),
        ]
    lines += [event("run_stop", 165), event("epoch_stop", 165, epoch_num=1)]

    reading = read(log(lines))

    assert reading.dialect == "mlperf_epochs"
    assert reading.throughput.items_per_s == pytest.approx(0.05 * 10_000 / 10)


def test_blocks_counted_in_samples_do_not_trust_the_count_of_their_start(log):
    # v4.0_habana_gaudi2_lora: block_start says an eighth of what block_stop counts
    lines = []
    for number in range(4):
        lines += [
            event("block_stop", 100 + 50 * number, samples_count=1600 + 400 * number),
            event("block_start", 100 + 50 * number, samples_count=200 + 50 * number),
        ]

    reading = read(log([*lines, event("run_stop", 300)]))

    assert reading.dialect == "mlperf_samples"
    assert reading.throughput.items_per_s == pytest.approx(400 / 50)


def test_a_report_whose_time_holds_an_evaluation_is_left_out(log):
    # v1.0_gigabyte_dlrm_hugectr: 1.57 s for 1000 iterations, 2.20 s with an evaluation
    lines = [':::MLLOG {"namespace": "", "time_ms": 1, "key": "global_batch_size", "value": 16, "metadata": {}}']
    for report in range(1, 9):
        lines += ["[31d03h29m46s][HUGECTR][INFO]: Evaluation, AUC: 0.77"] if report % 4 == 0 else []
        seconds = 2.2 if report % 4 == 0 else 1.6
        lines.append(f"[31d03h29m41s][HUGECTR][INFO]: Iter: {1000 * report} Time(1000 iters): {seconds}s Loss: 0.12")

    reading = read(log(lines), devices=2)

    assert (reading.dialect, [step.index for step in reading.steps][2:4]) == ("hugectr", [3000, 5000])
    assert reading.throughput.items_per_s == pytest.approx(16 * 1000 / 1.6)


def test_the_gpt_benchmark_counts_tokens_and_leaves_validation_out(log):
    def stats(number, at_s):
        timing = '"value": {"train_step_timing in s": 9.9}'
        return (
            f':::MLLOG {{"namespace": "", "time_ms": {1000 * at_s + 1:.0f}, "key": "tracked_stats", {timing}, '
            f'"metadata": {{"step": {4000 * number}}}}}'
        )

    lines = [stats(number, 10 * number + (7 if number > 5 else 0)) for number in range(1, 10)]
    lines.insert(5, ':::MLLOG {"time_ms": 5, "key": "tracked_stats", "value": {"validation_step_timing in s": 4.3}}')

    reading = read(log(lines))

    assert (reading.dialect, reading.unit) == ("mlperf_gpt", "tokens/s")
    assert reading.throughput.items_per_s == pytest.approx(400)


def test_a_record_without_a_number_does_not_hide_an_overflow(log):
    """Found by mutated samples."""
    toy = dialect.Line(pattern=rb"toy(?: (?P<step>\d+))? rate (?P<rate>\d+)", sample=b"toy 1 rate 1", source="here")
    known = {"title": "Toy", "framework": None, "unit": "images/s", "scope": "global", "averaging": "step"}
    dialects = {"toy": dialect.Dialect(name="toy", step=(toy,), number_repeats=True, **known)}

    reading = read_file(log(["toy 1 rate 8", "toy rate 8", "toy 1 rate 8", "toy 2 rate 8"]).path, dialects=dialects)

    assert [step.index for step in reading.steps] == [1, 2]


def test_what_is_no_log_file_is_said_and_not_raised(tmp_path):
    (tmp_path / "empty").touch()
    (tmp_path / "broken").symlink_to("nowhere")
    (tmp_path / "cut.gz").write_bytes(gzip.compress(os.urandom(10_000))[:5000])
    (tmp_path / "binary").write_bytes(os.urandom(100_000))
    (tmp_path / "one-line").write_bytes(b"x" * 3_000_000)

    for name in (".", "empty", "broken", "absent", "cut.gz", "binary", "one-line"):
        reading = read_file(tmp_path / name, dialects=DIALECTS)

        assert (reading.status, reading.throughput) == ("unrecognised", None), name
        assert reading.reason


words = st.sampled_from(
    [
        line.sample
        for known in DIALECTS.values()
        for line in (*known.step, *known.final, *known.evaluation, *known.facts)
    ]
)
noise = (
    st.binary(max_size=60) | words | st.sampled_from([b"\n", b"\r", b"\r\n", b"\x1b[32m", b"[1,0]<stdout>:", b"nan"])
)


@settings(deadline=None)
@given(st.lists(noise, max_size=40), st.none() | st.integers(1, 16), st.none() | st.integers(1, 512))
def test_no_bytes_at_all_raise_or_make_a_number_that_is_none(tmp_path_factory, pieces, devices, batch):
    path = tmp_path_factory.mktemp("any") / "log"
    path.write_bytes(b"".join(pieces))

    reading = read_file(path, devices=devices, batch_per_device=batch, dialects=DIALECTS)

    assert reading.status in ("ok", "partial", "doubtful", "failed", "incomplete", "unrecognised")
    if reading.throughput is not None and reading.status in ("ok", "partial"):
        assert 0 < reading.throughput.items_per_s < float("inf")
    assert reading.throughput is not None or reading.reason
