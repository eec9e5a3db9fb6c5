"""What was measured of a network, as figures: the time of an all-reduce, its bandwidth, and the storage's."""

import statistics
from collections.abc import Iterable

from evalsuite.documents import NetworkMeasurement
from evalsuite.model import Case
from evalsuite.runs import network


def newest(found: Iterable[NetworkMeasurement], campaigns: Iterable[str | None]) -> tuple[NetworkMeasurement, ...]:
    """Of each scale, device, link and library the newest of *campaigns* (or of none), a success first."""
    chosen: dict[tuple[int, int, str, int, str], NetworkMeasurement] = {}
    known = {*campaigns} - {None}
    for one in sorted(found, key=lambda one: (one.error is None, one.at)):
        if one.campaign is None or one.campaign in known:
            link, carried_by = one.link_mbit or 0, one.backend or ""
            chosen[one.nodes, one.devices_per_node, one.device, link, carried_by] = one
    return tuple(found for _, found in sorted(chosen.items(), key=lambda item: (item[1].devices, item[0])))


def times_s(found: NetworkMeasurement) -> dict[int, float]:
    """Bytes → median seconds of an all-reduce of so many."""
    return {one.bytes: statistics.median(one.seconds) for one in found.all_reduce if one.seconds}


def bus_curve(found: NetworkMeasurement) -> dict[int, float]:
    """Bytes → bandwidth of an all-reduce of so many, by what must go over each device's link, 2(n-1)/n of them; empty
    where there is nothing to send.

    github.com/NVIDIA/nccl-tests, doc/PERFORMANCE.md: "bus bandwidth".
    """
    over_link = 2 * (found.devices - 1) / found.devices
    return {size: size / passed_s * over_link for size, passed_s in times_s(found).items() if over_link and passed_s}


def bus_bytes_per_s(found: NetworkMeasurement) -> float | None:
    curve = bus_curve(found)
    return curve[max(curve)] if curve else None


def reached_bytes_per_s(found: Iterable[NetworkMeasurement], case: Case) -> float | None:
    """What all nodes of *case* sent during the largest all-reduce at its scale; None where none was, or on one node.

    In a ring what goes out of a node is what goes over the link of a device.
    """
    here = (case.nodes, case.devices_per_node, case.device, network.link_mbit(case))
    same = [one for one in found if (one.nodes, one.devices_per_node, one.device, one.link_mbit) == here]
    rates = [rate for one in same if (rate := bus_bytes_per_s(one))]
    return max(rates) * case.nodes if rates and case.nodes > 1 else None


def read_bytes_per_s(found: NetworkMeasurement) -> float | None:
    return min((one.bytes / one.seconds for one in found.storage if one.seconds > 0), default=None)
