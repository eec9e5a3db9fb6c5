"""A log whose lines were cut or folded, or whose numbers were rewritten, is read as it was or refused."""

import re

import pytest

from evalsuite.contracts.dialect import Line
from evalsuite.logs import catalogue
from evalsuite.logs.reading import read_file
from evalsuite.logs.text.intact import ALTERED
from evalsuite.logs.text.records import is_whole
from tests import sources
from tests.mutations import fold, group_thousands, wrap
from tests.readings import LOGS, counted, read

GIVEN = {"devices": 8, "batch_per_device": 32}


def time_history(steps: int = 40) -> bytes:
    """Every 10 steps at 1,024 images/s: 10 steps of 256."""
    return "".join(
        f"I1120 23:{37 + number // 24:02d}:{2.5 * number % 60:09.6f} 140651157302144 keras_utils.py:145] "
        f"TimeHistory: 2.50 seconds, 1024.00 examples/second between steps {10 * number} and {10 * number + 10}\n"
        for number in range(1, steps)
    ).encode()


def maxtext(*steps: int) -> bytes:
    line = log("maxtext").splitlines(keepends=True)[-1]
    return b"".join(line.replace(b"step: 9", b"step: %d" % step) for step in range(*steps))


def log(name: str) -> bytes:
    return (LOGS / f"{name}.log").read_bytes()


def cut_off(text: bytes) -> bytes:
    return b"\n".join(line[:80] for line in text.split(b"\n"))


def stripped(text: bytes) -> bytes:
    return b"\n".join(line.rstrip() for line in wrap(80)(text).split(b"\n"))


