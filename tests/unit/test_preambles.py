"""Training lines behind a long preamble are found, wherever they stand, without looking at all of it first."""

import pytest

from evalsuite.logs import catalogue, reading
from evalsuite.logs.reading import Sniffer

STEP = "Epoch: [0][{0:4d}/5000]\tTime  0.300 ( 0.300)\tData  0.002 ( 0.001)\tLoss 6.7e+00 (6.9e+00)\n"
CHUNKS = 40


@pytest.fixture
def short_chunks(monkeypatch):
    """Pieces of 1 KiB, of which every eighth is looked at behind the first 4."""
    monkeypatch.setattr("evalsuite.logs.text.logfile.FIRST_CHUNK_BYTES", 1 << 10)
    monkeypatch.setattr("evalsuite.logs.text.logfile.CHUNK_BYTES", 1 << 10)
    monkeypatch.setattr(reading, "THOROUGH_BYTES", 1 << 12)


def _noise(lines):
    return "".join(
        f"2026-11-22 03:01:{line % 60:02d} INFO worker[{line}] loads a shard of the cache\n" for line in lines
    )


@pytest.mark.parametrize("kib", range(1, CHUNKS, 3))
def test_training_lines_are_found_wherever_they_begin(tmp_path, short_chunks, kib):
    path = tmp_path / "log"
    path.write_text(_noise(range(kib * 16)) + "".join(map(STEP.format, range(3))) + _noise(range(16 * CHUNKS)))

    (found,) = reading.find_dialects(path, Sniffer(catalogue.known().values()))

    assert found.name == "pytorch_examples"


def test_what_is_passed_over_at_first_is_looked_at_where_nothing_is_found(tmp_path, short_chunks, monkeypatch):
    path = tmp_path / "log"
    path.write_text(_noise(range(16 * CHUNKS)))
    seen = []
    fits = Sniffer.fits
    monkeypatch.setattr(Sniffer, "fits", lambda self, text: seen.append(text) or fits(self, text))

    assert reading.find_dialects(path, Sniffer(catalogue.known().values())) == []
    assert b"".join(seen).count(b"INFO") >= 16 * CHUNKS


def test_a_log_that_ends_in_training_is_not_read_twice(tmp_path, short_chunks, monkeypatch):
    path = tmp_path / "log"
    path.write_text(_noise(range(16 * CHUNKS)) + "".join(map(STEP.format, range(40))))
    looked = []
    monkeypatch.setattr(
        reading, "chunks", lambda path, read=reading.chunks, **how: looked.append(path) or read(path, **how)
    )

    reading.find_dialects(path, Sniffer(catalogue.known().values()))

    assert len(looked) == 1
