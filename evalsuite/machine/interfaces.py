"""The network interface by which a node reaches the others, for libraries that would else take the first they find.

A host with several networks (management, storage, training), or whose own name stands for 127.0.1.1 in /etc/hosts as
Debian writes it, gives Gloo and NCCL an address that no other host reaches.
"""

import fcntl
import socket
import struct
from collections.abc import Mapping

from evalsuite.placeholders import Node

VARIABLE = "EVALSUITE_INTERFACE"  # "auto", or a name
AUTO = "auto"
ADDRESS_OF = 0x8915  # SIOCGIFADDR, netdevice(7)
ANY_PORT = 9  # nothing is sent: a datagram's socket is only told its peer


def variables(environment: Mapping[str, str], place: Node) -> dict[str, str]:
    """What makes the libraries of a run over several nodes use one interface; {} where nobody asked, or none is found.

    What the user has set stays.
    """
    asked = environment.get(VARIABLE)
    if not asked or place.nodes == 1:
        return {}
    name = _towards(_another(place)) if asked == AUTO else asked
    if name is None:
        return {}
    wanted = {
        "NCCL_SOCKET_IFNAME": f"={name}",  # = : this one, and none that begins so
        "GLOO_SOCKET_IFNAME": name,
        "TP_SOCKET_IFNAME": name,
        "HOROVOD_GLOO_IFACE": name,
        "OMPI_MCA_btl_tcp_if_include": name,
        "OMPI_MCA_oob_tcp_if_include": name,
    }
    return {key: value for key, value in wanted.items() if key not in environment}


def _another(place: Node) -> str:
    others = [host for rank, host in enumerate(place.hosts) if rank != place.rank]
    return place.master_addr if place.rank or not others else others[0]


def _towards(host: str) -> str | None:
    """The interface whose address the kernel takes for *host*; None if it cannot be told, or is the loopback."""
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
