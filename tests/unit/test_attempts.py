"""Several runs in one log, and what happened to a run: each is said, and only the last attempt can have failed."""

import pytest

from evalsuite.logs import catalogue
from evalsuite.logs.reading import read_file

DIALECTS = catalogue.discover()
CRASH = ["Traceback (most recent call last):", "RuntimeError: CUDA out of memory. Tried to allocate 1.02 GiB"]


def steps(first, last, seconds=0.5, loss="6.7e+00"):
    return [
        f"Epoch: [0][{step:3d}/900]\tTime {seconds:6.3f} ({seconds:6.3f})\tData  0.002 ( 0.001)\tLoss {loss} ({loss})"
        for step in range(first, last + 1)
    ]


def read(tmp_path, lines):
    path = tmp_path / "train.log"
    path.write_text("".join(f"{line}\n" for line in lines))
    return read_file(path, dialects=DIALECTS, devices=1, batch_per_device=8)


def codes(reading):
    return [one.code for one in reading.findings]


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ([*CRASH, *steps(1, 130)], []),  # steps behind a failed attempt are read
        ([*steps(1, 30, 1.0), *CRASH, *steps(1, 130)], ["restarted"]),  # and the first is not measured
        ([*steps(1, 300), *steps(1, 300, 0.5)], ["begins_again"]),  # a copy behind the window
        ([*steps(1, 300), *steps(1, 300, 1.0)], ["begins_again"]),  # another run
        (["=> loaded checkpoint 'checkpoint.pth.tar' (epoch 3)", *steps(1, 130)], ["resumed"]),
        (["resume_from_checkpoint=None", *steps(1, 130)], []),  # an option to resume is no resume
        (["Namespace(resume='', resumed_from=None)", *steps(1, 130)], []),
    ],
)
def test_what_happened_to_a_run_is_said_and_its_last_attempt_read(tmp_path, lines, found):
    reading = read(tmp_path, lines)

    assert (reading.status, reading.throughput.items_per_s) == ("ok", pytest.approx(16.0))
    assert codes(reading) == found
    assert found != ["begins_again"] or reading.findings[0].line == 301


def test_a_short_copy_is_said(tmp_path):
    assert "copied" in codes(read(tmp_path, 2 * steps(1, 60)))


def test_a_run_has_failed_if_its_last_attempt_has(tmp_path):
    assert read(tmp_path, [*steps(1, 160), *steps(1, 30), *CRASH]).status == "failed"


def test_a_loss_that_becomes_nan_is_said_with_its_line(tmp_path):
    reading = read(tmp_path, [*steps(1, 60), *steps(61, 130, loss="nan")])

    (found,) = reading.findings
    assert (found.code, found.line) == ("loss_nan", 61)
