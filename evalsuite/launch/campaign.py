"""Launches what is missing: environments first, then run after run. Each start is a campaign: it seals what is to be
run before the first run, and notes every attempt in the journal."""

import contextlib
import functools
import itertools
import math
import os
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Literal

from evalsuite import __version__
from evalsuite.contracts.adapter import Adapter, Recipe
from evalsuite.core.documents import CampaignPlace
from evalsuite.core.errors import of_machine
from evalsuite.core.messages import Message, message_of
from evalsuite.core.model import Case, Device, Measurement, Run, Skip, by_key
from evalsuite.launch import runner
from evalsuite.launch.checks import imports
from evalsuite.launch.provision import virtualenvs
from evalsuite.launch.provision.installer import CannotInstall
from evalsuite.launch.remote import allocations
from evalsuite.machine import cores
from evalsuite.plan.containers import Container
from evalsuite.plan.plan import Machine, Plan
from evalsuite.runs import journal
from evalsuite.runs.endings import Enough, Outcome
from evalsuite.runs.journal import Campaign, JournalLine
from evalsuite.runs.planned import Planned
from evalsuite.runs.store import RunFolder, Store

INSTALLING = 4  # environments at once


@dataclass(frozen=True, kw_only=True)
class EndedRun:
    run: Run
    outcome: Outcome
    attempt: int


def machine(device: Device | Literal["auto"]) -> Machine:
    from evalsuite.machine.sensors.accelerators import open_accelerators

    devices = open_accelerators(awaited=device == "gpu")
    chosen: Device = device if device != "auto" else (devices.kind or "cpu")
    shown = devices.visible(devices.facts(), os.environ) or devices  # of a list in other words the node agent judges
    accelerators = len(shown) if chosen in ("cpu", devices.kind) else 0
    return Machine(cores=len(cores.usable()), accelerators=accelerators, device=chosen)


@dataclass(frozen=True, kw_only=True)
class Environments:
    pythons: Mapping[tuple[str, str], Path]
    packages: Mapping[tuple[str, str], Mapping[str, str]]
    skips: tuple[Skip, ...]


def environments(
    plan: Plan, kind: str, progress: Callable[[str], None], container: Container | None = None
) -> Environments:
    """Makes every environment that the plan needs, side by side, before any run, and asks each image for what its
    scripts import; cases without become skips. *kind*: "managed" (a virtual environment for each framework), "current"
    (this interpreter) or "container", where a recipe has none of its own."""
    pythons, skips = {}, []
    packages: dict[tuple[str, str], Mapping[str, str]] = {}
    asked = by_key(((case.framework, case.recipe), case) for case in plan.cases)

    def python_of(cases: Sequence[Case]) -> Path | str:
        """Or why there is none."""
        recipe = plan.recipe(cases[0])
        if (own := recipe.environment or kind) == "container":
            return Path("python3")
        try:
            if own == "current":
                return virtualenvs.current(recipe)
            return virtualenvs.ensure(recipe, device=cases[0].device, progress=progress)
        except CannotInstall as error:
            return message_of(error)

    names = {each.name: each.framework for each in plan.spec.participants}
    inside = {
        key: cases[0] for key, cases in asked.items() if (plan.recipe(cases[0]).environment or kind) == "container"
    }
    needed = {key: imports.needed(names.get(key[0], key[0]), plan.recipe(case), case) for key, case in inside.items()}
    imported = by_key((plan.recipe(case).image, word) for key, case in inside.items() for word in sorted(needed[key]))
    with ThreadPoolExecutor(INSTALLING) as installing:
        made = zip(asked.items(), installing.map(python_of, asked.values()), strict=True)
    for (key, cases), python in made:
        recipe = plan.recipe(cases[0])
        reason, packages[key] = python, {}
        if isinstance(python, Path) and container and key in inside:
            there, absent = runner.image_packages(container, recipe.image, tuple(imported.get(recipe.image, ())))
            packages[key] = there
            if lacking := sorted(needed[key] & {*(absent or ())}):
                place = f"{names.get(key[0], key[0])}/{recipe.name}"
                reason = Message("launch.imports_absent", place=recipe.image, names=lacking, recipe=place)
        elif isinstance(python, Path):
            packages[key] = virtualenvs.packages(recipe, recipe.environment or kind, cases[0].device)
        if isinstance(reason, Path):
            pythons[key] = reason
        else:
            skips += [Skip(case=case, reason=reason) for case in cases]
    return Environments(pythons=pythons, packages=packages, skips=tuple(skips))


