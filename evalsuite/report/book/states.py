"""The states of a run and of a point of the matrix, their glyphs and marks."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from evalsuite.core.model import Measurement

State = str  # "value", or a key of GLYPHS
GLYPHS: Mapping[str, str] = {
    "oom": "OOM",
    "unsupported": "N/S",
    "not_planned": "—",
    "not_run": "·",
    "taken_away": "∅",
    "failed": "✗",
    "timed_out": "⌛",
    "invalid": "⊘",
    "no_base": "n/b",
    "missing": "n/r",
}
MARKS: Mapping[str, str] = dict(
    partial="◐", disturbed="○", flagged="⚠", cited="†", digitised="‡", printed="§", simulated="≈"
)
# PyTorch "CUDA out of memory", Paddle "Out of memory error", TensorFlow "OOM when allocating tensor" and
# "ResourceExhaustedError", C++ "std::bad_alloc"
OUT_OF_MEMORY = re.compile(r"out of memory|\bOOM\b|bad_alloc|ResourceExhausted|Cannot allocate memory", re.IGNORECASE)
WORST_FIRST: tuple[State, ...] = ("oom", "timed_out", "failed", "invalid")


def ended(measurements: Iterable[Measurement]) -> State:
    """How a case without any valid run ended: the most frequent end, the graver one where two are level."""
    ends = Counter(how(measurement) for measurement in measurements)
    return min(ends, key=lambda end: (-ends[end], WORST_FIRST.index(end)))


def how(measurement: Measurement) -> State:
    if measurement.status == "timed_out":
        return "timed_out"
    if OUT_OF_MEMORY.search(measurement.reason):
        return "oom"
    return "failed" if measurement.status in ("failed", "incomplete") else "invalid"


def run_state(measurement: Measurement) -> State:
    return "value" if measurement.counts or measurement.set_aside else how(measurement)
