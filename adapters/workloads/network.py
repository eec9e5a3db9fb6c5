"""What the network and the storage of an allocation give: an all-reduce of several sizes, and a file read back.

No training: beside the throughput of one it says what its communication has to work with. By torch.distributed, over
gloo or NCCL as the workloads; `network_mpi` is the same over MPI. Rank 0 prints a line of JSON for each thing measured.
"""

import argparse
import os
import time
from pathlib import Path

import network_measures as measures
import torch
from network_measures import say
from torch import distributed


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
    for size in measures.SIZES:
        say(rank, {"measured": "all_reduce", "bytes": size, "seconds": reductions(size, device)})
    own = [measures.reading(arguments.folder, rank)] if local_rank == 0 else []
    everywhere = [None] * distributed.get_world_size()
    distributed.all_gather_object(everywhere, own)
    for found in (item for each in everywhere for item in each):
        say(rank, {"measured": "read", **found})
    distributed.destroy_process_group()


def reductions(size: int, device: torch.device) -> list[float]:
    """Seconds of each all-reduce of *size* bytes, of the slowest rank."""
    values = torch.ones(size // 4, dtype=torch.float32, device=device)
    return measures.reductions(lambda: reduction(values), lambda seconds: together(seconds, device))


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


def together(seconds: list[float], device: torch.device) -> list[float]:
    """The longest of all ranks for each."""
    longest = torch.tensor(seconds, dtype=torch.float64, device=device)
    distributed.all_reduce(longest, op=distributed.ReduceOp.MAX)
    return longest.tolist()


def wait_for(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


if __name__ == "__main__":
    main()
