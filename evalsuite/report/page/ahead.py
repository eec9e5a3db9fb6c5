"""The work on a large report that a second process takes over.

While a page is filled from its beginning, another process draws the figures at its end. Both keep what they draw in the
cache of figures, and neither draws what the other has: they meet in the middle. The page does not depend on it: what is
not in the cache when it is needed is drawn then. Before that it works out what the page says last (`Later`), and after
it writes what stands beside the page. The parts of a report that one page cannot hold are filled by two.
"""

import contextlib
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from multiprocessing.synchronize import Event
from typing import TextIO

from evalsuite import processes
from evalsuite.report.sections.common.section import Subject
from evalsuite.report.sections.models import block_figures
from evalsuite.report.sections.quality import machine_noise, repeats

Work = Callable[[], object]
TICKET_BYTES = 2
MOST_WORKS = 16_384  # whose tickets a pipe holds (pipe(7): 64 KiB)
WORTH_A_PROCESS = 100  # planned cases; below that starting it costs more than it saves


class Later:
    """A short text that another process works out while this one goes on; where none does, or it fails, this one."""

    def __init__(self, made: Callable[[], str]) -> None:
        self._made = made
        self._known = ""
        self._told: TextIO | None = None

    def __call__(self) -> str:
        if not self._known:
            self._known = (self._told.read() if self._told else "") or self._made()
        return self._known

    def comes_from(self, told: TextIO | None) -> None:
        """Where another process says it; None: nowhere."""
        self._told = told


@contextlib.contextmanager
def helped(subject: Subject, first: Later, beside: Sequence[Work] = ()) -> Iterator[Callable[[], None]]:
    """While this holds, another process draws the figures of *subject* into the cache, from the last to the first.

    Before that it works out *first*. Told by a call of what is given that there are enough figures, it goes on to
    *beside*, works that write files and know nothing of the page. They are done when this ends, here if the other
    process is not worth its start or fails.
    """
    if len(subject.book.planned) < WORTH_A_PROCESS or subject.look.cache is None or processes.cores() < 2:
        yield lambda: None
        _do(beside)
        return
    _draw_first(subject)
    forked = multiprocessing.get_context("fork")
    enough = forked.Event()
    told, tell = os.pipe()
    process = forked.Process(target=_help, args=(enough, subject, first, tell, beside), daemon=True)
    process.start()
    os.close(tell)
    try:
        with open(told, encoding="ascii") as file:
            first.comes_from(file)
            yield enough.set
    except BaseException:
        process.terminate()
        raise
    finally:
        first.comes_from(None)
        enough.set()
        process.join()
    if process.exitcode:
        _do(beside)


def shared(works: Sequence[Work]) -> None:
    """Does each of *works*, which write files and know nothing of one another, in two processes if there are two cores.

    Each takes the next that is left. If the other process ends badly, all is done again here, where it can be said why.
    """
    if not 1 < len(works) <= MOST_WORKS or processes.cores() < 2:
        _do(works)
        return
    tickets, write = os.pipe()
    os.write(write, b"".join(place.to_bytes(TICKET_BYTES) for place in range(len(works))))
    os.close(write)
    process = multiprocessing.get_context("fork").Process(target=_other, args=(works, tickets), daemon=True)
    process.start()
    try:
        _do(_left(works, tickets))
    except BaseException:
        process.terminate()
        raise
    finally:
        process.join()
        os.close(tickets)
    if process.exitcode:
        _do(works)


def _left(works: Sequence[Work], tickets: int) -> Iterator[Work]:
    """Of *works* those that no other process has taken. A pipe gives each ticket to one that asks, without a lock."""
    while ticket := os.read(tickets, TICKET_BYTES):
        yield works[int.from_bytes(ticket)]


def _do(works: Iterable[Work]) -> None:
    for work in works:
        work()


def _other(works: Sequence[Work], tickets: int) -> None:
    _quietly()
    _do(_left(works, tickets))


def _quietly() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches both; the page's process says so
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # what goes wrong is said where it is done again


def _help(enough: Event, subject: Subject, first: Later, tell: int, beside: Sequence[Work]) -> None:
    _quietly()
    os.write(tell, first().encode("ascii"))
    os.close(tell)
    _draw(enough, subject)
    _do(beside)


def _draw_first(subject: Subject) -> None:
    """Draws before the processes part what the page begins with: if it must be, what draws is then loaded for both."""
    for block in subject.blocks[:1]:
        block_figures.of_block(block, subject.look, subject.words)


def _draw(enough: Event, subject: Subject) -> None:
    look, words = subject.look, subject.words
    machine_noise.draw_noise(subject.book, look, words)
    repeats.draw_repeats(subject.book, subject.blocks, look, words)
    for block in reversed(subject.blocks):
        if enough.is_set():
            return
        block_figures.of_block(block, look, words)
