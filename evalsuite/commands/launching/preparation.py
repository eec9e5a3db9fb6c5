"""What must lie ready before the first run of a plan, as one script for the shell: `plan --prepare`."""

import os
import shlex
from collections.abc import Iterator

from evalsuite.commands.launching.request import MANAGED, Request
from evalsuite.commands.printing.i18n import say
from evalsuite.commands.printing.terminal import duration
from evalsuite.contracts.adapter import Recipe
from evalsuite.core.model import Case
from evalsuite.launch.provision import checkouts, data_manifest, readiness, virtualenvs
from evalsuite.plan import data_sets, repositories
from evalsuite.plan.data_sets import Size
from evalsuite.plan.engines import HOSTS

FULL = Size("full-shape")


def lines(request: Request) -> Iterator[str]:
    """Only what is not there yet; the script can be started again where it ended."""
    yield "#!/bin/sh -e"
    yield f"# {say('plan.prepare', name=request.plan.spec.name)}"
    for name in ("EVALSUITE_CACHE", "EVALSUITE_DATA", virtualenvs.CAPABILITY):
        yield f"export {name}={shlex.quote(os.environ[name])}" if name in os.environ else f"# export {name}=…"
    yield from _repositories(request)
    yield from _data(request)
    yield from _environments(request)
    yield from _images(request)


def _used(request: Request) -> list[tuple[Case, Recipe]]:
    return [(case, request.plan.recipe(case)) for case in request.plan.cases]


def _repositories(request: Request) -> Iterator[str]:
    known = {
        name: repositories.of(recipe) for _, recipe in _used(request) for name in (recipe.checkout, *recipe.libraries)
    }
    absent = [name for name, each in known.items() if name and not _fetched(repositories.named(name, each))]
    if absent:
        yield shlex.join(["evalsuite", "env", "repositories", *sorted(absent)])


def _fetched(repository: repositories.Repository) -> bool:
    state = checkouts.state(repository)
    return state.present and state.clean and state.commit == repository.commit


def _data(request: Request) -> Iterator[str]:
    wanted: dict[str, int] = {}
    for case, recipe in _used(request):
        named = data_sets.parts(recipe, case)
        for name in readiness.data_sets(case, recipe):
            problem = data_manifest.problem(name, case.total_devices, named.get(name))
            if problem and name in data_sets.declared().data_sets:
                wanted[name] = max(wanted.get(name, 0), named.get(name, 0))
    for name, files in sorted(wanted.items()):
        of, parts = data_sets.data_set(name), ["--parts", str(files)] if files else []
        seconds, size = data_sets.core_seconds(of, FULL), data_sets.needed_bytes(of, FULL) / 1e9
        price = say("plan.prepare_data", gigabytes=f"{size:,.1f}", time=duration(seconds), original=of.original_size)
        yield f"{shlex.join(['evalsuite', 'data', 'make', name, '--size', str(FULL), *parts])}  # {price}"


def _environments(request: Request) -> Iterator[str]:
    place, names = request.place, {each.name: each.framework for each in request.plan.spec.participants}
    made: dict[str, list[str]] = {}
    for case, recipe in _used(request):
        managed = (recipe.environment or request.options.environment) == MANAGED
        if managed and virtualenvs.pins(recipe, case.device) and not virtualenvs.existing(recipe, device=case.device):
            name = f"{names.get(case.framework, case.framework)}/{recipe.name}"
            made.setdefault(case.device, []).extend([name] if name not in made.get(case.device, ()) else [])
        for program in () if place.engine.serving(recipe).container else recipe.programs(case.device):
            made.setdefault("", []).extend([program] if program not in made.get("", ()) else [])
    if programs := made.pop("", []):
        each = f"for program in {' '.join(sorted(programs))}; do command -v $program; done"
        yield f"{each}  # {say('plan.prepare_programs')}"
    for device, recipes in made.items():
        yield shlex.join(["evalsuite", "env", "create", *recipes, "--device", device])


def _images(request: Request) -> Iterator[str]:
    engine = request.place.engine
    in_images = [recipe for _, recipe in _used(request) if engine.serving(recipe).container]
    everywhere = f"evalsuite doctor --hosts {','.join(engine.nodes)} -- " if engine.name == HOSTS else ""
    for image in dict.fromkeys(recipe.image for recipe in in_images):
        runtime = engine.container.runtime if engine.container else None
        if runtime and runtime.pull:
            pull = shlex.join([word.replace("{image}", image) for word in runtime.pull])
            yield (
                f"{everywhere}{pull}"
                if everywhere or engine.name == "local"
                else f"# {say('plan.prepare_nodes')}: {pull}"
            )
