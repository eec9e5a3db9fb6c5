"""What slowed a run on GPUs (docs/clusters.md): NCCL's own lines, counters of interfaces, and waits for data."""

from dataclasses import replace
from unittest.mock import Mock

import pytest

from evalsuite.core.documents import Gpu, HostEnvironment, Interface
from evalsuite.core.findings import InfinibandIdle, LoaderBusy, LoaderWaits
from evalsuite.core.model import Window
from evalsuite.logs.scan.scan import find_failure
from evalsuite.logs.text.logfile import Chunk
from evalsuite.results.measure.measurement import measurement
from evalsuite.results.rules import work_done
from evalsuite.results.samples import utilisation
from evalsuite.runs.samples import GpuReading, Header, InterfaceCounters, Sample
from tests import runfolders, sources
from tests.toys import CASE, measured

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
    return [finding for finding in found if finding.code == "infiniband_unused"]


@pytest.mark.parametrize(("said", "more", "rules"), sources.cases("network.toml")["nccl_says"])
def test_what_nccl_says_of_the_way_between_nodes_is_quoted_with_its_line(tmp_path, said, more, rules):
    said, more = NCCL[said], {**more, "ports": PORTS if "ports" in more else None}
    found = of_run(tmp_path, said, **more)

    assert [(line.name, line.line) for line in found] == list(rules)
    assert all(line.text == said.splitlines()[line.line - 1] for line in found)


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

    assert [each.share for each in work_done.waits(run) if isinstance(each, LoaderWaits)] == shares


@pytest.mark.parametrize(("gpu", "cpu", "bound"), [(45, 99, True), (95, 99, False), (45, 60, False)])
def test_idle_gpus_beside_full_cpus_are_named(gpu, cpu, bound):
    used = (Mock(resource="gpu", mean=gpu, device=None), Mock(resource="cpu", mean=cpu, device=None))

    found = work_done.waits(measured(CASE, 0, 100.0, utilisation=used))
    assert any(isinstance(each, LoaderBusy) for each in found) == bound


def test_an_operator_that_dali_lacks_is_the_reason_of_the_failure():
    said = b"AttributeError: module 'nvidia.dali.ops' has no attribute 'nvJPEGDecoder'"  # NVIDIA/DALI/issues/1674

    text = b"Traceback (most recent call last):\n" + said
    chunk = Chunk(text=text, first_line=1, offset=0, complete=True, line_ends=1)

    assert find_failure([chunk]).kind == "other dali"
