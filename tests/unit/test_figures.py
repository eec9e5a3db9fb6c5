"""Figures: plain data → SVG that a page can theme, in any language, with nothing in it that could run."""

import colorsys
import math
import re
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalsuite.report import figures
from evalsuite.report.figures import data, sheet, style, ticks
from tests import sources

FRAMEWORKS = ("oneflow", "mxnet", "tensorflow", "pytorch", "paddle", "mindspore")
LOOK = figures.look(FRAMEWORKS)
HOSTILE = (  # each is drawn into every kind of figure
    "飞桨 & <script>alert(1)</script>",
    '"><img src=x onerror=y>',
    "$\\frac{a}{b}$ 🚀\x00\x1b[31m\u202e",
)


def line(framework="pytorch", name="PyTorch", counts=(1, 2, 8, 16), one=100.0, **fields):
    points = tuple(figures.Point(x=m, value=one * m**0.9, ref=f"{name}-{m}") for m in counts)
    return figures.Line(name=name, framework=framework, points=tuple(replace(p, **fields) for p in points))


def shares(series):
    return replace(series, points=tuple(replace(p, value=0.9) for p in series.points))


SERIES = (line(), line("mxnet", "NGC MXNet", one=90.0))
CURVE = figures.Line(
    name="256",
    framework="pytorch",
    points=tuple(figures.Point(x=e, value=76 * (1 - math.exp(-e / 9))) for e in range(1, 41)),
)
PANEL = figures.LinePanel(lines=(CURVE,), unit="%", target=75.0, counted=False)


def throughput(series, look, *, id, unit, **panel):
    asked = figures.LinePanel(lines=tuple(series), unit=unit, **panel)
    return figures.lines((asked,), look, id=id, value="items_per_s")


def per_device(series, look, *, id, unit):
    return throughput(series, look, id=id, unit=unit, valued=True)


def every_figure(look=LOOK, label="PyTorch"):
    """One figure of each kind, all with *label* where a name may stand."""
    series = (line(name=label), line("mxnet", "NGC MXNet", partial=True), line("paddle"))
    percent = tuple(map(shares, series))
    shared = figures.LinePanel(label=label, lines=percent, share=True, valued=True, target=0.8)
    return {
        "throughput": throughput(series, look, id="f1", unit="images/s"),
        "per_device": per_device(series, look, id="f4", unit="images/s"),
        "many_panels": figures.lines((shared,) * 5, look, id="f15", value="efficiency"),
        "convergence": figures.lines((replace(PANEL, label=label),), look, id="f17", value="value", x="epoch"),
    }


DRAWN = every_figure()
KINDS = sorted(DRAWN)


def texts(svg):
    return [node.text or "" for node in ElementTree.fromstring(svg).iter() if node.tag.endswith("text")]


def painted(svg):
    """The classes of each mark."""
    classes = [node.get("class", "") for node in ElementTree.fromstring(svg).iter()]
    return [names.removeprefix("mark ") for names in classes if names.startswith("mark ")]


def local(node):
    return node.tag.rpartition("}")[2]


@pytest.mark.parametrize("kind", KINDS)
def test_a_figure_is_well_formed_and_named_and_coloured_by_the_page(kind):
    figure = DRAWN[kind]
    root = ElementTree.fromstring(figure.svg)

    assert local(root) == "svg" and root.get("role") == "img"
    assert (
        root.get("aria-labelledby") == f"{figure.id}-title" and root.get("aria-describedby") == f"{figure.id}-reading"
    )
    assert root.get("viewBox") == f"0 0 {root.get('width')} {root.get('height')}"
    nodes = list(root.iter())
    assert not re.search(r"#[0-9a-fA-F]{6}|rgb\(", figure.svg)
    assert not any("style" in node.attrib or local(node) in ("style", "metadata") for node in nodes)
    assert {node.get("fill", "none") for node in nodes if not node.get("fill", "").startswith("url(")} <= {"none"}
    assert {node.get("stroke", "none") for node in nodes} <= {"none"}
    used = {name for node in nodes for name in node.get("class", "").split()}
    assert used <= {*re.findall(r"\.([a-z][\w-]*)", figures.css()), "fig-svg"}
    ids = [node.get("id") for node in nodes if node.get("id") is not None]
    assert len(ids) == len(set(ids)) and all(name.startswith(f"{figure.id}-") for name in ids)
    assert {a or b for a, b in re.findall(r'url\(#([^)]*)\)|href="#([^"]*)"', figure.svg)} <= set(ids)


