"""The network interface by which a node reaches the others. With several networks, or with a host's name set to
127.0.1.1 as Debian does, Gloo and NCCL may take an address that no other host reaches."""

import socket
from collections.abc import Mapping

from evalsuite.core.placeholders import INTERFACE, INTERFACE_OF_OPEN_MPI, Node

VARIABLE = "EVALSUITE_INTERFACE"  # AUTO, or a name
AUTO = "auto"
ANY_PORT = 9  # nothing is sent


def variables(environment: Mapping[str, str], place: Node) -> dict[str, str]:
    """What makes libraries use one interface; {} where none is asked for or found. Variables already set stay."""
    asked = environment.get(VARIABLE)
    if not asked or place.nodes == 1:
        return {}
    others = [host for rank, host in enumerate(place.hosts) if rank != place.rank]
    another = place.master_addr if place.rank or not others else others[0]
    name = _towards(another) if asked == AUTO else asked
    if name is None:
        return {}
    exact = {"NCCL_SOCKET_IFNAME": f"={name}"}  # others begin with these letters too
    wanted = {**dict.fromkeys((*INTERFACE, *INTERFACE_OF_OPEN_MPI), name), **exact}
    return {key: value for key, value in wanted.items() if key not in environment}


def _towards(host: str) -> str | None:
    """The interface by which the kernel reaches *host*; None if unknown or the loopback."""
    from evalsuite.machine.sensors import system  # and psutil, which takes its time

    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect((host, ANY_PORT))
            ours = probe.getsockname()[0]
    except OSError:
        return None
    addresses = (system.read_psutil("net_if_addrs") or {}).items()
    found = (name for name, known in addresses if name != "lo" and ours in [each.address for each in known])
    return next((name.partition(":")[0] for name in found), None)  # eth0:1 is another name of it
