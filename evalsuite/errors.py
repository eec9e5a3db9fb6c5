"""What the user can mend, and the exit codes of every command (docs/contracts.md#exit-codes)."""

import errno
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


# What the machine lacks, in words, and what to do; nothing of it is a defect of ours, wherever it is met.
_LACKS = {
    errno.ENOSPC: ("the disk is full", "Free some space, or name a folder on another disk; what is finished is kept."),
    errno.EDQUOT: ("your quota is used up", "Free some space, or name a folder elsewhere; what is finished is kept."),
    errno.EFBIG: ("the file may not grow further", "Look at `ulimit -f`; what is finished is kept."),
    errno.EROFS: (
        "it is on a read-only file system",
        "Name a folder that can be written; EVALSUITE_CACHE names the cache.",
    ),
    errno.EACCES: ("it may not be used by you", "Name a folder of yours; EVALSUITE_CACHE names the cache."),
    errno.EPERM: ("the system does not permit it", "Name a folder of yours; EVALSUITE_CACHE names the cache."),
    errno.EMFILE: ("too many files are open", "Look at `ulimit -n`; 256 are enough for most machines."),
    errno.ENFILE: ("too many files are open on this machine", "End other programs, and start again."),
    errno.ENAMETOOLONG: ("the name is too long for the file system", "Name a folder that lies less deep."),
    errno.ENOMEM: ("there is no memory left", "End other programs, or look at `ulimit -v`."),
    errno.ENOTDIR: ("a file stands where a folder is needed", "Name another folder."),
    errno.EISDIR: ("a folder stands where a file is needed", "Name a file."),
    errno.ELOOP: ("its links lead in a circle", "Name the file itself."),
    errno.EIO: ("the device cannot be read or written", "Look at the machine's own log (`dmesg`)."),
    errno.ESTALE: ("the file system has lost it", "Is the share still mounted? Start again; what is finished is kept."),
    errno.ENOLCK: ("the file system gives no locks", "Name a folder on another file system."),
    errno.ENOSYS: ("the file system gives no locks", "Mount it with locks (Lustre: -o flock), or name another folder."),
    errno.EOPNOTSUPP: (
        "the file system gives no locks",
        "Mount it with locks (Lustre: -o flock), or name another folder.",
    ),
}


def of_machine(error: OSError, where: object = None) -> EvalsuiteError | None:
    """What to say of an *error* that the machine's state explains; None if it does not, and the defect is ours.

    *where*: what was written or read, if the error itself does not say it.
    """
    if error.errno not in _LACKS:
        return None
    lack, advice = _LACKS[error.errno]
    place, said = error.filename or where, f"{lack} ({error.strerror}). {advice}"
    return EvalsuiteError(f"{place}: {said}" if place else said)


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
    return f" Did you mean {near[0]}?" if near else ""
