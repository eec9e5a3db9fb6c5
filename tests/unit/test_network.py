"""Network and storage measured beside the training: what is counted, what is kept, and how it is shown."""

import json
from dataclasses import replace

import pytest
import synthetic

from evalsuite.adapter import Command
from evalsuite.documents import AllReduceTimes, NetworkMeasurement, StorageReading
from evalsuite.launch.checks import network as launching
from evalsuite.plan import collectives, engines
from evalsuite.report.book import blocks
from evalsuite.report.book.book import Book
from evalsuite.report.data import summary_json
from evalsuite.report.sections.models import network as section
from evalsuite.report.text import words
from evalsuite.results.measure import network
from evalsuite.runs import network as kept
from tests.toys import CASE, toynet

FOUND = NetworkMeasurement(
    nodes=2,
    devices_per_node=4,
    device="cpu",
    at="2026-01-02T00:00:00+00:00",
    backend="gloo",
    tool="PyTorch 2.5",
    campaign="c1",
    all_reduce=(AllReduceTimes(bytes=1024, seconds=(1e-4, 3e-4, 2e-4)), AllReduceTimes(bytes=1 << 27, seconds=(0.5,))),
    storage=(StorageReading(host="a", bytes=10**9, seconds=1.0), StorageReading(host="b", bytes=10**9, seconds=4.0)),
)


def of(**changes):
    return replace(FOUND, **changes)


def test_the_median_counts_and_the_slowest_host_and_no_line_of_the_scripts_own(tmp_path):
    assert network.times_s(FOUND) == {1024: 2e-4, 1 << 27: 0.5}
    assert network.read_bytes_per_s(FOUND) == 0.25e9

    log = tmp_path / "log"
    log.write_text('warning: {}\n[1]\n{"measured": "all_reduce", "bytes": 8, "seconds": [0.5]}\n')
    assert launching._read(list(launching._facts(log)))["all_reduce"] == (AllReduceTimes(bytes=8, seconds=(0.5,)),)


@pytest.mark.parametrize(
    ("changes", "factor"),
    [
        ({}, 2 * 7 / 8),  # doc/PERFORMANCE.md of nccl-tests: busbw = algbw * 2(n-1)/n
        ({"nodes": 1, "devices_per_node": 2}, 1),
        ({"nodes": 1, "devices_per_node": 1}, None),
        ({"all_reduce": ()}, None),
    ],
)
def test_bus_bandwidth_is_that_of_nccl_tests(changes, factor):
    assert network.bus_bytes_per_s(of(**changes)) == (factor and pytest.approx((1 << 27) / 0.5 * factor))


LATER, FAILED = of(at="2026-01-03T00:00:00+00:00"), of(at="2026-01-04", all_reduce=(), storage=(), error="no route")
STRANGE, APART = of(at="2026-01-05T00:00:00+00:00", campaign="another"), of(campaign=None)
FAST, SLOW = of(link_mbit=1000, campaign="c1"), of(link_mbit=100, campaign="c2")


@pytest.mark.parametrize(
    ("found", "campaigns", "newest"),
    [
        ([FAILED, LATER, FOUND, STRANGE], {"c1", None}, (LATER,)),
        ([FAILED], {"c1"}, (FAILED,)),
        ([STRANGE], {"c1"}, ()),
        ([FAST, SLOW], ["c1", "c2"], (SLOW, FAST)),  # one of each link
        ([APART], [None], (APART,)),  # kept apart from its campaign, it goes with the runs beside it
    ],
)
def test_of_several_the_newest_that_succeeded_counts_and_only_of_these_campaigns(found, campaigns, newest):
    assert network.newest(found, campaigns) == newest


@pytest.mark.parametrize(("device", "said"), [("cpu", "no environment with PyTorch"), ("npu", "expected CPUs or GPUs")])
def test_why_it_was_not_measured_is_written_down(device, said, tmp_path):
    case = replace(CASE, devices_per_node=2, device=device)

    found = launching.measure(case, engines.engine("local"), None, tmp_path, "c1")

    assert said in found.error
    assert kept.read(tmp_path) == (found,)


