"""What the user can mend, and the exit codes of every command (docs/contracts.md#exit-codes)."""

import errno
from collections.abc import Iterable
from enum import IntEnum
from typing import Self

from evalsuite.messages import Message


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
    """An error the user can mend. Its message, a `Message` if it is ours, has four parts: where, "got …", "expected …",
    and what to try.
    """

    exit_code: int = Exit.USAGE

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    @classmethod
    def of(cls, id: str, /, **values: object) -> Self:
        """The error that says the message *id*."""
        return cls(Message(id, **values))


class NothingMeasured(EvalsuiteError):
    """There is no measurement to report."""

    exit_code = Exit.NOTHING_MEASURED


# States of the machine, no defects of ours wherever they are met: what is wrong, and what to do about it.
_STATES = {
    *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM, errno.EMFILE, errno.ENFILE),
    *(errno.ENAMETOOLONG, errno.ENOMEM, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.EIO, errno.ESTALE),
    *(errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP),
}


def of_machine(error: OSError, where: object = None) -> EvalsuiteError | None:
    """What to say of an *error* that the machine's state explains; None if it does not, and the defect is ours.

    *where*: what was written or read, if the error itself does not say it.
    """
    if error.errno not in _STATES:
        return None
    name = errno.errorcode[error.errno].lower()
    state, advice = (Message(f"system.{part}_{name}") for part in ("state", "try"))
    what = Message("system.lacks", state=state, error=error, advice=advice)
    place = error.filename or where
    return EvalsuiteError(Message("system.lacks_at", path=place, what=what) if place else what)


def for_terminal(message: str) -> str:
    """The *message* of an error as a terminal gets it: what it quotes shows no secret and commands nothing."""
    from evalsuite import redaction  # needed only once something is wrong, and every command imports this room

    text = redaction.redacted(message)
    return "".join(letter if letter.isprintable() or letter == "\n" else "\N{REPLACEMENT CHARACTER}" for letter in text)


def did_you_mean(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """The end of a message about an unknown *name*: a question with the nearest of *known*, or nothing.

    *cutoff* is difflib's: 0 takes anything, 1 only the name itself.
    """
    import difflib  # needed only once something is wrong, and every command imports this room

    near = difflib.get_close_matches(name, list(known), n=1, cutoff=cutoff)
    return Message("system.near", name=near[0]) if near else ""
