"""The chart of a page: where its lines, numbers and names stand; and the hues of frameworks."""

import colorsys
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalsuite.report import figures
from evalsuite.report.figures import lines as room
from evalsuite.report.figures import style
from evalsuite.report.text import words
from tests import sources

SPOKEN = words.read()
FRAMEWORKS = ("oneflow", "mxnet", "tensorflow", "pytorch", "paddle", "mindspore")
LOOK = figures.look(FRAMEWORKS)
TITLE = SPOKEN("convergence.see_target")


def line(name="PyTorch", framework="pytorch", values=((1, 1.0), (2, 0.9), (8, 0.8)), hollow=False):
    points = tuple(figures.Point(x=x, value=value, ref=f"c-{x}", hollow=hollow) for x, value in values)
    return figures.Line(name=SPOKEN.same(name), framework=framework, points=points)


def drawn(*lines, look=LOOK, **asked):
    return figures.chart(lines, look, SPOKEN, id="f", title=TITLE, **asked)


def names(chart):
    return [text for name in chart.names for _, text in name.texts]


def test_efficiencies_stand_by_doublings_from_zero_and_each_mark_leads_to_its_own_case():
    chart = drawn(line())
    marks = chart.lines[0].marks

    assert [float(x) for x, *_ in marks] == [64.0, 210.7, 504.0]  # log2 of 1, 2, 8
    assert [point.ref for *_, point in marks] == ["c-1", "c-2", "c-8"]
    assert [text for _, text in chart.columns] == ["1", "8", "2"] and chart.rows[0] == ("340", "0%")
    assert chart.aim == marks[0][1]  # 100 %
    assert names(chart) == ["PyTorch 80.0%"]


def test_a_score_stands_by_epochs_with_its_target_and_begins_at_zero_where_it_spans_much():
    curve = line(values=[(epoch, 76.0 - 40 / epoch) for epoch in range(1, 41)])
    flat = line(values=[(epoch, 74.0 + epoch / 20) for epoch in range(1, 41)])
    chart, near = (drawn(each, share=False, target=75.9) for each in (curve, flat))

    assert len(chart.lines[0].marks) <= room.MOST_MARKS and chart.lines[0].path.count("L") == 39
    assert chart.rows[0][1] == "0" and float(near.rows[0][1]) >= 70
    assert chart.aim is not None and names(chart) == ["PyTorch"]


def test_one_scale_has_marks_and_no_line_and_further_series_of_a_framework_are_dashed():
    chart = drawn(line(values=((8, 0.9),)), line("PyTorch XLA", values=((8, 0.7),)))

    assert [each.path for each in chart.lines] == ["", ""]
    assert [each.dash for each in chart.lines] == ["", "2 2"]


def test_lines_that_end_within_one_percent_share_a_label_of_three_names_at_most():
    ends = {**{f"f{k}": 0.9 - k / 1e3 for k in range(8)}, "oneflow": 0.8}
    lines = (line(name, name, ((1, 1.0), (8, last))) for name, last in ends.items())

    assert {"f0、f1、f2 +5 89.3–90.0%", "f0, f1, f2 +5 89.3–90.0%", "oneflow 80.0%"} == {*names(drawn(*lines))}


def test_a_line_that_ends_early_is_named_where_it_ends():
    chart = drawn(line(), line("MXNet", "mxnet", ((1, 1.0), (2, 0.4))))
    (right,) = (name for name in chart.names if name.texts[0][1].startswith("PyTorch"))
    (early,) = (name for name in chart.names if name.texts[0][1].startswith("MXNet"))

    assert float(early.x) < 230 and float(right.x) > 504 and not early.lead


def test_a_word_is_written_in_both_languages_and_a_long_name_is_cut_in_its_middle():
    word, long = SPOKEN("words.framework"), "link (Mbit/s): 2,000 + " * 8 + "overlapped communication: on"
    points = (figures.Point(x=1, value=1.0), figures.Point(x=2, value=0.5))
    chart = drawn(figures.Line(name=word, framework="pytorch", points=points), line(long, "mxnet"))

    assert [language for name in chart.names for language, _ in name.texts] == ["zh", "en", ""]
    assert "…" in names(chart)[-1] and names(chart)[-1].endswith("overlapped communication: on 80.0%")


@pytest.mark.parametrize(("names", "indices", "dashed"), sources.cases("figures.toml")["hues"])
def test_a_framework_has_its_hue_and_marker_by_name_and_its_builds_share_the_hue_and_are_dashed(names, indices, dashed):
    hues = figures.look(names).hues

    assert [hues[name].index for name in names] == list(indices)
    assert len({(hue.index, hue.marker) for hue in hues.values()}) == len(names)
    assert {name for name in hues if hues[name].dash} == set(dashed)
    assert LOOK.hue("unheard of").index == 0


def _channels(colour):
    return [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]


def _luminance(colour):
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in _channels(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a, b):
    """WCAG 2.2, "contrast ratio"."""
    high, low = sorted((_luminance(a), _luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", (0, 1))
def test_text_and_marks_stand_out_from_the_page_and_a_hue_has_one_name_in_both_themes(theme):
    colours = {name: pair[theme] for name, pair in style.COLOURS.items()}
    page = colours["surface"]

    assert all(contrast(colours[name], page) >= 4.5 for name in ("ink", "muted"))
    assert all(contrast(colours[f"hue-{i}"], page) >= (3.1, 3.6)[theme] for i in range(1, 7))
    assert all(contrast(colours[name], page) >= 3 for name in ("rule", "hue-other"))
    for light, dark in zip(style.LIGHT_HUES, style.DARK_HUES, strict=True):
        apart = 360 * abs(colorsys.rgb_to_hsv(*_channels(light))[0] - colorsys.rgb_to_hsv(*_channels(dark))[0])
        assert min(apart, 360 - apart) < 35, (light, dark)
    text = figures.css()
    assert text.count("--fig-hue-1:light-dark(#39649D,#68B8FA)") == 1 == text.count("#68B8FA")
    assert "forced-colors:active" in text and text.count("{") == text.count("}")


NUMBERS = st.lists(
    st.tuples(st.integers(2, 1000), st.floats(1e-2, 3), st.floats(0, 1e6), st.text(max_size=30)), min_size=1, max_size=7
)


@settings(max_examples=12, deadline=None)
@given(NUMBERS)
def test_any_numbers_and_any_names_stand_inside_the_chart(given):
    of_shares = [line(name, FRAMEWORKS[i % 6], ((1, 1.0), (n, share))) for i, (n, share, _, name) in enumerate(given)]
    of_scores = [line(name, FRAMEWORKS[i % 6], ((1, score), (n, 0.0))) for i, (n, _, score, name) in enumerate(given)]

    for chart in (drawn(*of_shares), drawn(*of_scores, share=False)):
        places = [(float(x), float(y)) for each in chart.lines for x, y, _ in each.marks]
        assert all(52 <= x <= 504 and 0 <= y <= 340.1 for x, y in places)
        assert len(chart.rows) <= 12 and all(float(name.x) < chart.width for name in chart.names)


@given(st.lists(st.floats(-1e3, 1e3), max_size=12))
def test_labels_are_moved_apart_and_keep_their_order(wanted):
    ordered = [place for _, place in sorted(zip(wanted, room.spread(wanted, 16, 0, 300), strict=True))]

    assert all(b - a >= 16 - 1e-6 for a, b in pairwise(ordered))
    assert not ordered or (ordered[0] >= -1e-6 and ordered[-1] <= 300 + 1e-6)
