"""The network interface by which a node reaches the others.

With several networks, or with a host's name set to 127.0.1.1 as Debian does, Gloo and NCCL may take an address that no
other host reaches.
"""

import fcntl
import socket
import struct
from collections.abc import Mapping

from evalsuite.core.placeholders import INTERFACE, INTERFACE_OF_OPEN_MPI, Node

VARIABLE = "EVALSUITE_INTERFACE"  # AUTO, or a name
AUTO = "auto"
ADDRESS_OF = 0x8915  # SIOCGIFADDR, netdevice(7)
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
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect((host, ANY_PORT))
            ours = probe.getsockname()[0]
            for _, name in socket.if_nameindex():
                if name != "lo" and _address(probe, name) == ours:
                    return name
    except OSError:
        return None
    return None


def _address(probe: socket.socket, name: str) -> str | None:
    try:
        answer = fcntl.ioctl(probe, ADDRESS_OF, struct.pack("256s", name.encode()[:15]))
    except OSError:
        return None
    return socket.inet_ntoa(answer[20:24])
