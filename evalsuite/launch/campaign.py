"""The launching half of the main job: environments first, then every missing run, one after the other.

One start of it is a campaign: it seals what is to be run before the first run, and notes every attempt in the journal.
"""

import errno
import functools
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from evalsuite import __version__
from evalsuite.adapter import Adapter, Recipe
from evalsuite.dialect import Dialect
from evalsuite.documents import CampaignPlace
from evalsuite.errors import EvalsuiteError
from evalsuite.launch import probe, runner, virtualenvs
from evalsuite.model import Case, Device, Run, Skip
from evalsuite.plan.engines import Engine
from evalsuite.plan.plan import Machine, Plan
from evalsuite.runs import journal
from evalsuite.runs.endings import Enough, Outcome
from evalsuite.runs.journal import Campaign, JournalLine
from evalsuite.runs.planned import Planned
from evalsuite.runs.store import Log, RunFolder, Store

SILENT_S = 120.0  # a script that prints nothing for this long after its last step is taken to hang


@dataclass(frozen=True, kw_only=True)
class EndedRun:
    """A run that this process has just finished."""

    run: Run
    outcome: Outcome
    attempt: int  # at this run, from 1


def machine(device: Device | Literal["auto"]) -> Machine:
    """What this machine offers; *device* "auto" means gpu where NVML finds one."""
    from evalsuite.agent import cores, sensors

    gpus = len(sensors.Gpus())
    chosen: Device = device if device != "auto" else ("gpu" if gpus else "cpu")
    return Machine(cores=len(cores.usable().cores), gpus=gpus, device=chosen)


@dataclass(frozen=True, kw_only=True)
class Environments:
    """The interpreters of the plan's recipes, what is installed in them, and the cases that have none."""

    pythons: Mapping[tuple[str, str], Path]
    packages: Mapping[tuple[str, str], Mapping[str, str]]
    skips: tuple[Skip, ...]


def environments(
    plan: Plan, adapters: Mapping[str, Adapter], kind: str, progress: Callable[[str], None]
) -> Environments:
    """Makes sure of every environment that the plan needs; a recipe without one turns its cases into skips.

    *kind* is "managed" (a virtual environment for each framework), "current" (this interpreter) or "container"
    (what the recipe's image holds).
    """
    pythons, packages, skips = {}, {}, []
    for (framework, name), cases in _by_recipe(plan.cases).items():
        recipe = adapters[framework].recipe(name)
        try:
            python = _python(recipe, kind, cases[0].device, progress)
        except virtualenvs.CannotInstall as error:
            skips += [Skip(case=case, reason=str(error)) for case in cases]
            continue
        pythons[framework, name] = python
        packages[framework, name] = virtualenvs.packages(python) if kind != "container" else {}
    return Environments(pythons=pythons, packages=packages, skips=tuple(skips))


def _python(recipe: Recipe, kind: str, device: Device, progress: Callable[[str], None]) -> Path:
    if kind == "container":
        return Path("python3")
    if kind == "current":
        return virtualenvs.current(recipe)
    return virtualenvs.ensure(recipe, device=device, progress=progress)


def begin(planned: Planned, store: Store) -> Campaign:
    """Starts a campaign: seals what is to be run, before anything runs."""
    now = datetime.now(UTC)
    started = Campaign(
        id=f"{now:%Y%m%dT%H%M%S}-{secrets.token_hex(3)}",
        started_at=_now(),
        plan=planned,
        plan_sha256=journal.seal(planned.cases, planned.repeats),
        evalsuite=__version__,
    )
    try:
        store.journal.begin(started)
    except OSError as error:
        raise _mendable(error, store.root) from error
    return started


def note_value(ended: EndedRun, started: Campaign, store: Store, items_per_s: float | None, unit: str | None) -> None:
    """Notes in the journal what a run gave, so that it stays known if the run is taken away."""
    store.journal.note(
        JournalLine(
            event="measured",
            run=ended.run.id,
            attempt=ended.attempt,
            campaign=started.id,
            at=_now(),
            items_per_s=items_per_s,
            unit=unit,
        )
    )


