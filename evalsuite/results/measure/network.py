"""What was measured of a network, as figures: the time of an all-reduce, its bandwidth, and the storage's."""

import statistics
from collections.abc import Iterable

from evalsuite.core.documents import NetworkMeasurement
from evalsuite.core.model import Case
from evalsuite.runs import network


def newest(readings: Iterable[NetworkMeasurement], campaigns: Iterable[str | None]) -> tuple[NetworkMeasurement, ...]:
    """Of each scale, device, link and library the newest of *campaigns* (or of none), a success first."""
    chosen: dict[tuple[int, int, str, int, str], NetworkMeasurement] = {}
    known = {*campaigns} - {None}
    for reading in sorted(readings, key=lambda reading: (reading.error is None, reading.at)):
        if reading.campaign is None or reading.campaign in known:
            link, carried_by = reading.link_mbit or 0, reading.backend or ""
            chosen[reading.nodes, reading.devices_per_node, reading.device, link, carried_by] = reading
    return tuple(reading for _, reading in sorted(chosen.items(), key=lambda item: (item[1].devices, item[0])))


def times_s(reading: NetworkMeasurement) -> dict[int, float]:
    """Bytes → median seconds of an all-reduce of so many."""
    return {reduced.bytes: statistics.median(reduced.seconds) for reduced in reading.all_reduce if reduced.seconds}


def bus_curve(reading: NetworkMeasurement) -> dict[int, float]:
    """Bytes → bandwidth of an all-reduce of so many, by what must go over each device's link, 2(n-1)/n of them; empty
    where there is nothing to send.

    github.com/NVIDIA/nccl-tests, doc/PERFORMANCE.md: "bus bandwidth".
    """
    over_link = 2 * (reading.devices - 1) / reading.devices
    return {size: size / passed_s * over_link for size, passed_s in times_s(reading).items() if over_link and passed_s}


def bus_bytes_per_s(reading: NetworkMeasurement) -> float | None:
    curve = bus_curve(reading)
    return curve[max(curve)] if curve else None


def reached_bytes_per_s(readings: Iterable[NetworkMeasurement], case: Case) -> float | None:
    """What all nodes of *case* sent during the largest all-reduce at its scale; None where none was, or on one node.

    In a ring what goes out of a node is what goes over the link of a device.
    """
    here = (case.nodes, case.devices_per_node, case.device, network.link_mbit(case))
    same = [each for each in readings if (each.nodes, each.devices_per_node, each.device, each.link_mbit) == here]
    rates = [rate for reading in same if (rate := bus_bytes_per_s(reading))]
    return max(rates) * case.nodes if rates and case.nodes > 1 else None


def read_bytes_per_s(reading: NetworkMeasurement) -> float | None:
    return min((read.bytes / read.seconds for read in reading.storage if read.seconds > 0), default=None)
