"""Which machine a run was made on; fairness, C1, D15 and the site compare its `hardware`."""

from collections.abc import Iterable, Mapping

from evalsuite.core.documents import HostEnvironment, RunCommand
from evalsuite.core.model import Machine, MachineNode


def of_run(environments: Mapping[str, HostEnvironment], command: RunCommand) -> Machine | None:
    name = (command.stated or {}).get("machine")
    return recorded(environments) or (Machine(name=name) if name else None)


def recorded(environments: Mapping[str, HostEnvironment]) -> Machine | None:
    return Machine().of(map(_node, environments.values())) if environments else None


def _node(host: HostEnvironment) -> MachineNode:
    gpus = [gpu.name or "GPU" for gpu in host.gpus or ()]
    return MachineNode(
        accelerators=tuple((name, gpus.count(name)) for name in sorted(set(gpus))),
        cpu=host.cpu_model or "CPU",
        cores=host.cores,
        driver=host.driver,
    )


def distinct(machines: Iterable[Machine]) -> tuple[Machine, ...]:
    known: dict[Machine, Machine] = {}
    for machine in sorted(machines, key=str):
        known.setdefault(machine.hardware, machine)
    return tuple(known.values())
