"""`evalsuite run`: the launching half of `compare`. It resumes by itself."""

import argparse
import contextlib
import functools
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from evalsuite.commands.launching import batch_searches, fit_nodes, prices
from evalsuite.commands.launching.adaptive_repeats import AdaptiveRepeats, missing_runs, repeats_asked
from evalsuite.commands.launching.request import Options, Place, Request, make_launcher, read_request, say_scripts
from evalsuite.commands.printing import i18n
from evalsuite.commands.printing.i18n import say
from evalsuite.commands.printing.terminal import RunProgress, bar, note
from evalsuite.core import files, paths
from evalsuite.core.errors import EvalsuiteError, Exit, did_you_mean
from evalsuite.core.model import Measurement, Run, Skip, by_key
from evalsuite.launch import campaign, runner
from evalsuite.launch.campaign import Environments
from evalsuite.launch.checks import doctor, room
from evalsuite.launch.checks.room import RemainingTime
from evalsuite.launch.remote import allocations
from evalsuite.logs import excerpt
from evalsuite.plan.plan import Plan
from evalsuite.results.measure import measurement, measuring
from evalsuite.runs.journal import Campaign
from evalsuite.runs.store import RunFolder, Store, check_root


def run(arguments: argparse.Namespace) -> int:
    if arguments.again:
        from evalsuite.commands import audit

        return audit.run_again(arguments, _evaluate)
    return _evaluate(arguments)


def _evaluate(arguments: argparse.Namespace) -> int:
    request = read_request(arguments)
    say_scripts(request.plan)
    store = request.place.store
    check_runs(arguments, request)
    set_aside(arguments, request)
    request = batch_searches.find_batches(arguments, request)
    plan, code = run_missing(request)
    if not plan.cases:
        return Exit.NOTHING_MEASURED
    measured = (measurement.measurement(folder, request.options.search_paths) for folder in _ended_folders(plan, store))
    if not any(run.counts for run in measured):
        note(say("run.nothing_valid"))
        return Exit.NOTHING_MEASURED
    return code


def check_runs(arguments: argparse.Namespace, request: Request) -> None:
    check_root(request.place.store.root)
    files.try_place(request.place.store.root, folder=True)
    _find_again(arguments.redo, request)


def set_aside(arguments: argparse.Namespace, request: Request) -> None:
    """The finished runs that `--redo` names, next to their place, so that they are missing again."""
    store = request.place.store
    for run in _find_again(arguments.redo, request):
        store.set_aside(store.folder(run), "redone")


def _find_again(words: Sequence[str], request: Request) -> list[Run]:
    """The finished runs that *words* name: `failed` (also without a valid number), `changed`, a case or a run's id.
    Raises EvalsuiteError for a word that names none, and for runs of a script or command that has changed since."""
    plan, store = request.plan, request.place.store
    finished = {run: store.folder(run) for run in filter(store.ended(), plan.runs)}
    why = {run: runner.find_change(folder, plan.recipe(run.case)) for run, folder in finished.items()}
    changed = [run for run in finished if why[run]]
    chosen: list[Run] = []
    for word in words:
        matching = [run for run in finished if word in (run.id, run.case.id)]
        if word == "changed":
            matching = changed
        elif word == "failed":
            matching = [run for run, folder in finished.items() if not _is_valid(folder, request.options)]
        elif not matching:
            near = did_you_mean(word, [case.id for case in plan.cases], cutoff=0.4)
            raise EvalsuiteError.of("launch.redo", name=word, near=near)
        chosen += [run for run in matching if run not in chosen]
    if old := [run for run in changed if run not in chosen]:
        raise EvalsuiteError.of("launch.redo_changed", n=len(old), run=old[0].id, why=why[old[0]], runs=store.root)
    return chosen


def _is_valid(folder: RunFolder, options: Options) -> bool:
    measured = measuring.measure(folder, options.search_paths, paths.cache() / "measurements").measurement
    return measured.counts and folder.outcome().ended_well


