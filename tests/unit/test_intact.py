"""A log whose lines were cut or folded, or whose numbers were rewritten, is read as it was or refused."""

from pathlib import Path

import pytest

from evalsuite.logs import catalogue
from evalsuite.logs.reading import Reading, read_file
from evalsuite.logs.text.intact import ALTERED, WIDTHS

LOGS = Path(__file__).resolve().parents[1] / "logs"
DIALECTS = catalogue.discover()
GIVEN = {"devices": 8, "batch_per_device": 32}


def time_history(steps: int = 40) -> str:
    """Every 10 steps at 1,024 images/s: 10 steps of 256."""
    return "".join(
        f"I1120 23:{37 + number // 24:02d}:{2.5 * number % 60:09.6f} 140651157302144 keras_utils.py:145] "
        f"TimeHistory: 2.50 seconds, 1024.00 examples/second between steps {10 * number} and {10 * number + 10}\n"
        for number in range(1, steps)
    )


def wrapped(text: str, columns: int) -> str:
    return "\n".join(
        line[at : at + columns] for line in text.split("\n") for at in range(0, max(1, len(line)), columns)
    )


def read(folder: Path, text: str | bytes, **given) -> Reading:
    path = folder / "log"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_file(path, dialects=DIALECTS, **given)


def value(found: Reading) -> float | None:
    return found.throughput.items_per_s if found.throughput and found.status in ("ok", "partial") else None


@pytest.mark.parametrize("name", ["swin.log", "mmengine.log", "mlperf_blocks.log", "verl.log"])
def test_a_wrapped_log_is_refused(tmp_path, name):
    found = read(tmp_path, wrapped((LOGS / name).read_text(), 100), **GIVEN)

    assert value(found) is None


@pytest.mark.parametrize("columns", [80, 93, 100])
def test_a_log_that_a_terminal_has_wrapped_says_why_it_is_not_read(tmp_path, columns):
    found = read(tmp_path, wrapped(time_history(), columns))

    assert (found.status, found.reason) == ("unrecognised", ALTERED)


def cut_off(text: str) -> str:
    return "\n".join(line[:80] for line in text.split("\n"))


def stripped(text: str) -> str:
    return "\n".join(line.rstrip() for line in wrapped(text, 80).split("\n"))


