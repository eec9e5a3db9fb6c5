"""What a launching command was asked for: spec, adapters, machine, plan and store, from its arguments."""

import argparse
import contextlib
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from evalsuite.adapter import Adapter, Recipe
from evalsuite.commands.options import axes, engine_options
from evalsuite.commands.options.search_paths import places
from evalsuite.errors import EvalsuiteError
from evalsuite.launch import campaign
from evalsuite.launch.provision import readiness, virtualenvs
from evalsuite.logs import catalogue
from evalsuite.logs.catalogue import Places
from evalsuite.model import Case, Run
from evalsuite.plan import containers, plan, sandbox
from evalsuite.plan.commandline import NOT_MADE_YET, CommandLine, command_line
from evalsuite.plan.engines import Engine
from evalsuite.plan.estimate import Estimate
from evalsuite.plan.given_images import with_images
from evalsuite.plan.plan import Machine, Plan, Refusal
from evalsuite.plan.spec import Spec
from evalsuite.plan.variants import varied
from evalsuite.registry import discover
from evalsuite.runs import group
from evalsuite.runs.store import RunFolder, Store

if TYPE_CHECKING:
    from evalsuite.results.judge.criteria import Criteria

MOST_READ = 2000  # run folders that are not of the plan


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The matrix that the command line asks for, and where it is kept."""

    plan: Plan
    adapters: Mapping[str, Adapter]
    machine: Machine
    engine: Engine
    store: Store
    places: Places  # where dialects beside the house's are found
    measures_network: bool = False  # before the first run of each scale
    sandboxed: bool = False  # whether each script is kept from the rest of the machine
    share: bool = False  # whether a run may go on beside another evaluation on the machine
    criteria: "Criteria | None" = None  # what adaptive repeats decide; None: those of every report
    searched_h: float = 0.0  # device-hours that this start has spent on the search for the largest batches
    python: Path | None = None  # the interpreter of every framework; None: each has an environment of its own

    def missing(self) -> list[Run]:
        """The runs that are not finished and, as far as that can be told now, needed."""
        left = plan.missing(self.plan, self.store)
        if self.plan.spec.most_repeats is None:
            return left
        from evalsuite.commands.launching.adaptive_repeats import Repeating

        return Repeating(self.plan, self.store, self.places, self.criteria).next(left)

    def done(self) -> Mapping[str, int]:
        """How many repeats of each case are finished, by its id."""
        ended = self.store.ended()
        repeats = range(self.plan.spec.most_repeats or self.plan.spec.repeats)
        return {case.id: sum(ended(Run(case=case, repeat=repeat)) for repeat in repeats) for case in self.plan.cases}

    @property
    def repeats(self) -> str:
        """As they were asked for: 5, or 5-7."""
        spec = self.plan.spec
        return f"{spec.repeats}-{spec.most_repeats}" if spec.most_repeats else str(spec.repeats)

    def environment(self, kind: str) -> str:
        """Where the frameworks come from: the *kind* that was asked for, or the images of a container runtime."""
        return "container" if self.engine.container else kind

    def estimate(self, left: Iterable[Run]) -> Estimate:
        """Expected times of the runs *left*, from the finished runs of this store: those of the plan, and others."""
        ended = self.store.ended()
        known = dict(timed(self.store.folder(run) for run in self.plan.runs if ended(run)))
        if {run.case for run in left} - {run.case for run in known}:
            known |= dict(timed(self.store.finished()[:MOST_READ]))
        return Estimate(list(known.items()))

    def not_made_yet(self, left: Iterable[Run]) -> list[str]:
        """The frameworks of the runs *left* whose environment is made before them, which takes a time of its own."""
        if self.python or self.engine.container:
            return []
        recipes = dict.fromkeys((run.case.framework, run.case.recipe, run.case.device) for run in left)
        found = [(name, self.adapters[name].recipe(recipe), device) for name, recipe, device in recipes]
        return list(
            dict.fromkeys(
                name
                for name, recipe, device in found
                if recipe.pins(device) and virtualenvs.existing(recipe, device=device) is None
            )
        )

    def command_line(self, case: Case) -> CommandLine:
        """What starts *case*'s first repeat."""
        recipe = self.recipe(case)
        made = virtualenvs.existing(recipe, device=case.device) if recipe.pins(case.device) else None
        return command_line(
            recipe,
            case,
            python=self.python or (made.python if made else NOT_MADE_YET),
            folder=self.store.folder(Run(case=case, repeat=0)).path.resolve(),
            engine=self.engine,
            timeout_s=self.plan.spec.timeout_s,
            share=self.share,
            sandboxed=self.sandboxed,
        )

    def without_python(self, case: Case) -> str | None:
        """Why the command line of *case* still holds `{python}`, and what to do; None if it does not."""
        if self.python or self.engine.container or NOT_MADE_YET not in self.command_line(case).training:
            return None
        if self.recipe(case).pins(case.device):
            return "{python} is the interpreter of an environment that is made before the first run"
        return f"{{python}}: recipe {case.recipe} names no requirements to make one; try --environment current"

    def recipe(self, case: Case) -> Recipe:
        return self.adapters[case.framework].recipe(case.recipe)


def timed(folders: Iterable[RunFolder]) -> Iterator[tuple[Run, float]]:
    """The runs that have ended, and what each took; a folder that cannot be read tells nothing."""
    for folder in folders:
        if folder.finished:
            with contextlib.suppress(EvalsuiteError):
                taken = folder.outcome().duration_s
                if taken is not None:
                    yield folder.run(), taken


