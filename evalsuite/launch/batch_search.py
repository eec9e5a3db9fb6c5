"""Trials of batch sizes: short runs in a store of their own, whose folders are the history of the search."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from evalsuite.adapter import Recipe
from evalsuite.dialect import Dialect
from evalsuite.launch import runner
from evalsuite.launch.runner import Launcher
from evalsuite.logs import reading
from evalsuite.model import Case, Protocol, Run
from evalsuite.plan import largest
from evalsuite.plan.largest import Aim, Ends, Largest
from evalsuite.runs.store import RunFolder, Store

SHORT = Protocol(warmup_steps=2, measured_steps=3)  # memory is full once the optimiser has made its first step
LONGER = Protocol(warmup_steps=5, measured_steps=30)  # of the confirmation: fragments add up
MEMORY = ("out of memory", "SIGKILL")  # the last is what a host that runs out of it sends


@dataclass(kw_only=True)
class Purse:
    """The device-hours that trials have taken in this start, and how many they may."""

    most: float | None = None  # None: as many as it takes
    spent: float = 0.0
    refused: bool = False  # whether a trial was not made for want of them

    def pays(self) -> bool:
        """Whether one more trial may begin, as a run may: until so many are spent."""
        left = self.most is None or self.spent < self.most
        self.refused = self.refused or not left
        return left

    def add(self, run: Run, seconds: float | None) -> None:
        self.spent += (seconds or 0.0) * run.case.total_devices / 3600


class _NotTried(Exception):
    """A trial that the search asks for was not made yet."""


def search(
    case: Case,
    recipe: Recipe,
    store: Store,
    launcher: Launcher,
    most: int,
    told: Callable[[int, Aim], None] = lambda batch, aim: None,
    purse: Purse | None = None,
) -> Largest | None:
    """The largest batch of *case* from its own one, by runs in *store*; finished trials are not made again.

    None where *purse* does not pay the next trial; what was tried is kept, and the search goes on from there.
    """
    hours = purse or Purse()

    def trial(batch: int, aim: Aim) -> tuple[Ends, str]:
        run = _run(case, batch, aim)
        if not store.folder(run).finished and not hours.pays():
            raise _NotTried
        told(batch, aim)
        with store.claim(run) as folder:
            if folder is not None:
                hours.add(run, runner.launch(run, recipe, folder, launcher).duration_s)
        return ended(store.folder(run), run.case, recipe.dialect_name, launcher.dialects)

    try:
        return largest.largest(trial, case.batch_per_device, most)
    except _NotTried:
        return None


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


def left(case: Case, recipe: Recipe, store: Store, dialects: Mapping[str, Dialect], most: int) -> tuple[Run, ...]:
    """The trials that a search still makes if nothing larger fits than what has fitted, or than it begins with: about
    as many it makes, and more where larger batches fit."""
    fitting, more = 0, []

    def trial(batch: int, aim: Aim) -> tuple[Ends, str]:
        nonlocal fitting
        run = _run(case, batch, aim)
        if store.folder(run).finished:
            ends, reason = ended(store.folder(run), run.case, recipe.dialect_name, dialects)
            fitting = max(fitting, batch) if ends == "fits" else fitting
            return ends, reason
        more.append(run)
        return ("fits" if batch <= (fitting or case.batch_per_device) else "out_of_memory"), ""

    largest.largest(trial, case.batch_per_device, most)
    return tuple(more)


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
