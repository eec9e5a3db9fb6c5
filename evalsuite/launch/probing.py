"""Trials of batch sizes: short runs in a store of their own, whose folders are the history of the search."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from evalsuite.adapter import Adapter
from evalsuite.launch import runner
from evalsuite.launch.runner import Launcher
from evalsuite.logs import reading
from evalsuite.model import Case, Protocol, Run
from evalsuite.plan import largest
from evalsuite.plan.largest import Aim, Ends, Largest
from evalsuite.runs.store import RunFolder, Store

FOLDER = "largest-batch"  # below the run folders
SHORT = Protocol(warmup_steps=2, measured_steps=3)  # memory is full once the optimiser has made its first step
LONGER = Protocol(warmup_steps=5, measured_steps=30)  # of the confirmation: fragments add up
MEMORY = ("out of memory", "SIGKILL")  # the last is what a host that runs out of it sends


def search(
    case: Case,
    adapters: Mapping[str, Adapter],
    store: Store,
    launcher: Launcher,
    most: int,
    told: Callable[[int, Aim], None] = lambda batch, aim: None,
) -> Largest:
    """The largest batch of *case* from its own one, by runs in *store*; finished trials are not made again."""
    recipe = adapters[case.framework].recipe(case.recipe)

    def trial(batch: int, aim: Aim) -> tuple[Ends, str]:
        protocol = LONGER if aim == "confirm" else SHORT
        run = Run(case=replace(case, batch_per_device=batch, protocol=protocol), repeat=0)
        told(batch, aim)
        with store.claim(run) as folder:
            if folder is not None:
                runner.launch(run, recipe, folder, launcher)
        return ended(store.folder(run), run.case, recipe.dialect_name, launcher)

    return largest.largest(trial, case.batch_per_device, most)


def ended(folder: RunFolder, case: Case, dialect: str, launcher: Launcher) -> tuple[Ends, str]:
    """Whether a trial fitted, and else why not, by its outcome and its log."""
    if not folder.finished:
        return "failed", "another evalsuite tries it at this moment"
    outcome = folder.outcome()
    if outcome.ended_well:
        return "fits", ""
    read = reading.read_run(folder.logs(), case, dialect, dialects=launcher.dialects) if folder.logs() else None
    said = read.reason if read and read.status == "failed" and read.reason else outcome.reason
    full = outcome.fault is None and any(word in text for word in MEMORY for text in (said, outcome.reason))
    return ("out_of_memory" if full else "failed"), said
