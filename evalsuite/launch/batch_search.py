"""Trials of batch sizes: short runs in a store of their own, whose folders are the history of the search."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from evalsuite.contracts.adapter import Recipe
from evalsuite.contracts.dialect import Dialect
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.model import Case, Device, Protocol, Run
from evalsuite.launch import runner
from evalsuite.launch.runner import Launcher
from evalsuite.logs import catalogue, reading
from evalsuite.plan import largest
from evalsuite.plan.largest import Aim, Ends, Largest, SearchedBatch
from evalsuite.plan.plan import Plan
from evalsuite.runs.store import TRIALS, RunFolder, Store

SHORT = Protocol(warmup_steps=2, measured_steps=3)  # memory is full after the optimiser's first step
LONGER = Protocol(warmup_steps=5, measured_steps=30)  # to confirm: fragments add up
MOST = 65_536  # per device: beyond it a batch is no batch
MEMORY = ("out of memory", "SIGKILL")  # SIGKILL: from a host that runs out of it


@dataclass(kw_only=True)
class DeviceHourBudget:
    most: float | None = None
    spent: float = 0.0


def search_batch(
    case: Case,
    recipe: Recipe,
    store: Store,
    dialects: Mapping[str, Dialect],
    most: int,
    launcher: Launcher | None = None,
    told: Callable[[int, Aim], None] = lambda batch, aim: None,
    budget: DeviceHourBudget | None = None,
) -> Largest | None:
    """From its own batch on, by runs in *store*, of which *launcher* makes those that are not there. None where there
    is no *launcher* for the next trial, or *budget* does not pay it."""
    hours = budget or DeviceHourBudget()

    def trial(batch: int, aim: Aim) -> tuple[Ends, str] | None:
        run = trial_run(case, batch, aim)
        if not store.folder(run).finished:
            if launcher is None or (hours.most is not None and hours.spent >= hours.most):
                return None
            told(batch, aim)
            with store.claim(run, launcher.waits) as folder:
                if folder is not None:
                    seconds = runner.launch(run, recipe, folder, launcher).duration_s
                    hours.spent += (seconds or 0.0) * run.case.total_devices / 3600
        return read_trial(store.folder(run), run.case, recipe.dialect, catalogue.with_example(recipe, dialects))

    return largest.find_largest(trial, case.batch_per_device, most)


def trial_run(case: Case, batch: int, aim: Aim) -> Run:
    protocol = LONGER if aim == "confirm" else SHORT
    return Run(case=replace(case, batch_per_device=batch, batch_policy=None, protocol=protocol), repeat=0)


def read_trial(folder: RunFolder, case: Case, dialect: str | None, dialects: Mapping[str, Dialect]) -> tuple[Ends, str]:
    """Whether a trial fitted, and else why not, by its outcome and log."""
    outcome = folder.outcome()
    if outcome.ended_well:
        return "fits", ""
    read = reading.read_run(folder.logs(), case, dialect, dialects=dialects) if folder.logs() else None
    said = read.reason if read and read.status == "failed" and read.reason else outcome.reason
    full = outcome.fault is None and any(word in text for word in MEMORY for text in (said, outcome.reason))
    return ("out_of_memory" if full else "failed"), said


def find_in_trials(
    plan: Plan, root: Path, dialects: Mapping[str, Dialect], device: Device
) -> tuple[SearchedBatch, ...]:
    """What the finished trials in the runs folder *root* have found of the cases that *plan* is to search with. Raises
    EvalsuiteError on a CPU, where nothing limits a search."""
    if device == "cpu":
        raise EvalsuiteError.of("commands.max_on_cpu")
    store = Store(root / TRIALS)
    searches = ((case, search_batch(case, plan.recipe(case), store, dialects, MOST)) for case in plan.to_search)
    return tuple(SearchedBatch(of=case, **vars(search)) for case, search in searches if search is not None)
