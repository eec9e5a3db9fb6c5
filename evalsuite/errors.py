"""What the user can mend, and the exit codes of every command (docs/contracts.md#exit-codes)."""

from collections.abc import Iterable
from enum import IntEnum


class Exit(IntEnum):
    """The exit codes, the same for every command."""

    DONE = 0
    DEFECT = 1  # a defect in evalsuite
    USAGE = 2  # wrong usage or unreadable input
    NOTHING_MEASURED = 3
    SOME_FAILED = 4  # finished, but some runs failed
    CRITERION_FAILED = 5  # a criterion or an audit failed
    UNDETERMINED = 6


class EvalsuiteError(Exception):
    """An error the user can mend: where, what stood there, what was expected, what to try."""

    exit_code: int = Exit.USAGE


class NothingMeasured(EvalsuiteError):
    """There is no measurement to report."""

    exit_code = Exit.NOTHING_MEASURED


def did_you_mean(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """The end of a message about an unknown *name*: a question with the nearest of *known*, or nothing.

    *cutoff* is difflib's: 0 takes anything, 1 only the name itself.
    """
    import difflib  # needed only once something is wrong, and every command imports this room

    near = difflib.get_close_matches(name, list(known), n=1, cutoff=cutoff)
    return f" Did you mean {near[0]}?" if near else ""
