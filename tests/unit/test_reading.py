"""From log files to readings: several logs of a run, arrival times, dialects, bad input."""

import gzip
import itertools
import os
import random
import statistics
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters import paddlepaddle
from evalsuite.contracts import dialect
from evalsuite.core.findings import ClockDisagrees
from evalsuite.core.model import Case, Log, Protocol
from evalsuite.logs import catalogue, reading, recognition
from evalsuite.logs.reading import Reading, read_file, read_run
from evalsuite.logs.scan.scan import scan_log
from evalsuite.logs.text.intact import ALTERED, has_decimal_commas
from evalsuite.logs.text.logfile import chunks, prefix_of_lowest
from tests import sources
from tests.readings import SHORT, example_line, speed_line

DIALECTS = catalogue.known()
PADDLECLAS = (
    "[Train][Epoch 1/1][Iter: {}/25]lr(A): 0.1, loss: 6, batch_cost: {:.5f}s, reader_cost: 0.1, ips: {:.5f} samples/s"
)


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
        return Log(path=path, arrivals=beside, host="a", rank=rank, name="log.txt")

    return write


def read(written, protocol=SHORT):
    return read_file(written.path, devices=1, batch_per_device=8, protocol=protocol, dialects=DIALECTS)


def test_a_log_of_step_times_becomes_items_over_time(log):
    written = log([example_line(step) for step in range(1, 8)])

    reading = read_run([written], case(devices_per_node=2), "pytorch_examples", dialects=DIALECTS)

    assert (reading.status, reading.unit, reading.scope) == ("ok", "images/s", "global")
    assert reading.throughput.items_per_s == pytest.approx(16 / 0.5)
    assert (reading.throughput.window.first_step, reading.throughput.window.last_step) == (3, 7)


BARRIER = sources.table("reading.toml")["barrier"]


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
    found = [finding for finding in reading.findings if finding.code == "D25"]
    assert bool(found) is (status == "ok") and all("DistNetworkError: Failed to recv" in each.text for each in found)


def test_the_arrival_of_lines_is_the_clock_where_there_is_no_stamp(log):
    lines = ["starting", *(example_line(step, 0.5) for step in range(1, 8))]
    written = log(lines, arrivals=[0.1, *(3.0 + 0.7 * step for step in range(1, 8))])

    reading = read_run([written], case(), "pytorch_examples", dialects=DIALECTS)

    assert reading.throughput.method == "arrival times"
    assert reading.throughput.items_per_s == pytest.approx(8 / 0.7)
    assert reading.throughput.window.begin_s == pytest.approx(4.4)
    assert "clock_disagrees" in [finding.code for finding in reading.throughput.findings]


def test_means_since_the_start_are_no_doubt_of_a_run_that_others_slowed_at_first(log):
    took = [0.4 + at % 7 / 100 + 4.0 * (5 <= at < 8) for at in range(25)]
    means = [
        statistics.fmean(took[5 * (step > 5) : step]) for step in range(1, 26)
    ]  # PaddleClas's, as our script has it
    lines = [PADDLECLAS.format(step, mean, 8 / mean) for step, mean in enumerate(means)]
    written = log(lines, arrivals=[*itertools.accumulate(took)])
    dialect, asked = paddlepaddle.ADAPTER.recipes[0].dialect, Protocol(warmup_steps=5, measured_steps=20)

    found = read_run([written], case(protocol=asked), dialect, dialects=DIALECTS).throughput

    assert found.items_per_s == pytest.approx(20 * 8 / sum(took[5:]), rel=1e-3)
    assert found.printed_items_per_s == pytest.approx(found.items_per_s, rel=1e-3)
    assert not any(isinstance(finding, ClockDisagrees) for finding in found.findings)


def test_losses_of_reports_that_a_coarse_clock_joins_are_all_read(log):
    lines = [
        f"{{'loss': {9 - at / 10:.4f}, 'grad_norm': 1.1, 'learning_rate': 1e-05, 'epoch': 0.1}}" for at in range(30)
    ]
    bars = (f" 5%|#   | {10 * at}/300 [00:{at * 13 // 10:02d}<00:40,  7.63it/s]" for at in range(1, 31))

    found = read_file(log(itertools.chain(*zip(bars, lines, strict=True))).path, devices=8, batch_per_device=8)

    assert len(found.steps) < 8 and found.trained == "trained"


def test_a_score_has_its_seconds_since_the_start_by_its_arrival(log):
    scores = [" *   Acc@1 7.030 Acc@5 18.340", " *   Acc@1 9.000 Acc@5 18.340"]
    written = log([example_line(1), scores[0], example_line(2), scores[1]], arrivals=[1.0, 61.5, 70.0, 120.25])

    found = read_run([written], case(), "pytorch_examples", dialects=DIALECTS).scores

    top1 = [(run.epoch, run.value, run.at_s) for run in found if run.metric == "top1"]
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


def toy(pattern, sample, **changes):
    known = {"name": "toy", "title": "Toy", "framework": None, "unit": "images/s", "scope": "global"}
    line = dialect.Line(pattern=pattern, sample=sample, source="here")
    return dialect.Dialect(step=(line,), **{**known, "averaging": "step", **changes})


