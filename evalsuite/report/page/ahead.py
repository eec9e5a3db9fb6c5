"""Figures drawn ahead: a second process draws those at the end of the page while the page is filled from its beginning.

Both keep what they draw in the cache of figures, and neither draws what the other has: they meet in the middle. The
page does not depend on it: what is not in the cache when it is needed is drawn then.
"""

import contextlib
import multiprocessing
import os
import signal
from collections.abc import Iterator
from multiprocessing.synchronize import Event

from evalsuite.report.sections import block_figures, repeats
from evalsuite.report.sections.section import Subject

WORTH_A_PROCESS = 100  # planned cases; below that starting it costs more than it saves


@contextlib.contextmanager
def drawn_ahead(subject: Subject) -> Iterator[None]:
    """While this holds, the figures of the models are drawn into the cache from the last to the first."""
    if len(subject.book.planned) < WORTH_A_PROCESS or subject.look.cache is None or len(os.sched_getaffinity(0)) < 2:
        yield
        return
    forked = multiprocessing.get_context("fork")
    enough = forked.Event()
    process = forked.Process(target=_draw, args=(enough, subject), daemon=True)
    process.start()
    try:
        yield
    finally:
        enough.set()
        process.join()


def _draw(enough: Event, subject: Subject) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches both; the page's process says so
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    look, words = subject.look, subject.words
    repeats.drawn(subject.book, subject.blocks, look, words)
    for block in reversed(subject.blocks):
        if enough.is_set():
            return
        block_figures.of_block(block, look, words)
