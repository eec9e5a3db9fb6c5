"""The steps behind a window are sampled, wherever in the file they stand, at a cost that does not grow with it."""

import itertools
import random

from evalsuite.logs import catalogue, reading
from evalsuite.logs.scan.scan import MOST_SAMPLED, scan_file


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
    return [found for found in read.throughput.findings if found.code == "rest_differs"]


def test_a_log_that_goes_on_at_the_same_speed_has_no_finding(tmp_path):
    assert not _differences(_log(tmp_path / "log", [0.3] * 5000))


def test_a_log_that_grows_slow_long_after_its_window_is_told(tmp_path):
    (found,) = _differences(_log(tmp_path / "log", [0.3] * 2500 + [0.6] * 20_000))

    assert -0.5 < found.difference < -0.15


def test_the_first_report_of_a_sampled_piece_does_not_stand_for_what_was_not_read(tmp_path):
    """Reports ten times as slow, one at the beginning of each piece: as few among all as they are."""
    slow = _piece_starts(_log(tmp_path / "log", [0.3] * 20_000))
    assert len(slow) > 3

    path = _log(tmp_path / "log", [3.0 if number in slow else 0.3 for number in range(20_000)])

    assert not _differences(path)


def _piece_starts(path):
    """The numbers of the reports that begin a piece of the sample."""
    read = scan_file(path, _dialect(), _Window())
    return {record.step for record in read.rest.records if record.gap}


def test_few_of_many_reports_are_read(tmp_path):
    read = scan_file(_log(tmp_path / "log", [0.3] * 60_000), _dialect(), _Window())

    assert read.uncollected > 50_000
    assert 94 <= len(read.rest.records) < MOST_SAMPLED / 10


def _dialect():
    return catalogue.discover()["pytorch_examples"]


class _Window:
    steps = 141  # as many reports as a reading keeps: 20 + 100, and 20 more

    def __call__(self, scan):
        return len(scan.records) >= self.steps


def test_a_sample_of_uneven_reports_is_allowed_its_chance(tmp_path):
    """Times that vary as much everywhere: the mean of a sample is off by some per cent, and nothing differs."""
    flagged = [
        bool(_differences(_log(tmp_path / "log", [draw.choice((0.25, 0.35)) for _ in range(3000)])))
        for draw in map(random.Random, range(12))
    ]

    assert sum(flagged) <= 1
