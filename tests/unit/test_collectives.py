"""What slowed a run on GPUs (docs/pitfalls.md): NCCL's own lines, counters of interfaces, and waits for data."""

from dataclasses import replace
from unittest.mock import Mock

import pytest

from evalsuite.documents import Gpu, HostEnvironment, Interface
from evalsuite.findings import InfinibandIdle, LoaderBusy, LoaderWaits
from evalsuite.logs.scan import failures
from evalsuite.model import Window
from evalsuite.results.measure.measurement import measurement
from evalsuite.results.samples import utilisation
from evalsuite.runs.samples import GpuReading, Header, InterfaceCounters, Sample
from tests import runfolders
from tests.toys import CASE, measured

UNOPENED = """\
misc/ibvwrap.cc:212 NCCL WARN Call to ibv_open_device failed
transport/net_ib.cc:148 NCCL WARN NET/IB : Unable to open device mlx5_bond_0
a:9:9 [0] NCCL INFO NET/Socket : Using [0]bond0:200.1.93.2<0>
a:9:9 [0] NCCL INFO Using network Socket"""  # github.com/NVIDIA/nccl/issues/451
BY_IB = """\
hostname-0:29:65 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:10.252.129.107<0>
hostname-0:29:65 [0] NCCL INFO Using network IB"""  # github.com/NVIDIA/nccl/issues/1536
OLD = """\
[1,0]<stdout>:ptv-gpu01:11007:11098 [0] misc/ibvwrap.cu:63 NCCL WARN Failed to open libibverbs.so[.1]
[1,0]<stdout>:ptv-gpu01:11007:11098 [0] NCCL INFO Using internal Network Socket"""  # horovod/horovod/issues/969
VETH = """\
A800:6801:6839 [1] NCCL INFO NET/IB : Using [RO]; OOB ens85f0:10.17.8.207<0>
A800:6801:6839 [1] NCCL INFO NET/Socket : Using [0]ens85f0:10.17.8.207<0> [1]br-e0df4395d684:172.19.0.1<0> \
[2]veth37669ca:fe80::9c8a:8aff:fe87:5487%veth37669ca<0>"""  # NCCL 2.27.3
PORTS = {"eth0": Interface(), "mlx5_0/1": Interface()}


def of_run(tmp_path, said, nodes=2, ports=None, variables=None, **changes):
    """The flagged findings of a run on GPUs whose log begins with *said*."""
    step, lines = runfolders.steps(), said.splitlines()
    printed = runfolders.Printed(lines=[*lines, *step.lines], arrivals_s=[1.0] * len(lines) + step.arrivals_s)
    environment = HostEnvironment(host="n0", interfaces=ports, environment_variables=variables)
    case = replace(CASE, **{"device": "gpu", "devices_per_node": 8, "nodes": nodes, **changes})
    hosts = {f"n{k}": runfolders.Host(printed=[printed], environment=environment) for k in range(nodes)}
    found = measurement(runfolders.finished(tmp_path, hosts, case)).findings
    return [one for one in found if one.code in ("nccl_silent", "infiniband_unused", "virtual_interface")]


@pytest.mark.parametrize(
    ("said", "more", "rules"),
    [
        (UNOPENED, {}, [("sockets_used", 2)]),
        (UNOPENED, {"nodes": 1}, []),
        (UNOPENED, {"device": "cpu"}, []),
        (OLD, {}, []),  # printed wherever there is no InfiniBand
        (OLD, {"ports": PORTS}, [("sockets_used", 1)]),
        (BY_IB, {"ports": PORTS}, []),
        (VETH, {}, [("virtual_interface", 2)]),
        (VETH, {"nodes": 1}, []),
    ],
)
def test_what_nccl_says_of_the_way_between_nodes_is_quoted_with_its_line(tmp_path, said, more, rules):
    found = of_run(tmp_path, said, **more)

    assert [(one.name, one.line) for one in found] == rules
    assert all(one.text == said.splitlines()[one.line - 1] for one in found)


