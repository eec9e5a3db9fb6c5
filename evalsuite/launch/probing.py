"""Trials of batch sizes: short runs in a store of their own, whose folders are the history of the search."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from evalsuite.adapter import Recipe
from evalsuite.dialect import Dialect
from evalsuite.launch import runner
from evalsuite.launch.runner import Launcher
from evalsuite.logs import reading
from evalsuite.model import Case, Protocol, Run
from evalsuite.plan import largest
from evalsuite.plan.largest import Aim, Ends, Largest
from evalsuite.runs.store import RunFolder, Store

FOLDER = "largest-batch"  # below the run folders
BYTES_PER_MB = 10**6
SHORT = Protocol(warmup_steps=2, measured_steps=3)  # memory is full once the optimiser has made its first step
LONGER = Protocol(warmup_steps=5, measured_steps=30)  # of the confirmation: fragments add up
MEMORY = ("out of memory", "SIGKILL")  # the last is what a host that runs out of it sends


class _NotTried(Exception):
    """A trial that the search asks for was not made yet."""


def trials(root: Path, memory_bytes: int | None) -> Store:
    """Where the trials of a runs folder lie: those under another limit of memory are others."""
    folder = root / FOLDER
    return Store(folder if memory_bytes is None else folder / f"{memory_bytes // BYTES_PER_MB}MB")


def search(
    case: Case,
    recipe: Recipe,
    store: Store,
    launcher: Launcher,
    most: int,
    told: Callable[[int, Aim], None] = lambda batch, aim: None,
) -> Largest:
    """The largest batch of *case* from its own one, by runs in *store*; finished trials are not made again."""

    def trial(batch: int, aim: Aim) -> tuple[Ends, str]:
        run = _run(case, batch, aim)
        told(batch, aim)
        with store.claim(run) as folder:
            if folder is not None:
                runner.launch(run, recipe, folder, launcher)
        return ended(store.folder(run), run.case, recipe.dialect_name, launcher.dialects)

    return largest.largest(trial, case.batch_per_device, most)


def known(case: Case, recipe: Recipe, store: Store, dialects: Mapping[str, Dialect], most: int) -> Largest | None:
    """What the finished trials in *store* have found; None as long as the search wants one that is not there."""

    def trial(batch: int, aim: Aim) -> tuple[Ends, str]:
        run = _run(case, batch, aim)
        if not store.folder(run).finished:
            raise _NotTried
        return ended(store.folder(run), run.case, recipe.dialect_name, dialects)

    try:
        return largest.largest(trial, case.batch_per_device, most)
    except _NotTried:
        return None


def _run(case: Case, batch: int, aim: Aim) -> Run:
    protocol = LONGER if aim == "confirm" else SHORT
    return Run(case=replace(case, batch_per_device=batch, batch_policy=None, protocol=protocol), repeat=0)


def ended(folder: RunFolder, case: Case, dialect: str, dialects: Mapping[str, Dialect]) -> tuple[Ends, str]:
    """Whether a trial fitted, and else why not, by its outcome and its log."""
    if not folder.finished:
        return "failed", "another evalsuite tries it at this moment"
    outcome = folder.outcome()
    if outcome.ended_well:
        return "fits", ""
    read = reading.read_run(folder.logs(), case, dialect, dialects=dialects) if folder.logs() else None
    said = read.reason if read and read.status == "failed" and read.reason else outcome.reason
    full = outcome.fault is None and any(word in text for word in MEMORY for text in (said, outcome.reason))
    return ("out_of_memory" if full else "failed"), said
