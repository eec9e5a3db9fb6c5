"""Who failed: the framework, or what the run stood on.

A run whose node agent never started, never came to an end or is missing on a planned node was failed by the
infrastructure (the launcher, a node, the network between them). It says nothing of the framework: it is made again.
"""

from itertools import islice

from evalsuite import redaction
from evalsuite.model import Case
from evalsuite.plan.containers import Container
from evalsuite.runs.store import RunFolder

RUNTIME_LINES = 20  # an image that is pulled first says a line or two
REASON_CHARACTERS = 500


def infrastructure(folder: RunFolder, case: Case) -> str | None:
    """What of the infrastructure failed in a run that ended badly; None if every planned node did its part.

    By what the nodes left: an agent writes down its environment when it starts, and how it ended when it is done.
    """
    started, ended = set(folder.environments()), set(folder.agents())
    if not started and not ended:
        return "no node agent was started"
    if lost := sorted(started - ended):
        return f"the node agent was lost on {', '.join(lost)}"
    if len(ended) < case.nodes:
        return f"{case.nodes - len(ended)} of {case.nodes} nodes left no record"
    return None


def container(folder: RunFolder, found: Container | None) -> str | None:
    """Why the container runtime started nothing, in its own words; None if it did, or if there is none.

    It says so at the beginning of a log: what stands behind lines of a training is the training's own.
    """
    if found is None:
        return None
    for log in folder.logs():
        with open(log.path, errors="replace") as lines:
            if said := found.runtime.said(islice(lines, RUNTIME_LINES)):
                return f"{found.runtime.name}: {redaction.redacted(said)[:REASON_CHARACTERS]}"
    return None
