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


def test_version_2_gives_quota_over_period_and_memory(tree):
    root = tree(
        [V2_MOUNT],
        "0::/",
        {"sys/fs/cgroup/cpu.max": "150000 100000", "sys/fs/cgroup/memory.max": str(512 * MIB)},
    )

    found = cgroups.limits(root)

    assert (found.cpus, found.memory_bytes) == (1.5, 512 * MIB)


def test_version_2_says_max_for_no_limit(tree):
    root = tree([V2_MOUNT], "0::/", {"sys/fs/cgroup/cpu.max": "max 100000", "sys/fs/cgroup/memory.max": "max"})

    assert cgroups.limits(root) == cgroups.Limits()


def test_the_tightest_group_on_the_way_up_counts(tree):
    root = tree(
        [V2_MOUNT],
        "0::/pod/main",
        {
            "sys/fs/cgroup/pod/cpu.max": "200000 100000",
            "sys/fs/cgroup/pod/memory.max": "max",
            "sys/fs/cgroup/pod/main/cpu.max": "400000 100000",
            "sys/fs/cgroup/pod/main/memory.max": str(64 * MIB),
        },
    )

    found = cgroups.limits(root)

    assert (found.cpus, found.memory_bytes) == (2.0, 64 * MIB)
    assert found.cpu_group.folder.name == "pod"


def test_version_1_gives_quota_over_period_and_memory(tree):
    root = tree(
        [v1_mount("cpu,cpuacct"), v1_mount("memory")],
        "4:memory:/job\n3:cpu,cpuacct:/job",
        {
            "sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us": "50000",
            "sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us": "100000",
            "sys/fs/cgroup/memory/job/memory.limit_in_bytes": str(100 * MIB),
        },
    )

    found = cgroups.limits(root)

    assert (found.cpus, found.memory_bytes) == (0.5, 100 * MIB)


def test_version_1_writes_minus_one_and_a_huge_number_for_no_limit(tree):
    root = tree(
        [v1_mount("cpu"), v1_mount("memory")],
        "4:memory:/\n1:cpu:/",
        {
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712",
        },
    )

    assert cgroups.limits(root) == cgroups.Limits()


def test_a_container_that_sees_only_its_own_part_of_the_hierarchy_finds_its_limit(tree):
    root = tree(
        [v1_mount("memory", inner="/docker/abc")],
        "4:memory:/docker/abc",
        {"sys/fs/cgroup/memory/memory.limit_in_bytes": str(MIB)},
    )

    assert cgroups.limits(root).memory_bytes == MIB


def test_a_path_of_the_host_that_is_not_mounted_here_falls_back_to_the_mount(tree):
    root = tree([V2_MOUNT], "0::/../../kubepods/pod1", {"sys/fs/cgroup/memory.max": str(MIB)})

    assert cgroups.limits(root).memory_bytes == MIB


def test_both_versions_at_once_are_both_asked(tree):
    hybrid = "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw"
    root = tree(
        [v1_mount("memory"), hybrid],
        "4:memory:/a\n0::/b",
        {
            "sys/fs/cgroup/memory/a/memory.limit_in_bytes": str(3 * MIB),
            "sys/fs/cgroup/unified/b/memory.max": str(2 * MIB),
        },
    )

    assert cgroups.limits(root).memory_bytes == 2 * MIB


def test_cpu_time_of_the_group_is_read_in_seconds(tree):
    root = tree(
        [V2_MOUNT],
        "0::/",
        {"sys/fs/cgroup/cpu.max": "100000 100000", "sys/fs/cgroup/cpu.stat": "usage_usec 2500000\nuser_usec 1"},
    )

    assert cgroups.limits(root).cpu_group.cpu_s() == 2.5


def test_version_1_may_count_cpu_time_in_a_hierarchy_of_its_own(tree):
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