@pytest.mark.parametrize("kind", KINDS)
def test_a_figure_has_marks_and_no_word_is_drawn_but_given_names(kind):
    figure = DRAWN[kind]
    marks = [node for node in ElementTree.fromstring(figure.svg).iter() if "mark" in node.get("class", "").split()]
    given = {"PyTorch", "NGC", "MXNet", "images", "GPU", "OOM", "CV", "ms", "MB", "GB", "Memory", "内存"}

    assert marks
    assert not any("tabindex" in mark.attrib for mark in marks)  # unreachable inside role="img"; the script sets it
    assert {word for text in texts(figure.svg) for word in re.findall(r"[A-Za-z一-鿿]{2,}", text)} <= given


@pytest.mark.parametrize("hostile", HOSTILE)
def test_no_label_can_break_out_or_be_read_as_mathematics(hostile):
    drawn = every_figure(label=hostile).values()
    for figure in drawn:
        root = ElementTree.fromstring(figure.svg)

        assert not {local(node) for node in root.iter()} - {
            *("svg", "g", "defs", "path", "use", "text", "clipPath", "pattern", "rect", "title")
        }
        assert not any(name.startswith("on") for node in root.iter() for name in node.attrib)
    assert any(data.clean(hostile) in texts(figure.svg) for figure in drawn)


def test_the_same_data_gives_the_same_bytes_whatever_a_users_matplotlibrc_and_names_are_made_harmless():
    again = every_figure()
    assert {kind: figure.svg for kind, figure in again.items()} == {k: f.svg for k, f in DRAWN.items()}

    text = data.clean("a\x00b\x1bc\u202ed\ud800e")
    assert text == "a\ufffdb\ufffdc\ufffdd\ufffde"

    with pytest.raises(ValueError, match="figure id"):
        throughput(SERIES, LOOK, id='"><script>', unit="images/s")

    import matplotlib

    with matplotlib.rc_context({"font.size": 30, "axes.linewidth": 9, "svg.fonttype": "path", "text.usetex": True}):
        before = dict(matplotlib.rcParams)
        figure = throughput(SERIES, LOOK, id="rc", unit="images/s")
        assert dict(matplotlib.rcParams) == before

    assert figure == throughput(SERIES, LOOK, id="rc", unit="images/s")


