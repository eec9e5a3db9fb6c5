import pytest

from evalsuite.core.model import Interval
from evalsuite.logs import formatting
from evalsuite.report.text import numbers, times
from tests import sources


@pytest.mark.parametrize(("form", "value", "text"), sources.table("numbers.toml")["forms"])
def test_each_kind_of_number_has_one_form(form, value, text):
    assert getattr(numbers, form)(value).text == text


def test_an_interval_names_its_unit_once_and_a_value_without_one_has_none():
    assert numbers.rounded(998.31, beside=1002.0).text == "998"
    assert numbers.span(0.78535, 0.78808, numbers.throughput).text == "0.785–0.788"
    assert numbers.span(0.961, 0.984, numbers.percent).text == "96.1–98.4%"
    assert numbers.span(1.0, 2.0, numbers.speedup).text == "1.00–2.00x"
    assert numbers.interval(Interval(value=1.0), numbers.throughput) is None


@pytest.mark.parametrize("value", [0.0, 0.00421, 0.78676, 0.09996, 0.9996, 1.005, 3.3317, 12411.97])
def test_the_terminal_writes_a_rate_as_the_report_does(value):
    assert formatting.rate(value) == numbers.throughput(value).text


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_was_not_measured_is_never_printed_as_a_number(value):
    with pytest.raises(ValueError, match="None"):
        numbers.throughput(value)


def span(*stamps):
    return str(times.period(stamps) or "") or None


def test_a_period_says_its_days_once_and_the_zone_of_the_first_by_name():
    assert span("2026-11-21T10:43:01+08:00", "2026-11-21T10:37:42.120+08:00") == "2026-11-21 10:37–10:43 UTC+8"
    assert span("2026-11-21T23:50+00:00", "2026-11-22T00:10+00:00") == "2026-11-21 23:50 – 2026-11-22 00:10 UTC"
    assert span("2026-11-21T09:00+00:00", "2026-11-21T16:30+08:00") == "2026-11-21 16:30–17:00 UTC+8"
    assert [*map(times.stamp, ("2026-11-21T10:37:42.1+08:00", "soon"))] == ["2026-11-21 10:37:42 UTC+8", "soon"]
    zones = {"Z": "UTC", "": "UTC", "-03:30": "UTC−3:30", "+05:45": "UTC+5:45", "-08:00": "UTC−8"}
    assert {offset: span(f"2026-11-21T10:00:00{offset}")[17:] for offset in zones} == zones


def test_what_is_no_time_a_run_began_is_left_out():
    for stamp in ("", "yesterday", "2026-13-01T00:00", "0001-01-01T00:00+14:00", "9999-12-31T23:59-12:00"):
        assert span(stamp) is None
        assert span(stamp, "2026-11-21T10:00Z") == "2026-11-21 10:00 UTC"
