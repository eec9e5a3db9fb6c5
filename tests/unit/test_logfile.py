"""The bytes of a log: packed, recoded; and what is no log is named for what it is."""

import bz2
import gzip
import lzma
from pathlib import Path

import pytest

from evalsuite.logs import catalogue
from evalsuite.logs.reading import read_file
from evalsuite.logs.text.intact import ALTERED, has_decimal_commas
from evalsuite.logs.text.records import number

LOGS = Path(__file__).resolve().parents[1] / "logs"
DIALECTS = catalogue.discover()
TEXT = b"".join(
    b"INFO:root:Epoch[0] Batch [%d]\tSpeed: %d.%02d samples/sec\taccuracy=0.01\n" % (step, 1082, step % 100)
    for step in range(20, 4000, 20)
)
COMMAS = TEXT.replace(b".", b",")


def read(tmp_path, content):
    path = tmp_path / "train.log"
    path.write_bytes(content)
    return read_file(path, dialects=DIALECTS)


@pytest.mark.parametrize(
    "content",
    [
        gzip.compress(TEXT),
        bz2.compress(TEXT),
        lzma.compress(TEXT),
        TEXT.decode().encode("utf-16"),
        b"\xfe\xff" + TEXT.decode().encode("utf-16-be"),
        gzip.compress(TEXT.decode().encode("utf-16")),
        b"\xef\xbb\xbf" + TEXT,
    ],
    ids=["gz", "bz2", "xz", "utf-16", "utf-16-be", "gz of utf-16", "utf-8 with a mark"],
)
def test_a_log_reads_the_same_however_it_is_written(tmp_path, content):
    reading = read(tmp_path, content)

    assert reading.status == "ok"
    assert reading.throughput.items_per_s == pytest.approx(1082.5, abs=0.5)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_a_packed_log_that_is_cut_says_so(tmp_path, pack):
    reading = read(tmp_path, pack(TEXT)[:-20])

    assert (reading.status, reading.throughput) == ("unrecognised", None)
    assert "cannot be" in reading.reason


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"PK\x03\x04\x14\x00", "a zip archive"),
        (b"%PDF-1.7\n", "a PDF document"),
        (b"<!DOCTYPE html>\n<html>", "a web page"),
        (b"\x89PNG\r\n\x1a\n", "an image"),
        (b"\x18\x00\x00\x00\x00\x00\x00\x00\xa3\x7fK\x22\x09\x00\x00\xc0\x1a\x0dbrain.Event:2", "TensorBoard"),
        ("no mark\n".encode("utf-16-le"), "UTF-16"),
        (b"x" * 257 + b"ustar\x0000", "a tar archive"),
    ],
)
def test_what_is_no_log_is_named(tmp_path, content, named):
    reading = read(tmp_path, content)

    assert reading.status == "unrecognised"
    assert named in reading.reason


@pytest.mark.parametrize(
    "text",
    [
        b"2018-05-01 10:00:11,123 Speed: 10.5\n" * 20,
        b"Throughput 5,868 images/s\n" * 20,
        b"gpus=[0,1] sizes=(1,2)\n" * 20,
        b"1,082.47 and 12,345.6\n" * 20,
    ],
)
def test_commas_that_are_no_decimals_stay(text):
    assert not has_decimal_commas(text)


def test_a_log_with_decimal_commas_is_refused(tmp_path):
    reading = read(tmp_path, COMMAS)

    assert (reading.reason, reading.throughput) == (ALTERED, None)


def test_a_comma_that_groups_no_thousands_makes_no_number():
    assert (number(b"5,868"), number(b"1,234,567.8"), number(b"1082,47")) == (5868.0, 1234567.8, None)


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
    assert [type(one).__name__ for one in found.findings if one.name == "line_left_out"] == ["LineLeftOut"]


def test_a_log_without_line_ends_is_refused_with_the_reason(tmp_path):
    (tmp_path / "log").write_bytes(b"completed step: 1, seconds: 0.5, " * 20_000)

    assert "too long" in read_file(tmp_path / "log").reason
