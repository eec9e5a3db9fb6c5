"""Peak memory and energy of a run, from counters and logs, and never from a part of the devices."""

import html
from dataclasses import replace

import pytest
import synthetic

from evalsuite import report
from evalsuite.core.documents import Gpu
from evalsuite.core.model import Fact, Log, Window
from evalsuite.logs import catalogue
from evalsuite.report.book import columns
from evalsuite.report.book.book import Book
from evalsuite.report.data import summary_json, tables
from evalsuite.report.text import words
from evalsuite.results.rules import flops_and_energy
from evalsuite.results.samples import run_figures
from evalsuite.results.samples.run_figures import RunRecords
from evalsuite.results.samples.utilisation import Devices
from evalsuite.runs.samples import GpuReading, Header, Sample, TreeReading
from tests import runfolders, sources
from tests.bad_files import AGENT

GIB = 1024**3
WINDOW = Window(first_step=21, last_step=120, steps=100, begin_s=1.0, end_s=3.0)


def host(*devices, started_at_unix_s=1000.0, of_job=True, hz=1.0):
    """Samples of *devices*, each a list of (bytes held, joules so far), one reading a second."""
    gpus = tuple(Gpu(index=k, of_job=of_job or k == 0) for k in range(len(devices)))
    readings = [
        Sample(
            at_s=float(at),
            gpus=tuple(
                GpuReading(index=k, memory_used_bytes=held, energy_j=joules) for k, (held, joules) in enumerate(tick)
            ),
        )
        for at, tick in enumerate(zip(*devices, strict=True))
    ]
    return runfolders.sampled(Header(hz=hz, gpus=gpus, started_at_unix_s=started_at_unix_s), readings)


ONE = [(1 * GIB, 100.0), (5 * GIB, 300.0), (9 * GIB, 500.0), (9 * GIB, 700.0), (1 * GIB, 900.0)]
OTHER = [(1 * GIB, 0.0), (2 * GIB, 100.0), (3 * GIB, 200.0), (4 * GIB, 300.0), (1 * GIB, 400.0)]


def figure(name, run):
    return dict(run_figures.read(run)).get(name)


def records(*hosts, window=WINDOW, planned=1, **more):
    devices = Devices(nodes=max(1, len(hosts)), accelerators=planned)
    return RunRecords(planned=devices, samples=dict(zip("ab", hosts, strict=False)), window=window, **more)


@pytest.mark.parametrize(("of_job", "peak"), [(True, 9), (False, 4)])
def test_the_peak_is_that_of_the_fullest_device_of_the_job_at_any_time(of_job, peak):
    assert figure("peak_memory_sampled_bytes", records(host(OTHER, ONE, of_job=of_job))) == peak * GIB


def test_the_peak_of_a_job_on_cpus_is_that_of_its_processes_on_the_fullest_node():
    nodes = [
        runfolders.sampled(
            Header(hz=1.0),
            [Sample(at_s=at, tree=TreeReading(cpu_s=at, memory_bytes=held)) for at, held in enumerate(each)],
        )
        for each in ([1 * GIB, 3 * GIB], [2 * GIB, 2 * GIB])
    ]

    assert figure("peak_memory_of_job_bytes", records(*nodes, planned=0)) == 3 * GIB
    assert figure("peak_memory_of_job_bytes", records(*nodes, planned=2)) is None
    assert figure("peak_memory_of_job_bytes", records(planned=0)) is None


@pytest.mark.parametrize(
    ("hosts", "window", "planned", "joules"),
    [
        ([host(ONE, OTHER)], WINDOW, 2, 400 + 200),  # all counters together
        ([host(ONE)], replace(WINDOW, begin_s=0.5, end_s=2.25), 1, 350),  # in a straight line between two readings
        ([host(ONE), host(OTHER, started_at_unix_s=999.0)], WINDOW, 2, 600),  # hosts are brought to one clock
    ],
)
def test_energy_is_what_the_counters_went_on_over_the_window(hosts, window, planned, joules):
    assert figure("energy_j", records(*hosts, window=window, planned=planned)) == pytest.approx(joules)


