"""How sure a number is: what a batch typed beside a log may do, and clocks and rates that contradict each other."""

import functools
import json
from pathlib import Path

import pytest

from evalsuite.cli import main
from evalsuite.errors import Exit
from evalsuite.logs import catalogue
from evalsuite.logs.reading import Reading, read_file, read_run
from evalsuite.model import Case, Protocol
from evalsuite.runs.store import Log
from tests.corpus import LOGS, names, with_logs

DIALECTS = catalogue.discover()
HERE = Path(__file__).resolve().parents[1] / "logs"
SHORT = Protocol(warmup_steps=2, measured_steps=5)
STEPS = range(1, 9)


def read(path: Path, **options) -> Reading:
    return read_file(path, **{"dialects": DIALECTS, "protocol": SHORT, **options})


def value(reading: Reading) -> float | None:
    return reading.throughput and reading.throughput.items_per_s


def codes(reading: Reading) -> set[str]:
    return {one.code for one in (*reading.findings, *(reading.throughput.findings if reading.throughput else ()))}


@pytest.fixture
def log(tmp_path):
    def write(lines):
        path = tmp_path / "train.log"
        path.write_text("".join(f"{line}\n" for line in lines))
        return path

    return write


def card_line(step, seconds=0.5, ips=16.0):
    return (
        f"[2026/11/20 23:40:38] ppcls INFO: [Train][Epoch 1/1][Iter: {step}/100]lr(P): 0.1, top1: 0.1, loss: 39.6, "
        f"batch_cost: {seconds:.5f}s, reader_cost: 0.00022, ips: {ips:.5f} samples/s, eta: 0:00:16"
    )


def speed_line(step, rate=10.0, prefix=""):
    return f"{prefix}INFO:root:Epoch[0] Batch [{step - 1}-{step}]\tSpeed: {rate:.2f} samples/sec\taccuracy=0.01"


def stamped(step, rate, gap=1.0):
    return (
        f"DLL 2023-08-01 05:45:{10.25 + gap * step:09.6f} - Iteration: {step}  throughput_train : {rate} seq/s loss : 1"
    )


# a batch given beside the log


@pytest.mark.parametrize("batch", [1, 7, 32, 1024])
def test_a_batch_in_sequences_does_not_touch_a_rate_in_tokens(batch):
    printed = read(HERE / "maxtext.log", devices=8)

    given = read(HERE / "maxtext.log", devices=8, batch_per_device=batch)

    assert printed.unit == "tokens/s"
    assert value(given) == value(printed) is not None


@pytest.mark.parametrize("batch", [1, 7, 32, 1024])
def test_a_batch_that_step_times_deny_does_not_replace_the_rate_beside_them(log, batch):
    given = read(log(map(card_line, STEPS)), devices=2, batch_per_device=batch)

    assert value(given) == pytest.approx(32.0)  # 16 on each of two
    assert codes(given) == {"batch_doubted"}
    assert given.certainty == "printed only"


def test_a_batch_that_step_times_confirm_is_used(log):
    given = read(log(map(card_line, STEPS)), devices=2, batch_per_device=8)

    assert (value(given), codes(given), given.certainty) == (pytest.approx(32.0), set(), "one clock")


@functools.cache
def without_batch(name: str) -> Reading:
    return read_file(LOGS / name, dialects=DIALECTS, devices=8)


@pytest.mark.whole
@with_logs
@pytest.mark.parametrize("batch", [1, 7, 32, 1024])
def test_no_batch_changes_a_log_of_the_corpus_silently(batch):
    changed = []
    for name in names():
        before = without_batch(name)
        if before.throughput is None or value(before) is None:
            continue
        after = read_file(LOGS / name, dialects=DIALECTS, devices=8, batch_per_device=batch)
        same = value(after) is None or value(after) == pytest.approx(value(before), rel=0.02)
        if not same and not codes(after) - codes(before):
            changed.append(name)

    assert changed == []


# two figures that contradict each other


@pytest.mark.parametrize("factor", [1.6, 4.0])
def test_a_clock_far_from_the_printed_rate_makes_no_number_and_names_both(log, factor):
    path = log(stamped(step, 8.0 * factor) for step in STEPS)
    case = Case(framework="pytorch", recipe="r", model="bert", batch_per_device=8, protocol=SHORT)

    doubtful = read_run([Log(path=path, arrivals=path / "none", host="a", rank=None)], case, dialects=DIALECTS)

    assert (doubtful.status, value(doubtful), doubtful.certainty) == ("doubtful", None, None)
    assert "8.00" in doubtful.reason
    assert f"{8 * factor:.2f}" in doubtful.reason
    assert "batch" in doubtful.reason


def test_a_factor_of_the_devices_asks_whose_rate_it_is(log):
    doubtful = read(log(stamped(step, 8.0) for step in STEPS), devices=4, batch_per_device=8)

    assert doubtful.status == "doubtful"
    assert "--scope" in doubtful.reason