def with_a_wide_end(text: str) -> str:
    half = text.index("\n", len(text) // 2) + 1
    return wrapped(text[:half], 80) + text[half:]


@pytest.mark.parametrize("name", ["maxtext.log", "nanotron.log", "megatron_stamped.log", "mmcv.log"])
@pytest.mark.parametrize("happened", [cut_off, stripped, with_a_wide_end])
def test_where_it_is_not_certain_what_belongs_together_no_number_is_wrong(tmp_path, name, happened):
    before = read_file(LOGS / name, dialects=DIALECTS, **GIVEN)

    found = read(tmp_path, happened((LOGS / name).read_text()), **GIVEN)

    assert value(found) in (None, pytest.approx(value(before), rel=0.02))


def test_lines_cut_off_at_the_width_of_a_terminal_are_refused_with_the_reason(tmp_path):
    found = read(tmp_path, cut_off((LOGS / "maxtext.log").read_text()), **GIVEN)

    assert value(found) is None
    assert found.reason == ALTERED


def test_lines_that_are_all_as_long_as_a_terminal_is_wide_are_no_wrapped_lines(tmp_path):
    text = "".join(
        f"step:{step:05d}/10000 train_loss:9.1234 train_time:{500 * step:09d}ms step_avg:500.00ms\n"
        for step in range(1, 200)
    )
    columns = len(text.split("\n")[0])
    noise = "".join(line + "\n" + "saved 1234\n" * (number % 9 == 0) for number, line in enumerate(text.splitlines()))

    plain, mixed = read(tmp_path, text, **GIVEN), read(tmp_path, noise, **GIVEN)

    assert columns in range(40, 320)
    assert plain.throughput.window == mixed.throughput.window if plain.throughput else plain.reason == mixed.reason
    assert value(plain) == value(mixed)


def test_a_log_of_which_some_lines_are_wrapped_and_others_longer_is_refused(tmp_path):
    line = (LOGS / "maxtext.log").read_text().splitlines()[-1]
    text = "".join(f"{line}\n".replace("step: 9", f"step: {step}") for step in range(2000))
    half = text.index("\n", 100_000) + 1

    found = read(tmp_path, wrapped(text[:half], 80) + text[half:])

    assert (value(found), found.reason) == (None, ALTERED)


@pytest.mark.parametrize(("columns", "batch"), [(90, 128), (80, None)])
def test_a_batch_that_ends_where_a_terminal_breaks_lines_is_not_believed_if_it_may_go_on(tmp_path, columns, batch):
    """`… Batch size: 1` and `28, Loss …`: only the line of the batch is longer than 80 columns."""
    head = "I0325 14:00:22.976243 130295 train.py:652] Finished training step 0. Batch size: ".rjust(79, ".")[-79:]
    reports = "".join(
        f"I0325 14:0{number}:00.5 1302 logging_writer.py:48] [{100 * number}] steps_per_sec=1.6666\n"
        for number in range(1, 9)
    )

    found = read(tmp_path, wrapped(f"{head}128, Loss: 10.9, LR: 0.1\n", columns) + reports)

    assert value(found) == (None if batch is None else pytest.approx(batch * 1.6666, rel=0.01))


@pytest.mark.parametrize("name", ["maxtext.log", "clu.log", "paddlenlp_trainer.log", "nemo_automodel.log"])
@pytest.mark.parametrize("half", [0, 1])
def test_a_short_log_of_which_one_half_is_wrapped_is_refused_whatever_the_other_says(tmp_path, name, half):
    text = (LOGS / name).read_text()
    middle = text.index("\n", len(text) // 2) + 1
    parts = [text[:middle], text[middle:]]
    parts[half] = wrapped(parts[half], 80)

    found = read(tmp_path, "".join(parts), **GIVEN)

    assert (value(found), found.reason) == (None, ALTERED)


def parts_wrapped(text: str, columns: int, begin: float, end: float) -> str:
    lines = text.split("\n")
    first, last = int(begin * len(lines)), int(end * len(lines))
    return "\n".join([*lines[:first], wrapped("\n".join(lines[first:last]), columns), *lines[last:]])


@pytest.mark.parametrize(("begin", "end"), [(0, 1 / 2), (1 / 2, 1), (1 / 3, 2 / 3)])
def test_a_log_wrapped_in_a_part_gives_no_wrong_number(tmp_path, begin, end):
    wrong = []
    for path in sorted(LOGS.glob("*.log"))[int(4 * end) % 2 :: 2]:
        before = read_file(path, dialects=DIALECTS, **GIVEN)
        text = path.read_bytes().decode("utf-8", "surrogateescape")
        part = parts_wrapped(text, 80, begin, end).encode("utf-8", "surrogateescape")
        found = read(tmp_path, part, **GIVEN)
        near = not value(before) or not value(found) or abs(value(found) / value(before) - 1) <= 0.02
        if not near and not {one.name for one in found.findings} - {one.name for one in before.findings}:
            wrong.append((path.name, value(before), value(found)))

    assert wrong == []


def between_words(line: str, columns: int) -> list[str]:
    """*line* as `fold -s -w columns` cuts it."""
    cut = []
    while len(line) > columns:
        at = line.rfind(" ", 0, columns) + 1 or columns
        cut, line = [*cut, line[:at]], line[at:]
    return [*cut, line]


def folded(text: str, columns: int, begin: float = 0, end: float = 1, *, stripped: bool = False) -> str:
    lines = text.split("\n")
    first, last = int(begin * len(lines)), int(end * len(lines))
    parts = [part for line in lines[first:last] for part in between_words(line, columns)]
    return "\n".join([*lines[:first], *(part.rstrip(" ") if stripped else part for part in parts), *lines[last:]])


# reports over more lines than are looked at; a bar whose words are all apart; a figure of the end beside reports
KNOWN_WRONG = {"verl_2025.log", "caffe_2014.log", "keras_3.log", "dllogger_mxnet.log", "gluonnlp_bert.log"}


@pytest.mark.parametrize(("begin", "end"), [(0, 1), (0, 1 / 2), (1 / 2, 1)])
def test_a_log_folded_between_words_gives_no_wrong_number(tmp_path, begin, end):
    wrong = []
    for number, path in enumerate(sorted(LOGS.glob("*.log"))):
        if path.name in KNOWN_WRONG or number % 3 != int(2 * begin + end) % 3:
            continue
        before = read_file(path, dialects=DIALECTS, **GIVEN)
        text = path.read_bytes().decode("utf-8", "surrogateescape")
        part = folded(text, 80, begin, end, stripped=number % 2 == 0).encode("utf-8", "surrogateescape")
        found = read(tmp_path, part, **GIVEN)
        near = not value(before) or not value(found) or abs(value(found) / value(before) - 1) <= 0.02
        if not near and not {one.name for one in found.findings} - {one.name for one in before.findings}:
            wrong.append((path.name, value(before), value(found)))

    assert wrong == []


@pytest.mark.parametrize("name", ["darknet.log", "sam_2_vggt_409.log", "mxnet_speedometer.log", "torchtune_2024.log"])
@pytest.mark.parametrize("stripped", [False, True])
def test_a_log_of_which_one_half_is_folded_between_words_is_refused_or_read_as_it_was(tmp_path, name, stripped):
    before = read_file(LOGS / name, dialects=DIALECTS, **GIVEN)

    found = read(tmp_path, folded((LOGS / name).read_text(), 80, 1 / 2, 1, stripped=stripped), **GIVEN)

    assert value(found) in (None, pytest.approx(value(before), rel=0.02))


def test_a_log_folded_between_words_says_why_it_is_not_read(tmp_path):
    found = read(tmp_path, folded((LOGS / "paddlenlp_bert.log").read_text(), 80, 0, 1 / 2), **GIVEN)

    assert (value(found), found.reason) == (None, ALTERED)


def test_one_report_that_another_process_tears_between_words_is_no_folded_line(tmp_path):
    lines = time_history(400).splitlines(keepends=True)
    lines[7] = lines[7].replace("seconds, ", "seconds, \n")

    found = read(tmp_path, "".join(lines))

    assert value(found) == pytest.approx(1024)


@pytest.mark.parametrize("name", ["keras_3.log", "ultralytics.log", "ultralytics_8.log"])
@pytest.mark.parametrize("columns", [80, 120, 200])
def test_bars_that_are_wrapped_in_a_part_are_refused_or_read_as_they_were(tmp_path, name, columns):
    text = (LOGS / name).read_bytes().decode()
    before = read_file(LOGS / name, dialects=DIALECTS, **GIVEN)

    for begin, end in ((0, 1 / 4), (1 / 3, 2 / 3), (1 / 2, 1)):
        found = read(tmp_path, parts_wrapped(text, columns, begin, end).encode(), **GIVEN)
        assert value(found) in (None, pytest.approx(value(before), rel=0.02))


@pytest.mark.parametrize("columns", [80, 83])
def test_a_log_wrapped_far_behind_its_beginning_is_refused(tmp_path, columns):
    line = (LOGS / "maxtext.log").read_text().splitlines()[-1]
    first, last = (
        "".join(f"{line}\n".replace("step: 9", f"step: {step}") for step in steps)
        for steps in (range(10), range(10, 200))
    )
    noise = "".join(f"loading shard {number} of the data set\n" for number in range(3000))

    found = read(tmp_path, first + noise + wrapped(last, columns), **GIVEN)

    assert (value(found), found.reason) == (None, ALTERED)


def test_reports_torn_by_other_processes_are_no_wrapped_lines(tmp_path):
    lines = time_history(400).splitlines(keepends=True)
    torn = "".join(
        f"{line[: 40 + number]}\n{line[40 + number :]}" if number in (7, 20) else line
        for number, line in enumerate(lines)
    )

    found = read(tmp_path, torn)

    assert value(found) == pytest.approx(1024)


def test_a_script_that_prints_less_behind_its_numbers_is_read_whatever_the_width_of_its_lines(tmp_path):
    """Another version may end at the last number, some of its lines at 80 columns and others not."""
    text = "".join(
        f"{'x' * (19 + step % 3)} completed step: {step}, seconds: 1.5, TFLOP/s/device: 9.5, Tokens/s/device: 69374.5\n"
        for step in range(1, 300)
    )

    found = read(tmp_path, text, **GIVEN)

    assert {len(line) for line in text.splitlines()} & WIDTHS
    assert found.reason != ALTERED
