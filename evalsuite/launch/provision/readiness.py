"""What a recipe needs of this machine beside its environment: the official script, programs, data sets."""

import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

from evalsuite import files, paths
from evalsuite.adapter import Recipe
from evalsuite.launch.programs import ask_program
from evalsuite.launch.provision import checkouts
from evalsuite.messages import Message
from evalsuite.model import Case
from evalsuite.plan import repositories, sandbox
from evalsuite.plan.data_sets import names

TRY_S = 10.0
PACKAGES = {
    "mpirun": "openmpi-bin",
    "mpicc": "libopenmpi-dev",
    "cmake": "cmake",
    "g++": "g++",
    "nvcc": "nvidia-cuda-toolkit",
}


def refusal(in_image: bool = False) -> Callable[[Case, Recipe], str | None]:
    """A function that says why a recipe cannot be started here for a case; None if it can. It hashes each checkout
    once. *in_image*: the programs that it needs are an image's."""
    checked: dict[tuple[str, Path | None], str | None] = {}

    def refused(case: Case, recipe: Recipe) -> str | None:
        checkout = (recipe.checkout, recipe.brought_by)
        if checkout not in checked:
            checked[checkout] = checkouts.refusal(recipe, repositories.of(recipe))
        programs = () if in_image else recipe.programs(case.device)
        return checked[checkout] or _program_missing(programs) or _data_missing(case, recipe)

    return refused


def sandbox_missing() -> str | None:
    """Why no script can be run in a sandbox here; None if it can."""
    if not shutil.which(sandbox.PROGRAM):
        return Message("launch.sandbox_absent", name=sandbox.PROGRAM, package=sandbox.PACKAGE)
    tried = ("--unshare-net", "--unshare-pid", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "true")
    done = ask_program((sandbox.PROGRAM, *tried), TRY_S)
    if done is None:
        return f"{sandbox.PROGRAM}: no answer in {TRY_S:g} s; try without --sandbox"
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["it failed"])[0]
        return Message("launch.sandbox_forbidden", error=said)
    return None


def data_facts(case: Case, recipe: Recipe) -> tuple[dict[str, object], ...]:
    """What a run records of its data sets: name and content of the folder's `evalsuite-dataset.json`."""
    stated = {name: paths.data_sets() / name / "evalsuite-dataset.json" for name in data_sets(case, recipe)}
    return tuple({"name": name, **(files.read_json(file) if file.is_file() else {})} for name, file in stated.items())


def data_sets(case: Case, recipe: Recipe) -> list[str]:
    return names(recipe.command(case))


def _program_missing(programs: Iterable[str]) -> str | None:
    for program in programs:
        if not shutil.which(program):
            hint = Message("launch.install_hint", package=PACKAGES[program]) if program in PACKAGES else ""
            return Message("launch.program", name=program, hint=hint)
    return None


def _data_missing(case: Case, recipe: Recipe) -> str | None:
    for name in data_sets(case, recipe):
        if not (paths.data_sets() / name).exists():
            return Message("launch.data_set_absent", name=name, folder=paths.data_sets())
    return None
