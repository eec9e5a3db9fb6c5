import math
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.model import Window
from evalsuite.report.text.findings import english
from evalsuite.results.samples import utilisation
from evalsuite.runs import samples
from evalsuite.runs.samples import Header
from tests import sources

GIB = 1 << 30
HEADER = {
    "header": True, "hz": 2.0, "started_at_unix_s": 1000.0, "cpu_count": 4.0, "memory_total_bytes": 100,
    "disks": ["sda"], "interfaces": {"eth0": {"speed_mbit_s": 1000}, "lo": {"speed_mbit_s": None}}, "gpus": [],
}  # fmt: skip


TREE = {"cpu_s": 0.0, "memory_bytes": 7}


def recorded(header, *lines):
    """What is read of a file with these lines."""
    readings = [samples.reading(line, "file:1") for line in lines]
    return samples.Samples(header=Header.from_json(header, "file:1"), tables=samples.tables(readings))


def window(begin_s, end_s):
    return Window(first_step=21, last_step=120, steps=100, begin_s=begin_s, end_s=end_s)


def used(samples, begin_s, end_s):
    figures, _ = utilisation.of_job({"n": samples}, window(begin_s, end_s))
    return {figure.resource: figure for figure in figures}


def findings(samples, begin_s, end_s):
    return [english(finding) for finding in utilisation.of_job({"n": samples}, window(begin_s, end_s))[1]]


def ticks(*values, name="cpu_percent", header=HEADER, period_s=0.5):
    """A sample every half second: {name: value}."""
    return recorded(header, *({"at_s": place * period_s, name: value} for place, value in enumerate(values)))


def disk(*counts):
    return [
        {"sda": {"read_bytes": count, "write_bytes": 0, "read_operations": 0, "write_operations": 0}}
        for count in counts
    ]


def test_the_mean_is_of_the_devices_own_samples_where_they_are_told_with_their_number():
    devices = [{"index": 0, "memory_total_bytes": 10}]
    told = {"utilisation_percent": 100.0, "utilisation_mean_percent": 85.0, "utilisation_samples": 3}
    moments = [
        {"at_s": at / 2, "gpus": [{"index": 0, **(told if at else {"utilisation_percent": 0.0})}]} for at in range(5)
    ]

    found = used(recorded({**HEADER, "gpus": devices}, *moments), 0.5, 1.5)["gpu"]

    assert (found.mean, found.samples, found.coverage) == (85.0, 6, 1.0)


@pytest.mark.parametrize("others", [False, None])  # a whole device beside a slice, say; None: of the job, too
def test_of_a_device_that_tells_none_of_its_own_samples_the_moments_count_whatever_its_neighbour_tells(others):
    devices = [{"index": 0, "of_job": others}, {"index": 1, "of_job": True}]
    finer = {"utilisation_mean_percent": 20.0, "utilisation_samples": 3}
    told = [{"index": 0, "utilisation_percent": 20.0, **finer}, {"index": 1, "utilisation_percent": 90.0}]

    found = used(recorded({**HEADER, "gpus": devices}, *({"at_s": at / 2, "gpus": told} for at in range(5))), 0.5, 1.5)

    assert found["gpu"].mean == (90.0 if others is False else 55.0)


def gpus(*percents, **header):
    """Samples of as many devices as the first tuple has."""
    devices = [
        {"index": index, "memory_total_bytes": 16 * GIB, "power_limit_w": 300.0} | header
        for index in range(len(percents[0]))
    ]
    readings = [[{"index": index, "utilisation_percent": it} for index, it in enumerate(tick)] for tick in percents]
    return ticks(*readings, name="gpus", header=HEADER | {"gpus": devices})


def at(at, **values):
    """A sample at each of these times, all with these values."""
    return recorded(HEADER, *({"at_s": at_s, **values} for at_s in at))


OF_A_WINDOW = sources.cases("utilisation.toml")["of_a_window"]


