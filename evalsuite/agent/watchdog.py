"""Two processes that watch each other, so that killing either does not leave the training behind.

A launcher may kill the agent without notice: mpirun sends SIGKILL one second after SIGTERM (Open MPI 4,
`odls_base_sigkill_timeout`), and the kernel when memory runs out. So the agent works in a child, and the process that
the launcher knows is a watchdog that passes signals down and the exit status up. If either is killed, the other ends
the tree. If asked to, the watchdog also ends the run when the launcher has died.
"""

import contextlib
import os
import signal

from evalsuite.machine import process_tree

POLL_S = 1.0
KILL_S = 5.0


def start_watchdog(end_with_parent: bool = False) -> None:
    """Returns in a child that does the work; the caller's process exits as the child does.

    *end_with_parent*: the run ends when our parent is gone. Call it before any thread starts.
    """
    process_tree.adopt_orphans()
    launcher = os.getppid() if end_with_parent else None
    watchdog = os.getpid()
    with process_tree.hold_signals() as asked_for:
        child = os.fork()
        if child:
            os._exit(_watch(child, asked_for, launcher))
        os.setsid()  # a launcher may kill our process group
        process_tree.be_told_of_parents_death(signal.SIGTERM)
        if os.getppid() != watchdog:
            os._exit(128 + signal.SIGKILL)


def _watch(child: int, asked_for: set[int], launcher: int | None) -> int:
    status = None
    while status is None:
        caught = signal.sigtimedwait(asked_for, POLL_S)
        if caught and caught.si_signo != signal.SIGCHLD:
            process_tree.send([child], caught.si_signo)
        if launcher is not None and os.getppid() != launcher:
            process_tree.send([child], signal.SIGTERM)
            launcher = None
        status = _status(child)
    process_tree.end_descendants(first=signal.SIGKILL, grace_s=0.0, kill_s=KILL_S)
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)


def _status(child: int) -> int | None:
    with contextlib.suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            if ended[0] == child:
                return ended[1]
    return None
