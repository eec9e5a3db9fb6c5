"""Container limits, out of made-up trees of control groups."""

import pytest

from evalsuite.machine import cgroups

MIB = 1 << 20
V2_MOUNT = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate"


@pytest.fixture
def tree(tmp_path):
    """Writes files below a root that stands for `/`: {path: text}."""

    def write(mounts, memberships, files):
        files = {"proc/self/mountinfo": "\n".join(mounts), "proc/self/cgroup": memberships, **files}
        for path, text in files.items():
            file = tmp_path / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text + "\n")
        return tmp_path

    return write


def v1_mount(controllers, inner="/"):
    folder = f"/sys/fs/cgroup/{controllers}"
    return f"35 31 0:32 {inner} {folder} rw,relatime shared:9 - cgroup cgroup rw,{controllers}"


def test_without_control_groups_there_is_no_limit(tmp_path):
    assert cgroups.limits(tmp_path) == cgroups.Limits()


CPU_AND_MEMORY = [v1_mount("cpu,cpuacct"), v1_mount("memory")]
HYBRID = "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw"
OF_CPU, OF_MEMORY = "cpu,cpuacct/job/cpu.cfs", "memory/job/memory.limit_in_bytes"
NO_LIMIT = "9223372036854771712"
TREES = {  # mounts, memberships, files below /sys/fs/cgroup, usable cores, memory in MiB
    "version 2 gives quota over period and memory": (
        *([V2_MOUNT], "0::/", {"cpu.max": "150000 100000", "memory.max": 512 * MIB}, 1.5, 512),
    ),
    "version 2 says max for no limit": ([V2_MOUNT], "0::/", {"cpu.max": "max 100000", "memory.max": "max"}, None, None),
    "the tightest group on the way up counts": (
        *([V2_MOUNT], "0::/pod/main"),
        {
            **{"pod/cpu.max": "200000 100000", "pod/memory.max": "max"},
            **{"pod/main/cpu.max": "400000 100000", "pod/main/memory.max": 64 * MIB},
        },
        *(2.0, 64),
    ),
    "version 1 gives quota over period and memory": (
        *(CPU_AND_MEMORY, "4:memory:/job\n3:cpu,cpuacct:/job"),
        {f"{OF_CPU}_quota_us": 50000, f"{OF_CPU}_period_us": 100000, OF_MEMORY: 100 * MIB},
        *(0.5, 100),
    ),
    "version 1 writes minus one and a huge number for no limit": (
        *(CPU_AND_MEMORY, "4:memory:/job\n3:cpu,cpuacct:/job"),
        {f"{OF_CPU}_quota_us": -1, f"{OF_CPU}_period_us": 100000, OF_MEMORY: NO_LIMIT},
        *(None, None),
    ),
    "a container that sees only its own part of the hierarchy": (
        *([v1_mount("memory", inner="/docker/abc")], "4:memory:/docker/abc"),
        *({"memory/memory.limit_in_bytes": MIB}, None, 1),
    ),
    "a path of the host that is not mounted here falls back to the mount": (
        *([V2_MOUNT], "0::/../../kubepods/pod1", {"memory.max": MIB}, None, 1),
    ),
    "both versions at once are both asked": (
        *([v1_mount("memory"), HYBRID], "4:memory:/a\n0::/b"),
        *({"memory/a/memory.limit_in_bytes": 3 * MIB, "unified/b/memory.max": 2 * MIB}, None, 2),
    ),
}


@pytest.mark.parametrize(("mounts", "memberships", "files", "cpus", "mib"), TREES.values(), ids=TREES)
def test_the_limits_are_those_of_the_tightest_group_that_is_seen(tree, mounts, memberships, files, cpus, mib):
    root = tree(mounts, memberships, {f"sys/fs/cgroup/{name}": str(value) for name, value in files.items()})

    found = cgroups.limits(root)

    assert (found.cpus, found.memory_bytes) == (cpus, mib and mib * MIB)
    assert "pod" not in str(files) or found.cpu_group is None or found.cpu_group.folder.name == "pod"


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
