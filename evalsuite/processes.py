"""The same work on many things by a process on each core: this one, and forked ones that know all that it knows.

Each takes the next thing that is left. `multiprocessing.Pool` does it, too, but to import and to end it takes as long
as to read ten logs.
"""

import contextlib
import gc
import os
import pickle
import select
import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

MOST_TICKETS = 8192  # that a pipe holds (pipe(7): 64 KiB); of more things several go by one ticket
TICKET_BYTES = 4
LENGTH_BYTES = 8
PIPE_BYTES = 1 << 16

Thing = TypeVar("Thing")
Made = TypeVar("Made")


@dataclass(kw_only=True)
class _Helper:
    """A forked process: what it has sent, and not been taken apart yet."""

    process: int
    results: int  # file descriptor to read from; non-blocking
    sent: bytearray = field(default_factory=bytearray)
    ended: bool = False


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def shared(
    work: Callable[[Thing], Made], things: Sequence[Thing], cores: int, meanwhile: Callable[[], object]
) -> Iterator[Made]:
    """What *work* makes of each of *things*, in their order, on so many *cores*.

    *meanwhile* is done here first, while the others have begun. What a process that ends badly leaves is done here.
    """
    tickets, write = os.pipe()
    at_once = -(-len(things) // MOST_TICKETS)
    os.write(write, b"".join(place.to_bytes(TICKET_BYTES) for place in range(0, len(things), at_once)))
    os.close(write)
    gc.freeze()  # what is known now stays: no process needs to look at it, and to copy its pages by doing so
    helpers: list[_Helper] = []
    for _ in range(min(cores, len(things)) - 1):
        helpers.append(_helper(work, things, tickets, at_once, helpers))
    made: dict[int, Made] = {}
    given = 0
    try:
        meanwhile()
        for place in _places(tickets, at_once, len(things)):
            made[place] = work(things[place])
            _take(helpers, made, wait=False)
            while given in made:
                yield made.pop(given)
                given += 1
        while not all(helper.ended for helper in helpers):
            _take(helpers, made, wait=True)
        for place in range(given, len(things)):
            yield made.pop(place) if place in made else work(things[place])
    finally:
        gc.unfreeze()
        os.close(tickets)
        for helper in helpers:
            _end(helper)


def _places(tickets: int, at_once: int, most: int) -> Iterator[int]:
    """The places that no other process has taken. A pipe gives each ticket to one that asks, without a lock."""
    while ticket := os.read(tickets, TICKET_BYTES):
        begin = int.from_bytes(ticket)
        yield from range(begin, min(begin + at_once, most))


def _helper(
    work: Callable[[Thing], Made], things: Sequence[Thing], tickets: int, at_once: int, others: Sequence[_Helper]
) -> _Helper:
    results, write = os.pipe()
    process = os.fork()
    if process:
        os.close(write)
        os.set_blocking(results, False)
        return _Helper(process=process, results=results)
    ended_well = False
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all; the first process says so
        for mine in (results, *(other.results for other in others)):
            os.close(mine)  # only the first process reads: if that is killed, sending fails, and this one ends
        os.set_blocking(write, False)
        left = bytearray()
        for place in _places(tickets, at_once, len(things)):
            told = pickle.dumps((place, work(things[place])))
            left += len(told).to_bytes(LENGTH_BYTES) + told
            _send(write, left)
        os.set_blocking(write, True)
        while left:
            _send(write, left)
        ended_well = True
    finally:
        os._exit(0 if ended_well else 1)  # nothing of the first process is ended or written twice


def _send(write: int, left: bytearray) -> None:
    """Sends as much of *left* as the pipe takes: the first process reads it between two of its own works."""
    with contextlib.suppress(BlockingIOError):
        del left[: os.write(write, left[:PIPE_BYTES])]


def _take(helpers: Sequence[_Helper], made: dict[int, Made], *, wait: bool) -> None:
    """Puts what the *helpers* have sent to what is *made*; *wait*: until one of them has sent something."""
    running = {helper.results: helper for helper in helpers if not helper.ended}
    ready, _, _ = select.select(running, (), (), None if wait else 0)
    for results in ready:
        helper = running[results]
        told = os.read(results, PIPE_BYTES)
        helper.ended = not told
        helper.sent += told
        made.update(_whole(helper.sent))


def _whole(sent: bytearray) -> Iterator[tuple[int, Any]]:
    """The results that have come whole, taken out of what was *sent*."""
    while len(sent) >= LENGTH_BYTES:
        end = LENGTH_BYTES + int.from_bytes(sent[:LENGTH_BYTES])
        if len(sent) < end:
            return
        yield pickle.loads(sent[LENGTH_BYTES:end])
        del sent[:end]


def _end(helper: _Helper) -> None:
    os.close(helper.results)
    if not helper.ended:
        with contextlib.suppress(ProcessLookupError):
            os.kill(helper.process, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(helper.process, 0)