def _now() -> str:
    return datetime.now(UTC).astimezone().isoformat(timespec="milliseconds")


def launch_all(
    runs: Sequence[Run],
    store: Store,
    adapters: Mapping[str, Adapter],
    engine: Engine,
    timeout_s: float,
    ready: Environments,
    dialects: Mapping[str, Dialect],
    started: Campaign,
    tick: Callable[[Run, float], None] = lambda run, seconds: None,
    seed: int | None = None,
) -> Iterator[EndedRun]:
    """Launches *runs* in order and gives each as it ends. A failed run does not stop the others.

    A run that another evalsuite process holds, or has finished meanwhile, is passed over. *dialects* are those that
    the runs' logs are read by; *seed* is that of the order. Before each block (a repeat at a scale) a fixed
    computation is timed, and recorded with the block's runs.
    """
    launcher = runner.Launcher(
        engine=engine, timeout_s=timeout_s, pythons=ready.pythons, packages=ready.packages, dialects=dialects
    )
    order = 0
    block, probe_s = None, 0.0
    for run in runs:
        recipe = adapters[run.case.framework].recipe(run.case.recipe)
        with store.claim(run) as folder:
            if folder is None:
                continue
            try:
                if block != (block := (run.repeat, run.case.scale)):
                    probe_s = round(probe.seconds(), 6)
                attempt = store.journal.started(run, started.id, _now())
                place = CampaignPlace(
                    id=started.id,
                    plan_sha256=started.plan_sha256,
                    round=run.repeat,
                    order=order,
                    attempt=attempt,
                    seed=seed,
                    probe_s=probe_s,
                )
                outcome = runner.launch(
                    run,
                    recipe,
                    folder,
                    launcher,
                    tick=functools.partial(tick, run),
                    enough=_enough(run, recipe, folder, dialects),
                    place=place,
                )
                store.journal.note(_end_of(run, place, outcome))
            except OSError as error:
                raise _mendable(error, folder.path) from error
        order += 1
        yield EndedRun(run=run, outcome=outcome, attempt=attempt)


def _end_of(run: Run, place: CampaignPlace, outcome: Outcome) -> JournalLine:
    return JournalLine(
        event="ended",
        run=run.id,
        attempt=place.attempt,
        campaign=place.id,
        at=_now(),
        status=outcome.status,
    )


def _enough(
    run: Run, recipe: Recipe, folder: RunFolder, dialects: Mapping[str, Dialect]
) -> Callable[[], Enough | None]:
    """Says why the run can be ended: its logs have come to the last measured step, and the script has no limit of
    its own or has printed nothing more for two minutes (process groups that hang when they are taken down)."""
    from evalsuite.logs import reading

    endless = recipe.step_bound == "none"

    def enough() -> Enough | None:
        logs = folder.logs()
        if not logs or not (endless or _silent_s(logs) > SILENT_S):
            return None
        steps = reading.read_run(logs, run.case, recipe.dialect_name, dialects=dialects).steps
        if not steps or steps[-1].index < run.case.protocol.total_steps:
            return None
        return "no_limit" if endless else "hung"

    return enough


def _silent_s(logs: Sequence[Log]) -> float:
    return time.time() - max(log.path.stat().st_mtime for log in logs)


def _mendable(error: OSError, path: Path) -> Exception:
    """A full disk and a missing permission are the user's to mend; anything else is our defect."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        hint = "free some space, or use --runs DIR on another disk, and start again: finished runs are kept."
        return EvalsuiteError(f"{path}: the disk is full; expected room for logs and samples. Try: {hint}")
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return EvalsuiteError(f"{path}: {error.strerror}; the runs folder must be writable. Try --runs DIR.")
    return error


def _by_recipe(cases: Sequence[Case]) -> dict[tuple[str, str], list[Case]]:
    found: dict[tuple[str, str], list[Case]] = {}
    for case in cases:
        found.setdefault((case.framework, case.recipe), []).append(case)
    return found