def test_the_table_shows_times_and_says_why_there_are_none(book_of_scales):
    book, model = book_of_scales
    failed = of(nodes=1, devices_per_node=2, all_reduce=(), storage=(), error="<b>no route</b>")

    table = section.of_model(book(FOUND, failed), model)
    rows = {row.scale: row for row in table.rows}

    assert [size.text for size in table.sizes] == ["1\u202fKiB", "128\u202fMiB"]
    assert [time.text for time in rows["2×4"].times] == ["200.0\u202fµs", "500.0\u202fms"]
    assert (rows["2×4"].bandwidth.text, rows["2×4"].storage.text) == ("470\u202fMB/s", "250\u202fMB/s")
    assert (rows["1×2"].times, rows["1×2"].bandwidth) == ((None, None), None)
    assert "no route" in rows["1×2"].error
    assert section.of_model(book(), model) is None
    assert section.of_model(book(of(device="gpu")), model) is None


@pytest.fixture
def book_of_scales():
    cases = [synthetic.case(nodes=nodes, devices_per_node=devices) for nodes, devices in ((1, 2), (2, 4))]
    made = synthetic.evaluation([synthetic.summary([synthetic.measured(case, 0, 100.0)]) for case in cases])
    cpus = replace(made, planned=tuple(replace(case, device="cpu") for case in made.planned))

    def book(*found):
        return Book(evaluation=replace(cpus, networks=tuple(found)))

    return book, blocks.models(Book(evaluation=made))[0]


def test_what_was_written_is_read_back_and_plain_json(tmp_path):
    place = kept.folder(tmp_path, "2x4", "c1")
    place.mkdir(parents=True)
    kept.write(place, FOUND)

    assert kept.read(tmp_path) == (FOUND,)
    assert kept.read(tmp_path / "none") == ()
    assert NetworkMeasurement.from_json(json.loads(json.dumps(FOUND.to_json())), "n") == FOUND


def test_the_curve_is_drawn_by_scale_link_and_library_and_what_failed_is_not_drawn(book_of_scales):
    book, model = book_of_scales
    links = [replace(FOUND, link_mbit=mbit) for mbit in (100, 1000)]
    drawn = section.draw_network(model, section.of_model(book(*links), model), words.read())
    failed = section.of_model(book(FAILED), model)

    assert 'class="mark"' in drawn.figure.svg
    assert {row[0] for row in drawn.figure.table.rows} == {"2×4 · 100\u202fMbit/s", "2×4 · 1,000\u202fMbit/s"}
    assert all(row[2] == 0.875 * 2 * row[1] / 0.5 for row in drawn.figure.table.rows if row[1] == 1 << 27)
    written = summary_json.SchemaWriter(None).plain({"$ref": "network"}, links[0], "")
    assert (written["link_mbit"], written["all_reduce"][-1]["n"]) == (100, len(FOUND.all_reduce[-1].seconds))
    assert written["all_reduce"][-1]["bus_bytes_per_s"] == network.bus_bytes_per_s(links[0])
    assert section.draw_network(model, failed, words.read()) is None

    by_gloo, by_mpi = of(), of(backend="mpi", tool="Open MPI 4.1.4")
    book, model = book_of_scales

    (row,) = section.of_model(book(by_mpi), model).rows
    both = section.of_model(book(*network.newest([by_gloo, by_mpi], ["c1"])), model).rows

    assert (row.with_what, row.name(words.read()).items) == ("MPI, Open MPI 4.1.4", ("2×4",))
    assert [one.name(words.read()).items for one in both] == [("2×4", "gloo"), ("2×4", "MPI")]


@pytest.mark.parametrize(
    ("words_of_script", "device", "collective"),
    [
        (("mpirun", "-np", "2", "python"), "cpu", "mpi"),
        (("mpirun", "-np", "2", "python"), "gpu", "nccl"),
        (("{bin}/horovodrun", "-np", "2", "--mpi", "{python}"), "cpu", "mpi"),
        (("{bin}/horovodrun", "-np", "2", "--gloo", "{python}"), "cpu", "gloo"),
        (("{bin}/bfrun", "-np", "2"), "cpu", "mpi"),
        (("{python}", "train.py", "--mpi"), "cpu", "gloo"),
    ],
)
def test_the_network_is_measured_by_what_carries_the_all_reduces_of_the_case(words_of_script, device, collective):
    recipe = replace(toynet().recipes[0], command=lambda case: Command(argv=words_of_script))

    assert collectives.of(recipe, replace(CASE, device=device)) == collective
