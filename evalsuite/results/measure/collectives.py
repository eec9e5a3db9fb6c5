"""Whether the gradients went the way that the machines have for them, by NCCL's own lines (docs/pitfalls.md)."""

import re
from collections.abc import Iterator, Mapping

from evalsuite.documents import HostEnvironment
from evalsuite.findings import NcclSilent, SocketsUsed, VirtualInterface
from evalsuite.logs.reading import Reading
from evalsuite.model import Case, Finding
from evalsuite.placeholders import CONTAINER_LINK

LOUD = ("INFO", "TRACE", "VERSION")  # of NCCL_DEBUG: each prints at least a line
UNOPENED = "Unable to open device"  # so there is one


def findings(case: Case, environments: Mapping[str, HostEnvironment], read: Reading) -> Iterator[Finding]:
    if case.device != "gpu" or case.total_devices == 1:
        return
    speaking = [one for one in read.collectives if one.speaks]
    variables = [host.environment_variables or {} for host in environments.values()]
    asked = [one.get("NCCL_DEBUG", "").upper() in LOUD and "NCCL_DEBUG_FILE" not in one for one in variables]
    if not speaking and asked and all(asked) and read.steps:
        yield NcclSilent(devices=case.total_devices)
    said = {kind: line for one in reversed(speaking) for kind, line in one.said.items()}
    if case.nodes == 1 or "Socket" not in said or any(kind.startswith("IB") for kind in said):
        return
    line, text = said.get("", said["Socket"])
    if UNOPENED in text or any("/" in name for host in environments.values() for name in host.interfaces or {}):
        yield SocketsUsed(line=line, text=text)
    line, text = said["Socket"]
    if links := tuple(name for name in re.findall(r"\[\d+\]([\w.@-]+):", text) if CONTAINER_LINK.match(name)):
        yield VirtualInterface(names=links, line=line, text=text)
