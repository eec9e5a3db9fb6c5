"""A number that goes on behind what a pattern takes of it is read whole, or its line is not read."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from evalsuite.dialect import Line
from evalsuite.logs import catalogue
from evalsuite.logs.reading import Reading, read_file
from evalsuite.logs.whole_numbers import OTHERWISE_WRITTEN, in_full

LOGS = Path(__file__).resolve().parents[1] / "logs"
DIALECTS = catalogue.discover()
KNOWN: tuple[dict[str, int], ...] = ({}, {"devices": 8}, {"devices": 8, "batch_per_device": 32})
LARGE = re.compile(rb"(?<![\w.,/-])\d{4,}(?:\.\d+)?(?![\d:/-]|\.\d)")
SPEED = Line(pattern=rb"step (?P<step>\d+) speed (?P<rate>[\d.]+)", sample=b"step 10 speed 250.5", source="")


def grouped(sign: bytes) -> Callable[["re.Match[bytes]"], bytes]:
    def made(number: "re.Match[bytes]") -> bytes:
        before, point, fraction = number[0].partition(b".")
        return re.sub(rb"(?<=\d)(?=(?:\d{3})+$)", sign, before) + point + fraction

    return made


def with_exponent(number: "re.Match[bytes]") -> bytes:
    return b"%.6e" % float(number[0])


WRITTEN = {"commas": grouped(b","), "underscores": grouped(b"_"), "exponents": with_exponent}


def value(found: Reading) -> float | None:
    return found.throughput.items_per_s if found.throughput and found.status in ("ok", "partial") else None


@pytest.mark.parametrize("how", WRITTEN)
def test_a_log_whose_numbers_are_written_otherwise_gives_no_wrong_number(how, tmp_path):
    wrong = []
    for path in sorted(LOGS.glob("*.log"))[list(WRITTEN).index(how) :: 2]:
        text = path.read_bytes()
        other = LARGE.sub(WRITTEN[how], text)
        if other == text or len(text) > 100_000:
            continue
        readings = ((read_file(path, dialects=DIALECTS, **known), known) for known in KNOWN)
        before, known = next((pair for pair in readings if value(pair[0]) is not None), (None, {}))
        if before is None:
            continue
        (tmp_path / path.name).write_bytes(other)
        found = read_file(tmp_path / path.name, dialects=DIALECTS, **known)
        if value(found) not in (None, pytest.approx(value(before), rel=0.02)):
            wrong.append((path.name, value(before), value(found)))

    assert wrong == []


@pytest.mark.parametrize("how", WRITTEN)
def test_a_rate_with_thousands_is_read_whole(how, tmp_path):
    path = tmp_path / "log"
    path.write_bytes(re.sub(rb"\d{4,}\.\d+", WRITTEN[how], (LOGS / "dllogger_tf1.log").read_bytes()))

    found = read_file(path, dialects=DIALECTS)

    assert value(found) == pytest.approx(value(read_file(LOGS / "dllogger_tf1.log", dialects=DIALECTS)))


@pytest.mark.parametrize(
    ("printed", "rate"),
    [
        (b"step 10 speed 9399.8", b"9399.8"),
        (b"step 10 speed 9,399.8 img/s", b"9399.8"),
        (b"step 10 speed 1,009,399", b"1009399"),
        (b"step 10 speed 9_399.5,", b"9399.5"),
        (b"step 10 speed 9.4e+03", b"9400"),
        (b"step 10 speed 1e+30", b"1" + b"0" * 30),
        (b"step 10 speed 1" + b",000" * 2000, b"1" + b"000" * 2000),
        (b"step 10 speed 94., and so on", b"94."),
        (b"step 10 speed 250, 12", b"250"),
        (b"step 10 speed 9,39", None),
        (b"step 10 speed 9,3999.8", None),
        (b"step 10 speed 9399,8", None),
        (b"step 10 speed 9,399,8", None),
        (b"step 10 speed 9e999", None),
    ],
)
def test_a_number_is_taken_whole_or_not_at_all(printed, rate):
    found = in_full(SPEED.compiled.search(printed), SPEED)

    assert (found and found["rate"]) == rate


def test_a_comma_that_the_script_prints_between_its_numbers_is_no_thousand():
    row = Line(pattern=rb"row (?P<step>\d+),(?P<rate>[\d.]+)", sample=b"row 12,250.5", source="")

    assert in_full(row.compiled.search(b"row 12,250"), row)["step"] == b"12"


def test_reports_whose_step_is_written_with_thousands_are_missed_and_that_is_said(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(LARGE.sub(grouped(b","), (LOGS / "clu.log").read_bytes()))

    found = read_file(path, dialects=DIALECTS, devices=8, batch_per_device=32)

    assert (value(found), found.reason) == (None, OTHERWISE_WRITTEN)
