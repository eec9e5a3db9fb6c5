"""The agent's order, and the command line and environment that it starts for it."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from evalsuite.agent import rendezvous
from evalsuite.core import placeholders
from evalsuite.core.decode import number
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.messages import Message
from evalsuite.core.paths import ENTER, FIRST_ENDED
from evalsuite.core.placeholders import DEVICES, GPUS, MASTER_ADDRESSES, OF_EVERY_RANK, THREADS, VISIBLE, fill, forward
from evalsuite.machine import cores
from evalsuite.machine.environment import KNOWN
from evalsuite.machine.sensors import processor
from evalsuite.machine.sensors.accelerators import open_accelerators
from evalsuite.machine.sensors.sensor import UUIDS
from evalsuite.runs.endings import CANNOT_EXECUTE, NOT_FOUND

MOST_LOG_MB = 4000  # a week of a talkative script
OPEN_MPI = "OMPI_"  # its own parameters, which it hands on by itself
PCI_ORDER = "PCI_BUS_ID"  # so that CUDA numbers the devices as NVML does
WAIT = "import os, sys, time\nwhile not os.path.exists(sys.argv[1]): time.sleep(0.5)"


@dataclass(frozen=True, kw_only=True)
class Order:
    argv: tuple[str, ...]
    folder: Path
    host: str
    hz: float = 2.0
    processes: int | None = None  # None: one process, which may start workers
    devices_per_node: int = 1
    device: str | None = None  # "gpu" or "npu": which the command sees just so many of; None: it sees what we see
    cores_per_device: int | None = None  # None: no process is bound
    timeout_s: float | None = None
    echo: bool = False
    most_log_bytes: int = MOST_LOG_MB * 10**6  # of this node
    first_node_only: bool = False  # on the other nodes the agent only samples


class CannotStart(EvalsuiteError):
    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def visible_devices(order: Order, nodes: int, environment: Mapping[str, str]) -> dict[str, str]:
    """The variables by which the command sees its devices alone: the first of those that a scheduler or the user shows.

    By UUID, which holds in a container too and whatever the driver counts; by number where there is none, and where a
    program that starts once hands the variable to the other nodes. Raises CannotStart where there are too few.
    """
    if order.device is None:
        return {}
    names, sensor = VISIBLE[order.device], open_accelerators(awaited=True)
    try:
        known = sensor.facts() if sensor.kind == order.device else ()
    finally:
        sensor.close()
    numbers = [str(gpu.index) for gpu in known]
    uuids = {str(gpu.index): uuid for gpu in known if (uuid := gpu.uuid or "").startswith(UUIDS)}
    given = next((environment[name] for name in names if name in environment), None)
    shown = numbers if given is None else [entry.strip() for entry in given.split(",") if entry.strip()]
    if given is not None and known:  # the list ends where an entry names no device
        shown = [*takewhile(lambda entry: entry in numbers or number(entry) is None, shown)]
    if (known or given is not None) and len(shown) < order.devices_per_node:
        text = "" if given is None else f" ({names[0]}={given})"
        raise CannotStart(
            Message("agent.few_devices", there=len(shown), text=text, wanted=order.devices_per_node), CANNOT_EXECUTE
        )
    own = shown[: order.devices_per_node] or list(map(str, range(order.devices_per_node)))
    as_nvml = given is None or environment.get("CUDA_DEVICE_ORDER", PCI_ORDER) == PCI_ORDER
    if uuids and as_nvml and not (order.first_node_only and nodes > 1):
        own = [uuids.get(entry, entry) for entry in own]
    if len(own) > 1 and any(entry.startswith("MIG-") for entry in own):
        raise CannotStart(Message("agent.slices", wanted=len(own)), CANNOT_EXECUTE)
    return dict.fromkeys(names[:1] if uuids else names, ",".join(own))


def threads(order: Order) -> int:
    share = order.processes or order.devices_per_node
    return order.cores_per_device or max(1, int(processor.usable_cpus()) // share)


def bound_to(order: Order) -> cores.Shares:
    if order.cores_per_device is None:
        return ()
    return cores.shares(order.cores_per_device, order.devices_per_node, cores.usable())


def command(
    order: Order, place: placeholders.Node, local_rank: int | None, inherited: Mapping[str, str]
) -> tuple[list[str], dict[str, str]]:
    count = threads(order)
    known = placeholders.of_node(place, order.processes or order.devices_per_node, count)
    if any(name in word for word in (*order.argv, *inherited.values()) for name in MASTER_ADDRESSES):
        known |= zip(MASTER_ADDRESSES, rendezvous.master_addresses(place), strict=True)
    shown = inherited.get(VISIBLE["gpu"][0], "") if order.device == "gpu" else ""
    by_name = shown.startswith(UUIDS)
    known |= {DEVICES: shown, GPUS: f'"device={shown}"' if by_name else "all"}  # quoted: docker parts at commas
    variables = {name: fill(value, known) for name, value in inherited.items()}
    variables |= rendezvous.variables(place, order.processes or 1, local_rank)
    if bound := bound_to(order):
        variables[cores.VARIABLE] = ";".join(",".join(map(str, share)) for share in bound)
    defaults = {name: variables.get("OMP_NUM_THREADS", str(count)) for name in THREADS} | {
        "PYTHONUNBUFFERED": "1",
        "CUDA_DEVICE_ORDER": PCI_ORDER,
    }
    variables = defaults | variables
    forwarded = {*OF_EVERY_RANK, "PYTHONPATH", *(name for name in KNOWN if not name.startswith(OPEN_MPI))}
    argv = forward((fill(token, known) for token in order.argv), filter(forwarded.__contains__, variables))
    if order.first_node_only and place.rank > 0 and ENTER not in argv:
        argv = [sys.executable, "-c", WAIT, str(order.folder / FIRST_ENDED)]
    if reason := placeholders.find_unfilled(argv):
        raise CannotStart(reason, CANNOT_EXECUTE)
    return argv, variables


def cannot_start(program: str, error: OSError | ValueError) -> CannotStart:
    if isinstance(error, FileNotFoundError):
        return CannotStart(Message("agent.program_absent", program=program), NOT_FOUND)
    return CannotStart(Message("agent.program_not_executable", program=program, error=error), CANNOT_EXECUTE)
