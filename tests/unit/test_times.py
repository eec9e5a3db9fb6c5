"""When the runs were made, in words: the machine's own zone, by its name."""

import pytest

from evalsuite.report.text import times, words


def told(*stamps, language="en"):
    found = times.period(stamps)
    return times.text(found, words.read()).plain(language) if found else None


def test_a_period_says_its_days_once_and_the_zone_of_the_first_by_name():
    first, last = "2026-11-21T10:37:42.120+08:00", "2026-11-21T10:43:01+08:00"
    assert told(last, first) == "2026-11-21 10:37–10:43 (UTC+8)"
    assert told(last, first, language="zh") == "2026-11-21 10:37–10:43（UTC+8）"

    assert told("2026-11-21T23:50+00:00", "2026-11-22T00:10+00:00") == "2026-11-21 23:50 – 2026-11-22 00:10 (UTC)"
    assert told("2026-11-21T09:00+00:00", "2026-11-21T16:30+08:00") == "2026-11-21 16:30–17:00 (UTC+8)"
    assert times.stamp("2026-11-21T10:37:42.120+08:00") == "2026-11-21 10:37:42 UTC+8"
    assert times.stamp("soon") == "soon"


@pytest.mark.parametrize(
    ("offset", "name"), [("Z", "UTC"), ("", "UTC"), ("-03:30", "UTC−3:30"), ("+05:45", "UTC+5:45"), ("-08:00", "UTC−8")]
)
def test_a_zone_is_named_by_its_hours(offset, name):
    assert told(f"2026-11-21T10:00:00{offset}") == f"2026-11-21 10:00 ({name})"


@pytest.mark.parametrize(
    "stamp", ["", "yesterday", "2026-13-01T00:00", "0001-01-01T00:00+14:00", "9999-12-31T23:59-12:00"]
)
def test_what_is_no_time_a_run_began_is_left_out(stamp):
    assert told(stamp) is None
    assert told(stamp, "2026-11-21T10:00Z") == "2026-11-21 10:00 (UTC)"
