"""Sensors on made-up machines."""

import os
from collections import namedtuple

import pytest

from evalsuite.core.documents import Gpu, Interface
from evalsuite.core.findings import ClocksHeldBack, DeviceErrors
from evalsuite.core.model import Window
from evalsuite.machine import cgroups
from evalsuite.machine.sensors import processor, system
from evalsuite.machine.sensors.filesystems import Filesystems
from evalsuite.machine.sensors.network import Network
from evalsuite.machine.sensors.system import Disks, Memory
from evalsuite.results.samples import utilisation
from evalsuite.runs.samples import DiskCounters, FilesystemCounters, GpuReading, Header, InterfaceCounters, Sample
from tests import runfolders, sources

Times = namedtuple("Times", "user system idle iowait guest guest_nice")
PsutilDisk = namedtuple("PsutilDisk", "read_bytes write_bytes read_count write_count")
NicCounters = namedtuple("NicCounters", "bytes_recv bytes_sent")
NicState = namedtuple("NicState", "isup speed")
Virtual = namedtuple("Virtual", "total available")
LUSTRE = sources.text("sensors_lustre.txt")
MOUNTSTATS = sources.text("sensors_mountstats.txt")
GPUS = [Gpu(index=0, uuid="GPU-aaaa"), Gpu(index=1, uuid="GPU-abbb"), Gpu(index=2, uuid="GPU-cccc")]


@pytest.fixture
def psutil_says(monkeypatch):
    """Lets the one door to psutil answer from a dictionary; what is not in it, psutil cannot say."""
    answers = {}
    monkeypatch.setattr(system, "read_psutil", lambda name, **_: answers.get(name))
    return answers


@pytest.fixture
def cores(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})


def busy(seconds, idle=0.0, **more):
    return Times(
        **{"user": seconds, "system": 0.0, "idle": idle, "iowait": 0.0, "guest": 0.0, "guest_nice": 0.0} | more
    )


@pytest.mark.parametrize(
    ("now", "reading"),
    [
        ([busy(1.0), busy(0.5, idle=0.5), busy(0.0, idle=1.0)], 75.0),  # of the usable cores
        # waiting for a disk is idle, and guest time counts once
        ([busy(0.5, iowait=0.5), busy(0.5, idle=0.5, guest=0.5)], 50.0),
    ],
)
def test_cpu_percent_is_the_mean_of_the_usable_cores(psutil_says, cores, tmp_path, now, reading):
    psutil_says["cpu_times"] = [busy(0)] * len(now)
    cpu = processor.Cpu(cgroups.Limits(), tmp_path)
    psutil_says["cpu_times"] = now

    assert cpu.percent() == reading


def test_cores_and_disks_are_found_where_others_are_switched_off_or_parts(psutil_says, monkeypatch, tmp_path):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {4})
    online = tmp_path / "sys/devices/system/cpu/online"
    online.parent.mkdir(parents=True)
    online.write_text("0,4-5\n")
    psutil_says["cpu_times"] = [busy(0)] * 3
    cpu = processor.Cpu(cgroups.Limits(), tmp_path)
    psutil_says["cpu_times"] = [busy(0, idle=1), busy(1), busy(0, idle=1)]

    assert cpu.percent() == 100.0

    counters = PsutilDisk(read_bytes=1, write_bytes=2, read_count=3, write_count=4)
    psutil_says["disk_io_counters"] = dict.fromkeys(("sda", "sda1", "dm-0", "loop0"), counters)
    (tmp_path / "sys/block/sda/device").mkdir(parents=True)
    (tmp_path / "sys/block/dm-0").mkdir()

    disks = Disks(tmp_path)

    assert disks.reading() == {"sda": DiskCounters(read_bytes=1, write_bytes=2, read_operations=3, write_operations=4)}


def test_a_quota_is_the_capacity_and_the_containers_own_time_is_what_is_used_unless_wider_than_the_cores(
    psutil_says, cores, tmp_path
):
    (tmp_path / "cpu.stat").write_text("usage_usec 0")
    limits = cgroups.Limits(cpus=0.5, cpu_group=cgroups.Group(folder=tmp_path, version=2))
    cpu, wide = processor.Cpu(limits, tmp_path), processor.Cpu(cgroups.Limits(cpus=8.0), tmp_path)
    before, now = (processor.CpuTimes(cores=None, group_s=s, at_s=at) for s, at in ((1.0, 10.0), (1.25, 11.0)))

    assert cpu.capacity == 0.5
    assert cpu._group_percent(before, now) == 50.0
    assert wide.capacity == 2.0