def test_matplotlib_is_imported_when_a_figure_is_drawn_and_pyplot_never():
    program = "import sys; from evalsuite.report import figures; print('matplotlib' in sys.modules)"
    draws = "from tests.unit import test_figures; print('matplotlib.pyplot' in sys.modules)"

    done = subprocess.run([sys.executable, "-c", f"{program}; {draws}"], capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["False", "False"]


def test_ticks_stand_at_the_measured_device_counts_and_where_they_would_touch_the_ends_keep_their_number():
    figure = throughput((line(counts=(1, 2, 8, 16)),), LOOK, id="t", unit="images/s")

    assert [label for label in texts(figure.svg) if label in {"1", "2", "4", "8", "16", "32"}] == ["1", "2", "8", "16"]
    assert [axis.logarithmic for axis in figure.axes] == [True, False]


def test_one_scale_gives_dots():
    series = (line(counts=(8,)), line("mxnet", counts=(8,)))
    figure = per_device(series, LOOK, id="one", unit="images/s")

    assert [classes.startswith("fill-hue") for classes in painted(figure.svg)] == [True, True]
    assert not re.findall(r'<path class="line-hue[^>]*stroke-width="2"', figure.svg)


def test_partial_values_are_hollow_unless_all_are():
    alone, beside = (
        throughput((line(partial=True), *others), LOOK, id="p", unit="images/s")
        for others in ((), (line("mxnet", "MXNet"),))
    )

    assert (alone.notes, beside.notes) == (("all_partial",), ("partial",))
    assert {*painted(beside.svg)} == {"fill-surface line-hue-5", "fill-hue-1 line-hue-1"}
    assert {*painted(alone.svg)} == {"fill-hue-5 line-hue-5"}


@pytest.mark.parametrize("width", range(60, 130, 10))
def test_a_name_is_never_cut_within_a_number(width):
    parts = re.split("…", sheet.shorten("PyTorch · FP16 all-reduce, 2,000 Mbit/s", width, 12.0))

    assert not {part for part in re.findall(r"\d[\d,]*", " ".join(parts))} - {"16", "2,000"}


def test_the_end_of_a_line_has_its_name_cut_in_the_middle_where_it_is_long_and_its_value():
    valued = per_device((line(one=10.0, counts=(1, 2, 4)), line("mxnet", "MXNet")), LOOK, id="d", unit="")

    assert "PyTorch  34.82" in texts(valued.svg)

    long = [f"TensorFlow · tf-cnn-benchmarks-resnet50-of-2018-once-{end}" for end in ("more", "again")]
    lines = [line(key, name) for key, name in zip(("tensorflow", "mxnet"), long, strict=True)]
    found = per_device(lines, LOOK, id="f", unit="images/s")
    labels = [text for text in re.findall(r"<text[^>]*>([^<]*)</text>", found.svg) if "TensorFlow" in text]
    assert [re.fullmatch(r"TensorFlow.*…\S+-(more|again)\s+[\d.,]+", label)[1] for label in labels] == ["more", "again"]


@pytest.mark.parametrize(("names", "indices", "dashed"), sources.cases("figures.toml")["hues"])
def test_a_framework_has_its_hue_and_marker_by_name_and_its_builds_share_the_hue_and_are_dashed(names, indices, dashed):
    hues = figures.look(names).hues

    assert [hues[name].index for name in names] == list(indices)
    assert len({(hue.index, hue.marker) for hue in hues.values()}) == len(names)
    assert {name for name in hues if hues[name].dash} == set(dashed)
    assert LOOK.hue("unheard of").index == 0


def _channels(colour):
    return [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]


def test_twelve_frameworks_have_six_hues():
    names = [f"framework{i}" for i in range(12)]
    look = figures.look(names)
    series = [line(name, name, counts=(1, 8, 64, 512, 1000), one=10.0 + i) for i, name in enumerate(names)]

    svg = throughput(series, look, id="many", unit="images/s").svg

    assert {int(i) for i in re.findall(r"hue-(\d+)", svg)} == {1, 2, 3, 4, 5, 6}
    assert set(names) <= set(texts(f"<svg>{svg}</svg>"))


def test_without_anything_to_draw_there_is_no_svg():
    missing = figures.Line(name="PyTorch", framework="pytorch", points=(figures.Point(x=8, value=None, ref="c"),))

    assert throughput((missing,), LOOK, id="none", unit="images/s").svg is None
    assert figures.lines((), LOOK, id="none", value="value").svg is None


def test_points_without_a_positive_number_are_left_out_of_the_drawing():
    odd = tuple(figures.Point(x=m, value=v) for m, v in ((1, math.nan), (2, 0.0), (4, 7.0), (8, math.inf), (16, 9.0)))

    figure = throughput((figures.Line(name="A", framework="mxnet", points=odd),), LOOK, id="odd", unit="")

    assert figure.svg.count('class="mark') == 2


def test_curves_that_differ_little_do_not_begin_at_zero_and_others_do():
    def panel(*values):
        points = tuple(figures.Point(x=float(epoch), value=value) for epoch, value in enumerate(values))
        curve = figures.Line(name="256", framework="256", points=points)
        return figures.LinePanel(label="top-1", lines=(curve,), unit="%", counted=False)

    broken, whole = (
        figures.lines((panel(*values),), LOOK, id="b", value="value", x="epoch")
        for values in ((74.0, 75.0, 76.0), (10.0, 60.0, 76.0))
    )

    assert "20" in texts(whole.svg) and "20" not in texts(broken.svg)


def test_a_word_is_written_in_both_languages_and_the_page_shows_one():
    named = replace(SERIES[0], name=figures.Bilingual(zh="内存", en="Memory"))
    root = ElementTree.fromstring(throughput((named,), LOOK, id="b", unit="").svg)
    words = {(node.get("lang"), node.text) for node in root.iter() if node.get("lang")}

    assert words == {("zh-CN", "内存"), ("en", "Memory")}


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
    assert all(contrast(colours["ink"], colours[name]) >= 4.5 for name in colours if name.startswith("cell-"))
    for light, dark in zip(style.LIGHT_HUES, style.DARK_HUES, strict=True):
        apart = 360 * abs(colorsys.rgb_to_hsv(*_channels(light))[0] - colorsys.rgb_to_hsv(*_channels(dark))[0])
        assert min(apart, 360 - apart) < 35, (light, dark)
    text = figures.css()
    assert text.count("--fig-hue-1:light-dark(#39649D,#68B8FA)") == 1 == text.count("#68B8FA")
    assert "forced-colors:active" in text and text.count("{") == text.count("}")


@settings(max_examples=12, deadline=None)  # each draws four figures
@given(
    st.lists(
        st.tuples(st.integers(1, 1000), st.floats(1e-2, 1e6), st.floats(0, 0.5), st.text(max_size=30)),
        min_size=1,
        max_size=7,
    )
)
def test_any_numbers_and_any_names_make_a_figure(drawn):
    series = tuple(
        figures.Line(
            name=name,
            framework=FRAMEWORKS[i % 6],
            points=(
                figures.Point(x=1, value=value),
                figures.Point(x=count, value=value * count),
            ),
        )
        for i, (count, value, _, name) in enumerate(drawn)
    )

    found = [draw(series, LOOK, id="any", unit="images/s") for draw in (throughput, per_device)]

    assert all(figure.svg for figure in found)
    for figure in (figure for figure in found if figure.svg):
        assert local(ElementTree.fromstring(figure.svg)) == "svg"  # well formed


@given(st.lists(st.floats(-1e3, 1e3), max_size=12))
def test_labels_are_moved_apart_and_keep_their_order(wanted):
    ordered = [place for _, place in sorted(zip(wanted, sheet.spread(wanted, 16, 0, 300), strict=True))]

    assert all(b - a >= 16 - 1e-6 for a, b in pairwise(ordered))
    assert not ordered or (ordered[0] >= -1e-6 and ordered[-1] <= 300 + 1e-6)


@given(st.floats(1e-6, 1e9), st.floats(1.01, 1e9))
def test_ticks_lie_inside_their_axis_and_are_few(low, factor):
    high = low * factor

    assert len(ticks.linear(0, high)) <= 12


def test_lines_that_end_within_one_percent_share_a_label_of_three_names_at_most():
    points = {**{f"f{k}": 0.9 - k / 1e3 for k in range(8)}, "oneflow": 0.8}
    lines = tuple(
        figures.Line(name=name, framework=name, points=(figures.Point(x=1, value=1.0), figures.Point(x=8, value=last)))
        for name, last in points.items()
    )

    svg = figures.lines((figures.LinePanel(lines=lines, share=True),), LOOK, id="s", value="efficiency").svg

    assert {"f0, f1, f2 +5", "oneflow"} <= set(texts(svg))