def sampled(of):
    """The samples of a row of the table: a value each half second, or one for all at these times."""
    if "at" in of:
        return at(**of)
    [(name, values)] = of.items()
    if name == "gpus":
        return gpus(*values)
    if name == "tree":
        values = [TREE | {"cpu_s": cpu_s} for cpu_s in values]
    return ticks(*(disk(*values) if name == "disks" else values), name=name)


@pytest.mark.parametrize(
    ("samples", "begin_s", "end_s", "resource", "figure", "told"), OF_A_WINDOW.values(), ids=OF_A_WINDOW
)
def test_a_figure_is_of_what_was_sampled_in_its_window(samples, begin_s, end_s, resource, figure, told):
    samples = sampled(samples)
    found = used(samples, begin_s, end_s).get(resource)

    assert (found and {name: getattr(found, name) for name in figure}) == (figure and pytest.approx(figure))
    said = findings(samples, begin_s, end_s)
    assert any(told in text for text in said) if told else said == []


def test_what_cannot_be_of_one_quantity_leaves_alone_what_was_read_with_it():
    lines = [{"at_s": at, "memory_used_bytes": 50 if at else 500, "tree": TREE | {"cpu_s": at}} for at in range(5)]
    samples = recorded(HEADER | {"hz": 1.0}, *lines)

    uses = used(samples, 0.0, 4.0)

    assert (uses["memory"].mean, uses["memory"].samples) == (50.0, 4)
    assert (uses["job_memory"].mean, uses["job_memory"].samples) == (7.0, 5)
    assert (uses["job_cpu"].mean, uses["job_cpu"].samples) == (25.0, 4)


def test_loopback_is_kept_apart_from_the_network():
    def counts(lo, eth0):
        return {name: {"received_bytes": it, "sent_bytes": it} for name, it in (("lo", lo), ("eth0", eth0))}

    samples = ticks(counts(0, 0), counts(500, 50), counts(1000, 100), name="interfaces")

    figures = used(samples, 0.0, 1.0)

    assert figures["loopback"].mean == pytest.approx(1000.0)
    assert figures["network_receive"].mean == figures["network_send"].mean == pytest.approx(100.0)
    assert figures["network_receive"].capacity == 125e6


@pytest.mark.parametrize(("more", "capacity"), [({}, 2 * 62.5e6), ({"eth1": {"speed_mbit_s": 1000}}, None)])
def test_over_links_of_a_stated_rate_that_is_the_capacity_and_not_what_the_interface_says(more, capacity):
    interfaces = {"eth0": {"speed_mbit_s": 10_000}, "lo": {"speed_mbit_s": None}, **more}
    moved = [{name: {"received_bytes": 0, "sent_bytes": k * 10**6} for name in interfaces} for k in range(3)]
    host = recorded(
        HEADER | {"interfaces": interfaces}, *({"at_s": 0.5 * k, "interfaces": one} for k, one in enumerate(moved))
    )
    planned = utilisation.Devices(nodes=2, accelerators=0, link_mbit=500)

    figures, _ = utilisation.of_job({"a": host, "b": host}, window(0.0, 1.0), planned=planned)

    sent = next(figure for figure in figures if figure.resource == "network_send")
    assert sent.capacity == capacity


def test_devices_that_the_job_does_not_use_do_not_count():
    samples = gpus((100, 0), (100, 0), (100, 0))
    first, second = samples.header.gpus
    header = replace(samples.header, gpus=(replace(first, of_job=True), replace(second, of_job=False)))
    samples = replace(samples, header=header)

    assert used(samples, 0.0, 1.0)["gpu"].mean == 100.0


def test_percentages_of_several_nodes_are_averaged_and_rates_are_added():
    def node(percent, rate):
        values = zip((None, percent, percent), disk(0, rate, 2 * rate), strict=True)
        return recorded(
            HEADER, *({"at_s": 0.5 * k, "cpu_percent": busy, "disks": disks} for k, (busy, disks) in enumerate(values))
        )

    figures, _ = utilisation.of_job({"a": node(100.0, 50), "b": node(50.0, 150)}, window(0.0, 1.0))
    by_resource = {figure.resource: figure for figure in figures}

    assert by_resource["cpu"].mean == 75.0
    assert by_resource["disk_read"].mean == pytest.approx(400.0)
    assert (by_resource["cpu"].coverage, by_resource["disk_read"].coverage) == (1.0, 1.0)