def test_what_psutil_cannot_say_is_absent_and_memory_in_use_is_what_is_not_available(psutil_says, cores, tmp_path):
    cpu, memory = processor.Cpu(cgroups.Limits(), tmp_path), Memory(cgroups.Limits())

    assert cpu.percent() is None
    assert (memory.total_bytes, memory.used_bytes()) == (None, None)
    assert Disks(tmp_path).reading() == {}
    assert Network(tmp_path).reading() == {}

    psutil_says["virtual_memory"] = Virtual(total=100, available=30)
    (tmp_path / "memory.current").write_text("20")
    group = cgroups.Group(folder=tmp_path, version=2)
    machine, container = Memory(cgroups.Limits()), Memory(cgroups.Limits(memory_bytes=40, memory_group=group))

    assert (machine.total_bytes, machine.used_bytes()) == (100, 70)
    assert (container.total_bytes, container.used_bytes()) == (40, 20)


def test_only_real_interfaces_and_the_loopback_are_read_or_what_is_up_in_a_container(psutil_says, tmp_path):
    names = ("lo", "eth0", "docker0", "veth1")
    psutil_says["net_if_stats"] = dict.fromkeys(names, NicState(isup=True, speed=10_000))
    psutil_says["net_io_counters"] = dict.fromkeys(names, NicCounters(bytes_recv=5, bytes_sent=6))
    (tmp_path / "sys/class/net/eth0/device").mkdir(parents=True)

    network = Network(tmp_path)

    assert network.facts == {"eth0": Interface(speed_mbit_s=10_000), "lo": Interface(no_speed="virtual")}
    assert network.reading()["eth0"] == InterfaceCounters(received_bytes=5, sent_bytes=6)

    psutil_says["net_if_stats"] = {"eth0": NicState(isup=True, speed=10_000), "ifb0": NicState(isup=False, speed=0)}
    assert Network(tmp_path / "none").facts == {"eth0": Interface(no_speed="virtual")}  # 10 Gbit/s, says every veth


def standing_on(folder, name, *below):
    (folder / f"sys/class/net/{name}").mkdir(parents=True)
    for each in below:
        (folder / f"sys/class/net/{name}/lower_{each}").symlink_to(f"../{each}")


def facts_of(psutil_says, folder, name, speed):
    psutil_says["net_if_stats"] = {name: NicState(isup=True, speed=speed)}
    return Network(folder).facts[name]


def test_what_stands_on_cards_alone_has_their_speed_and_what_stands_on_a_virtual_one_has_none(psutil_says, tmp_path):
    for card in ("eth0", "eth1"):
        (tmp_path / f"sys/class/net/{card}/device").mkdir(parents=True)
    standing_on(tmp_path, "veth1")
    standing_on(tmp_path, "bond0", "eth0", "eth1")
    standing_on(tmp_path, "bond0.7", "bond0")
    standing_on(tmp_path, "br0", "bond0", "veth1")

    assert facts_of(psutil_says, tmp_path, "bond0", 50_000) == Interface(speed_mbit_s=50_000)
    assert facts_of(psutil_says, tmp_path, "bond0.7", 50_000) == Interface(speed_mbit_s=50_000)
    assert facts_of(psutil_says, tmp_path, "br0", 50_000) == Interface(no_speed="virtual")


def test_two_that_stand_on_each_other_or_a_card_of_another_networks_sys_have_no_speed(psutil_says, tmp_path):
    standing_on(tmp_path, "a", "b")
    standing_on(tmp_path, "b", "a")
    (tmp_path / "sys/class/net/lo/device").mkdir(parents=True)  # ours has the number 1
    (tmp_path / "sys/class/net/lo/ifindex").write_text("4\n")

    assert facts_of(psutil_says, tmp_path, "a", 10_000) == Interface(no_speed="virtual")
    assert facts_of(psutil_says, tmp_path, "lo", 10_000) == Interface(no_speed="virtual")


