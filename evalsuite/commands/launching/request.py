"""The request of a launching command, read from its arguments: what is run, where, and how."""

import argparse
import functools
import os
import re
import socket
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from evalsuite.commands.launching import axis_values
from evalsuite.commands.options import read_hosts, search_paths
from evalsuite.commands.printing.i18n import say
from evalsuite.commands.printing.terminal import note
from evalsuite.contracts.adapter import Recipe
from evalsuite.contracts.registry import discover
from evalsuite.core.errors import EvalsuiteError, look_up
from evalsuite.core.messages import Message
from evalsuite.core.model import Case, Device
from evalsuite.launch import batch_search, campaign, programs
from evalsuite.launch.campaign import Environments
from evalsuite.launch.provision import data_manifest, readiness, virtualenvs
from evalsuite.launch.remote import allocations
from evalsuite.launch.runner import Launcher
from evalsuite.logs import catalogue
from evalsuite.logs.catalogue import Places
from evalsuite.machine import interfaces
from evalsuite.plan import containers, data_sets, engines, over_hosts, plan
from evalsuite.plan.engines import Argv, Engine
from evalsuite.plan.hosts import Host
from evalsuite.plan.plan import Machine, Plan, Refusal
from evalsuite.plan.spec import Spec
from evalsuite.plan.variants import check_shared, varied, with_participants
from evalsuite.runs import rehearsed
from evalsuite.runs.store import Store
from evalsuite.schedulers import SCHEDULERS

if TYPE_CHECKING:
    from evalsuite.results.judge.criteria import Criteria

KUBERNETES = "kubernetes"
LAUNCHERS = {  # that a package puts beside the interpreter
    "{bin}/horovodrun": "horovod",
    "{bin}/bfrun": "bluefog",
    "{bin}/deepspeed": "deepspeed",
    "{bin}/elasticdl": "elasticdl-client",
}
CONTAINER, CURRENT, MANAGED = "container", "current", "managed"  # where the frameworks come from


@dataclass(frozen=True, kw_only=True)
class Place:
    machine: Machine
    engine: Engine
    store: Store


@dataclass(frozen=True, kw_only=True)
class Options:
    """How each run is made and judged, apart from what its case says."""

    environment: str  # CONTAINER, CURRENT or MANAGED
    search_paths: Places  # of dialects that are not built in
    agent_options: Argv = ()  # how each node is sampled: beside another evaluation, how often
    criteria: "Criteria | None" = None  # that adaptive repeats decide by; None: those of every report
    spent_h: float = 0.0  # device-hours that the search for the largest batches has taken

    @property
    def python(self) -> Path | None:
        """The interpreter of every framework; None: each has one of its own."""
        return Path(sys.executable) if self.environment == CURRENT else None


@dataclass(frozen=True, kw_only=True)
class Request:
    plan: Plan
    place: Place
    options: Options


def read_request(arguments: argparse.Namespace) -> Request:
    spec = axis_values.spec_from(arguments)
    container = arguments.container or spec.container
    engine = read_engine(arguments)
    if container:
        engine = replace(engine, container=containers.here(container))
    elif images := [*arguments.image, *(each.image for each in spec.participants if each.image)]:
        raise EvalsuiteError.of("commands.image_container", image=images[0], runtimes=containers.RUNTIMES)
    given = containers.with_images(discover(arguments.adapters), arguments.image)
    variants = tuple(dict.fromkeys(variant for matrix in spec.matrices() for variant in matrix.variants))
    adapters = varied(with_participants(given, spec.participants), variants)
    machine = _machine(arguments, engine)
    refusals = _refusals(arguments, engine)
    made = plan.plan(spec, adapters, machine, refusals)
    asked = [*made.cases, *(skip.case for skip in made.skips)]
    check_shared(spec.participants, asked, {model for part in spec.matrices() for model in part.models})
    unfit = {skip.case.scale: engine.refusal(skip.case) for skip in made.skips}
    if engine.listed and not made.cases and unfit and all(unfit.values()):
        raise EvalsuiteError.of("commands.hosts_fit_none", hosts=engine.nodes, scales=(*unfit,), why=unfit.popitem()[1])
    paths = search_paths(arguments)
    dialects = catalogue.known(paths)
    for framework, recipe in dict.fromkeys((case.framework, case.recipe) for case in made.cases):
        catalogue.recipe_dialect(framework, adapters[framework].recipe(recipe), dialects)  # raises before the first run
    rehearsed.refuse_stand_in(os.environ)
    if arguments.runs.exists() and not arguments.runs.is_dir():
        raise EvalsuiteError.of("commands.runs_file", path=arguments.runs)
    store = Store(arguments.runs)
    rehearsed.refuse(store)
    if made.to_search:
        searched = batch_search.find_in_trials(made, store.root, dialects, machine.device)
        made = plan.plan(replace(spec, searched=searched), adapters, machine, refusals)
    return Request(
        plan=made,
        place=Place(machine=machine, engine=engine, store=store),
        options=Options(
            environment=CONTAINER if engine.container else arguments.environment,
            search_paths=paths,
            agent_options=(*["--share"] * arguments.share, "--hz", f"{arguments.hz:g}"),
        ),
    )


