"""Who failed: the framework, or what the run stood on.

A run whose node agent never started, never came to an end or is missing on a planned node was failed by the
infrastructure (the launcher, a node, the network between them). It says nothing of the framework: it is made again.
"""

from evalsuite.model import Case
from evalsuite.runs.store import RunFolder


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
