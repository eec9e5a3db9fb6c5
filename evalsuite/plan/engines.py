"""Engines: from the node agent's command line to the one that starts it on every node. Engines of batch schedulers are
made in `launch/remote/allocations`."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from evalsuite.contracts.adapter import Recipe
from evalsuite.core.errors import EvalsuiteError, did_you_mean
from evalsuite.core.messages import Message
from evalsuite.core.model import Case
from evalsuite.plan.containers import Container

Argv = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Engine:
    name: str
    wrap: Callable[[int, Argv], Argv]  # number of nodes, what starts on each → the whole line
    refusal: Callable[[Case], str | None] = lambda case: None
    unready: Callable[[Mapping[str, str]], str | None] = lambda environment: None
    container: Container | None = None  # None: in an environment
    nests: bool = True  # whether a script may start mpirun itself
    variables: Mapping[str, str] = field(default_factory=dict)  # set for the agent
    handed: Callable[[int, str], Mapping[str, str]] | None = None
    """Of a number of nodes and the run's folder: the variables that stand in the command line, where the agents inherit
    nothing from this shell. None: they inherit all of it."""
    lost_codes: frozenset[int] = frozenset()  # the launcher's exit codes for a lost node
    alive: Argv = ()  # fails where what starts on the nodes does not answer; (): nobody is to answer
    nodes: tuple[str, ...] = ()  # available ones in order; (): unknown
    on: Callable[[Sequence[str]], "Engine"] | None = None
    listed: bool = False  # whether written by hand: one machine may have two names

    def limited_to(self, names: Sequence[str]) -> "Engine":
        return replace(self.on(names), container=self.container) if self.on else self

    def serving(self, recipe: Recipe) -> "Engine":
        """As *recipe* is started: a participant may have an environment in place of an image."""
        return replace(self, container=None) if recipe.environment in ("managed", "current") else self

    def command_on_nodes(
        self, nodes: int, folder: str, argv: Argv, variables: Mapping[str, str] = MappingProxyType({})
    ) -> Argv:
        """Starts *argv* on each of *nodes*, for the run in *folder*. *variables*: what it finds in its environment."""
        handed = {**self.handed(nodes, folder), **variables} if self.handed else {}
        prefix = ("env", *(f"{name}={value}" for name, value in handed.items())) if handed else ()
        return self.wrap(nodes, (*prefix, *argv))


def refuse_more_nodes(names: Sequence[str]) -> Callable[[Case], str | None]:
    most = len(names)
    return lambda case: Message("plan.too_few_nodes", nodes=case.nodes, there=most) if case.nodes > most else None


HOSTS = "hosts"  # plan/over_hosts
ONE_A_NODE = ("--map-by", "ppr:1:node", "--bind-to", "none")  # mpirun(1) of Open MPI 4.1
ALONE = {"EVALSUITE_NODES": "1", "EVALSUITE_NODE_RANK": "0"}  # in any allocation

ENGINES = {
    engine.name: engine
    for engine in (
        Engine(
            name="local",
            wrap=lambda nodes, agent: agent,
            refusal=lambda case: Message("plan.one_node", nodes=case.nodes) if case.nodes > 1 else None,
            variables=ALONE,
        ),
        Engine(
            name="mpi", wrap=lambda nodes, agent: (*("mpirun", "-np", str(nodes), *ONE_A_NODE), *agent), nests=False
        ),
    )
}


def engine(name: str, others: Iterable[str] = ()) -> Engine:
    if name in ENGINES:
        return ENGINES[name]
    known = sorted([*ENGINES, HOSTS, *others])
    raise EvalsuiteError.of("core.unknown", where="--engine", name=name, names=known, near=did_you_mean(name, known))
