"""This node's turn: the wait until no other evaluation measures here, in an order that lets nobody wait in a circle.

Two evaluations of the same nodes could each hold one and wait for the other. So the nodes of a run take their turn by
name: one waits until those before it have written the facts of their machine, which is done once they hold theirs.
"""

import os
import signal
import sys
import time
from collections.abc import Callable

from evalsuite.agent import node_lock, rendezvous
from evalsuite.agent.node_lock import POLL_S, Presence
from evalsuite.agent.order import Order
from evalsuite.placeholders import Node
from evalsuite.runs.store import RunFolder


def taken(order: Order, *, share: bool, end_with_parent: bool, say: Callable[[str], None]) -> Presence | None:
    """Waits for this node's turn, and says for whom, also in the run folder; None where the machine keeps no order.

    With *share* it runs beside others. Call it in the process that the launcher knows, before any other is started.
    """
    folder = RunFolder(order.folder)
    launcher = os.getppid() if end_with_parent else None
    told = ""

    def waiting(words: str) -> None:
        nonlocal told
        if launcher is not None and os.getppid() != launcher:
            sys.exit(128 + signal.SIGTERM)
        if words != told:
            told = words
            folder.write_waiting(order.host, words)
            say(words)

    for host in before(order.host, rendezvous.node(os.environ)):
        while not folder.environment_path(host).is_file():
            waiting(f"{host} takes its turn first")
            time.sleep(POLL_S)
    found = node_lock.enter(order.folder.resolve(), share=share, waiting=waiting)
    if told:
        folder.write_waiting(order.host, None)
    return found


def before(host: str, place: Node) -> list[str]:
    """The nodes of the run whose turn comes before that of *host*; none where the launcher tells no such names."""
    if len(set(place.hosts)) != place.nodes or host not in place.hosts:
        return []
    return sorted(other for other in place.hosts if other < host)
