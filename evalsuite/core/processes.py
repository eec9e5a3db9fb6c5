"""Work on many things by forked processes, which share what this one knows."""

import gc
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

AT_ONCE = 8  # things a process takes at once, of many
TURNS = 50  # or so many times as few: the last are soon done

Thing = TypeVar("Thing")
Made = TypeVar("Made")

_shared: tuple[Callable[[Any], Any], Sequence[Any]]  # forked processes read it: no pickling


def usable_cores() -> list[int]:
    return sorted(os.sched_getaffinity(0))


def shared(
    work: Callable[[Thing], Made],
    things: Sequence[Thing],
    meanwhile: Callable[[], object] = lambda: None,
    *,
    worth: bool = True,
) -> Iterator[Made]:
    """Results in the order of *things*. Raises what *work* raises. *meanwhile* is done here while they work, as is what
    a killed one leaves, and all if it is not *worth* a start."""
    workers = min(len(usable_cores()), len(things)) if worth else 1
    if workers > 1:
        return _forked(work, things, workers, meanwhile)
    meanwhile()
    return map(work, things)


def _forked(
    work: Callable[[Thing], Made], things: Sequence[Thing], workers: int, meanwhile: Callable[[], object]
) -> Iterator[Made]:
    import multiprocessing  # slow, as what is built on it, and one log needs none
    from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor

    global _shared
    _shared = (work, things)
    gc.freeze()  # the collector would copy shared pages
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("fork"), _begin)
    done = 0
    try:
        at_once = min(AT_ONCE, len(things) // (TURNS * workers) + 1)
        results = pool.map(_work_at, range(len(things)), chunksize=at_once)
        meanwhile()
        for done, made in enumerate(results, 1):  # noqa: B007
            yield made
    except BrokenProcessPool:
        yield from map(work, things[done:])
    finally:
        pool.shutdown(cancel_futures=True)
        gc.unfreeze()


def _begin() -> None:
    import multiprocessing

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(multiprocessing.parent_process(),), daemon=True).start()


def _end_with(parent: Any) -> None:
    parent.join()
    os._exit(1)


def _work_at(place: int) -> Any:
    work, things = _shared
    return work(things[place])
