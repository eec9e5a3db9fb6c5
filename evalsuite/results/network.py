"""What was measured of a network, as figures: the time of an all-reduce, its bandwidth, and the storage's."""

import statistics
from collections.abc import Iterable

from evalsuite.documents import NetworkMeasurement


def newest(found: Iterable[NetworkMeasurement], campaigns: Iterable[str | None]) -> tuple[NetworkMeasurement, ...]:
    """Those of *campaigns*: of each scale and kind of device the newest that succeeded, else the newest."""
    chosen: dict[tuple[int, int, str], NetworkMeasurement] = {}
    known = {*campaigns} - {None}
    for one in sorted(found, key=lambda one: (one.error is None, one.at)):
        if one.campaign in known:
            chosen[one.nodes, one.devices_per_node, one.device] = one
    return tuple(sorted(chosen.values(), key=lambda one: (one.devices, one.nodes, one.device)))


def times_s(found: NetworkMeasurement) -> dict[int, float]:
    """Bytes → median seconds of an all-reduce of so many."""
    return {one.bytes: statistics.median(one.seconds) for one in found.all_reduce if one.seconds}


def bus_bytes_per_s(found: NetworkMeasurement) -> float | None:
    """Bandwidth of the largest all-reduce by what must go over each device's link, 2(n-1)/n of its bytes; None where
    there is nothing to send.

    github.com/NVIDIA/nccl-tests, doc/PERFORMANCE.md: "bus bandwidth".
    """
    times, devices = times_s(found), found.devices
    if not times or devices < 2:
        return None
    largest = max(times)
    return largest / times[largest] * 2 * (devices - 1) / devices


def read_bytes_per_s(found: NetworkMeasurement) -> float | None:
    """Rate at which a file was read back, of the slowest host."""
    return min((one.bytes / one.seconds for one in found.storage if one.seconds > 0), default=None)
