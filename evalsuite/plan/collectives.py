"""What carries the all-reduces of a case, to measure the network by the same."""

from typing import Literal

from evalsuite.adapter import Recipe
from evalsuite.model import Case

Collective = Literal["nccl", "mpi", "gloo"]
BY_MPI = {"mpirun", "bfrun"}  # bfrun starts mpirun


def of(recipe: Recipe, case: Case) -> Collective:
    """NCCL on GPUs; MPI where mpirun starts the script; else gloo, or a framework's own transport (gRPC, ps-lite)."""
    if case.device == "gpu":
        return "nccl"
    words = recipe.command_of(case).argv
    starter = words[0].rpartition("/")[2]
    told = starter == "horovodrun" and "--mpi" in words
    return "mpi" if starter in BY_MPI or told else "gloo"