def document(plan: Plan) -> Planned:
    """*plan* as it stands beside the run folders."""
    same = ("repeats", "most_repeats", "columns", "criteria", "machine", "expected_run_s")
    said = {name: getattr(plan.spec, name) for name in same}
    return Planned(profile=plan.spec.name, cases=tuple(plan.cases), skips=tuple(plan.skips), **said)


def begin(planned: Planned, store: Store) -> Campaign:
    now, sealed = datetime.now(UTC), journal.seal(planned.cases, planned.repeats, planned.most_repeats)
    started = Campaign(
        id=f"{now:%Y%m%dT%H%M%S}-{secrets.token_hex(3)}",
        started_at=_now(),
        plan=planned,
        plan_sha256=sealed,
        evalsuite=__version__,
        elsewhere=store.journal.count_elsewhere(sealed),
    )
    with _named(store.root):
        store.journal.begin(started)
    return started


@contextlib.contextmanager
def _named(place: Path) -> Iterator[None]:
    """An error of the machine without a file's name is one of *place*."""
    try:
        yield
    except OSError as error:
        if mendable := of_machine(error, place):
            raise mendable from error
        raise


def note_value(ended: EndedRun, started: Campaign, store: Store, measured: Measurement) -> None:
    store.journal.note(
        JournalLine(
            event="measured",
            run=ended.run.id,
            attempt=ended.attempt,
            campaign=started.id,
            at=_now(),
            items_per_s=measured.value,
            unit=measured.throughput.unit if measured.throughput else None,
            counts=measured.counts,
        )
    )


def _now() -> str:
    return datetime.now(UTC).astimezone().isoformat(timespec="milliseconds")


def _launch(
    run: Run,
    recipe: Recipe,
    folder: RunFolder,
    launcher: runner.Launcher,
    store: Store,
    place: CampaignPlace,
    tick: Callable[[Run, float], None],
) -> Outcome:
    enough = make_enough(run, recipe, folder, launcher)
    watch = functools.partial(tick, run)
    outcome = runner.launch(run, recipe, folder, launcher, tick=watch, enough=enough, place=place)
    ended = JournalLine(
        event="ended",
        run=run.id,
        attempt=place.attempt,
        campaign=place.id,
        at=_now(),
        status=outcome.status,
        fault=outcome.fault,
        sha256=folder.hash_records(folder.outcome().sha256),
    )
    store.journal.note(ended)
    return outcome


