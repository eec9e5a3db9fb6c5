"""The parts of the node agent that start nothing. `tests/real/test_agent.py` has the rest."""

import itertools
import os
from pathlib import Path

import pytest

from evalsuite import cli
from evalsuite.agent import order as agent_order
from evalsuite.commands import sample
from evalsuite.core import placeholders
from evalsuite.core.documents import Gpu
from evalsuite.core.errors import EvalsuiteError
from evalsuite.machine import interfaces, process_tree
from evalsuite.machine.sensors import processor
from evalsuite.machine.sensors.sensor import Sensor
from evalsuite.plan import containers
from tests import sources

PLACE = placeholders.Node(rank=1, nodes=2, master_addr="10.0.0.1", master_port=29500)


def order(*argv, **changes):
    return agent_order.Order(**{"argv": argv, "folder": Path("out"), "host": "n"} | changes)


@pytest.fixture(autouse=True)
def of_twelve_cpus(monkeypatch):
    monkeypatch.setattr(processor, "usable_cpus", lambda: 12.0)


def parsed(*words):
    return sample._order(cli.parser_of("sample").parse_args(words))


def test_placeholders_are_filled_in_the_command_and_in_its_environment_and_other_braces_stay():
    words = ("{node_rank}/{nodes}", "{processes_per_node}", "tcp://{master_addr}:{master_port}", "-t{threads}")

    argv, variables = agent_order.command(
        order(*words, processes=4), PLACE, 0, {"CLUSTER": "{master_addr}:{node_rank}"}
    )

    assert argv == ["1/2", "4", "tcp://10.0.0.1:29500", "-t3"]
    assert variables["CLUSTER"] == "10.0.0.1:1"

    argv, _ = agent_order.command(order('{"task": {"index": {node_rank}}}', "{unknown}"), PLACE, None, {})
    assert argv == ['{"task": {"index": 1}}', "{unknown}"]


def test_mpirun_hands_the_other_nodes_what_the_agent_and_the_user_set_for_every_rank():
    inherited = {"NCCL_IB_HCA": "mlx5", "NCCL_DEBUG": "INFO", "SHELL": "sh", "OMPI_MCA_btl": "tcp", "PATH": "/bin"}
    network = interfaces.variables({interfaces.VARIABLE: "eth1"}, PLACE)

    argv, variables = agent_order.command(
        order("mpirun", "-x", "NCCL_DEBUG", placeholders.FORWARDED, "python"), PLACE, None, {**inherited, **network}
    )
    named = [name for flag, name in itertools.pairwise(argv) if flag == "-x"]

    assert sorted(named) == sorted((*placeholders.OF_EVERY_RANK, "NCCL_DEBUG", "NCCL_IB_HCA"))
    assert argv[:3] == ["mpirun", "-x", "NCCL_DEBUG"] and argv[-1] == "python"
    assert set(named) <= set(variables)


def test_all_that_the_agent_sets_is_of_a_rank_or_of_every_rank_thread_counts_unless_somebody_has():
    """So that containers and mpirun, which name what they hand on, miss nothing."""
    network = interfaces.variables({interfaces.VARIABLE: "eth1"}, PLACE)
    _, variables = agent_order.command(order("x", processes=2), PLACE, 1, network)

    kinds = {*placeholders.OF_RANK, *placeholders.OF_EVERY_RANK, *placeholders.INTERFACE_OF_OPEN_MPI}

    assert set(variables) == kinds
    assert kinds <= set(containers.PASSED_ON)

    _, ours = agent_order.command(order("x"), PLACE, None, {})
    _, theirs = agent_order.command(order("x"), PLACE, None, {"OMP_NUM_THREADS": "7", "PYTHONUNBUFFERED": ""})

    assert [ours[name] for name in placeholders.THREADS] == ["12", "12", "12"]
    assert [theirs[name] for name in placeholders.THREADS] == ["7", "7", "7"]
    assert (ours["PYTHONUNBUFFERED"], theirs["PYTHONUNBUFFERED"]) == ("1", "")


class Eight(Sensor):
    """Eight devices of a node, as NVML or another vendor's library tells them."""

    def __init__(self, vendor):
        self.kind = "npu" if vendor == "Huawei" else "gpu"
        uuid = "GPU-{}".format if vendor == "NVIDIA" else lambda index: None
        self.gpus = [Gpu(index=index, kind=self.kind, vendor=vendor, uuid=uuid(index)) for index in range(8)]

    def facts(self):
        return self.gpus


