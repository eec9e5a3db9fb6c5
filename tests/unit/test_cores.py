"""A CPU device is a fixed set of cores: which there are, how they are shared out, and who keeps to them."""

import os
import sys

import pytest

from evalsuite.agent import agent
from evalsuite.agent.order import Order, bound_to, command, threads
from evalsuite.machine import cores
from evalsuite.machine.sensors import processor
from evalsuite.placeholders import Node
from evalsuite.runs.store import RunFolder

OWN = processor.usable_cores()


def machine(root, *, siblings, nodes=(), quota=None):
    """The files of a machine: *siblings* by core, the cores of each NUMA node, a CPU quota in cores."""
    for core, text in siblings.items():
        folder = root / cores.CPUS / f"cpu{core}" / "topology"
        folder.mkdir(parents=True)
        if text is not None:
            (folder / "thread_siblings_list").write_text(text + "\n")
    for number, text in enumerate(nodes):
        folder = root / cores.NODES / f"node{number}"
        folder.mkdir(parents=True)
        (folder / "cpulist").write_text(text + "\n")
    if quota is not None:
        (root / "proc/self").mkdir(parents=True)
        (root / "proc/self/cgroup").write_text("0::/\n")
        (root / "proc/self/mountinfo").write_text("30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
        (root / "sys/fs/cgroup").mkdir(parents=True)
        (root / "sys/fs/cgroup/cpu.max").write_text(f"{int(quota * 100_000)} 100000\n")
    return root


@pytest.fixture
def eight(monkeypatch):
    monkeypatch.setattr(processor, "usable_cores", lambda: list(range(8)))


@pytest.mark.parametrize(
    ("ours", "siblings", "used", "told"),
    [
        (range(8), {core: f"{core % 4},{core % 4 + 4}" for core in range(8)}, (0, 1, 2, 3), True),
        ([1, 4, 5], {1: "1,5", 4: "0,4", 5: "1,5"}, (1, 4), True),  # the first thread of a core is not ours
        (range(8), dict.fromkeys(range(8)), tuple(range(8)), False),  # the machine hides its threads
    ],
)
def test_of_two_threads_on_a_core_one_is_used(monkeypatch, tmp_path, ours, siblings, used, told):
    monkeypatch.setattr(processor, "usable_cores", lambda: list(ours))

    found = cores.usable(machine(tmp_path, siblings=siblings))

    assert (found.cores, found.threads_told) == (used, told)


def test_the_cores_of_a_numa_node_stand_together_and_each_device_has_its_own(eight, tmp_path):
    alone = {core: str(core) for core in range(8)}
    found = cores.usable(machine(tmp_path, siblings=alone, nodes=("0,2,4,6", "1,3,5,7")))
    assert cores.shares(4, 2, found.cores) == ((0, 2, 4, 6), (1, 3, 5, 7))

    assert cores.shares(2, 2, (0, 1, 2, 3)) == ((0, 1), (2, 3))
    assert cores.shares(1, 3, (0, 1)) == ((0,), (1,), (0,))
    assert cores.in_words(((0, 1), (2, 3))) == "0,1;2,3"


@pytest.mark.parametrize(("quota", "expected"), [(3.5, 3), (2, 2), (0.5, 1), (99, 8)])
def test_a_quota_leaves_its_whole_cores(eight, tmp_path, quota, expected):
    alone = {core: str(core) for core in range(8)}

    assert len(cores.usable(machine(tmp_path, siblings=alone, quota=quota)).cores) == expected


def test_without_the_wish_no_process_is_bound_and_threads_are_the_cores_of_a_device(tmp_path):
    order = Order(argv=("true",), folder=tmp_path, host="here")
    bound = Order(argv=("true",), folder=tmp_path, host="here", devices_per_node=2, cores_per_device=3)

    assert bound_to(order) == ()
    assert cores.VARIABLE not in command(order, Node(master_port=1), None, {})[1]
    assert threads(bound) == 3


SAID = "import os; print(sorted(os.sched_getaffinity(0)), os.environ['EVALSUITE_CORES'])"


@pytest.mark.skipif(len(OWN) < 2, reason="one core cannot be shared out")
@pytest.mark.parametrize("processes", [None, 2])
def test_a_process_and_what_it_starts_keep_to_their_cores(tmp_path, processes):
    inner = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {SAID!r}])"
    before = os.sched_getaffinity(0)
    order = Order(
        argv=(sys.executable, "-c", inner),
        folder=tmp_path / "run",
        host="here",
        processes=processes,
        devices_per_node=2,
        cores_per_device=1,
    )

    outcome = agent.run(order)

    said = [log.path.read_text().strip() for log in RunFolder(order.folder).logs()]
    first, second = cores.usable().cores[:2]
    both = f"{first};{second}"
    alone = [f"[{first}] {both}", f"[{second}] {both}"]
    assert said == (alone if processes else [f"{sorted([first, second])} {both}"])
    assert outcome.cores == ((first,), (second,))
    assert os.sched_getaffinity(0) == before
    header = RunFolder(order.folder).samples("here").header
    assert (header.cores, header.cpu_count) == (tuple(sorted((first, second))), 2)
