"""How busy the parts of an NVIDIA device are between two readings, on Hopper and newer (NVML's GPM)."""

from collections.abc import Mapping
from typing import Any

from evalsuite.machine.sensors import nvml

METRICS = (
    "NVML_GPM_METRIC_SM_UTIL",  # percent of the multiprocessors with work
    "NVML_GPM_METRIC_SM_OCCUPANCY",  # percent of the warps that they could hold
    "NVML_GPM_METRIC_ANY_TENSOR_UTIL",  # percent of the time that the tensor cores were busy
    "NVML_GPM_METRIC_DRAM_BW_UTIL",  # percent of the memory's bandwidth
)


class Profile:
    """Two samples of one device's counters; each in turn is the newer."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle
        support = nvml.ask("nvmlGpmQueryDeviceSupport", handle)
        self._samples: list[Any] = []
        self._metrics = {name: number for name in METRICS if (number := nvml.constant(name)) is not None}
        if support is not None and support.isSupportedDevice:
            samples = [nvml.ask("nvmlGpmSampleAlloc") for _ in range(2)]
            self._samples = samples if None not in samples else []
        self._read = 0

    def take(self) -> Mapping[str, float]:
        """Metric → its value since the last call; empty at the first, and where the device has none."""
        if not self._samples:
            return {}
        older, newer = self._samples[(self._read + 1) % 2], self._samples[self._read % 2]
        if not nvml.call("nvmlGpmSampleGet", self._handle, newer):
            return {}
        self._read += 1
        return self._between(older, newer) if self._read > 1 else {}

    def close(self) -> None:
        for sample in self._samples:
            nvml.call("nvmlGpmSampleFree", sample)
        self._samples = []

    def _between(self, older: Any, newer: Any) -> dict[str, float]:
        import pynvml

        question = pynvml.c_nvmlGpmMetricsGet_t()
        question.version = pynvml.NVML_GPM_METRICS_GET_VERSION
        question.sample1, question.sample2 = older, newer
        question.numMetrics = len(self._metrics)
        for place, number in enumerate(self._metrics.values()):
            question.metrics[place].metricId = number
        answer = nvml.ask("nvmlGpmMetricsGet", question)
        if answer is None:
            return {}
        answered = zip(self._metrics, answer.metrics, strict=False)
        return {name: metric.value for name, metric in answered if metric.nvmlReturn == 0}