def launch_all(
    runs: Iterable[Run],
    store: Store,
    adapters: Mapping[str, Adapter],
    launcher: runner.Launcher,
    started: Campaign,
    *,
    tick: Callable[[Run, float], None] = lambda run, seconds: None,
    seed: int | None = None,
    retries: int = 2,
    device_hours: float | None = None,
    spent_h: float = 0.0,
    fits: Callable[[Run], bool] = lambda run: True,
    needed: Callable[[Run], bool] = lambda run: True,
) -> Iterator[EndedRun]:
    """Launches *runs* in order and gives each as it ends; one that the infrastructure failed is made again.
    *device_hours*: the most, of which *spent_h* are spent already. *fits*: whether there is time for a run. *needed*
    says before each whether it still is. Before each block (a repeat at a scale) a fixed computation is timed."""
    order, block, probe_s = 0, None, 0.0
    held: list[Run] = []  # by other evaluators: waited for once the others are done
    for run in itertools.chain(runs, held):
        if device_hours is not None and spent_h >= device_hours:
            return
        if run not in held and not needed(run):
            continue
        if not fits(run):
            return
        recipe = adapters[run.case.framework].recipe(run.case.recipe)
        with store.claim(run, launcher.waits if run in held else None) as folder:
            if folder is None:
                held += [] if run in held or store.folder(run).finished else [run]
                continue
            with _named(folder.path):
                if block != (block := (run.repeat, run.case.scale)):
                    probe_s = round(cores.measure_seconds(), 6)
                more, again = retries, True
                while again:
                    place = CampaignPlace(
                        id=started.id,
                        plan_sha256=started.plan_sha256,
                        round=run.repeat,
                        order=order,
                        attempt=store.journal.started(run, started.id, _now()),
                        seed=seed,
                        probe_s=probe_s,
                    )
                    outcome = _launch(run, recipe, folder, launcher, store, place, tick)
                    order += 1
                    spent_h += (outcome.duration_s or 0.0) * run.case.total_devices / 3600
                    if again := outcome.fault is not None:
                        launcher = replace(launcher, engine=launcher.after_fault(launcher.engine))
                        again, more = _tries_again(launcher, folder, more, retries)
                        if again:
                            store.again(folder, outcome.fault)
        yield EndedRun(run=run, outcome=outcome, attempt=place.attempt)


def _tries_again(launcher: runner.Launcher, folder: RunFolder, more: int, retries: int) -> tuple[bool, int]:
    """Whether a run is made again, after a while where its step was refused, and how often it may be from then on."""
    refused = launcher.engine.alive and not folder.environments()
    if refused and allocations.await_answer(launcher.engine, launcher.waits):
        return True, more  # nobody answered: no fault of the run
    if refused and more > 0:
        time.sleep(REFUSED_S[min(retries - more, len(REFUSED_S) - 1)])
    return more > 0, more - 1


# before a step that was refused is tried again: a controller that came back knows its nodes again after two minutes
REFUSED_S = (20.0, 130.0)
SILENT_S = 120.0  # after the last step
MIDWAY_S = 600.0  # between steps, at least
MIDWAY_TIMES = 30  # times the longest silence before: an evaluation, a checkpoint


def make_enough(run: Run, recipe: Recipe, folder: RunFolder, launcher: runner.Launcher) -> Callable[[], Enough | None]:
    """Says why the run can be ended, if it can.

    "no_limit": its measured steps are done and the script has no limit; "window": they are done and the launcher stops
    after them; "hung": they are done and nothing was printed for SILENT_S, as of process groups that hang when taken
    down; "silent": it was silent for far longer than ever before. Before its first step a script may compile or index
    data.
    """
    from evalsuite.logs import catalogue, reading

    endless = recipe.step_bound == "none"
    planned: Enough | None = "no_limit" if endless else "window" if launcher.stop_after_window else None

    def find_end() -> Enough | None:
        logs = folder.logs()
        silent_s = (time.time() - max(log.path.stat().st_mtime for log in logs)) if logs else 0.0
        if not logs or not (planned or silent_s > min(SILENT_S, MIDWAY_S)):
            return None
        dialects = catalogue.with_example(recipe, launcher.dialects)
        steps = reading.read_run(logs, run.case, recipe.dialect, dialects=dialects).steps
        if not steps:
            return None
        if steps[-1].index >= run.case.protocol.total_steps:
            return planned or ("hung" if silent_s > SILENT_S else None)
        arrivals = [0.0, *(step.arrival_s for step in steps if step.arrival_s is not None)]
        longest_s = max((after - before for before, after in pairwise(arrivals)), default=math.inf)
        return "silent" if silent_s > max(MIDWAY_S, MIDWAY_TIMES * longest_s) else None

    return find_end
