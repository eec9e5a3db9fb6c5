"""The agent's order, and the command line and environment that it starts for it."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from evalsuite.agent import rendezvous
from evalsuite.core import placeholders
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.messages import Message
from evalsuite.core.placeholders import OF_EVERY_RANK, THREADS, fill, forward
from evalsuite.machine import cores
from evalsuite.machine.environment import KNOWN
from evalsuite.machine.sensors import processor
from evalsuite.runs.endings import CANNOT_EXECUTE, NOT_FOUND

FIRST_ENDED = "first-node.ended"  # tells the agents of the other nodes to end too
MOST_LOG_MB = 4000  # a week of a talkative script
OPEN_MPI = "OMPI_"  # its own parameters, which it hands on by itself
WAIT = "import os, sys, time\nwhile not os.path.exists(sys.argv[1]): time.sleep(0.5)"


@dataclass(frozen=True, kw_only=True)
class Order:
    argv: tuple[str, ...]
    folder: Path
    host: str
    hz: float = 2.0
    processes: int | None = None  # None: one process, which may start workers
    devices_per_node: int = 1
    cores_per_device: int | None = None  # None: no process is bound
    timeout_s: float | None = None
    echo: bool = False
    most_log_bytes: int = MOST_LOG_MB * 10**6  # of this node
    first_node_only: bool = False  # on the other nodes the agent only samples


class CannotStart(EvalsuiteError):
    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


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
    variables = {name: fill(value, known) for name, value in inherited.items()}
    variables |= rendezvous.variables(place, order.processes or 1, local_rank)
    if bound := bound_to(order):
        variables[cores.VARIABLE] = ";".join(",".join(map(str, share)) for share in bound)
    defaults = {name: variables.get("OMP_NUM_THREADS", str(count)) for name in THREADS} | {
        "PYTHONUNBUFFERED": "1",
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",  # so that CUDA numbers the devices as NVML does
    }
    variables = defaults | variables
    forwarded = {*OF_EVERY_RANK, "PYTHONPATH", *(name for name in KNOWN if not name.startswith(OPEN_MPI))}
    argv = forward((fill(token, known) for token in order.argv), filter(forwarded.__contains__, variables))
    if order.first_node_only and place.rank > 0:
        argv = [sys.executable, "-c", WAIT, str(order.folder / FIRST_ENDED)]
    if reason := placeholders.find_unfilled(argv):
        raise CannotStart(reason, CANNOT_EXECUTE)
    return argv, variables


def cannot_start(program: str, error: OSError | ValueError) -> CannotStart:
    if isinstance(error, FileNotFoundError):
        return CannotStart(Message("agent.program_absent", program=program), NOT_FOUND)
    return CannotStart(Message("agent.program_not_executable", program=program, error=error), CANNOT_EXECUTE)