def planned(arguments: argparse.Namespace) -> Asked:
    """The plan of *arguments*. Starts nothing and installs nothing."""
    engine = engine_options.engine(arguments)
    if arguments.container:
        engine = replace(engine, container=containers.here(arguments.container))
    elif arguments.image:
        raise EvalsuiteError(
            f"--image {arguments.image[0]}: no --container says what runs it; expected one of "
            f"{', '.join(containers.RUNTIMES)}. Try --container docker."
        )
    spec = axes.spec_from(arguments)
    adapters = _varied(spec, with_images(discover(arguments.adapters), arguments.image), arguments.container)
    found = campaign.machine(arguments.device)
    machine = replace(found, binds=engine.name == "local" and engine.container is None)
    refusals = [lambda case, recipe: engine.refusal(case), _mpirun_in_mpirun(engine)]
    if arguments.sandbox:
        _check_sandbox(engine, arguments)
        refusals.append(sandbox.refusal)
    if engine.container:
        refusals.append(_no_image)
    if not getattr(arguments, "commands", False):  # what would be run can be shown without what it needs
        refusals.append(readiness.refusal())
        if engine.container:
            refusals.append(_absent_image)
        else:
            refusals.append(_no_interpreter(arguments.environment))
    made = plan.plan(spec, adapters, machine, refusals)
    _check_dialects(made, adapters, places(arguments))
    store = Store(_folder(arguments.runs), group.number(arguments.group) if arguments.group is not None else None)
    asked = Asked(
        plan=made,
        adapters=adapters,
        machine=machine,
        engine=engine,
        store=store,
        places=places(arguments),
        measures_network=arguments.measure_network,
        sandboxed=arguments.sandbox,
        share=arguments.share,
        python=Path(sys.executable) if arguments.environment == "current" and not engine.container else None,
    )
    if not made.to_search:
        return asked
    from evalsuite.commands.launching import found_batches

    dialects = catalogue.known(asked.places)
    searched = found_batches.known(made, adapters, store.root, dialects, machine.device)
    resolved = replace(spec, searched=searched)
    return replace(asked, plan=plan.plan(resolved, adapters, machine, refusals))


def _varied(spec: Spec, adapters: Mapping[str, Adapter], container: str | None) -> dict[str, Adapter]:
    """*adapters* with the variants and versions of *spec*, those of its parts too."""
    matrices = spec.matrices()
    asked = tuple(dict.fromkeys(one for matrix in matrices for one in matrix.variants))
    versions = tuple(dict.fromkeys(one for matrix in matrices for one in matrix.versions))
    frameworks = [name for matrix in matrices for name in matrix.frameworks]
    with_image = next((one for one in asked if one.image), None)
    if with_image and not container:
        raise EvalsuiteError(
            f"[[variants]] {with_image.name}: image = {with_image.image} and no --container says what runs it; "
            f"expected one of {', '.join(containers.RUNTIMES)}. Try --container docker."
        )
    if versions and container:
        raise EvalsuiteError(
            f"versions: {'=='.join(versions[0])} is installed in an environment, and --container {container} runs "
            "images; expected one of the two. Try [[variants]] with an image for each version."
        )
    return varied(adapters, asked, versions, frameworks)


def _check_dialects(made: Plan, adapters: Mapping[str, Adapter], places: Places) -> None:
    """Raises EvalsuiteError if a log could not be read: before the first run, not after each."""
    dialects = catalogue.known(places)
    for framework, recipe in dict.fromkeys((case.framework, case.recipe) for case in made.cases):
        catalogue.spoken(framework, adapters[framework].recipe(recipe), dialects)


def _check_sandbox(engine: Engine, arguments: argparse.Namespace) -> None:
    """Raises EvalsuiteError if there can be no sandbox; on other machines than this one the first run tells."""
    if engine.container:
        raise EvalsuiteError(
            "--sandbox: --container stands beside it, and a container keeps a script from the machine itself; expected "
            "one of the two."
        )
    why = readiness.sandbox_missing() if engine.name == "local" else None
    if why and not getattr(arguments, "commands", False):
        raise EvalsuiteError(f"--sandbox: {why}.")


def _mpirun_in_mpirun(engine: Engine) -> Refusal:
    def refusal(case: Case, recipe: Recipe) -> str | None:
        if not engine.nests and recipe.spawn == "once" and case.nodes > 1:
            return (
                f"recipe {recipe.name} starts a launcher of its own, and mpirun starts none inside another; "
                "try --engine slurm, or --hosts with --via ssh"
            )
        return None

    return refusal


def _no_image(case: Case, recipe: Recipe) -> str | None:
    if recipe.image:
        return None
    return f"recipe {recipe.name} names no container image; try --image IMAGE, or without --container"


def _absent_image(case: Case, recipe: Recipe) -> str | None:
    if not recipe.image.startswith("/") or Path(recipe.image).exists():
        return None
    return f"the image {recipe.image} does not exist here; expected a file or folder that every node sees. Try --image"


def _no_interpreter(kind: str) -> Refusal:
    return lambda case, recipe: virtualenvs.refusal(recipe, kind, case.device)


def _folder(path: Path) -> Path:
    if path.exists() and not path.is_dir():
        raise EvalsuiteError(f"{path}: a file stands there; --runs takes a folder. Try --runs {path}.d")
    return path