def test_two_dialects_of_one_log_are_an_error_that_names_both(log):
    both = {name: toy(rb"toy (?P<rate>\d+)", b"toy 1", name=name) for name in ("one", "other")}

    apart = {name: toy(b"%b (?P<rate>\\d+)" % name.encode(), b"%b 1" % name.encode(), name=name) for name in both}
    turns = [f"{name} {n}" for n in range(12) for name in ("one", "one", "other")]

    reading = read_file(log(["toy 1", "toy 2"]).path, dialects=both)
    several = read_file(log(turns).path, dialects=apart)

    assert reading.status == "unrecognised"
    assert reading.reason == "step lines of one and other are in this log; say which with --set dialect=NAME"
    assert several.reason == reading.reason


def test_a_log_that_does_not_say_whose_rate_it_prints_makes_no_number(log):
    dialects = {"toy": toy(rb"toy (?P<step>\d+) (?P<rate>\d+)", b"toy 1 1", scope="unstated")}
    path = log([f"toy {step} 95" for step in range(1, 9)]).path

    unsaid, said = (read_file(path, dialects=dialects, protocol=SHORT, scope=scope) for scope in (None, "global"))

    assert unsaid.throughput is None
    assert "--set scope" in unsaid.reason
    assert said.throughput.items_per_s == pytest.approx(95)


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
    [line.sample for of in DIALECTS.values() for line in (*of.step, *of.final, *of.evaluation, *of.facts)]
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


# training lines behind a long preamble


STEP = "Epoch: [0][{0:4d}/5000]\tTime  0.300 ( 0.300)\tData  0.002 ( 0.001)\tLoss 6.7e+00 (6.9e+00)\n"


@pytest.mark.parametrize("kib", [1, 40, 1000])
def test_training_lines_are_found_wherever_they_begin(tmp_path, kib):
    noise = [
        f"2026-11-22 03:01:{line % 60:02d} INFO worker[{line}] loads a shard of the cache\n" for line in range(16 * kib)
    ]
    path = tmp_path / "log"
    path.write_text("".join(noise) + "".join(map(STEP.format, range(3))) + "".join(noise))

    (found,) = recognition.find_dialects(path, catalogue.known().values())

    assert found.name == "pytorch_examples"


# the steps behind a window are sampled, wherever in the file they stand, at a cost that does not grow with it


def _log(path, times):
    means = (total / number for number, total in enumerate(itertools.accumulate(times), 1))
    rows = (
        f"Epoch: [0][{number}/{len(times)}]\tTime {time:.3f} ({mean:.6f})\tData  0.000 ( 0.000)\tLoss 6.9 (6.9)"
        for number, (time, mean) in enumerate(zip(times, means, strict=True))
    )
    path.write_text("\n".join(rows) + "\n")
    return path


def _differences(path):
    read = reading.read_file(path, devices=8, batch_per_device=64)
    return [finding for finding in read.throughput.findings if finding.name == "rest_differs"]


def test_a_log_that_goes_on_at_the_same_speed_has_no_finding(tmp_path):
    assert not _differences(_log(tmp_path / "log", [0.3] * 5000))


def test_a_log_that_grows_slow_long_after_its_window_is_told(tmp_path):
    (difference,) = _differences(path := _log(tmp_path / "log", [0.3] * 2500 + [0.6] * 20_000))

    status = reading.read_file(path, devices=8, batch_per_device=64).status
    assert -0.5 <= difference.difference < -0.2 and status == "doubtful"


def test_the_first_report_of_a_sampled_piece_does_not_stand_for_what_was_not_read(tmp_path):
    """Reports ten times as slow, one at the beginning of each piece: as few among all as they are."""
    kept = 141  # as many reports as a reading keeps: 20 + 100, and 20 more
    log = _log(tmp_path / "log", [0.3] * 20_000)
    even = scan_log(log, _dialect(), lambda scan: len(scan.records) >= kept, steps=kept)
    slow = {record.step for record in even.rest.records if record.gap}
    assert len(slow) > 3

    path = _log(tmp_path / "log", [3.0 if number in slow else 0.3 for number in range(20_000)])

    assert not _differences(path)


def _dialect():
    return catalogue.known()["pytorch_examples"]


def test_a_sample_of_uneven_reports_is_allowed_its_chance(tmp_path):
    """Times that vary as much everywhere: the mean of a sample is off by some per cent, and nothing differs."""
    flagged = [
        bool(_differences(_log(tmp_path / "log", [draw.choice((0.25, 0.35)) for _ in range(3000)])))
        for draw in map(random.Random, range(12))
    ]

    assert sum(flagged) <= 1


# the bytes of a log: packed, recoded; and what is no log is named for what it is


LOGS = Path(__file__).resolve().parents[1] / "logs"
TEXT = b"".join(
    b"INFO:root:Epoch[0] Batch [%d]\tSpeed: %d.%02d samples/sec\taccuracy=0.01\n" % (step, 1082, step % 100)
    for step in range(20, 4000, 20)
)
COMMAS = TEXT.replace(b".", b",")