def test_a_doubtful_log_has_null_and_the_exit_code_of_nothing_measured(log, capsys):
    path = log(stamped(step, 8.0) for step in STEPS)

    code = main(["parse", str(path), "--devices", "4", "--batch-per-device", "8", "--steps", "2+5", "--json"])

    (found,) = json.loads(capsys.readouterr().out)
    assert code == Exit.NOTHING_MEASURED
    assert (found["status"], found["throughput"], found["certainty"]) == ("doubtful", None, None)
    assert [one["code"] for one in found["findings"]] == ["clock_disagrees"]


# grades


def test_a_clock_and_a_rate_that_agree_are_sure(log):
    sure = read(log(stamped(step, 8.0) for step in STEPS), devices=1, batch_per_device=8)

    assert (value(sure), sure.certainty) == (pytest.approx(8.0), "two clocks agree")


def test_a_rate_without_a_clock_is_printed_only(log):
    assert read(log(stamped(step, 8.0) for step in STEPS)).certainty == "printed only"


def test_a_scope_that_was_assumed_is_said(log):
    lines = [speed_line(step, prefix=f"{rank}: ") for step in STEPS for rank in (0, 1)]

    assert read(log(lines)).certainty == "assumed scope"


# relays

RELAYS = {
    "kubectl": "2026-11-21T04:29:{:012.9f}Z ",
    "kubectl --prefix": "[pod/train-0/main] 2026-11-21T04:29:{:012.9f}Z ",
    "docker compose": "trainer-1  | 2026-11-21T04:29:{:012.9f}Z ",
    "journalctl short-precise": "Nov 21 04:29:{:09.6f} node7 python[4711]: ",
    "journalctl short-iso-precise": "2026-11-21T04:29:{:09.6f}+0000 node7 python[4711]: ",
}


@pytest.mark.parametrize("prefix", RELAYS.values(), ids=RELAYS)
def test_the_stamp_of_a_relay_is_an_arrival(log, prefix):
    lines = [speed_line(step, 8.0, prefix.format(1.25 * step)) for step in STEPS]

    reading = read(log(lines), devices=1, batch_per_device=10)

    assert (reading.throughput.method, value(reading)) == ("arrival times", pytest.approx(8.0))


@pytest.mark.parametrize("prefix", RELAYS.values(), ids=RELAYS)
def test_lines_that_a_relay_passed_on_together_have_no_clock(log, prefix):
    lines = [speed_line(step, 8.0, prefix.format(10.25 * (step // 4) + 0.0001 * step)) for step in STEPS]

    reading = read(log(lines), devices=1, batch_per_device=10)

    assert (value(reading), codes(reading)) == (pytest.approx(8.0), {"arrivals_bursty"})


def test_the_scripts_own_stamp_behind_that_of_a_relay_is_the_clock(log):
    relay = RELAYS["kubectl"]
    lines = [relay.format(0.0001 * step) + stamped(step, 8.0) for step in STEPS]

    reading = read(log(lines), devices=1, batch_per_device=8)

    assert (reading.throughput.method, value(reading)) == ("log stamps", pytest.approx(8.0))


# what the log prints is taken before anything is asked for


@pytest.mark.parametrize(
    "line",
    [
        "Namespace(batch_size=32, world_size=8, dist_url='env://')",
        "[06/20 09:59:40] detectron2 INFO: Rank of current process: 0. World size: 8",
        "WORLD_SIZE=8",
    ],
)
def test_the_world_size_in_a_log_is_the_number_of_its_devices(log, line):
    reading = read(log([line, *map(card_line, STEPS)]))

    assert (reading.total_devices, value(reading)) == (8, pytest.approx(128.0))


@pytest.mark.parametrize(
    "line",
    [
        "Namespace(batch_size=32, world_size=1, dist_url='env://')",  # a default, before the processes have met
        "tensor model parallel world size: 8",
        "data_parallel_world_size=8",
        "local world size: 8",
    ],
)
def test_the_world_size_of_a_part_or_a_default_is_not(log, line):
    reading = read(log([line, *map(card_line, STEPS)]))

    assert (reading.total_devices, value(reading)) == (None, None)


def test_an_option_says_more_than_a_world_size(log):
    reading = read(log(["world_size=8", *map(card_line, STEPS)]), devices=2)

    assert reading.total_devices == 2


@pytest.mark.parametrize(
    ("lines", "devices", "assumed"),
    [
        ([f"iter {step}: loss 2.0, time 500.00ms, mfu 30.00%" for step in STEPS], 8, True),
        ([f"iter {step}: loss 2.0, time 500.00ms, mfu 30.00%" for step in STEPS], 1, False),
        (
            [
                f"tokens per iteration will be: 491,520\niter {step}: loss 2.0, time 500.00ms, mfu 30.00%"
                for step in STEPS
            ],
            8,
            False,
        ),
        ([speed_line(step) for step in STEPS], 8, False),
    ],
    ids=["times alone", "on one device", "with the batch of the whole job", "rates"],
)
def test_that_several_devices_share_a_step_whose_time_alone_is_printed_is_said_to_be_assumed(
    log, lines, devices, assumed
):
    found = read(log(lines), devices=devices, batch_per_device=4096)

    assert ("devices_assumed" in codes(found)) is assumed
