"""Reads a node's sensors and writes a line of samples each time."""

import contextlib
import json
import os
import random
import threading
import time
from array import array
from collections.abc import Callable, Sequence
from dataclasses import replace

from evalsuite.agent.order import Order
from evalsuite.agent.recording import File
from evalsuite.machine import cgroups, process_tree
from evalsuite.machine.sensors.accelerators import open_accelerators
from evalsuite.machine.sensors.filesystems import Filesystems
from evalsuite.machine.sensors.network import Network
from evalsuite.machine.sensors.processor import Cpu
from evalsuite.machine.sensors.system import Disks, Memory
from evalsuite.runs.samples import Header, Sample
from evalsuite.runs.store import RunFolder

DRAIN_S = 5.0  # for the last output
JITTER = 0.25  # of a period; more would leave gaps between readings


class Sampler:
    """Reads the sensors hz times a second on the mean. A missed deadline is skipped.

    Each interval is random: on a strict grid a load in step with it would read as always busy or never.
    """

    def __init__(
        self, order: Order, folder: RunFolder, fail: Callable[[BaseException], None], cores: Sequence[int] = ()
    ) -> None:
        self.missed = 0
        self.took_s = array("d")  # each reading
        self._period_s = 1.0 / order.hz
        self._fail = fail
        self._node = NodeSensors(order, cores)
        self._file = File(folder.samples_path(order.host))
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._sample, name="sampler", daemon=True)

    def start(self, start_s: float) -> None:
        self._start_s = start_s
        self._thread.start()

    def stop(self) -> None:
        """Takes one last sample. May be called twice, and before `start`."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join(DRAIN_S)
        self._node.close()

    @property
    def ended(self) -> bool:
        return not self._thread.is_alive()

    @property
    def hashes(self) -> dict[str, str]:
        return {self._file.name: self._file.written.hexdigest()}

    def _sample(self) -> None:
        try:
            started_at_unix_s = time.time() - (time.monotonic() - self._start_s)
            header = replace(self._node.header(), started_at_unix_s=started_at_unix_s)
            self._write(header)
            due_s = 0.0
            while True:
                began_s = time.monotonic()
                self._write(self._node.reading(self._start_s))
                self.took_s.append(time.monotonic() - began_s)
                if self._stopped.is_set():
                    return
                skipped = max(0, int((time.monotonic() - self._start_s - due_s) / self._period_s))
                self.missed += skipped
                due_s += skipped * self._period_s + interval_s(self._period_s, random.uniform(-1, 1))
                self._stopped.wait(self._start_s + due_s - time.monotonic())
        except BaseException as error:
            self._fail(error)
        finally:
            self._file.close()

    def _write(self, line: Header | Sample) -> None:
        self._file.write(json.dumps(line.to_json(), separators=(",", ":")).encode() + b"\n")


def interval_s(period_s: float, drawn: float) -> float:
    """*drawn* lies between -1 and 1."""
    return period_s * (1.0 + JITTER * drawn)


class NodeSensors:
    def __init__(self, order: Order, cores: Sequence[int] = ()) -> None:
        limits = cgroups.limits()
        self._cpu = Cpu(limits, cores=cores)
        self._memory = Memory(limits)
        self._disks = Disks()
        self._network = Network()
        self._filesystems = Filesystems()
        self._gpus = open_accelerators()
        self._tree = process_tree.Tree()
        self._hz = order.hz
        self._devices = order.devices_per_node

    def header(self) -> Header:
        gpus = self._gpus.facts()
        of_job = self._gpus.visible(gpus, os.environ)[: self._devices]
        return Header(
            hz=self._hz,
            cpu_count=self._cpu.capacity,
            cores=tuple(self._cpu.cores),
            memory_total_bytes=self._memory.total_bytes,
            disks=tuple(self._disks.names),
            interfaces=self._network.facts,
            filesystems=self._filesystems.kinds or None,
            gpus=tuple(replace(gpu, of_job=gpu in of_job) for gpu in gpus),
            pcie_period_s=self._gpus.slow_period_s,
        )

    def reading(self, start_s: float) -> Sample:
        """CPU percentages hold from the sample before to this one."""
        at_s = time.monotonic() - start_s
        percent, gpus = self._cpu.percent(), None
        with contextlib.suppress(Exception):  # whatever a sensor raises: no training ends for it
            gpus = tuple(self._gpus.reading())
        return Sample(
            at_s=round(at_s, 6),
            cpu_percent=None if percent is None else round(percent, 2),
            memory_used_bytes=self._memory.used_bytes(),
            disks=self._disks.reading(),
            interfaces=self._network.reading(),
            filesystems=self._filesystems.reading() or None,
            tree=self._tree.reading(),
            gpus=gpus,
        )

    def close(self) -> None:
        self._gpus.close()
