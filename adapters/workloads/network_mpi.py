"""What `network` measures, over the MPI that mpirun belongs to: for scripts that mpirun starts.

Nothing but the standard library: the functions of Open MPI's library are called as mpi.h (4.1, 5.0) declares them, so
that it needs neither mpi4py nor the framework's own environment.
"""

import argparse
import ctypes
import json
import os
import shutil
import time
from pathlib import Path

import network_measures as measures
from network_measures import say

LIBRARY = "libmpi.so.40"  # of Open MPI 4 and 5
TEXT_BYTES = 512  # of what one rank tells of its storage
VERSION_BYTES = 256  # MPI_MAX_LIBRARY_VERSION_STRING


class Mpi:
    """All ranks that mpirun started."""

    def __init__(self) -> None:
        self._library = _library()
        self._call("MPI_Init", None, None)
        self._world = self._named("ompi_mpi_comm_world")
        self.rank, self.size = self._number("MPI_Comm_rank"), self._number("MPI_Comm_size")

    def __enter__(self) -> "Mpi":
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if error is None:  # else mpirun ends the others: a rank that fails must not wait for them
            self._call("MPI_Finalize")

    def version(self) -> str:
        """`Open MPI v4.1.4, package: …` → Open MPI 4.1.4."""
        text, length = ctypes.create_string_buffer(VERSION_BYTES), ctypes.c_int()
        self._call("MPI_Get_library_version", text, ctypes.byref(length))
        return text.value.decode(errors="replace").partition(",")[0].replace(" v", " ")

    def barrier(self) -> None:
        self._call("MPI_Barrier", self._world)

    def summed(self, values: ctypes.Array, into: ctypes.Array) -> None:
        """The sum over all ranks of each of *values*, single-precision numbers."""
        kind, how = self._named("ompi_mpi_float"), self._named("ompi_mpi_op_sum")
        self._call("MPI_Allreduce", values, into, len(values), kind, how, self._world)

    def longest(self, seconds: list[float]) -> list[float]:
        """The greatest of all ranks for each."""
        own = (ctypes.c_double * len(seconds))(*seconds)
        found = (ctypes.c_double * len(seconds))()
        kind, how = self._named("ompi_mpi_double"), self._named("ompi_mpi_op_max")
        self._call("MPI_Allreduce", own, found, len(seconds), kind, how, self._world)
        return list(found)

    def gathered(self, text: str) -> list[str]:
        """The texts of all ranks, on rank 0."""
        own = ctypes.create_string_buffer(text.encode(), TEXT_BYTES)
        all_of_them = ctypes.create_string_buffer(TEXT_BYTES * self.size)
        kind = self._named("ompi_mpi_byte")
        self._call("MPI_Gather", own, TEXT_BYTES, kind, all_of_them, TEXT_BYTES, kind, 0, self._world)
        pieces = (all_of_them.raw[place : place + TEXT_BYTES] for place in range(0, len(all_of_them), TEXT_BYTES))
        return [piece.rstrip(b"\0").decode() for piece in pieces]

    def _number(self, name: str) -> int:
        found = ctypes.c_int()
        self._call(name, self._world, ctypes.byref(found))
        return found.value

    def _named(self, name: str) -> ctypes.c_void_p:
        """The address of one of the library's own objects, which mpi.h passes for MPI_COMM_WORLD and the like."""
        return ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(self._library, name)))

    def _call(self, name: str, *arguments: object) -> None:
        if code := getattr(self._library, name)(*arguments):
            raise SystemExit(f"{name} failed with code {code}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, required=True, help="on the storage that is to be read")
    arguments = parser.parse_args()
    with Mpi() as mpi:
        say(mpi.rank, {"measured": "with", "backend": "mpi", "tool": mpi.version()})
        for size in measures.SIZES:
            say(mpi.rank, {"measured": "all_reduce", "bytes": size, "seconds": reductions(mpi, size)})
        first_of_node = os.environ.get("OMPI_COMM_WORLD_LOCAL_RANK") == "0"
        own = json.dumps(measures.reading(arguments.folder, mpi.rank)) if first_of_node else ""
        for text in filter(None, mpi.gathered(own)):
            say(mpi.rank, {"measured": "read", **json.loads(text)})


def reductions(mpi: Mpi, size: int) -> list[float]:
    """Seconds of each all-reduce of *size* bytes, of the slowest rank."""
    values = (ctypes.c_float * (size // 4))()
    found = (ctypes.c_float * (size // 4))()
    for buffer in (values, found):
        ctypes.memset(buffer, 1, size)  # a page that nobody has written to is not there yet; 0x01010101 is 2e-38

    def reduction() -> float:
        mpi.barrier()
        begun = time.perf_counter()
        mpi.summed(values, found)
        return time.perf_counter() - begun

    return measures.reductions(reduction, mpi.longest)


def _library() -> ctypes.CDLL:
    """The library beside the mpirun on the PATH, else the one that the loader finds. It loads parts of its own, which
    look for its names among all."""
    mpirun = shutil.which("mpirun")
    beside = Path(mpirun).resolve().parents[1] / "lib" / LIBRARY if mpirun else None
    where = str(beside) if beside and beside.is_file() else LIBRARY
    try:
        return ctypes.CDLL(where, mode=ctypes.RTLD_GLOBAL)
    except OSError as error:
        raise SystemExit(f"{where}: {error}; expected Open MPI's library, as for mpi4py") from error


if __name__ == "__main__":
    main()