def whole_text(tmp_path, content):
    path = tmp_path / "train.log"
    path.write_bytes(content)
    return read_file(path, dialects=DIALECTS)


@pytest.mark.parametrize(
    "content",
    [
        gzip.compress(TEXT),
        TEXT.decode().encode("utf-16"),
        b"\xfe\xff" + TEXT.decode().encode("utf-16-be"),
        gzip.compress(TEXT.decode().encode("utf-16")),
        b"\xef\xbb\xbf" + TEXT,
    ],
    ids=["gz", "utf-16", "utf-16-be", "gz of utf-16", "utf-8 with a mark"],
)
def test_a_log_reads_the_same_however_it_is_written(tmp_path, content):
    reading = whole_text(tmp_path, content)

    assert reading.status == "ok"
    assert reading.throughput.items_per_s == pytest.approx(1082.5, abs=0.5)


@pytest.mark.parametrize(("content", "named"), sources.cases("reading.toml")["no_log"])
def test_what_is_no_log_is_named(tmp_path, content, named):
    content = b"".join(text.encode("latin-1") * times for times, text in content)
    reading = whole_text(tmp_path, content)

    assert reading.status == "unrecognised"
    assert named in reading.reason


@pytest.mark.parametrize("text", sources.cases("reading.toml")["commas"])
def test_commas_that_are_no_decimals_stay(text):
    assert not has_decimal_commas(text.encode() * 20)


def test_a_log_with_decimal_commas_is_refused(tmp_path):
    reading = whole_text(tmp_path, COMMAS)

    assert (reading.reason, reading.throughput) == (ALTERED, None)


def test_samples_of_which_a_part_was_split_off_are_no_batch(tmp_path):
    bars = (
        f"Epoch {of}/5\n422/422 [===] - {of}0s {24 * of}ms/step - loss: 0.{9 - of} - val_loss: 0.1"
        for of in range(1, 6)
    )
    (tmp_path / "a.log").write_text("\n".join(["60000 train samples", *bars, ""]))  # 54,000 were trained on, by 128

    assert read_file(tmp_path / "a.log").throughput.unit == "steps/s"


def test_a_line_longer_than_any_of_a_log_is_left_out_and_said(tmp_path):
    """50 MB without a line end, between the reports of a log: each pattern would go through it again and again."""
    path = tmp_path / "log"
    lines = (LOGS / "maxtext.log").read_bytes().splitlines(keepends=True)
    before = read_file(LOGS / "maxtext.log", devices=8)
    with path.open("wb") as file:
        file.writelines(lines[:-3])
        for _ in range(50):
            file.write(b"completed step: 1, seconds: 0.5, " * 32_768)
        file.writelines([b"\n", *lines[-3:]])

    found = read_file(path, devices=8)

    assert found.throughput.items_per_s == before.throughput.items_per_s
    assert found.throughput.line_last == before.throughput.line_last + 1
    assert [type(finding).__name__ for finding in found.findings if finding.code == "steps_left_out"] == ["LineLeftOut"]


# what launchers write before each line does not break a report that spans several lines


LAUNCHERS = sources.table("reading.toml")["launchers"]
SPANNING = ["composer.log", "mindformers.log", "hf_trainer.log"]


def of_eight(path: Path) -> Reading:
    return read_file(path, dialects=DIALECTS, devices=8, batch_per_device=4)


@pytest.mark.parametrize("name", SPANNING)
@pytest.mark.parametrize("prefix", LAUNCHERS.values(), ids=LAUNCHERS)
def test_a_log_behind_a_prefix_is_read_as_without(tmp_path, name, prefix):
    plain = of_eight(LOGS / name)
    log = tmp_path / name
    lines = (LOGS / name).read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(prefix.format(rank=0).encode() + line for line in lines))

    summary = of_eight(log)

    assert summary.dialect == plain.dialect
    assert summary.throughput.items_per_s == pytest.approx(plain.throughput.items_per_s)
    assert [step.line for step in summary.steps] == [step.line for step in plain.steps]


def test_where_a_line_stood_in_the_file_is_not_forgotten(tmp_path):
    log = tmp_path / "train.log"
    lines = [f"[1,0]<stdout>:\x1b[32mstep {number}\x1b[0m of many\n" for number in range(20)]
    log.write_text("".join(lines))

    (chunk,) = chunks(log, bare=True)

    assert chunk.text == b"".join(b"step %d of many\n" % number for number in range(20))
    ends = [chunk.raw_offset(place + 1) for place, byte in enumerate(chunk.text) if byte == ord("\n")]
    assert ends == [sum(map(len, lines[: number + 1])) for number in range(20)]


@pytest.mark.parametrize(
    "text",
    sources.cases("reading.toml")["no_prefix"],
    ids=["step numbers", "a few lines alone", "a script's own tag", "nothing"],
)
def test_what_no_launcher_wrote_stays(text):
    assert prefix_of_lowest(text.encode()) is None