def say_scripts(plan: Plan) -> None:
    """Whose scripts are compared on accelerators, and how to have the others: a figure does not say it."""
    kinds = {plan.recipe(case).kind for case in plan.cases if case.device != "cpu"}
    if len(kinds) == 1 and not plan.spec.participants:
        note(say("run.scripts_official" if "official" in kinds else "run.scripts_reference"))


def _machine(arguments: argparse.Namespace, engine: Engine) -> Machine:
    here = campaign.machine(arguments.device)
    if engine.name == "local":
        return replace(here, binds=engine.container is None)
    device: Device = here.device
    if arguments.device == "auto" and not here.accelerators:
        if any(host.devices for host in read_hosts(arguments)):
            device = "gpu"
        elif socket.gethostname().partition(".")[0] not in {name.partition(".")[0] for name in engine.nodes}:
            raise EvalsuiteError.of("commands.device_elsewhere", engine=engine.name)
    return Machine(cores=None, accelerators=None, device=device)


def every_case(plan: Plan) -> list[Case]:
    """The skipped ones too. Raises EvalsuiteError if there is none."""
    cases = [*plan.cases, *(skip.case for skip in plan.skips)]
    if not cases:
        raise EvalsuiteError.of("commands.submit_nothing")
    return cases


def _refusals(arguments: argparse.Namespace, engine: Engine) -> list[Refusal]:
    shown_only = getattr(arguments, "commands", False)  # what would be run can be shown without what it needs
    refusals: list[Refusal] = [lambda case, recipe: engine.refusal(case), functools.partial(mpirun_in_mpirun, engine)]
    refusals.append(data_sets.refusal(functools.cache(data_manifest.training_items)))
    if engine.container:
        in_image: list[Refusal] = [
            lambda case, recipe: None if recipe.image else Message("commands.no_image", name=recipe.name),
            lambda case, recipe: virtualenvs.image_refusal(recipe, case.device),
            functools.partial(_launcher_in_container, engine),
        ]
        refusals += [_check_served(engine, each, in_image=True) for each in in_image]
    if shown_only:
        return refusals
    if not (hasattr(arguments, "commands") and engine.name != "local"):  # `plan` says it with what would be run
        lacks = lacking(engine)
        refusals.append(lambda case, recipe: next(lacks(case, recipe), None))

    def absent_image(case: Case, recipe: Recipe) -> str | None:
        absent = recipe.image.startswith("/") and not Path(recipe.image).exists()
        return Message("commands.absent_image", path=recipe.image) if absent else None

    refusals.append(_check_served(engine, absent_image, in_image=True))
    return [*refusals, _check_served(engine, functools.partial(_no_environment, arguments.environment), in_image=False)]


def lacking(engine: Engine) -> Callable[[Case, Recipe], Iterator[str]]:
    """What a recipe needs apart from its environment and is not there: repository, programs, data."""
    checks = {in_image: readiness.lacking(in_image=in_image) for in_image in (True, False)}
    return lambda case, recipe: checks[engine.serving(recipe).container is not None](case, recipe)


