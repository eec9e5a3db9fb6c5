"""Which machine a run was made on, in words, and when two are the same: hardware and the driver's generation.

A repaired driver (550.54 → 550.90) makes no other machine: fairness, C1 (`linear_speedup`), D15 (`rules`) and the site
ask `same` and agree. The words themselves keep the whole version of the driver, and the report shows both.
"""

import re
from collections.abc import Iterable, Mapping

from evalsuite.documents import HostEnvironment, RunCommand

JOIN = " + "  # between the machines of one run


def of_run(environments: Mapping[str, HostEnvironment], command: RunCommand) -> str | None:
    """The machine of a run: as its hosts recorded it, else by the name that was given at import; None: unknown."""
    return recorded(environments) or (command.stated or {}).get("machine")


def recorded(environments: Mapping[str, HostEnvironment]) -> str | None:
    """The hardware and the driver of the hosts of a run, in words."""
    parts = sorted({_machine(host) for host in environments.values()})
    return JOIN.join(parts) if parts else None


def _machine(host: HostEnvironment) -> str:
    gpus = [gpu.name or "GPU" for gpu in host.gpus or ()]
    accelerators = [f"{gpus.count(name)} x {name}" for name in sorted(set(gpus))]
    cpu = host.cpu_model or "CPU"
    driver = [f"driver {host.driver}"] if host.driver else []
    return ", ".join([*accelerators, f"{cpu} ({host.cores:g} cores)" if host.cores else cpu, *driver])


def same(machine: str) -> str:
    """*machine* by what makes it another one: two that give the same text are compared."""
    parts = {re.sub(r"(\bdriver \d+)\.[\w.]+", r"\1", part) for part in machine.split(JOIN)}
    return JOIN.join(sorted(parts))


def different(machines: Iterable[str]) -> tuple[str, ...]:
    """One of each of *machines* that are not the same, in order."""
    found: dict[str, str] = {}
    for machine in sorted(machines):
        found.setdefault(same(machine), machine)
    return tuple(found.values())
