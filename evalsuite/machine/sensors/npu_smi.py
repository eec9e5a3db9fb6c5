"""Ascend devices by npu-smi, which takes a second to answer: asked on a thread."""

import re
import subprocess
import threading
from collections.abc import Iterator

from evalsuite.core.documents import Gpu
from evalsuite.runs.samples import GpuReading

PERIOD_S = 5.0
ANSWER_S = 30.0
MEBIBYTE = 1 << 20
# The table of `npu-smi info` has two lines a device:
# | 0     910B3               | OK            | 93.8        46                0    / 0             |
# | 0                         | 0000:C1:00.0  | 12          0    / 0          3390 / 65536         |
FIRST = re.compile(r"\|\s*(\d+)\s+(\S+)\s*\|\s*\S+\s*\|\s*([\d.]+|NA|-)\s+(\d+|NA|-)\s")
SECOND = re.compile(r"\|\s*(\d+)[\s\d]*\|\s*\S*:\S*\s*\|\s*(\d+|NA|-)\s+.*?(\d+)\s*/\s*(\d+)\s*\|\s*$")
VERSION = re.compile(r"npu-smi \S+\s+Version:\s*(\S+)")


Device = tuple[Gpu, GpuReading]


class NpuSmi:
    slow_period_s = PERIOD_S

    def __init__(self) -> None:
        text = _printed()
        match = VERSION.search(text)
        self.driver = match[1] if match else None
        self._first = list(devices(text))
        self._latest: list[Device] | None = None
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    def facts(self) -> list[Gpu]:
        return [gpu for gpu, _ in self._first]

    def reading(self) -> list[GpuReading]:
        if self._first and self._thread is None:
            self._thread = threading.Thread(target=self._ask, name="npu-smi", daemon=True)
            self._thread.start()
        with self._lock:
            latest, self._latest = self._latest, None
        if latest is None:
            return [GpuReading(index=index) for index in range(len(self._first))]
        return [reading for _, reading in latest]

    def close(self) -> None:
        self._closed.set()
        if self._thread is not None:
            self._thread.join(1.0)

    def _ask(self) -> None:
        while not self._closed.is_set():
            chips = list(devices(_printed()))
            with self._lock:
                self._latest = chips if len(chips) == len(self._first) else None
            self._closed.wait(PERIOD_S)


def devices(text: str) -> Iterator[Device]:
    first, index = None, 0
    for line in text.splitlines():
        if match := FIRST.match(line):
            first = match
        elif first and (second := SECOND.match(line)):
            total, name = int(second[4]) * MEBIBYTE, f"Ascend {first[2]}"
            reading = GpuReading(
                index=index,
                utilisation_percent=_number(second[2]),
                memory_used_bytes=int(second[3]) * MEBIBYTE,
                power_w=_number(first[3]),
                temperature_c=_number(first[4]),
            )
            yield Gpu(index=index, kind="npu", vendor="Huawei", name=name, memory_total_bytes=total), reading
            first, index = None, index + 1


def _number(word: str) -> float | None:
    return float(word) if word[0].isdigit() else None


def _printed() -> str:
    try:
        answer = subprocess.run(
            ["npu-smi", "info"], capture_output=True, text=True, timeout=ANSWER_S, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return answer.stdout if answer.returncode == 0 else ""
