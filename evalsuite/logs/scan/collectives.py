"""What NCCL says of the way between nodes, with NCCL_DEBUG=INFO."""

import re
from dataclasses import dataclass, field

from evalsuite.logs.scan.failures import shown
from evalsuite.logs.text.logfile import Piece

# NVIDIA/nccl: src/transport/net_ib.cc, net_socket.cc, src/misc/ibvwrap.cc, src/init.cc
# a:9:9 [0] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.4<0> [1]veth37669ca:fe80::9c8a%veth37669ca<0>
# a:9:9 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB ib0:10.0.0.4<0>     ← without [0] it found none
# a:9:9 [0] NCCL INFO Channel 00/0 : 0[0] -> 8[0] [send] via NET/Socket/0
_SAID = re.compile(
    rb"NCCL (?:INFO|WARN) (?:"
    rb"Using (?:internal )?[Nn]etwork (?P<network>\w+)|(?:Channel|Ring) [^\r\n]{1,80} via NET/(?P<via>\w+)"
    rb"|NET/Socket : Using \[0\]|NET/(?P<found>IB) : Using \[0\]"
    rb"|(?P<hindered>NCCL_IB_DISABLE set by environment to 1|NET/IB : Unable to open device|Failed to open libibverbs)"
    rb")[^\r\n]*"
)


@dataclass
class CollectiveLines:
    """The first line of each kind: its number and text."""

    speaks: bool = False
    said: dict[str, tuple[int, str]] = field(default_factory=dict)  # "Socket", "IB", and why not by InfiniBand: ""

    def add(self, piece: Piece) -> None:
        text = piece.chunk.text
        if piece.steps_alone or not (b"NCCL INFO" in text or b"NCCL version" in text or b"NCCL WARN" in text):
            return
        self.speaks = True
        for match in _SAID.finditer(text):
            kind = match["network"] or match["via"] or match["found"] or (b"" if match["hindered"] else b"Socket")
            if kind.decode() not in self.said:
                begin = text.rfind(b"\n", 0, match.start()) + 1
                line = piece.chunk.first_line + text.count(b"\n", 0, begin)
                self.said[kind.decode()] = line, shown(text[begin : match.end()])