def _check_served(engine: Engine, check: Refusal, *, in_image: bool) -> Refusal:
    return lambda case, recipe: check(case, recipe) if bool(engine.serving(recipe).container) is in_image else None


def _no_environment(asked: str, case: Case, recipe: Recipe) -> str | None:
    kind = recipe.environment or asked
    pins = (*virtualenvs.pins(recipe, case.device), *recipe.built)
    wanted = LAUNCHERS.get(recipe.command_of(case).argv[0])
    there = {re.split(r"[\[=]", pin)[0].replace("_", "-").lower() for pin in pins}
    if kind == MANAGED and wanted and wanted not in there:
        return Message("commands.launcher_not_installed", recipe=recipe.name, scale=case.scale, package=wanted)
    return virtualenvs.refusal(recipe, kind, case.device)


def mpirun_in_mpirun(engine: Engine, case: Case, recipe: Recipe) -> str | None:
    inside = not engine.nests and recipe.spawn == "once" and case.nodes > 1
    return Message("commands.launcher_inside_launcher", recipe=recipe.name) if inside else None


def _launcher_in_container(engine: Engine, case: Case, recipe: Recipe) -> str | None:
    """By ssh it lands outside every container of the other nodes; mpirun has its daemons started by the agents."""
    if recipe.spawn != "once" or case.nodes == 1:
        return None
    starter = recipe.command_of(case).argv[0].rpartition("/")[2]
    runtime = engine.container.runtime.name if engine.container else ""
    facts = {"launcher": starter, "runtime": runtime, "nodes": case.nodes}
    return Message("commands.launcher_in_container", **facts) if starter != "mpirun" else None


def make_launcher(spec: Spec, engine: Engine, options: Options, ready: Environments) -> Launcher:
    return Launcher(
        engine=engine,
        timeout_s=spec.timeout_s,
        pythons=ready.pythons,
        packages=ready.packages,
        dialects=catalogue.known(options.search_paths),
        stop_after_window=spec.stop_after_window,
        agent_options=options.agent_options,
        waits=lambda words: note(say("run.waiting", who=words)),
    )


def read_engine(arguments: argparse.Namespace) -> Engine:
    """The engine that *arguments* ask for. Raises EvalsuiteError with what does not go together."""
    named = read_hosts(arguments)
    if named and arguments.engine not in (None, engines.HOSTS):
        raise EvalsuiteError.of("commands.hosts_engine", name=arguments.engine)
    if named:
        return _ssh_engine(named, arguments)
    if scheduler := SCHEDULERS.get(arguments.engine):
        return allocations.engine(scheduler, os.environ)
    if arguments.engine == KUBERNETES:
        if not hasattr(arguments, "commands"):  # of `plan`, and of `submit`
            raise EvalsuiteError.of("commands.kubernetes_submit")
        return Engine(name=KUBERNETES, wrap=engines.ENGINES["local"].wrap)  # one agent a pod
    engine = engines.engine(arguments.engine or "local", (*SCHEDULERS, KUBERNETES))
    if engine.name == "mpi":  # mpirun hands no variable of this shell to other nodes
        variables = programs.forwarded_variables(os.environ)
        return replace(engine, handed=lambda nodes, folder: variables)
    return engine


def _ssh_engine(named: tuple[Host, ...], arguments: argparse.Namespace) -> Engine:
    names, asked = sorted(over_hosts.TRANSPORTS), programs.with_version(arguments.via or "ssh")
    via = look_up("plan.via_unknown", over_hosts.TRANSPORTS, asked, names=names)
    options = os.environ.get(via.ssh_options_in or "", "")
    interface = os.environ.get(interfaces.VARIABLE, interfaces.AUTO)
    named_one = None if interface == interfaces.AUTO else interface
    ways = over_hosts.Ways(interface=named_one, root=os.geteuid() == 0, ssh_options=options)
    return over_hosts.engine(named, via, handed=programs.forwarded_variables(os.environ), ways=ways)
