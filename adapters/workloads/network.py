"""What the network and the storage of an allocation give: an all-reduce of several sizes, and a file read back.

No training: beside the throughput of one it says what its communication has to work with. By torch.distributed, over
gloo or NCCL as the workloads. Rank 0 prints a line of JSON for each thing measured.
"""

import argparse
import json
import os
import socket
import time
from pathlib import Path

import torch
from torch import distributed

SIZES = (1 << 10, 1 << 15, 1 << 20, 1 << 25, 1 << 27)  # bytes; ResNet-50's gradients are 102 MB
WARM_UP = 3
MOST, LONGEST_S = 20, 2.0  # reductions of one size, and how long they may take together
FILE_BYTES, CHUNK_BYTES = 1 << 28, 1 << 22


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", choices=("cpu", "gpu"), required=True)
    parser.add_argument("--folder", type=Path, required=True, help="on the storage that is to be read")
    arguments = parser.parse_args()
    rank, local_rank = int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"])
    backend = "nccl" if arguments.device == "gpu" else "gloo"
    device = torch.device("cuda", local_rank) if arguments.device == "gpu" else torch.device("cpu")
    if arguments.device == "gpu":
        torch.cuda.set_device(device)
    distributed.init_process_group(backend)
    say(rank, {"measured": "with", "backend": backend, "tool": f"PyTorch {torch.__version__}"})
    for size in SIZES:
        say(rank, {"measured": "all_reduce", "bytes": size, "seconds": reductions(size, device)})
    own = [reading(arguments.folder, rank)] if local_rank == 0 else []
    everywhere = [None] * distributed.get_world_size()
    distributed.all_gather_object(everywhere, own)
    for found in (one for each in everywhere for one in each):
        say(rank, {"measured": "read", **found})
    distributed.destroy_process_group()


def reductions(size: int, device: torch.device) -> list[float]:
    """Seconds of each all-reduce of *size* bytes, of the slowest rank."""
    values = torch.ones(size // 4, dtype=torch.float32, device=device)
    for _ in range(WARM_UP):
        reduction(values)
    # All ranks must do as many: the slowest first one says how many fit.
    times = [slowest(reduction(values), device)]
    times += [reduction(values) for _ in range(min(MOST, int(LONGEST_S / times[0])) - 1)]
    return [round(each, 9) for each in [times[0], *together(times[1:], device)]]


def reduction(values: torch.Tensor) -> float:
    """Seconds of one. The sum is divided again, so that many of them do not overflow."""
    distributed.barrier()
    wait_for(values.device)
    begun = time.perf_counter()
    distributed.all_reduce(values)
    wait_for(values.device)
    passed = time.perf_counter() - begun
    values /= distributed.get_world_size()
    return passed


def slowest(seconds: float, device: torch.device) -> float:
    return together([seconds], device)[0]


def together(seconds: list[float], device: torch.device) -> list[float]:
    """The longest of all ranks for each."""
    if not seconds:
        return []
    longest = torch.tensor(seconds, dtype=torch.float64, device=device)
    distributed.all_reduce(longest, op=distributed.ReduceOp.MAX)
    return longest.tolist()


def wait_for(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


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


if __name__ == "__main__":
    main()
