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
    speaking = [each for each in read.collectives if each.speaks]
    variables = [host.environment_variables or {} for host in environments.values()]
    asked = [each.get("NCCL_DEBUG", "").upper() in LOUD and "NCCL_DEBUG_FILE" not in each for each in variables]
    if not speaking and asked and all(asked) and read.steps:
        yield NcclSilent(devices=case.total_devices)
    said = {kind: line for each in reversed(speaking) for kind, line in each.said.items()}
    if case.nodes == 1 or "Socket" not in said or any(kind.startswith("IB") for kind in said):
        return
    line, text = said.get("", said["Socket"])
    if UNOPENED in text or any("/" in name for host in environments.values() for name in host.interfaces or {}):
        yield SocketsUsed(line=line, text=text)
    line, text = said["Socket"]
    if links := tuple(name for name in re.findall(r"\[\d+\]([\w.@-]+):", text) if CONTAINER_LINK.match(name)):
        yield VirtualInterface(names=links, line=line, text=text)
