"""A fixed computation, timed before each block of runs: it tells a drifting machine from a slow framework."""

import hashlib
import time
from concurrent.futures import ThreadPoolExecutor

from evalsuite.machine import cores

ITERATIONS = 400_000  # of SHA-256 on each core: some tenths of a second
BEST_OF = 3  # a program that comes by for a moment is no drift


def measure_seconds() -> float:
    """Seconds of the computation on all usable cores at once; the fastest of three."""
    count = len(cores.usable().cores)
    with ThreadPoolExecutor(count) as pool:  # hashlib lets go of the interpreter's lock
        return min(_once(pool, count) for _ in range(BEST_OF))


def _once(pool: ThreadPoolExecutor, count: int) -> float:
    began = time.perf_counter()
    list(pool.map(_work, range(count)))
    return time.perf_counter() - began


def _work(core: int) -> bytes:
    return hashlib.pbkdf2_hmac("sha256", b"evalsuite", bytes([core % 256]), ITERATIONS)
