"""The same work on many things by a forked process on each core. They know all that this one knows."""

import gc
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

AT_ONCE = 8  # things that a process takes; a few more chances to share what is left evenly than it costs

Thing = TypeVar("Thing")
Made = TypeVar("Made")

_shared: tuple[Callable[[Any], Any], Sequence[Any]]  # what forked processes work on: it need not be pickled


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def shared(
    work: Callable[[Thing], Made], things: Sequence[Thing], cores: int, meanwhile: Callable[[], object]
) -> Iterator[Made]:
    """What *work* makes of each of *things*, in their order, by so many processes. What it raises is raised here.

    *meanwhile* is done here while they begin. If a process is killed, the rest is done here.
    """
    global _shared
    _shared = (work, things)
    gc.freeze()  # what is known now stays: no process looks at it, and copies its pages by doing so
    forked = multiprocessing.get_context("fork")
    pool = ProcessPoolExecutor(min(cores, len(things)), forked, signal.signal, (signal.SIGINT, signal.SIG_IGN))
    done = 0
    try:
        results = pool.map(_work_at, range(len(things)), chunksize=AT_ONCE)
        meanwhile()
        for made in results:
            done += 1
            yield made
    except BrokenProcessPool:
        yield from map(work, things[done:])
    finally:
        pool.shutdown(cancel_futures=True)
        gc.unfreeze()


def _work_at(place: int) -> Any:
    work, things = _shared
    return work(things[place])
