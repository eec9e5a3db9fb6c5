"""Samples that an NVIDIA device takes by itself between two readings and buffers."""

from dataclasses import dataclass
from typing import Any

from evalsuite.machine.sensors import nvml

# nvmlValueType_t → the member of the union that holds the value (nvml.h)
MEMBERS = {0: "dVal", 1: "uiVal", 2: "ulVal", 3: "ullVal", 4: "sllVal", 5: "siVal", 6: "usVal"}


@dataclass(frozen=True, kw_only=True)
class Taken:
    """Since the reading before; None where there is no new sample."""

    mean: float | None = None
    least: float | None = None
    most: float | None = None


class Buffer:
    def __init__(self, handle: Any, name: str, scale: float = 1.0) -> None:
        self._handle = handle
        self._kind = nvml.constant(name) if nvml.trouble() is None else None
        self._scale = scale
        self._seen_us = 0
        self._begun = False

    def take(self) -> Taken:
        """The samples since the last call. The first call gives none: those are from before the run."""
        known = self._kind is not None
        answer = nvml.ask("nvmlDeviceGetSamples", self._handle, self._kind, self._seen_us) if known else None
        if answer is None:
            return Taken()
        member = MEMBERS.get(answer[0])
        new = [sample for sample in answer[1] if sample.timeStamp > self._seen_us]
        if member is None or not new:
            return Taken()
        self._seen_us = max(sample.timeStamp for sample in new)
        begun, self._begun = self._begun, True
        values = [getattr(sample.sampleValue, member) * self._scale for sample in new]
        return Taken(mean=sum(values) / len(values), least=min(values), most=max(values)) if begun else Taken()
