"""What a recipe needs of this machine apart from its environment: the official script, programs, data sets."""

import functools
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from evalsuite.adapter import Recipe
from evalsuite.documents import ReadData
from evalsuite.launch.provision import checkouts, data_manifest
from evalsuite.launch.provision.data_manifest import Manifest
from evalsuite.messages import Message
from evalsuite.model import Case
from evalsuite.plan import repositories
from evalsuite.plan.data_sets import names

PACKAGES = {
    "mpirun": "openmpi-bin",
    "mpicc": "libopenmpi-dev",
    "cmake": "cmake",
    "g++": "g++",
    "nvcc": "nvidia-cuda-toolkit",
}


def refusal(in_image: bool = False) -> Callable[[Case, Recipe], str | None]:
    reasons = lacking(in_image)
    return lambda case, recipe: next(reasons(case, recipe), None)


def lacking(in_image: bool = False) -> Callable[[Case, Recipe], Iterator[str]]:
    """Gives what a recipe lacks for a case: script or program, then data. *in_image*: the programs are an image's."""
    checked: dict[tuple[str, Path | None], str | None] = {}
    data = _data_refusal()

    def repository_refused(name: str, recipe: Recipe) -> str | None:
        key = (name, recipe.brought_by)
        if key not in checked:
            checked[key] = checkouts.refusal(replace(recipe, checkout=name), repositories.of(recipe))
        return checked[key]

    def reasons(case: Case, recipe: Recipe) -> Iterator[str]:
        repository = (repository_refused(name, recipe) for name in (recipe.checkout, *recipe.libraries))
        programs = () if in_image else recipe.programs(case.device)
        if started := next(filter(None, repository), None) or _program_missing(programs):
            yield started
        if read := data(case, recipe):
            yield read

    return reasons


def data_facts(case: Case, recipe: Recipe) -> tuple[ReadData, ...]:
    manifests = {name: data_manifest.read(name) for name in data_sets(case, recipe)}
    return tuple(manifest.facts if manifest else ReadData(name=name) for name, manifest in manifests.items())


def data_sets(case: Case, recipe: Recipe) -> list[str]:
    return names(recipe.command(case))


def _program_missing(programs: Iterable[str]) -> str | None:
    for program in programs:
        if not shutil.which(program):
            hint = Message("launch.install_hint", package=PACKAGES[program]) if program in PACKAGES else ""
            return Message("launch.program", name=program, hint=hint)
    return None


def _data_refusal() -> Callable[[Case, Recipe], str | None]:
    """Whether what lies in the data root serves a case, alone and with what the cases before it read."""
    first: dict[tuple[str, str], Manifest] = {}
    problem = functools.cache(data_manifest.problem)
    differing = functools.cache(lambda name: data_manifest.differing([name], first))

    def refused(case: Case, recipe: Recipe) -> str | None:
        read = data_sets(case, recipe)
        reason = next(filter(None, (problem(name, case.total_devices) for name in read)), None)
        return reason or next(filter(None, map(differing, read)), None)

    return refused
