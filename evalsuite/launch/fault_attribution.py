"""Whether the framework failed or the infrastructure: launcher, nodes, network. A run that the infrastructure failed
says nothing of the framework and is made again."""

import re
import shutil
from collections.abc import Mapping
from itertools import islice

from evalsuite.core import files, redaction
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.messages import Message
from evalsuite.core.model import Case
from evalsuite.plan.containers import Container
from evalsuite.runs.endings import CANNOT_EXECUTE, NOT_FOUND, AgentOutcome
from evalsuite.runs.store import RunFolder

LONGEST = 500
# "srun: error: …", "ssh: Could not resolve hostname b: …", "Host key verification failed.", "ORTE was unable to …"
_TELLING = re.compile(
    r"evalsuite sample:|error|\bssh: |\bunable\b|\bcannot\b|could not|not found|no such|refused|denied|failed|"
    r"unreachable|timed out|not enough slots",
    re.IGNORECASE,
)
# "plm:ssh: Warning: setpgid(2937,2937) failed in parent …" of Open MPI 5; "evalsuite sample: waiting: b takes its turn"
_ASIDE = re.compile(r"\bwarning\b|evalsuite sample: waiting:", re.IGNORECASE)
# what ssh(1) itself says before it ends with 255: "ssh: connect to host b port 22: No route to host",
# "Host key verification failed.", "me@b: Permission denied (publickey).", "Connection closed by 10.0.0.2 port 22"
UNREACHED = re.compile(
    r"^ssh: |^Host key verification failed|: Permission denied \(|^kex_exchange_identification: |^Connection "
    r"(closed|reset) by "
)
# Open MPI 4 and 5, on a line of its own: "ORTE has lost communication with a remote daemon."
_LOST_DAEMON = re.compile(r"has lost communication with a remote daemon")
RUNTIME_LINES = 20  # pulling an image prints a line or two
CANNOT_START = (CANNOT_EXECUTE, NOT_FOUND)
RENDEZVOUS_S = 20.0  # no framework waits shorter for a missing node (Gloo and Horovod: 30 s)


def find_infrastructure_fault(folder: RunFolder, case: Case) -> str | None:
    """By the records that each node's agent leaves at its start and end; None if every node did its part."""
    agents = folder.agents()
    started, ended = set(folder.environments()), set(agents)
    if not started and not ended:
        return Message("launch.run_no_agent")
    if lost := sorted(started - ended):
        return Message("launch.run_agent_lost", nodes=lost)
    by_itself = [each for each in agents.values() if not (each.interrupted_by or each.signal)]
    # before it could wait for another node: the launcher then ends agents that leave no record
    at_once = [each for each in by_itself if each.exit_code != 0 and each.duration_s < RENDEZVOUS_S]
    if len(ended) < case.nodes and all(each.timed_out or each.error for each in at_once):
        return Message("launch.run_nodes_lost", lost=case.nodes - len(ended), nodes=case.nodes)
    return None


def find_lacking_program(agents: Mapping[str, AgentOutcome], program: str) -> str | None:
    """Why the training starts on some hosts alone; None where it starts nowhere: that is the recipe's own matter."""
    errors = {host: agent.error for host, agent in agents.items() if agent.error and agent.exit_code in CANNOT_START}
    if not errors or (len(errors) == len(agents) and shutil.which(program) is None):
        return None
    return Message("system.of", name=sorted(errors), what=next(iter(errors.values())))


def find_container_fault(folder: RunFolder, container: Container | None) -> str | None:
    """Why the container runtime started nothing, by the first lines of a log; None if it did."""
    if container is None:
        return None
    runtime = container.runtime
    for log in folder.logs():
        with files.open_file(log.path) as lines:
            first = (line.decode(errors="replace") for line in islice(lines, RUNTIME_LINES))
            if said := next((line.strip() for line in first if re.match(runtime.complaint, line)), None):
                return Message("system.of", name=runtime.name, what=redaction.redact(said)[:LONGEST])
    return None


def find_changes(folder: RunFolder, asked: Mapping[str, str], nodes: int) -> str | None:
    """*asked*: name → hash at the start. A record that no agent wrote counts too: it would be read."""
    changed = folder.others(asked)
    try:
        agents = folder.agents()
    except EvalsuiteError as error:
        return Message("launch.file_changed", error=error)
    held = {name: digest for agent in agents.values() for name, digest in (agent.sha256 or {}).items()}
    changed += folder.others(held)
    if len(agents) > nodes:
        changed += tuple(f"agent.{host}.json" for host in agents if not folder.environment_path(host).is_file())
        changed = changed or ("agent.*.json",)
    if len(agents) == nodes and all(agent.sha256 is not None for agent in agents.values()):
        changed += tuple(name for name in folder.recorded() if name not in held)
    return None if not changed else Message("launch.run_changed", files=dict.fromkeys(changed))


def find_reason(text: str) -> str:
    """The first line that names a failure, since later ones follow from it; else the last line; "" if there is none.
    The loss of a node goes first: errors at the start did not end the run."""
    lines = [line.strip() for line in text.splitlines() if any(letter.isalnum() for letter in line)]
    if node := next(filter(_LOST_DAEMON.search, lines), None):
        return node
    telling = next((line for line in lines if _TELLING.search(line) and not _ASIDE.search(line)), None)
    return (telling or (lines[-1] if lines else ""))[:LONGEST]
