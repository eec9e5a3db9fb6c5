"""From log files to readings: several logs of a run, arrival times, dialects, bad input."""

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
from tests.readings import SHORT, example_line, speed_line

DIALECTS = catalogue.discover()


def case(**fields):
    known = {"framework": "pytorch", "recipe": "reference-resnet50", "model": "resnet50_v1.5", "batch_per_device": 8}
    return Case(**{**known, "protocol": SHORT, **fields})


@pytest.fixture
def log(tmp_path):
    """Writes lines as a log and returns it, with arrival times if they are given."""

    def write(lines, *, arrivals=None, rank=None, name="log.a"):
        path = tmp_path / f"{name}{'' if rank is None else f'.r{rank}'}.txt"
        pieces = [f"{line}\n" for line in lines]
        path.write_text("".join(pieces))
        beside = path.with_suffix(".csv")
        if arrivals:
            ends = [sum(map(len, pieces[: i + 1])) for i in range(len(pieces))]
            rows = [f"{at},{when:.6f}" for at, when in zip(ends, arrivals, strict=True)]
            beside.write_text("\n".join(["end_byte,at_s", *rows]) + "\n")
        return Log(path=path, arrivals=beside, host="a", rank=rank)

    return write


def read(written, protocol=SHORT):
    return read_file(written.path, devices=1, batch_per_device=8, protocol=protocol, dialects=DIALECTS)


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


def test_the_arrival_of_lines_is_the_clock_where_there_is_no_stamp(log):
    lines = ["starting", *(example_line(step, 0.5) for step in range(1, 8))]
    written = log(lines, arrivals=[0.1, *(3.0 + 0.7 * step for step in range(1, 8))])

    reading = read_run([written], case(), "pytorch_examples", dialects=DIALECTS)

    assert reading.throughput.method == "arrival times"
    assert reading.throughput.items_per_s == pytest.approx(8 / 0.7)
    assert reading.throughput.window.begin_s == pytest.approx(4.4)
    assert "clock_disagrees" in [finding.code for finding in reading.throughput.findings]


def test_a_score_has_its_seconds_since_the_start_by_its_arrival(log):
    scores = [" *   Acc@1 7.030 Acc@5 18.340", " *   Acc@1 9.000 Acc@5 18.340"]
    written = log([example_line(1), scores[0], example_line(2), scores[1]], arrivals=[1.0, 61.5, 70.0, 120.25])

    found = read_run([written], case(), "pytorch_examples", dialects=DIALECTS).scores

    top1 = [(one.epoch, one.value, one.at_s) for one in found if one.metric == "top1"]
    assert top1 == [(1, 7.03, 61.5), (2, 9.0, 120.25)]


def test_workers_that_print_their_own_share_are_summed_over_their_logs(log):
    logs = [log([speed_line(step, 10.0 * (rank + 1)) for step in range(1, 9)], rank=rank) for rank in (0, 1)]

    reading = read_run(logs, case(devices_per_node=2), "mxnet_speedometer", scope="own", dialects=DIALECTS)

    assert reading.throughput.printed_items_per_s == pytest.approx(30.0)
    assert reading.scope == "per_device"


def test_steps_behind_the_window_are_counted_and_not_kept(log):
    reading = read(log([example_line(step % 5000, of=5000) for step in range(1, 5000)]))

    assert reading.steps_reported == 4999
    assert len(reading.steps) < 1000


def test_a_log_too_short_for_the_window_is_merged_once(log, monkeypatch):
    increments, calls = merging.increments_of, []
    monkeypatch.setattr(merging, "increments_of", lambda *given: calls.append(given) or increments(*given))

    read(log([example_line(step, of=5000) for step in range(1, 100)]), Protocol())

    assert len(calls) == 1


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


def toy(pattern, sample, **changes):
    known = {"name": "toy", "title": "Toy", "framework": None, "unit": "images/s", "scope": "global"}
    line = dialect.Line(pattern=pattern, sample=sample, source="here")
    return dialect.Dialect(step=(line,), **{**known, "averaging": "step", **changes})


def test_two_dialects_that_fit_equally_are_an_error_that_names_both(log):
    both = {name: toy(rb"toy (?P<rate>\d+)", b"toy 1", name=name) for name in ("one", "other")}

    reading = read_file(log(["toy 1", "toy 2"]).path, dialects=both)

    assert reading.status == "unrecognised"
    assert reading.reason == "one and other fit this log equally well; say which with --dialect"


def test_a_log_that_does_not_say_whose_rate_it_prints_makes_no_number(log):
    dialects = {"toy": toy(rb"toy (?P<step>\d+) (?P<rate>\d+)", b"toy 1 1", scope="unstated")}
    path = log([f"toy {step} 95" for step in range(1, 9)]).path

    unsaid, said = (read_file(path, dialects=dialects, protocol=SHORT, scope=scope) for scope in (None, "global"))

    assert unsaid.throughput is None
    assert "--scope" in unsaid.reason
    assert said.throughput.items_per_s == pytest.approx(95)


def test_a_record_without_a_number_does_not_hide_an_overflow(log):
    """Found by mutated samples."""
    declared = toy(rb"toy(?: (?P<step>\d+))? rate (?P<rate>\d+)", b"toy 1 rate 1", number_repeats=True)

    reading = read_file(
        log(["toy 1 rate 8", "toy rate 8", "toy 1 rate 8", "toy 2 rate 8"]).path, dialects={"toy": declared}
    )

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
