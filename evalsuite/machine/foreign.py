"""Programs on this machine that are not part of an evaluation, and how busy they keep it."""

import os
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import psutil

from evalsuite.core import files
from evalsuite.machine.sensors.sensor import DeviceProcess

FIRST_NAMESPACE = "pid:[4026531836]"  # PROC_PID_INIT_INO in include/linux/proc_ns.h
LEAST_CORES = 0.3  # less is what any machine does anyway
WATCHED_S = 0.5
MOST_NAMED = 3


def busy_programs(watched_s: float = WATCHED_S) -> dict[str, float]:
    ours = {os.getpid(), *(parent.pid for parent in psutil.Process().parents())}
    before = _cpu_s(ours)
    began = time.monotonic()
    time.sleep(watched_s)
    after, passed_s = _cpu_s(ours), time.monotonic() - began
    busy: dict[str, float] = {}
    for process, (name, cpu_s) in after.items():
        if process in before:
            busy[name] = busy.get(name, 0.0) + (cpu_s - before[process][1]) / passed_s
    loud = sorted((item for item in busy.items() if item[1] >= LEAST_CORES), key=lambda item: -item[1])
    return {name: round(cores, 1) for name, cores in loud[:MOST_NAMED]}


def name_processes(running: Iterable[DeviceProcess]) -> tuple[DeviceProcess, ...]:
    """Adds program names. The driver gives the machine's process numbers, which are others in a container: there no
    name is given."""
    try:
        ours = os.readlink("/proc/self/ns/pid") == FIRST_NAMESPACE
    except OSError:
        ours = False
    return tuple(
        replace(process, name=files.text(Path(f"/proc/{process.pid}/comm")) if ours else None) for process in running
    )


def _cpu_s(ours: set[int]) -> dict[int, tuple[str, float]]:
    cpu_s_of = {}
    for process in psutil.process_iter(["name", "cpu_times", "cmdline"]):
        times = process.info["cpu_times"]
        if process.pid in ours or times is None or any("evalsuite" in word for word in process.info["cmdline"] or ()):
            continue
        cpu_s_of[process.pid] = (process.info["name"] or "?", times.user + times.system)
    return cpu_s_of
