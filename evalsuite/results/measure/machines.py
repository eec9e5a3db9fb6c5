"""Which machine a run was made on; fairness, C1 and the site compare its `hardware`."""

from collections.abc import Iterable, Mapping

from evalsuite.core.documents import HostEnvironment, RunCommand
from evalsuite.core.model import Machine, MachineNode


def of_run(environments: Mapping[str, HostEnvironment], command: RunCommand) -> Machine | None:
    name = (command.stated or {}).get("machine")
    return recorded(environments) or (Machine(name=name) if name else None)


def recorded(environments: Mapping[str, HostEnvironment]) -> Machine | None:
    nodes = []
    for host in environments.values():
        gpus = [gpu.name or "GPU" for gpu in host.gpus or ()]
        accelerators = tuple((name, gpus.count(name)) for name in sorted(set(gpus)))
        cpu = host.cpu_model or "CPU"
        nodes.append(MachineNode(accelerators=accelerators, cpu=cpu, cores=host.cores, driver=host.driver))
    return Machine().of(nodes) if nodes else None


def distinct(machines: Iterable[Machine]) -> tuple[Machine, ...]:
    known: dict[Machine, Machine] = {}
    for machine in sorted(machines, key=str):
        known.setdefault(machine.hardware, machine)
    return tuple(known.values())