@pytest.mark.parametrize(("vendor", "asked", "nodes", "inherited", "shown"), sources.table("agent_order.toml")["shown"])
def test_a_command_sees_its_devices_alone_among_those_that_a_scheduler_or_the_user_shows(
    monkeypatch, vendor, asked, nodes, inherited, shown
):
    monkeypatch.setattr(agent_order, "open_accelerators", lambda awaited: Eight(vendor) if vendor else Sensor())
    kind, count, once = asked

    try:
        found = agent_order.visible_devices(
            order("x", device=kind or None, devices_per_node=count, first_node_only=once), nodes, inherited
        )
    except agent_order.CannotStart as error:
        found = {"refused": str(error)}

    assert found.keys() == shown.keys()
    assert all(part in found[name] for name, part in shown.items())
    assert "refused" in found or found == shown


def test_docker_shows_the_devices_of_the_case_by_their_names_and_all_of_a_line_for_several_nodes():
    line = ("docker", "--gpus", placeholders.GPUS)
    own, _ = agent_order.command(order(*line, device="gpu"), PLACE, None, {"CUDA_VISIBLE_DEVICES": "GPU-1,GPU-2"})
    of_all, _ = agent_order.command(order(*line, device="gpu"), PLACE, None, {"CUDA_VISIBLE_DEVICES": "0,1"})

    assert (own[-1], of_all[-1]) == ('"device=GPU-1,GPU-2"', "all")  # docker parts an unquoted value at its commas


@pytest.mark.parametrize(("cpus", "devices", "threads"), [(8.0, 2, 4), (7.5, 2, 3), (2.0, 8, 1), (0.5, 1, 1)])
def test_the_usable_cores_are_shared_out_among_the_devices(monkeypatch, cpus, devices, threads):
    monkeypatch.setattr(processor, "usable_cpus", lambda: cpus)

    assert agent_order.threads(order("x", devices_per_node=devices)) == threads


def test_everything_behind_the_dashes_belongs_to_the_command_and_they_may_be_left_out():
    document = parsed("-o", "out", "--for-run", "all", "--", "python", "-o", "x", "--", "--hz", "9")
    assert document.argv == ("python", "-o", "x", "--", "--hz", "9")
    assert (document.folder, document.hz, document.echo) == (Path("out"), 2.0, False)

    assert parsed("-o", "out", "sleep", "3").argv == ("sleep", "3")

    document = parsed("--processes", "4", "--", "x")
    assert (document.processes, document.devices_per_node) == (4, 4)


@pytest.mark.parametrize(("words", "part"), sources.table("agent_order.toml")["senseless"])
def test_what_makes_no_sense_is_said_before_anything_starts(words, part):
    with pytest.raises(EvalsuiteError) as error:
        parsed(*words)

    assert part in str(error.value)


@pytest.mark.parametrize("rate", ["nan", "0", "1000"])
def test_a_rate_that_cannot_be_is_refused_where_it_stands(capsys, rate):
    with pytest.raises(SystemExit):
        parsed("--hz", rate, "--", "x")

    assert f'argument --hz: got "{rate}"; expected a number above 0 and at most 100' in capsys.readouterr().err


def test_a_process_whose_name_looks_like_its_fields_is_read_right(monkeypatch, tmp_path):
    fields = "S 41 1 1 0 -1 0 0 0 0 0 100 50 30 20 20 0 1 0 99 1000 2 184"
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "stat").write_text(f"7 (a) R (b) {fields}\n")
    monkeypatch.setattr(process_tree, "PROC", str(tmp_path))
    monkeypatch.setattr(process_tree, "TICKS_PER_S", 100)

    stat = process_tree.stat(7)

    assert stat == process_tree.Stat(
        state="S", parent=41, started_ticks=99, cpu_s=2.0, memory_bytes=2 * process_tree.PAGE_BYTES
    )


def test_the_tree_is_found_through_processes_in_between(monkeypatch, tmp_path):
    root = os.getpid()
    for pid, parent in {root: 1, 900: root, 20: 900, 30: 20, 40: 1, 50: 40}.items():
        (tmp_path / str(pid)).mkdir(exist_ok=True)
        (tmp_path / str(pid) / "stat").write_text(f"{pid} (x) S {parent} " + "0 " * 19 + "1 " + "0 " * 40)
    monkeypatch.setattr(process_tree, "PROC", str(tmp_path))

    assert process_tree.descendants() == [900, 20, 30]
    assert process_tree.Tree().reading().memory_bytes == 3 * process_tree.PAGE_BYTES
