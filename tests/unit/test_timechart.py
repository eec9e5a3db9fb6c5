"""The panels of a model's history share their axes, and the worst stands first."""

import re

import reports
from test_history import read

from evalsuite.model import Machine
from evalsuite.site import timechart
from evalsuite.site.history import history


def lines(tmp_path):
    """Three machines: one slowed, one steady, one faster; the second measurement on the 2nd, 9th and 17th day."""
    given = []
    for machine, speeds, day in (("a", reports.FASTER, 9), ("b", reports.SLOWER, 17), ("c", reports.STEADY, 2)):
        on = Machine(name=machine)
        given += [reports.summary(environment=on), reports.summary(speeds, day=day, environment=on)]
    return history(read(tmp_path, *given)).lines


def dots(svg):
    return [tuple(map(float, found)) for found in re.findall(r'<circle[^>]*cx="([\d.]+)" cy="([\d.]+)"', svg)]


def test_the_case_that_slowed_most_stands_first(tmp_path):
    found = timechart.worst_first(lines(tmp_path))

    assert found[0].environment == "b"
    assert found[0].regressed and not any(line.regressed for line in found[1:])


def test_time_is_on_the_horizontal_axis_and_the_same_in_every_panel(tmp_path):
    found = {line.environment: line for line in lines(tmp_path)}
    axes = timechart.frame(list(found.values()))
    first, *later = (dots(timechart.svg(found[name], axes)) for name in "bac")

    begin, end = first[0][0], first[1][0]
    assert [round((panel[1][0] - begin) / (end - begin), 2) for panel in later] == [0.5, 0.06]
    assert {panel[0] for panel in (first, *later)} == {first[0]}  # all begin on one day, at their own 0 %


def test_the_axis_says_changes_in_per_cent_and_spans_ten_at_least(tmp_path):
    axes = timechart.frame([line for line in lines(tmp_path) if line.environment == "c"])
    svg = timechart.svg(lines(tmp_path / "again")[0], axes)

    assert axes.low <= -0.1 and axes.high >= 0.1
    assert re.findall(r">([^<>]*%)<", svg) == ["−10%", "0%", "+10%"]
