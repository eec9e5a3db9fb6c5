"""A CPU device is a fixed set of cores: which there are, how they are shared out, and who keeps to them."""

import os
import sys

import pytest

from evalsuite.agent import agent
from evalsuite.agent.order import Order, bound_to, command, threads
from evalsuite.core import processes
from evalsuite.core.placeholders import Node
from evalsuite.machine import cgroups, cores
from evalsuite.runs.store import RunFolder
from tests import sources

OWN = processes.usable_cores()


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
    monkeypatch.setattr(processes, "usable_cores", lambda: list(range(8)))


@pytest.mark.parametrize(
    ("ours", "siblings", "used"),
    [
        (range(8), {core: f"{core % 4},{core % 4 + 4}" for core in range(8)}, (0, 1, 2, 3)),
        ([1, 4, 5], {1: "1,5", 4: "0,4", 5: "1,5"}, (1, 4)),  # the first thread of a core is not ours
        (range(8), dict.fromkeys(range(8)), tuple(range(8))),  # the machine hides its threads
    ],
)
def test_of_two_threads_on_a_core_one_is_used(monkeypatch, tmp_path, ours, siblings, used):
    monkeypatch.setattr(processes, "usable_cores", lambda: list(ours))

    assert cores.usable(machine(tmp_path, siblings=siblings)) == used


def test_the_cores_of_a_numa_node_stand_together_and_each_device_has_its_own(eight, tmp_path):
    alone = {core: str(core) for core in range(8)}
    found = cores.usable(machine(tmp_path, siblings=alone, nodes=("0,2,4,6", "1,3,5,7")))
    assert cores.shares(4, 2, found) == ((0, 2, 4, 6), (1, 3, 5, 7))

    assert cores.shares(2, 2, (0, 1, 2, 3)) == ((0, 1), (2, 3))
    assert cores.shares(1, 3, (0, 1)) == ((0,), (1,), (0,))


@pytest.mark.parametrize(("quota", "expected"), [(3.5, 3), (2, 2), (0.5, 1), (99, 8)])
def test_a_quota_leaves_its_whole_cores(eight, tmp_path, quota, expected):
    alone = {core: str(core) for core in range(8)}

    assert len(cores.usable(machine(tmp_path, siblings=alone, quota=quota))) == expected


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
    first, second = cores.usable()[:2]
    both = f"{first};{second}"
    alone = [f"[{first}] {both}", f"[{second}] {both}"]
    assert said == (alone if processes else [f"{sorted([first, second])} {both}"])
    assert outcome.cores == ((first,), (second,))
    assert os.sched_getaffinity(0) == before
    header = RunFolder(order.folder).samples("here").header
    assert (header.cores, header.cpu_count) == (tuple(sorted((first, second))), 2)


# container limits, out of made-up trees of control groups


MIB = 1 << 20
V2_MOUNT = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate"


@pytest.fixture
def tree(tmp_path):
    """Writes files below a root that stands for `/`: {path: text}."""

    def write(mounts, memberships, files):
        files = {"proc/self/mountinfo": "\n".join(mounts), "proc/self/cgroup": memberships, **files}
        return sources.lay(tmp_path, {path: f"{text}\n" for path, text in files.items()})

    return write


def v1_mount(controllers, inner="/"):
    folder = f"/sys/fs/cgroup/{controllers}"
    return f"35 31 0:32 {inner} {folder} rw,relatime shared:9 - cgroup cgroup rw,{controllers}"


def test_without_control_groups_there_is_no_limit(tmp_path):
    assert cgroups.limits(tmp_path) == cgroups.Limits()


TREES = sources.table("cgroups.toml")


@pytest.mark.parametrize("of", TREES.values(), ids=TREES)
def test_the_limits_are_those_of_the_tightest_group_that_is_seen(tree, of):
    files, mib = of["files"], of.get("mib")
    root = tree(of["mounts"], of["memberships"], {f"sys/fs/cgroup/{name}": value for name, value in files.items()})

    limits = cgroups.limits(root)

    assert (limits.cpus, limits.memory_bytes) == (of.get("cpus"), mib and mib * MIB)
    assert "pod" not in str(files) or limits.cpu_group is None or limits.cpu_group.folder.name == "pod"


def test_cpu_time_of_the_group_is_read_in_seconds_also_in_a_hierarchy_of_its_own(tree):
    root = tree(
        [V2_MOUNT],
        "0::/",
        {"sys/fs/cgroup/cpu.max": "100000 100000", "sys/fs/cgroup/cpu.stat": "usage_usec 2500000\nuser_usec 1"},
    )

    assert cgroups.limits(root).cpu_group.cpu_s() == 2.5

    root = tree(
        [v1_mount("cpu"), v1_mount("cpuacct")],
        "2:cpuacct:/job\n1:cpu:/job",
        {
            "sys/fs/cgroup/cpu/job/cpu.cfs_quota_us": "50000",
            "sys/fs/cgroup/cpu/job/cpu.cfs_period_us": "100000",
            "sys/fs/cgroup/cpuacct/job/cpuacct.usage": "1500000000",
        },
    )

    assert cgroups.limits(root).cpu_group.cpu_s() == 1.5


def test_file_cache_that_can_be_dropped_is_not_used_memory(tree):
    root = tree(
        [V2_MOUNT],
        "0::/",
        {
            "sys/fs/cgroup/memory.max": str(100 * MIB),
            "sys/fs/cgroup/memory.current": str(60 * MIB),
            "sys/fs/cgroup/memory.stat": f"anon 1\ninactive_file {20 * MIB}",
        },
    )

    assert cgroups.limits(root).memory_group.memory_used_bytes() == 40 * MIB


@pytest.mark.parametrize("text", ["", "garbage", "1", "a b c", "-5 100000", "100000 0"])
def test_a_file_that_says_nothing_sensible_sets_no_limit(tree, text):
    root = tree([V2_MOUNT], "0::/", {"sys/fs/cgroup/cpu.max": text, "sys/fs/cgroup/memory.max": text or "x"})

    assert cgroups.limits(root).cpus is None
