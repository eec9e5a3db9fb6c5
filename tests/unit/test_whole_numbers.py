"""A line with a number that goes on behind what a pattern takes of it is not read."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from evalsuite.dialect import Line
from evalsuite.logs import catalogue
from evalsuite.logs.reading import Reading, read_file
from evalsuite.logs.text.intact import ALTERED
from evalsuite.logs.text.records import is_whole

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


@pytest.mark.parametrize("how", ["commas", "underscores"])
def test_a_log_whose_rates_are_written_otherwise_is_refused(how, tmp_path):
    path = tmp_path / "log"
    path.write_bytes(re.sub(rb"\d{4,}\.\d+", WRITTEN[how], (LOGS / "dllogger_tf1.log").read_bytes()))

    found = read_file(path, dialects=DIALECTS)

    assert (value(found), found.reason) == (None, ALTERED)


@pytest.mark.parametrize(
    ("printed", "whole"),
    [
        (b"step 10 speed 9399.8", True),
        (b"step 10 speed 94., and so on", True),
        (b"step 10 speed 250, 12", True),
        (b"step 10 speed 9,399.8 img/s", False),
        (b"step 10 speed 9_399.5,", False),
        (b"step 10 speed 9.4e+03", False),
        (b"step 10 speed 9,39", False),
        (b"step 10 speed 9399,8", False),
    ],
)
def test_a_number_is_taken_whole_or_not_at_all(printed, whole):
    assert is_whole(SPEED.compiled.search(printed), SPEED) is whole


def test_a_comma_that_the_script_prints_between_its_numbers_is_no_thousand():
    row = Line(pattern=rb"row (?P<step>\d+),(?P<rate>[\d.]+)", sample=b"row 12,250.5", source="")

    assert is_whole(row.compiled.search(b"row 12,250"), row)


def test_reports_whose_step_is_written_with_thousands_are_missed_and_that_is_said(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(LARGE.sub(grouped(b","), (LOGS / "clu.log").read_bytes()))

    found = read_file(path, dialects=DIALECTS, devices=8, batch_per_device=32)

    assert (value(found), found.reason) == (None, ALTERED)