@pytest.mark.parametrize(
    ("said", "variables", "changes", "silent"),
    [
        ("", {"NCCL_DEBUG": "INFO"}, {}, True),
        ("", {"NCCL_DEBUG": "WARN"}, {}, False),  # nothing to warn of
        ("", {"NCCL_DEBUG": "INFO", "NCCL_DEBUG_FILE": "[set]"}, {}, False),
        ("", {"NCCL_DEBUG": "INFO"}, {"nodes": 1, "devices_per_node": 1}, False),
        ("NCCL version 2.7.3+cuda10.2", {"NCCL_DEBUG": "version"}, {"nodes": 1}, False),
    ],
)
def test_nccl_silent_is_found_where_it_was_asked_to_speak(tmp_path, said, variables, changes, silent):
    assert bool(of_run(tmp_path, said, variables=variables, **changes)) == silent


@pytest.mark.parametrize(
    ("rates", "nodes", "found"),
    [
        ({"eth0": 200e6, "mlx5_0/1": 1e3}, 2, [(400e6, 2e3)]),
        ({"eth0": 200e6, "mlx5_0/1": 1e3}, 1, []),
        ({"eth0": 1e6, "mlx5_0/1": 900e6}, 2, []),
        ({"eth0": 1e6, "mlx5_0/1": 0.0}, 2, []),  # nothing worth naming was sent at all
        ({"eth0": 200e6}, 2, []),
    ],
)
def test_ports_that_send_nothing_while_ethernet_does_are_named(rates, nodes, found):
    def tick(at):
        sent = {name: InterfaceCounters(received_bytes=0.0, sent_bytes=rate * at) for name, rate in rates.items()}
        return Sample(at_s=float(at), interfaces=sent, gpus=(GpuReading(index=0, utilisation_percent=50.0),))

    header = Header(hz=1.0, interfaces=dict.fromkeys([*rates, "lo"], Interface()), gpus=(Gpu(index=0),))
    hosts = {name: runfolders.sampled(header, map(tick, range(12))) for name in "ab"[:nodes]}
    window = Window(first_step=21, last_step=120, steps=100, begin_s=1.0, end_s=11.0)

    idle = [one for one in utilisation.of_job(hosts, window)[1] if isinstance(one, InfinibandIdle)]

    assert [(one.ethernet, one.infiniband) for one in idle] == found


@pytest.mark.parametrize(("waits_s", "shares"), [(0.02, []), (0.2, [pytest.approx(0.4)])])
def test_a_script_that_waits_for_its_data_says_so_itself(tmp_path, waits_s, shares):
    step = runfolders.steps()
    lines = [line.replace("\tLoss", f"\tData {waits_s:.3f} ({waits_s:.3f})\tLoss") for line in step.lines]

    run = measurement(runfolders.finished(tmp_path, runfolders.Host(printed=[replace(step, lines=lines)])))

    assert [one.share for one in LoaderWaits.in_run(run)] == shares


@pytest.mark.parametrize(("gpu", "cpu", "bound"), [(45, 99, True), (95, 99, False), (45, 60, False)])
def test_idle_gpus_beside_full_cpus_are_named(gpu, cpu, bound):
    used = (Mock(resource="gpu", mean=gpu, device=None), Mock(resource="cpu", mean=cpu, device=None))

    assert bool(list(LoaderBusy.in_run(measured(CASE, 0, 100.0, utilisation=used)))) == bound


def test_an_operator_that_dali_lacks_is_the_reason_of_the_failure():
    said = b"AttributeError: module 'nvidia.dali.ops' has no attribute 'nvJPEGDecoder'"  # NVIDIA/DALI/issues/1674

    assert failures.failure([(1, b"Traceback (most recent call last):"), (2, said)]).kind == "other dali"