@pytest.mark.parametrize(
    ("devices", "window", "planned"),
    [
        ([ONE], WINDOW, 2),  # one of two was not read
        ([ONE, [(GIB, None)] * 5], WINDOW, 2),
        ([ONE], replace(WINDOW, end_s=9.0), 1),  # the counter was not read to the end
        ([[(GIB, 100.0 - at) for at in range(5)]], WINDOW, 1),  # ran backwards: the driver was loaded anew
        ([ONE], replace(WINDOW, begin_s=None), 1),
    ],
)
def test_what_was_not_read_whole_has_no_energy(devices, window, planned):
    assert figure("energy_j", records(host(*devices), window=window, planned=planned)) is None


@pytest.mark.parametrize(("dialect", "figure", "line", "found"), sources.cases("run_figures.toml")["a_script_prints"])
def test_a_script_that_prints_its_peak_or_its_spread_is_quoted(dialect, figure, line, found, tmp_path):
    (file := tmp_path / "log.txt").write_text(f"{line}\n")
    log = Log(path=file, arrivals=None, host="a", rank=None, name="log.txt")

    quoted = records(logs=[log], dialect=catalogue.known()[dialect], lines=(1, 1))

    assert dict(run_figures.read(quoted)).get(figure) == found


def summary(**figures):
    case = synthetic.case("pytorch", (1, 1), protocol=synthetic.FULL, options=(), device="gpu")
    runs = [synthetic.measured(case, k, 100.0) for k in range(5)]
    stated = tuple(
        Fact(key=key, value=value, source="log")
        for key, value in {"input_size": "224", "device_model": "NVIDIA H200", "precision": "bf16_amp"}.items()
    )
    own = {"facts": stated, "environment": None, "figures": tuple(figures.items())}
    return synthetic.summary([replace(run, throughput=replace(run.throughput, window=WINDOW), **own) for run in runs])


def test_the_counter_is_believed_before_sampled_power_where_every_run_has_one():
    one = summary(energy_j=400.0)
    first, *others = one.measurements

    assert flops_and_energy.energy(one) == flops_and_energy.Energy(joules_per_item=2.0, method="energy counter")
    assert flops_and_energy.energy(replace(one, measurements=(replace(first, figures=()), *others))) is None


@pytest.mark.parametrize(("nodes", "cpu_s"), [((50.0, 70.0), 120.0), ((50.0, None), None), ((), None)])
def test_the_cpu_time_of_a_run_is_that_of_all_its_nodes_or_none(nodes, cpu_s):
    assert run_figures.cpu_s(records(agents=[replace(AGENT, group_cpu_s=each) for each in nodes])) == cpu_s


def test_the_page_has_the_columns_that_something_stands_in(tmp_path):
    one = summary(peak_memory_sampled_bytes=9.0 * GIB, energy_j=400.0, cpu_s=37.5)

    (file, *_) = report.build(synthetic.evaluation([one]), tmp_path, languages=["en"])

    shown = html.unescape(file.read_text(encoding="utf-8")).partition("Further figures of each case")[2]
    shown = shown.partition("</table>")[0]
    assert "Peak memory, sampled" in shown and "9.0\u202fGiB" in shown
    assert "2.000\u202fJ" in shown
    assert "TFLOP/s per device" in shown and "MFU" in shown
    assert "CPU time (whole run)" in shown and "37.50\u202fs" in shown
    assert "Peak memory, printed" not in shown


def test_every_figure_of_a_case_is_in_page_table_and_summary(tmp_path):
    evaluation = synthetic.evaluation([summary(**{figure.name: 2.0 for figure in run_figures.FIGURES})])
    book, english = Book(evaluation=evaluation), words.read(("en",))

    (file, *_) = report.build(evaluation, tmp_path, languages=["en"])
    page = html.unescape(file.read_text(encoding="utf-8"))
    (row,) = tables.rows(book, ["summaries"])["summaries"]
    (found,) = summary_json.document(book, "0")["summaries"]

    for column in columns.SHOWN:
        name = english(f"totals.{column.name}").plain("en")
        assert name in page, column.name
        assert found["figures"][column.name] == row[column.name] is not None, column.name
