"""What must lie ready before the first run of a plan, as one script for the shell: `plan --prepare`."""

import os
import shlex
from collections.abc import Iterator
from dataclasses import replace

from evalsuite.commands.launching.request import MANAGED, Request
from evalsuite.commands.printing.i18n import say
from evalsuite.commands.printing.terminal import duration
from evalsuite.contracts.adapter import Recipe
from evalsuite.core.model import Case, by_key
from evalsuite.launch.provision import checkouts, data_manifest, readiness, virtualenvs
from evalsuite.plan import data_sets, repositories
from evalsuite.plan.data_sets import Size
from evalsuite.plan.engines import HOSTS

FULL = Size("full-shape")


def lines(request: Request) -> Iterator[str]:
    """Only what is not there yet; the script can be started again where it ended."""
    used = [(case, request.plan.recipe(case)) for case in request.plan.cases]
    yield "#!/bin/sh -e"
    yield f"# {say('plan.prepare', name=request.plan.spec.name)}"
    for name in ("EVALSUITE_CACHE", "EVALSUITE_DATA", virtualenvs.CAPABILITY):
        yield f"export {name}={shlex.quote(os.environ[name])}" if name in os.environ else f"# export {name}=…"
    wanted = {name: recipe for _, recipe in used for name in (recipe.checkout, *recipe.libraries) if name}
    of = {name: (replace(recipe, checkout=name), repositories.of(recipe)) for name, recipe in wanted.items()}
    if absent := sorted(name for name, asked in of.items() if checkouts.refusal(*asked)):
        yield shlex.join(["evalsuite", "env", "repositories", *absent])
    yield from _data(used)
    yield from _environments(request, used)


def _data(used: list[tuple[Case, Recipe]]) -> Iterator[str]:
    wanted: dict[str, int] = {}
    for case, recipe in used:
        named = data_sets.parts(recipe, case)
        for name in readiness.data_sets(case, recipe):
            if data_manifest.problem(name, case.total_devices, named.get(name)):
                wanted[name] = max(wanted.get(name, 0), named.get(name, 0))
    for name, files in sorted(wanted.items()):
        if of := data_sets.declared().data_sets.get(name):
            parts = ["--parts", str(files)] if files else []
            size, seconds = f"{data_sets.needed_bytes(of, FULL) / 1e9:,.1f}", data_sets.core_seconds(of, FULL)
            price = say("plan.prepare_data", gigabytes=size, time=duration(seconds), original=of.original_size)
            yield f"{shlex.join(['evalsuite', 'data', 'make', name, '--size', str(FULL), *parts])}  # {price}"


def _environments(request: Request, used: list[tuple[Case, Recipe]]) -> Iterator[str]:
    """Programs, virtual environments, images."""
    engine, names = request.place.engine, {each.name: each.framework for each in request.plan.spec.participants}
    bare = [(case, recipe) for case, recipe in used if not engine.serving(recipe).container]
    if programs := {name for case, recipe in bare for name in recipe.programs(case.device)}:
        each = f"for program in {' '.join(sorted(programs))}; do command -v $program; done"
        yield f"{each}  # {say('plan.prepare_programs')}"
    managed = (
        (case.device, f"{names.get(case.framework, case.framework)}/{recipe.name}")
        for case, recipe in bare
        if (recipe.environment or request.options.environment) == MANAGED
        and virtualenvs.pins(recipe, case.device)
        and not virtualenvs.existing(recipe, device=case.device)
    )
    for device, recipes in by_key(managed).items():
        yield shlex.join(["evalsuite", "env", "create", *dict.fromkeys(recipes), "--device", device])
    everywhere = 'evalsuite doctor --hosts "$hosts" -- ' if engine.name == HOSTS else ""
    pull = engine.container.runtime.pull if engine.container else ()
    images = dict.fromkeys(recipe.image for _, recipe in used if engine.serving(recipe).container and pull)
    if everywhere and images:
        yield f"hosts={shlex.quote(','.join(engine.nodes))}"
    for image in images:
        words = shlex.join([word.replace("{image}", image) for word in pull])
        yield (
            f"{everywhere}{words}"
            if everywhere or engine.name == "local"
            else f"# {say('plan.prepare_nodes')}: {words}"
        )