def run_missing(request: Request, between: Callable[[Plan], None] = lambda plan: None) -> tuple[Plan, Exit]:
    """Runs what is missing, and says so as it goes. *between* two rounds, when nothing is measured, is called. Returns
    the plan less the cases whose framework could not be installed, and what its runs end the command with."""
    plan, place, options = request.plan, request.place, request.options
    _say_left_out(plan.skips)
    for finding in plan.findings:
        note(say("run.flagged", where=finding.where, finding=i18n.finding(finding)))
    missing = missing_runs(plan, place.store, options.search_paths, options.criteria)
    ready, left = Environments(pythons={}, packages={}, skips=()), Exit.DONE
    if missing:
        place = fit_nodes.choose_nodes(plan, place, options, missing)
        ready = campaign.environments(plan, options.environment, note, place.engine.container)
        _say_left_out(ready.skips)
        plan = plan.without(ready.skips)
        missing = missing_runs(plan, place.store, options.search_paths, options.criteria)  # others may have run some
    planned = campaign.document(plan)
    place.store.write_plan(planned)
    if missing:
        room.check_disk_space(missing, place.store, prices.estimate(plan, place.store, missing))
        for sentence in prices.sentences(plan, place, options, missing):
            note(sentence)
        if place.engine.name == "local" and plan.spec.quiet_rounds != 0 and "--share" not in options.agent_options:
            doctor.await_quiet(note)
        started = campaign.begin(planned, place.store)
        left = _launch(plan, place, options, ready, missing, started, functools.partial(between, plan))
    failed = sum(not folder.outcome().ended_well for folder in _ended_folders(plan, place.store))
    if not missing and plan.runs:
        runs, failed = len(plan.runs), sum(not _is_valid(each, options) for each in _ended_folders(plan, place.store))
        note(say("run.all_done_failed", runs=runs, failed=failed) if failed else say("run.all_done", runs=runs))
    return plan, left or (Exit.SOME_FAILED if failed else Exit.DONE)


def _launch(
    plan: Plan,
    place: Place,
    options: Options,
    ready: Environments,
    missing: Sequence[Run],
    started: Campaign,
    between: Callable[[], None],
) -> Exit:
    """Whether runs were left undone: for lack of time, or of device-hours."""
    spec, store = plan.spec, place.store
    estimate = prices.estimate(plan, store, missing)
    remaining = RemainingTime(allocations.wall_time_left_s(os.environ), estimate)
    on_fit_nodes = fit_nodes.replace_nodes(store.root, missing, fit_nodes.interpreters(plan, options, missing))
    launcher = replace(make_launcher(spec, place.engine, options, ready), after_fault=on_fit_nodes)
    repeats = AdaptiveRepeats(plan, store, options.search_paths, options.criteria)
    planned = {*plan.runs}
    stopped, again, expected = 0, [run for run in missing if run not in planned], [*missing]
    with interruptible(), bar(len(missing)) as shown_bar:
        shown = RunProgress(expected, estimate, shown_bar)
        for ended in campaign.launch_all(
            _rounds(repeats.rounds([*again, *store.missing(plan.runs)], expected), between),
            store,
            plan.adapters,
            launcher,
            started,
            tick=shown.tick,
            seed=spec.seed,
            retries=spec.retries,
            device_hours=spec.max_device_hours,
            spent_h=options.spent_h,
            fits=remaining.fits,
            needed=lambda run: shown.needed(run, run in again or repeats.is_needed(run)),
        ):
            measured = measurement.measurement(store.folder(ended.run), options.search_paths)
            shown.ended(ended.run, ended.outcome.duration_s, measured)
            campaign.note_value(ended, started, store, measured)
            _say_log(measured, store.root)
            stopped += ended.outcome.status == "stopped_as_planned"
    if stopped:
        note(say("run.stopped_as_planned", runs=stopped))
    if shown.spared:
        note(say("run.spared", runs=len(shown.spared), repeats=repeats_asked(plan.spec)))
    limited = remaining.refused or spec.max_device_hours is not None
    left = missing_runs(plan, store, options.search_paths, options.criteria) if limited else []
    if not left:
        return Exit.DONE
    note(say("run.no_time" if remaining.refused else "run.no_hours", runs=len(left)))
    return Exit.INTERRUPTED if remaining.refused else Exit.SOME_FAILED


def _rounds(runs: Iterable[Run], between: Callable[[], None]) -> Iterator[Run]:
    repeat = None
    for run in runs:  # the next is asked for once the one before has ended
        if repeat not in (None, run.repeat):
            between()
        repeat = run.repeat
        yield run


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """While this holds, SIGTERM (the end of an allocation's time) is what Ctrl-C is: the run that goes on is given up
    in order, and a second SIGTERM does not disturb that."""

    def interrupt(number: int, frame: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise KeyboardInterrupt(number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _say_left_out(skips: Sequence[Skip]) -> None:
    alike = by_key(((skip.case.framework, skip.reason), skip) for skip in skips)
    for (framework, reason), alike_skips in alike.items():
        scales = ", ".join(dict.fromkeys(skip.case.scale for skip in alike_skips))
        n = say("run.skipped_cases_of", n=len(alike_skips)) if len(alike_skips) > 1 else ""
        note(say("run.skipped", framework=framework, scale=scales, n=n, reason=i18n.worded(reason)))


def _say_log(measured: Measurement, root: Path) -> None:
    if measured.value is None and measured.log is not None:
        last = excerpt.last_line(root / measured.log)
        file = root / measured.log
        known = not last or last in measured.reason
        note(say("run.log", file=file) if known else say("run.log_says", file=file, line=last))


def _ended_folders(plan: Plan, store: Store) -> Iterator[RunFolder]:
    ended = store.ended()
    return (store.folder(run) for run in plan.runs if ended(run))
