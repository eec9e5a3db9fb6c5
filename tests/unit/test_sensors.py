"""Sensors on made-up machines."""

import os
from collections import namedtuple

import pytest

from evalsuite.agent import cgroups, sensors
from evalsuite.documents import Gpu, Interface
from evalsuite.runs.samples import DiskCounters, InterfaceCounters

Times = namedtuple("Times", "user system idle iowait guest guest_nice")
PsutilDisk = namedtuple("PsutilDisk", "read_bytes write_bytes read_count write_count")
NicCounters = namedtuple("NicCounters", "bytes_recv bytes_sent")
NicState = namedtuple("NicState", "isup speed")
Virtual = namedtuple("Virtual", "total available")
GPUS = [Gpu(index=0, uuid="GPU-aaaa"), Gpu(index=1, uuid="GPU-abbb"), Gpu(index=2, uuid="GPU-cccc")]


@pytest.fixture
def psutil_says(monkeypatch):
    """Lets the one door to psutil answer from a dictionary; what is not in it, psutil cannot say."""
    answers = {}
    monkeypatch.setattr(sensors, "_psutil", lambda name, **_: answers.get(name))
    return answers


@pytest.fixture
def cores(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})


def busy(seconds, idle=0.0, **more):
    return Times(
        **{"user": seconds, "system": 0.0, "idle": idle, "iowait": 0.0, "guest": 0.0, "guest_nice": 0.0} | more
    )


def test_cpu_percent_is_the_mean_of_the_usable_cores(psutil_says, cores, tmp_path):
    psutil_says["cpu_times"] = [busy(0), busy(0), busy(0)]
    cpu = sensors.Cpu(cgroups.Limits(), tmp_path)
    psutil_says["cpu_times"] = [busy(1.0), busy(0.5, idle=0.5), busy(0.0, idle=1.0)]

    assert cpu.reading() == (75.0, [100.0, 50.0])


def test_waiting_for_a_disk_is_idle_and_guest_time_counts_once(psutil_says, cores, tmp_path):
    psutil_says["cpu_times"] = [busy(0)] * 2
    cpu = sensors.Cpu(cgroups.Limits(), tmp_path)
    psutil_says["cpu_times"] = [busy(0.5, iowait=0.5), busy(0.5, idle=0.5, guest=0.5)]

    assert cpu.reading() == (50.0, [50.0, 50.0])


def test_cores_are_found_where_others_are_switched_off(psutil_says, monkeypatch, tmp_path):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {4})
    online = tmp_path / "sys/devices/system/cpu/online"
    online.parent.mkdir(parents=True)
    online.write_text("0,4-5\n")
    psutil_says["cpu_times"] = [busy(0)] * 3
    cpu = sensors.Cpu(cgroups.Limits(), tmp_path)
    psutil_says["cpu_times"] = [busy(0, idle=1), busy(1), busy(0, idle=1)]

    assert cpu.reading() == (100.0, [100.0])


def test_a_quota_is_the_capacity_and_the_containers_own_time_is_what_is_used(psutil_says, cores, tmp_path):
    group = cgroups.Group(folder=tmp_path, version=2)
    (tmp_path / "cpu.stat").write_text("usage_usec 0")
    cpu = sensors.Cpu(cgroups.Limits(cpus=0.5, cpu_group=group), tmp_path)

    before, now = (
        sensors.CpuTimes(cores=None, group_s=1.0, at_s=10.0),
        sensors.CpuTimes(cores=None, group_s=1.25, at_s=11.0),
    )

    assert (cpu.capacity, cpu.scope) == (0.5, "container")
    assert cpu._group_percent(before, now) == 50.0


def test_a_quota_wider_than_the_cores_is_no_limit(psutil_says, cores, tmp_path):
    cpu = sensors.Cpu(cgroups.Limits(cpus=8.0), tmp_path)

    assert (cpu.capacity, cpu.scope) == (2.0, "machine")


def test_what_psutil_cannot_say_is_absent(psutil_says, cores, tmp_path):
    cpu, memory = sensors.Cpu(cgroups.Limits(), tmp_path), sensors.Memory(cgroups.Limits())

    assert cpu.reading() == (None, None)
    assert (memory.total_bytes, memory.used_bytes()) == (None, None)
    assert sensors.Disks(tmp_path).reading() == {}
    assert sensors.Network(tmp_path).reading() == {}


