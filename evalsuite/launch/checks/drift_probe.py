"""A fixed computation, timed before each block of runs: it tells a drifting machine from a slow framework."""

import hashlib
import time
from concurrent.futures import ThreadPoolExecutor

from evalsuite.machine import cores

PIECE = bytes(1 << 20)
PIECES = 160  # on each core: some tenths of a second. No memory is asked for, which takes ages where there is none
BEST_OF = 3  # a program that comes by for a moment is no drift


def measure_seconds() -> float:
    """Seconds of the computation on all usable cores at once; the fastest of three."""
    count = len(cores.usable())
    with ThreadPoolExecutor(count) as pool:  # hashlib lets go of the interpreter's lock
        return min(_once(pool, count) for _ in range(BEST_OF))


def _once(pool: ThreadPoolExecutor, count: int) -> float:
    began = time.perf_counter()
    list(pool.map(_work, range(count)))
    return time.perf_counter() - began


def _work(core: int) -> bytes:
    hashed = hashlib.sha256()
    for _ in range(PIECES):
        hashed.update(PIECE)
    return hashed.digest()
