"""`networks` of summary.json: the all-reduce by its size, and the storage, at each scale where they were measured."""

from collections.abc import Mapping
from typing import Any

from evalsuite.documents import NetworkMeasurement
from evalsuite.results.measure import network


def document(found: NetworkMeasurement) -> Mapping[str, Any]:
    """One measurement."""
    times, curve = network.times_s(found), network.bus_curve(found)
    counts = {one.bytes: len(one.seconds) for one in found.all_reduce}
    return {
        "nodes": found.nodes,
        "devices_per_node": found.devices_per_node,
        "total_devices": found.devices,
        "device": found.device,
        "link_mbit": found.link_mbit,
        "at": found.at,
        "campaign": found.campaign,
        "backend": found.backend,
        "tool": found.tool,
        "error": found.error,
        "all_reduce": [
            {"bytes": size, "n": counts[size], "seconds": times[size], "bus_bytes_per_s": curve.get(size)}
            for size in sorted(times)
        ],
        "storage_bytes_per_s": network.read_bytes_per_s(found),
    }
