"""Signals that the main thread takes one by one."""

import contextlib
import signal
from collections.abc import Iterator

ENDING = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT})
PASSED_ON = frozenset({signal.SIGUSR1, signal.SIGUSR2})


@contextlib.contextmanager
def hold_signals() -> Iterator[set[int]]:
    """Holds signals back for `signal.sigtimedwait`; gives the set to ask for, with SIGCHLD.

    What this process was told to ignore (nohup, `&` in a script) stays ignored.
    """
    child_before = signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # if ignored, exit codes are lost
    heeded = {number for number in ENDING | PASSED_ON if signal.getsignal(number) != signal.SIG_IGN}
    asked_for: set[int] = heeded | {signal.SIGCHLD}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, asked_for)
    try:
        yield asked_for
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        signal.signal(signal.SIGCHLD, child_before)


def name(number: int | None) -> str | None:
    """`2` → "SIGINT"."""
    if number is None:
        return None
    return signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
