"""What carries the all-reduces of a case, so that the network is measured by the same: NCCL, MPI or gloo."""

from typing import Literal

from evalsuite.adapter import Recipe
from evalsuite.model import Case

Collective = Literal["nccl", "mpi", "gloo"]
BY_MPI = {"mpirun", "bfrun"}  # bfrun starts mpirun


def of(recipe: Recipe, case: Case) -> Collective:
    """NCCL on GPUs; MPI where the script is started by mpirun, or tells horovodrun to; else gloo.

    Gloo also stands for what a framework brings of its own (gRPC, ps-lite): it takes the same interface.
    """
    if case.device == "gpu":
        return "nccl"
    words = recipe.command(case).argv
    starter = words[0].rpartition("/")[2]
    told = starter == "horovodrun" and "--mpi" in words
    return "mpi" if starter in BY_MPI or told else "gloo"