def with_a_wide_end(text: bytes) -> bytes:
    half = text.index(b"\n", len(text) // 2) + 1
    return wrap(80)(text[:half]) + text[half:]


def with_a_wide_beginning(text: bytes) -> bytes:
    half = text.index(b"\n", len(text) // 2) + 1
    return text[:half] + wrap(80)(text[half:])


def in_bytes(columns: int, begin: float):
    """As `fold -b` cuts lines, between the bytes of a character too."""

    def cut(text: bytes) -> bytes:
        first = int(len(text) * begin)
        return text[:first] + re.sub(rb"[^\n]{%d}" % columns, lambda part: part[0] + b"\n", text[first:])

    return cut


NOISE = b"".join(b"loading shard %d of the data set\n" % number for number in range(3000))
REFUSED = {
    **{f"all of it wrapped at {columns}": wrap(columns)(time_history()) for columns in (80, 93, 100)},
    "cut off at the width of a terminal": cut_off(log("maxtext")),
    "a long beginning wrapped": with_a_wide_end(maxtext(2000)),
    **{
        f"{name}: a short log, one half of it wrapped, {half.__name__}": half(log(name))
        for name in ("maxtext", "clu", "paddlenlp_trainer", "nemo_automodel")
        for half in (with_a_wide_end, with_a_wide_beginning)
    },
    "its first half folded between words": fold(80, 0, 1 / 2)(log("paddlenlp_bert")),
    **{
        f"wrapped at {columns} far behind its beginning": maxtext(10) + NOISE + wrap(columns)(maxtext(10, 200))
        for columns in (80, 83)
    },
    "rates with commas": group_thousands(b",", re.compile(rb"\d{4,}\.\d+"))(log("dllogger_tf1")),
    "rates with underscores": group_thousands(b"_", re.compile(rb"\d{4,}\.\d+"))(log("dllogger_tf1")),
    "steps with thousands, whose reports are missed": group_thousands(b",")(log("clu")),
}
OF_HISTORIES = [each for each in REFUSED if each.startswith(("all of it", "a long"))]  # that say what they need


@pytest.mark.parametrize("how", REFUSED)
def test_a_log_that_was_altered_is_refused_with_the_reason(how, tmp_path):
    reading = read(tmp_path, REFUSED[how], **({} if how in OF_HISTORIES else GIVEN))

    assert (counted(reading), reading.reason) == (None, ALTERED)


UNCERTAIN = [
    *((name, how) for name in ("maxtext", "megatron_stamped") for how in (cut_off, stripped, with_a_wide_end)),
    *((name, wrap(100)) for name in ("swin", "mmengine", "mlperf_blocks", "verl")),
    *((name, fold(80, 1 / 2, 1, stripped=bare)) for name in ("darknet", "torchtune_2024") for bare in (False, True)),
    *((name, in_bytes(columns, 0)) for name in ("trl", "axolotl") for columns in (60, 120)),
    *((name, wrap(columns, 1 / 3, 2 / 3)) for name in ("keras_3", "ultralytics_8") for columns in (80, 200)),
]


@pytest.mark.parametrize(("name", "how"), UNCERTAIN)
def test_where_it_is_not_certain_what_belongs_together_no_number_is_wrong(tmp_path, name, how):
    before = read_file(LOGS / f"{name}.log", **GIVEN)

    reading = read(tmp_path, how(log(name)), **GIVEN)

    assert counted(reading) in (None, counted(before) and pytest.approx(counted(before), rel=0.02))


def test_lines_that_are_all_as_long_as_a_terminal_is_wide_are_no_wrapped_lines(tmp_path):
    text = "".join(
        f"step:{step:05d}/10000 train_loss:9.1234 train_time:{500 * step:09d}ms step_avg:500.00ms\n"
        for step in range(1, 200)
    ).encode()
    noise = b"".join(
        line + b"\n" + b"saved 1234\n" * (number % 9 == 0) for number, line in enumerate(text.splitlines())
    )

    plain, mixed = read(tmp_path, text, **GIVEN), read(tmp_path, noise, **GIVEN)

    assert text.index(b"\n") in range(40, 320)
    assert plain.throughput.window == mixed.throughput.window if plain.throughput else plain.reason == mixed.reason
    assert counted(plain) == counted(mixed)


@pytest.mark.parametrize(("columns", "batch"), [(90, 128), (80, None)])
def test_a_batch_that_ends_where_a_terminal_breaks_lines_is_not_believed_if_it_may_go_on(tmp_path, columns, batch):
    """`… Batch size: 1` and `28, Loss …`: only the line of the batch is longer than 80 columns."""
    head = b"I0325 14:00:22.976243 130295 train.py:652] Finished training step 0. Batch size: ".rjust(79, b".")[-79:]
    reports = b"".join(
        b"I0325 14:0%d:00.5 1302 logging_writer.py:48] [%d] steps_per_sec=1.6666\n" % (number, 100 * number)
        for number in range(1, 9)
    )

    reading = read(tmp_path, wrap(columns)(head + b"128, Loss: 10.9, LR: 0.1\n") + reports)

    assert counted(reading) == (None if batch is None else pytest.approx(batch * 1.6666, rel=0.01))


@pytest.mark.parametrize("torn", [{7: 86}, {7: 47, 20: 60}], ids=["between words", "anywhere"])
def test_reports_that_another_process_tears_are_no_folded_lines(torn, tmp_path):
    lines = time_history(400).splitlines(keepends=True)
    for number, at in torn.items():
        lines[number] = lines[number][:at] + b"\n" + lines[number][at:]

    reading = read(tmp_path, b"".join(lines))

    assert counted(reading) == pytest.approx(1024)


LINES = {
    "speed": Line(pattern=rb"step (?P<step>\d+) speed (?P<rate>[\d.]+)", sample=b"step 10 speed 250.5", source=""),
    "row": Line(pattern=rb"row (?P<step>\d+),(?P<rate>[\d.]+)", sample=b"row 12,250.5", source=""),
}


def test_bytes_before_the_first_line_are_no_cut_lines(tmp_path):
    (file := tmp_path / "a.log").write_bytes(b"\0\x9f\n\x9f" * 9000 + b"\n" + maxtext(100))

    assert read_file(file, devices=8).throughput is not None


@pytest.mark.parametrize(("line", "printed", "whole"), sources.cases("intact.toml")["numbers"])
def test_a_number_is_taken_whole_or_not_at_all(line, printed, whole):
    assert is_whole(LINES[line].compiled.search(printed.encode()), LINES[line]) is whole


def test_a_unit_behind_a_number_that_its_script_prints_without_one_makes_another_line():
    taken, numbers = set(), 0
    for name, dialect in catalogue.known().items():
        for line in (*dialect.step, *dialect.final):
            match = line.compiled.search(line.sample)
            for group, said in match.groupdict().items() if match else ():
                end = match.end(group)
                if said and re.fullmatch(rb"\d[\d.]*", said) and not re.match(rb"[A-Za-z%/]", line.sample[end:]):
                    numbers += 1
                    found = line.compiled.search(line.sample[:end] + b"ms" + line.sample[end:])
                    taken |= {(name, group)} if found and found[group] == said and is_whole(found, line) else set()

    assert numbers > 400 and taken <= {("verl", "step")}
