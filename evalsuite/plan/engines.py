"""Engines say where: pure functions from the node agent's command line to the one that starts it everywhere.

Scheduling, placement and transport are the engine's own; none of it is written here. Sources of the shapes:
the manual of mpirun (Open MPI 4.1). Those of batch schedulers are made in `launch/remote/schedulers`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from evalsuite.errors import EvalsuiteError, did_you_mean
from evalsuite.messages import Message
from evalsuite.model import Case
from evalsuite.plan.containers import Container

Argv = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Engine:
    """How one agent is started on every node of a case."""

    name: str
    wrap: Callable[[int, Argv], Argv]  # number of nodes and what is started on each → the whole line
    refusal: Callable[[Case], str | None] = lambda case: None  # why it cannot serve the case
    unready: Callable[[Mapping[str, str]], str | None] = lambda environment: None  # why nothing can start from here
    container: Container | None = None  # what the training runs in; None: an environment of its own
    nests: bool = True  # whether a script that it starts may start mpirun itself
    variables: Mapping[str, str] = field(default_factory=dict)  # what the agent finds beside what is set here
    handed: Callable[[int, str], Mapping[str, str]] | None = None
    """Of a number of nodes and the run's folder: the variables that stand in the command line, where the agents inherit
    nothing from this shell. None: they inherit all of it."""
    lost_codes: frozenset[int] = frozenset()  # exit codes of the launcher itself, for a node that it lost
    nodes: tuple[str, ...] = ()  # those that can be had, in the order in which they are taken; (): known to nobody
    on: Callable[[Sequence[str]], "Engine"] | None = None  # the same engine on some of them
    listed: bool = False  # whether somebody wrote the nodes down: one machine may stand there by two names

    def command_on_nodes(
        self, nodes: int, folder: str, argv: Argv, variables: Mapping[str, str] = MappingProxyType({})
    ) -> Argv:
        """The line that starts *argv* once on each of *nodes*, for the run in *folder*. *variables*: what it finds in
        its environment where that does not come from this shell."""
        handed = {**self.handed(nodes, folder), **variables} if self.handed else {}
        prefix = ("env", *(f"{name}={value}" for name, value in handed.items())) if handed else ()
        return self.wrap(nodes, (*prefix, *argv))


def local(nodes: int, agent: Argv) -> Argv:
    """This machine: the agent itself."""
    return agent


def mpi(nodes: int, agent: Argv) -> Argv:
    """Open MPI over the hosts of its own host file or allocation: one process a node, bound to nothing."""
    return ("mpirun", "-np", str(nodes), "--map-by", "ppr:1:node", "--bind-to", "none", *agent)


def _only_one_node(case: Case) -> str | None:
    if case.nodes > 1:
        return Message("plan.one_node", nodes=case.nodes)
    return None


def refuse_more_nodes(names: Sequence[str]) -> Callable[[Case], str | None]:
    """What refuses a case that asks for more nodes than the *names* of an allocation."""

    def refusal(case: Case) -> str | None:
        if case.nodes > len(names):
            return Message("plan.too_few_nodes", nodes=case.nodes, there=len(names))
        return None

    return refusal


HOSTS = "hosts"  # the engine that is made of a list of hosts (plan/over_hosts)
ALONE = {"EVALSUITE_NODES": "1", "EVALSUITE_NODE_RANK": "0"}  # whatever allocation or platform this shell is part of

ENGINES = {
    engine.name: engine
    for engine in (
        Engine(name="local", wrap=local, refusal=_only_one_node, variables=ALONE),
        Engine(name="mpi", wrap=mpi, nests=False),
    )
}


def engine(name: str, others: Iterable[str] = ()) -> Engine:
    """The engine of that name. Raises EvalsuiteError with the known ones, and *others* that are made elsewhere."""
    if name in ENGINES:
        return ENGINES[name]
    known = sorted([*ENGINES, HOSTS, *others])
    raise EvalsuiteError.of("plan.engine", name=name, names=known, near=did_you_mean(name, known))