def test_all_hosts_are_brought_to_the_clock_of_the_first():
    later = HEADER | {"started_at_unix_s": 1010.0}
    hosts = {"a": ticks(*[0.0] * 30), "b": ticks(None, 100.0, 0.0, header=later)}

    figures, _ = utilisation.of_job(hosts, window(10.0, 10.5))

    assert next(figure for figure in figures if figure.resource == "cpu").mean == 50.0


def test_no_samples_and_no_times_give_nothing():
    no_times = Window(first_step=1, last_step=2, steps=2)

    assert utilisation.of_job({"n": ticks(None, 1.0)}, no_times) == ((), ())
    assert utilisation.of_job({}, window(0, 1)) == ((), ())
    assert utilisation.of_job({"n": recorded(HEADER)}, window(0, 1)) == ((), ())


def test_a_constant_rate_is_found_whatever_the_window_and_a_last_reading_makes_no_peak():
    samples = ticks(*disk(*range(0, 10_000, 100)), name="disks")
    for begin_s, end_s in ((0.1, 0.2), (0.0, 49.5), (3.33, 17.77)):
        assert used(samples, begin_s, end_s)["disk_read"].mean == pytest.approx(200.0)

    counted = zip((0.0, 0.5, 1.0, 1.001), disk(0, 10, 20, 30), strict=True)
    samples = recorded(HEADER, *({"at_s": at_s, "disks": one} for at_s, one in counted))
    figure = used(samples, 0.0, 1.001)["disk_read"]
    assert figure.p95 < 50


percent = st.one_of(st.none(), st.floats(0, 100))
names = st.sampled_from([*HEADER, "at_s", "tree", "cpu_s", "cpu_percent", "memory_used_bytes", "sda", "lo"])
anything = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(names, inner)),
    max_leaves=8,
)
sample = st.one_of(
    anything, st.fixed_dictionaries({"at_s": st.floats(0, 2)} | {name: anything for name in ("gpus", "disks", "tree")})
)


@given(values=st.lists(percent, min_size=1, max_size=40), begin_s=st.floats(0, 10), length_s=st.floats(0.01, 20))
def test_a_mean_lies_between_the_least_and_the_greatest(values, begin_s, length_s):
    figure = used(ticks(*values), begin_s, begin_s + length_s).get("cpu")

    if figure:
        known = [value for value in values if value is not None]
        assert min(known) - 1e-9 <= figure.mean <= max(known) + 1e-9
        assert figure.p5 <= figure.p95
        assert 0 < figure.coverage <= 1


@given(values=st.lists(percent, min_size=3, max_size=40), edge=st.floats(0.1, 5))
@example(values=[None, *[0.0] * 15, 1.0], edge=1.0)
def test_two_halves_of_a_window_make_the_whole(values, edge):
    samples = ticks(*values)
    whole, left, right = (used(samples, *ends).get("cpu") for ends in ((0, 10), (0, edge), (edge, 10)))

    if whole and left and right:  # a part of which too little was sampled has no figure
        parts = [(one.mean, one.coverage * length) for one, length in ((left, edge), (right, 10 - edge))]
        weighted = math.fsum(mean * seconds for mean, seconds in parts) / math.fsum(seconds for _, seconds in parts)
        assert weighted == pytest.approx(whole.mean, abs=1e-6)


@given(samples=st.lists(sample, max_size=6), header=st.sampled_from([HEADER, HEADER | {"gpus": [{}]}]))
def test_samples_that_hold_anything_are_refused_or_give_finite_figures(samples, header):
    try:
        found = recorded(header, *samples)
    except EvalsuiteError:
        return
    figures, findings = utilisation.of_job({"n": found}, window(0.0, 1.0))

    assert all(math.isfinite(figure.mean) for figure in figures)
    assert isinstance(findings, tuple)
