"""What the user can mend, and the exit codes of all commands (docs/contracts.md#exit-codes)."""

import errno
from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import Self, TypeVar

from evalsuite.core.messages import Message

Known = TypeVar("Known")


class Exit(IntEnum):
    DONE = 0
    DEFECT = 1  # in evalsuite
    USAGE = 2  # or unreadable input
    NOTHING_MEASURED = 3
    SOME_FAILED = 4
    CRITERION_FAILED = 5  # or an audit
    UNDETERMINED = 6
    INTERRUPTED = 128 + 2  # as shells have it: the same line goes on

    @classmethod
    def of(cls, good: int, every: int) -> Self:
        """Whether nothing, some or all of *every* had a result."""
        if not good:
            return cls.NOTHING_MEASURED
        return cls.DONE if good == every else cls.SOME_FAILED


class EvalsuiteError(Exception):
    """An error the user can mend: where, "got …", "expected …", what to try."""

    exit_code: int = Exit.USAGE

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    @classmethod
    def of(cls, id: str, /, **values: object) -> Self:
        return cls(Message(id, **values))


class NothingMeasured(EvalsuiteError):
    exit_code = Exit.NOTHING_MEASURED


class Contradicts(EvalsuiteError):
    exit_code = Exit.CRITERION_FAILED


class Gone(EvalsuiteError):
    exit_code = Exit.UNDETERMINED


# States of the machine, no defects of evalsuite, and by which words they are told.
_NAMES = (
    "enospc edquot efbig erofs eacces emfile enfile enametoolong enomem enotdir eisdir eloop eio estale enosys enxio"
)
_STATES = {getattr(errno, name.upper()): name for name in _NAMES.split()}
_STATES |= {errno.ENOTSUP: "enosys", errno.ENOLCK: "enosys", errno.EEXIST: "enotdir", errno.EPERM: "eacces"}


def of_machine(error: OSError, where: object = None) -> EvalsuiteError | None:
    """The message of an *error* that the machine's state explains; else None: a defect of evalsuite. *where*: what was
    written or read, if the error does not say it."""
    if isinstance(error, FileNotFoundError) and not error.filename:  # the working folder
        error, where = OSError(errno.ESTALE, error.strerror), "."
    if isinstance(error.strerror, Message):  # said where it was refused
        return EvalsuiteError.of("system.lacks_at", path=error.filename or where, what=error.strerror)
    if (name := _STATES.get(error.errno)) is None:
        return None
    state, advice = (Message(f"system.{part}_{name}") for part in ("state", "try"))
    what = Message("system.lacks", state=state, error=error, advice=advice)
    place = error.filename or where
    return EvalsuiteError(Message("system.lacks_at", path=place, what=what) if place else what)


def for_terminal(message: str) -> str:
    """*message* without secrets and control characters."""
    from evalsuite.core import redaction  # slow, and rarely needed

    text = redaction.redact(message)
    return "".join(letter if letter.isprintable() or letter == "\n" else "\N{REPLACEMENT CHARACTER}" for letter in text)


def did_you_mean(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """ " Did you mean …?" with the first of *known* that goes on as *name* does, or else the nearest; or "". *cutoff*:
    difflib's, 0 takes anything."""
    import difflib  # slow, and rarely needed

    known = list(known)
    begun = [each for each in known if name and each.startswith(name)]
    near = begun or difflib.get_close_matches(name, known, n=1, cutoff=cutoff)
    return Message("system.near", name=near[0]) if near else ""


def look_up(id: str, known: Mapping[str, Known], name: str, **values: object) -> Known:
    """Raises EvalsuiteError *id* with the name, the nearest that there is, and *values*."""
    if name not in known:
        raise EvalsuiteError.of(id, name=name, near=did_you_mean(name, known, 0.4), **values)
    return known[name]
