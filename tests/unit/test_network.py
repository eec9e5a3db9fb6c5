"""Network and storage measured beside the training: what is counted, what is kept, and how it is shown."""

import json
from dataclasses import replace
from unittest.mock import Mock

import pytest
import synthetic

from evalsuite.contracts.adapter import Command
from evalsuite.core.documents import AllReduceTimes, Gpu, HostEnvironment, Interface, NetworkMeasurement, StorageReading
from evalsuite.core.findings import InfinibandIdle, LoaderBusy, LoaderWaits
from evalsuite.core.model import Window
from evalsuite.launch.checks import network as launching
from evalsuite.logs.scan.scan import find_failure
from evalsuite.plan import engines
from evalsuite.report.book import blocks
from evalsuite.report.book.book import Book
from evalsuite.report.data import summary_json
from evalsuite.report.sections.models import network as section
from evalsuite.report.text import words
from evalsuite.results.measure import network
from evalsuite.results.measure.measurement import measurement
from evalsuite.results.samples import utilisation
from evalsuite.runs import network as kept
from evalsuite.runs.samples import GpuReading, Header, InterfaceCounters, Sample
from tests import runfolders, sources
from tests.toys import CASE, measured, toynet

FOUND = NetworkMeasurement(
    nodes=2, devices_per_node=4, device="cpu", at="2026-01-02T00:00:00+00:00", backend="gloo", tool="PyTorch 2.5",
    campaign="c1",
    all_reduce=(AllReduceTimes(bytes=1024, seconds=(1e-4, 3e-4, 2e-4)), AllReduceTimes(bytes=1 << 27, seconds=(0.5,))),
    storage=(StorageReading(host="a", bytes=10**9, seconds=1.0), StorageReading(host="b", bytes=10**9, seconds=4.0)),
)  # fmt: skip


def of(**changes):
    return replace(FOUND, **changes)


def test_the_median_counts_and_the_slowest_host_and_no_line_of_the_scripts_own(tmp_path):
    assert network.times_s(FOUND) == {1024: 2e-4, 1 << 27: 0.5}
    assert network.read_bytes_per_s(FOUND) == 0.25e9

    log = tmp_path / "log"
    log.write_text('warning: {}\n[1]\n{"measured": "all_reduce", "bytes": 8, "seconds": [0.5]}\n')
    assert launching._read(list(launching._facts(log)))["all_reduce"] == (AllReduceTimes(bytes=8, seconds=(0.5,)),)


@pytest.mark.parametrize(("changes", "factor"), sources.cases("network.toml")["bus_bandwidth"])
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
    assert [each.name(words.read()).items for each in both] == [("2×4", "gloo"), ("2×4", "MPI")]


@pytest.mark.parametrize(("words_of_script", "device", "collective"), sources.table("network.toml")["carriers"])
def test_the_network_is_measured_by_what_carries_the_all_reduces_of_the_case(words_of_script, device, collective):
    recipe = replace(toynet().recipes[0], command=lambda case: Command(argv=words_of_script))

    assert launching.collective_of(recipe, replace(CASE, device=device)) == collective


# what slowed a run on GPUs (docs/pitfalls.md): NCCL's own lines, counters of interfaces, and waits for data


NCCL = sources.table("network_nccl.toml")
PORTS = {"eth0": Interface(), "mlx5_0/1": Interface()}


def of_run(tmp_path, said, nodes=2, ports=None, variables=None, **changes):
    """The flagged findings of a run on GPUs whose log begins with *said*."""
    step, lines = runfolders.steps(), said.splitlines()
    printed = runfolders.Printed(lines=[*lines, *step.lines], arrivals_s=[1.0] * len(lines) + step.arrivals_s)
    environment = HostEnvironment(host="n0", interfaces=ports, environment_variables=variables)
    case = replace(CASE, **{"device": "gpu", "devices_per_node": 8, "nodes": nodes, **changes})
    hosts = {f"n{k}": runfolders.Host(printed=[printed], environment=environment) for k in range(nodes)}
    found = measurement(runfolders.finished(tmp_path, hosts, case)).findings
    return [finding for finding in found if finding.code in ("nccl_silent", "infiniband_unused", "virtual_interface")]


@pytest.mark.parametrize(("said", "more", "rules"), sources.cases("network.toml")["nccl_says"])
def test_what_nccl_says_of_the_way_between_nodes_is_quoted_with_its_line(tmp_path, said, more, rules):
    said, more = NCCL[said], {**more, "ports": PORTS if "ports" in more else None}
    found = of_run(tmp_path, said, **more)

    assert [(line.name, line.line) for line in found] == list(rules)
    assert all(line.text == said.splitlines()[line.line - 1] for line in found)


@pytest.mark.parametrize(("said", "variables", "changes", "silent"), sources.table("network.toml")["silent"])
def test_nccl_silent_is_found_where_it_was_asked_to_speak(tmp_path, said, variables, changes, silent):
    assert bool(of_run(tmp_path, said, variables=variables, **changes)) == silent


@pytest.mark.parametrize(("rates", "nodes", "found"), sources.table("network.toml")["ports"])
def test_ports_that_send_nothing_while_ethernet_does_are_named(rates, nodes, found):
    def tick(at):
        sent = {name: InterfaceCounters(received_bytes=0.0, sent_bytes=rate * at) for name, rate in rates.items()}
        return Sample(at_s=float(at), interfaces=sent, gpus=(GpuReading(index=0, utilisation_percent=50.0),))

    header = Header(hz=1.0, interfaces=dict.fromkeys([*rates, "lo"], Interface()), gpus=(Gpu(index=0),))
    hosts = {name: runfolders.sampled(header, map(tick, range(12))) for name in "ab"[:nodes]}
    window = Window(first_step=21, last_step=120, steps=100, begin_s=1.0, end_s=11.0)

    idle = [each for each in utilisation.of_job(hosts, window)[1] if isinstance(each, InfinibandIdle)]

    assert [[each.ethernet, each.infiniband] for each in idle] == found


@pytest.mark.parametrize(("waits_s", "shares"), [(0.02, []), (0.2, [pytest.approx(0.4)])])
def test_a_script_that_waits_for_its_data_says_so_itself(tmp_path, waits_s, shares):
    step = runfolders.steps()
    lines = [line.replace("\tLoss", f"\tData {waits_s:.3f} ({waits_s:.3f})\tLoss") for line in step.lines]

    run = measurement(runfolders.finished(tmp_path, runfolders.Host(printed=[replace(step, lines=lines)])))

    assert [each.share for each in LoaderWaits.in_run(run)] == shares


@pytest.mark.parametrize(("gpu", "cpu", "bound"), [(45, 99, True), (95, 99, False), (45, 60, False)])
def test_idle_gpus_beside_full_cpus_are_named(gpu, cpu, bound):
    used = (Mock(resource="gpu", mean=gpu, device=None), Mock(resource="cpu", mean=cpu, device=None))

    assert bool(list(LoaderBusy.in_run(measured(CASE, 0, 100.0, utilisation=used)))) == bound


def test_an_operator_that_dali_lacks_is_the_reason_of_the_failure():
    said = b"AttributeError: module 'nvidia.dali.ops' has no attribute 'nvJPEGDecoder'"  # NVIDIA/DALI/issues/1674

    assert find_failure([(1, b"Traceback (most recent call last):"), (2, said)]).kind == "other dali"
