"""What a recipe needs of this machine apart from its environment: the official script, programs, data sets."""

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from evalsuite.contracts.adapter import Recipe
from evalsuite.core.documents import ReadData
from evalsuite.core.messages import Message
from evalsuite.core.model import Case
from evalsuite.launch.provision import checkouts, data_manifest
from evalsuite.launch.provision.data_manifest import Manifest
from evalsuite.machine import environment
from evalsuite.plan import repositories
from evalsuite.plan.data_sets import names, parts


def lacking(in_image: bool = False) -> Callable[[Case, Recipe], Iterator[str]]:
    """Gives what a recipe lacks for a case: repositories, programs, data. *in_image*: the programs are an image's."""
    checked: dict[tuple[str, Path | None], str | None] = {}
    data = _data_refusals()

    def repository_refused(name: str, recipe: Recipe) -> str | None:
        key = (name, recipe.brought_by)
        if key not in checked:
            checked[key] = checkouts.refusal(replace(recipe, checkout=name), repositories.of(recipe))
        return checked[key]

    def reasons(case: Case, recipe: Recipe) -> Iterator[str]:
        yield from filter(None, (repository_refused(name, recipe) for name in (recipe.checkout, *recipe.libraries)))
        for program in () if in_image else environment.absent(recipe.programs(case.device)):
            yield Message("launch.program", name=program)
        yield from data(case, recipe)

    return reasons


def data_facts(case: Case, recipe: Recipe) -> tuple[ReadData, ...]:
    manifests = {name: data_manifest.read(name) for name in data_sets(case, recipe)}
    return tuple(manifest.facts if manifest else ReadData(name=name) for name, manifest in manifests.items())


def data_sets(case: Case, recipe: Recipe) -> list[str]:
    return names(recipe.command(case))


def _data_refusals() -> Callable[[Case, Recipe], Sequence[str]]:
    """Whether what lies in the data root serves a case, alone and with what the cases before it read."""
    first: dict[tuple[str, str], Manifest] = {}
    problem = functools.cache(data_manifest.problem)
    differing = functools.cache(lambda name: data_manifest.differing([name], first))

    def refused(case: Case, recipe: Recipe) -> Sequence[str]:
        read = data_sets(case, recipe)
        named = parts(recipe, case)
        reasons = [reason for name in read if (reason := problem(name, case.total_devices, named.get(name)))]
        return reasons or [*filter(None, map(differing, read))][:1]

    return refused