@pytest.mark.parametrize("said", [0, -1])
def test_a_card_whose_speed_the_system_does_not_know_has_none(psutil_says, tmp_path, said):
    (tmp_path / "sys/class/net/eth0/device").mkdir(parents=True)

    assert facts_of(psutil_says, tmp_path, "eth0", said) == Interface(no_speed="unknown")


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

    network = Network(tmp_path)

    assert network.facts == {"eth0": Interface(speed_mbit_s=1000), "mlx5_0/1": Interface(speed_mbit_s=100_000)}
    assert network.reading() == {"mlx5_0/1": InterfaceCounters(received_bytes=1000, sent_bytes=2000)}


def test_efa_is_read_by_counters_of_its_own(psutil_says, tmp_path):
    counters = tmp_path / "sys/class/infiniband/rdmap16s27/ports/1/hw_counters"
    counters.mkdir(parents=True)
    for name, count in (("rx_bytes", 700), ("tx_bytes", 900), ("rdma_read_bytes", 600)):
        (counters / name).write_text(f"{count}\n")

    assert Network(tmp_path).reading() == {"rdmap16s27/1": InterfaceCounters(received_bytes=700, sent_bytes=900)}


LUSTRE_READ = FilesystemCounters(read_bytes=8454144, write_bytes=4096, operations=12 + 1 + 3 + 41)
NFS_READ = FilesystemCounters(read_bytes=65536, write_bytes=512, operations=12)


@pytest.mark.parametrize(
    ("path", "text", "kinds", "reading"),
    [
        (  # where the kernel keeps it
            *("sys/kernel/debug/lustre/llite/scratch-ffff8d3c1f0e4800/stats", LUSTRE),
            *({"lustre:scratch": "lustre"}, {"lustre:scratch": LUSTRE_READ}),
        ),
        (  # what came over the wire
            *("proc/self/mountstats", MOUNTSTATS),
            *({"nfs:fs1:/export": "nfs4"}, {"nfs:fs1:/export": NFS_READ}),
        ),
        ("proc/none", "", {}, {}),
    ],
)
def test_lustre_and_nfs_are_read_where_there_are_such_file_systems(tmp_path, path, text, kinds, reading):
    (tmp_path / path).parent.mkdir(parents=True)
    (tmp_path / path).write_text(text)

    filesystems = Filesystems(tmp_path)

    assert (filesystems.kinds, filesystems.reading()) == (kinds, reading)


# devices that were held back by heat, or reported errors, while the steps were measured


WINDOW = Window(first_step=21, last_step=120, steps=100, begin_s=0.0, end_s=99.0)
HOT, CAPPED, IDLE = 64, 4, 1


def found(*devices, of_job=(True, True)):
    """The findings of 100 readings of *devices*, each a function of the reading's number."""
    gpus = tuple(Gpu(index=k, of_job=used) for k, used in zip(range(len(devices)), of_job, strict=False))
    readings = tuple(
        Sample(at_s=float(at), gpus=tuple(GpuReading(index=k, **device(at)) for k, device in enumerate(devices)))
        for at in range(100)
    )
    samples = {"n": runfolders.sampled(Header(hz=1.0, gpus=gpus), readings)}
    return [each for each in utilisation.of_job(samples, WINDOW)[1] if isinstance(each, ClocksHeldBack | DeviceErrors)]


def limits(bits, until):
    return lambda at: {"clock_limits": bits if at < until else 0}


def test_a_hot_device_is_told_with_its_share():
    assert found(limits(HOT | CAPPED, 30), limits(CAPPED, 100)) == [ClocksHeldBack(devices=1, of=2, share=0.3)]


@pytest.mark.parametrize("calm", [limits(HOT, 5), limits(CAPPED | IDLE, 100), lambda at: {"power_w": 1.0}])
def test_a_full_power_budget_a_moment_or_silence_is_no_finding(calm):
    assert found(calm) == []


def test_a_device_of_another_job_says_nothing_of_this_one():
    assert found(limits(0, 0), limits(HOT, 100), of_job=(True, False)) == []


def test_errors_are_told_and_those_of_before_are_not():
    before = found(lambda at: {"memory_errors_uncorrected": 7, "driver_errors": 0})
    during = found(lambda at: {"memory_errors_uncorrected": 7 + (at > 50), "driver_errors": 2 * (at > 60)})

    assert (before, during) == ([], [DeviceErrors(driver=2, memory=1)])
