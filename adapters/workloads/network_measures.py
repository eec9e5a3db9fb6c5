"""What is measured of a network and a storage, whatever sends: the sizes, how often, and a file read back."""

import json
import os
import socket
import time
from collections.abc import Callable
from pathlib import Path

SIZES = (1 << 10, 1 << 15, 1 << 20, 1 << 25, 1 << 27)  # bytes; ResNet-50's gradients are 102 MB
WARM_UP = 3
MOST, LONGEST_S = 20, 2.0  # reductions of one size, and how long they may take together
FILE_BYTES, CHUNK_BYTES = 1 << 28, 1 << 22


def reductions(reduction: Callable[[], float], together: Callable[[list[float]], list[float]]) -> list[float]:
    """Seconds of each all-reduce, of the slowest rank. *reduction* makes one and gives its seconds here; *together*
    gives the longest of all ranks for each."""
    for _ in range(WARM_UP):
        reduction()
    # All ranks must do as many: the slowest first one says how many fit.
    times = together([reduction()])
    rest = [reduction() for _ in range(min(MOST, int(LONGEST_S / times[0])) - 1)]
    return [round(each, 9) for each in [*times, *(together(rest) if rest else [])]]


def reading(folder: Path, rank: int) -> dict:
    """A file is written, thrown out of this machine's memory, and read from beginning to end."""
    file = folder / f"read.{rank}.bin"
    try:
        with open(file, "wb") as out:
            block = os.urandom(CHUNK_BYTES)
            for _ in range(FILE_BYTES // CHUNK_BYTES):
                out.write(block)
            out.flush()
            os.fsync(out.fileno())
            os.posix_fadvise(out.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        begun = time.perf_counter()
        with open(file, "rb", buffering=0) as again:
            while again.read(CHUNK_BYTES):
                pass
        return {"host": socket.gethostname(), "bytes": FILE_BYTES, "seconds": round(time.perf_counter() - begun, 6)}
    finally:
        file.unlink(missing_ok=True)


def say(rank: int, facts: dict) -> None:
    if rank == 0:
        print(json.dumps(facts), flush=True)
