"""Who failed: the framework, or what the run stood on.

A run whose node agent never started, never came to an end or is missing on a planned node was failed by the
infrastructure (the launcher, a node, the network between them). It says nothing of the framework: it is made again.
"""

import shutil
from collections.abc import Mapping, Sequence
from itertools import islice

from evalsuite import redaction
from evalsuite.agent.order import CANNOT_EXECUTE, EVALUATOR_LOST, NOT_FOUND
from evalsuite.messages import Message
from evalsuite.model import Case
from evalsuite.plan.containers import Container
from evalsuite.runs.endings import AgentOutcome
from evalsuite.runs.store import RunFolder

RUNTIME_LINES = 20  # an image that is pulled first says a line or two
REASON_CHARACTERS = 500
CANNOT_START = (CANNOT_EXECUTE, NOT_FOUND)
RENDEZVOUS_S = 20.0  # no framework waits shorter for a node that does not come (Gloo and Horovod wait 30 s)


def find_infrastructure_fault(folder: RunFolder, case: Case) -> str | None:
    """What of the infrastructure failed in a run that ended badly; None if every planned node did its part.

    By what the nodes left: an agent writes down its environment when it starts, and how it ended when it is done.
    """
    agents = folder.agents()
    started, ended = set(folder.environments()), set(agents)
    if not started and not ended:
        return Message("launch.run_no_agent")
    if lost := sorted(started - ended):
        return lost_on(lost)
    if len(ended) < case.nodes and not any(map(_failed_at_once, agents.values())):
        return Message("launch.run_nodes_lost", lost=case.nodes - len(ended), nodes=case.nodes)
    return None


def lost_on(hosts: Sequence[str]) -> str:
    return Message("launch.run_agent_lost", nodes=hosts)


def find_deaf_hosts(agents: Mapping[str, AgentOutcome]) -> list[str]:
    """The hosts whose agent ended the training because it heard nothing of the evaluator any more."""
    return sorted(host for host, agent in agents.items() if agent.error and agent.exit_code == EVALUATOR_LOST)


def find_lacking_program(agents: Mapping[str, AgentOutcome], program: str) -> str | None:
    """Why the training could not be started on some hosts, where it can on others or here: they lack *program*, or
    what starts it. None where it starts nowhere, which is the recipe's own matter."""
    found = {host: agent.error for host, agent in agents.items() if agent.error and agent.exit_code in CANNOT_START}
    if not found or (len(found) == len(agents) and shutil.which(program) is None):
        return None
    return Message("system.of", name=sorted(found), what=next(iter(found.values())))


def find_launcher_fault(agents: Mapping[str, AgentOutcome]) -> str | None:
    """What is wrong with a run whose launcher says that all went well; None if so say the agents. Open MPI 5 gives 0
    after it has lost a node and ended the training on the others."""
    if not any(agent.exit_code for agent in agents.values()):
        return None
    asked = sorted(host for host, agent in agents.items() if agent.interrupted_by)
    return Message("launch.run_launcher_ended", nodes=asked) if asked else None


def _failed_at_once(agent: AgentOutcome) -> bool:
    """Whether the training failed by itself before it could have waited in vain for another node: the launcher then
    ends those nodes whose agent is only just starting, and they leave no record."""
    by_itself = not (agent.interrupted_by or agent.signal or agent.timed_out or agent.error)
    return by_itself and agent.exit_code != 0 and agent.duration_s < RENDEZVOUS_S


def find_container_fault(folder: RunFolder, found: Container | None) -> str | None:
    """Why the container runtime started nothing, in its own words; None if it did, or if there is none.

    It says so at the beginning of a log: what stands behind lines of a training is the training's own.
    """
    if found is None:
        return None
    for log in folder.logs():
        with open(log.path, errors="replace") as lines:
            if said := found.runtime.said(islice(lines, RUNTIME_LINES)):
                return Message("system.of", name=found.runtime.name, what=redaction.redact(said)[:REASON_CHARACTERS])
    return None