def test_memory_in_use_is_what_is_not_available(psutil_says):
    psutil_says["virtual_memory"] = Virtual(total=100, available=30)

    memory = sensors.Memory(cgroups.Limits())

    assert (memory.total_bytes, memory.used_bytes(), memory.scope) == (100, 70, "machine")


def test_a_containers_memory_limit_is_the_capacity(psutil_says, tmp_path):
    psutil_says["virtual_memory"] = Virtual(total=100, available=30)
    (tmp_path / "memory.current").write_text("20")

    group = cgroups.Group(folder=tmp_path, version=2)
    memory = sensors.Memory(cgroups.Limits(memory_bytes=40, memory_group=group))

    assert (memory.total_bytes, memory.used_bytes(), memory.scope) == (40, 20, "container")


def test_a_disk_counts_once_and_its_partitions_not(psutil_says, tmp_path):
    counters = PsutilDisk(read_bytes=1, write_bytes=2, read_count=3, write_count=4)
    psutil_says["disk_io_counters"] = dict.fromkeys(("sda", "sda1", "dm-0", "loop0"), counters)
    (tmp_path / "sys/block/sda/device").mkdir(parents=True)
    (tmp_path / "sys/block/dm-0").mkdir()

    disks = sensors.Disks(tmp_path)

    assert disks.reading() == {"sda": DiskCounters(read_bytes=1, write_bytes=2, read_operations=3, write_operations=4)}


def test_only_real_interfaces_and_the_loopback_are_read(psutil_says, tmp_path):
    names = ("lo", "eth0", "docker0", "veth1")
    psutil_says["net_if_stats"] = dict.fromkeys(names, NicState(isup=True, speed=10_000))
    psutil_says["net_io_counters"] = dict.fromkeys(names, NicCounters(bytes_recv=5, bytes_sent=6))
    (tmp_path / "sys/class/net/eth0/device").mkdir(parents=True)

    network = sensors.Network(tmp_path)

    assert network.facts == {"eth0": Interface(speed_mbit_s=10_000), "lo": Interface(speed_mbit_s=10_000)}
    assert network.reading()["eth0"] == InterfaceCounters(received_bytes=5, sent_bytes=6)


def test_in_a_container_what_is_up_is_read(psutil_says, tmp_path):
    psutil_says["net_if_stats"] = {"eth0": NicState(isup=True, speed=0), "ifb0": NicState(isup=False, speed=0)}

    assert sensors.Network(tmp_path).facts == {"eth0": Interface(speed_mbit_s=None)}


def test_infiniband_ports_are_read_in_bytes_and_ipoib_is_not_counted_again(psutil_says, tmp_path):
    psutil_says["net_if_stats"] = {"ib0": NicState(isup=True, speed=100_000), "eth0": NicState(isup=True, speed=1000)}
    for name, kind in (("ib0", "32"), ("eth0", "1")):
        (tmp_path / f"sys/class/net/{name}/device").mkdir(parents=True)
        (tmp_path / f"sys/class/net/{name}/type").write_text(kind + "\n")
    port = tmp_path / "sys/class/infiniband/mlx5_0/ports/1"
    (port / "counters").mkdir(parents=True)
    (port / "rate").write_text("100 Gb/sec (4X EDR)\n")
    (port / "counters/port_rcv_data").write_text("250\n")
    (port / "counters/port_xmit_data").write_text("500\n")

    network = sensors.Network(tmp_path)

    assert network.facts == {"eth0": Interface(speed_mbit_s=1000), "mlx5_0/1": Interface(speed_mbit_s=100_000)}
    assert network.reading() == {"mlx5_0/1": InterfaceCounters(received_bytes=1000, sent_bytes=2000)}


@pytest.mark.parametrize(
    ("devices", "shown"),
    [(None, [0, 1, 2]), ("", []), ("2,0", [2, 0]), ("GPU-abbb", [1]), ("0,7,1", [0]), ("-1", []), ("GPU-a", [0])],
)
def test_cuda_visible_devices_shows_what_the_driver_would_show(devices, shown):
    assert [gpu.index for gpu in sensors.visible(GPUS, devices)] == shown


@pytest.mark.parametrize(("text", "numbers"), [("0-3,8", [0, 1, 2, 3, 8]), ("0", [0]), ("", []), (None, [])])
def test_the_kernels_lists_of_cores_are_read(text, numbers):
    assert sensors.numbers(text) == numbers
