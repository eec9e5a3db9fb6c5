"""`evalsuite run`: the launching half of `compare`. It resumes by itself."""

import argparse
import contextlib
from typing import TYPE_CHECKING

from evalsuite.commands import speech
from evalsuite.commands.speech import say
from evalsuite.errors import Exit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from evalsuite.commands.launching.request import Asked
    from evalsuite.model import Measurement, Run, Skip
    from evalsuite.runs.store import RunFolder

HELP = "run what is missing of the test matrix"
EXAMPLES = """  evalsuite run --frameworks pytorch --scales 1x1 --repeats 5
  evalsuite run --spec official.toml --stop-after-window --max-device-hours 40
  salloc --nodes=4 --exclusive evalsuite run --profile full --engine slurm --scales 1x8,2x8,4x8
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from evalsuite.commands.options import axes

    axes.add_arguments(parser)
    add_redo(parser)
    speech.add_argument(parser)


def add_redo(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--redo",
        metavar="WHAT",
        action="append",
        default=[],
        help="make finished runs again: failed, a case or CASE/r0; the old ones stay beside them; repeatable",
    )


def run(arguments: argparse.Namespace) -> int:
    from evalsuite.commands.launching import batch_searches
    from evalsuite.commands.launching.request import planned
    from evalsuite.commands.printing.terminal import note
    from evalsuite.launch import campaign

    asked = planned(arguments)
    campaign.redo(arguments.redo, asked.plan, asked.store)
    asked = batch_searches.with_batches(arguments, asked)
    asked, failed = run_missing(asked, arguments.environment)
    if not asked.plan.cases:
        return Exit.NOTHING_MEASURED
    if not _measured(asked):
        note(say("run.nothing_valid"))
        return Exit.NOTHING_MEASURED
    return Exit.SOME_FAILED if failed else Exit.DONE


def run_missing(asked: "Asked", environment: str) -> tuple["Asked", int]:
    """Runs what is missing of *asked* and says so as it goes.

    Returns the plan less the cases whose framework could not be installed, and how many of all its runs
    have failed.
    """
    import os
    from dataclasses import replace

    from evalsuite import locks
    from evalsuite.commands import preflight
    from evalsuite.commands.launching import prices
    from evalsuite.commands.launching.adaptive_repeats import Repeating
    from evalsuite.commands.printing.terminal import note, progress
    from evalsuite.errors import EvalsuiteError
    from evalsuite.launch import campaign, runner
    from evalsuite.launch.checks import disk_space
    from evalsuite.launch.checks.wall_time_left import RemainingTime
    from evalsuite.launch.remote.schedulers import slurm
    from evalsuite.logs import catalogue
    from evalsuite.plan import plan
    from evalsuite.results.measure import measurement
    from evalsuite.runs.planned import Planned

    _say_left_out(asked.plan.skips)
    for finding in asked.plan.findings:
        note(say("run.flagged", where=finding.where, finding=speech.finding(finding)))
    ready = campaign.Environments(pythons={}, packages={}, skips=())
    missing = asked.missing()
    if missing:
        if why := asked.engine.unready(os.environ):
            raise EvalsuiteError(why)
        kind = asked.environment(environment)
        asked = preflight.fit(asked, missing, environment)
        ready = campaign.environments(asked.plan, asked.adapters, kind, note, asked.engine.container)
        _say_skips(ready.skips)
        asked = replace(asked, plan=asked.plan.without(ready.skips))
        missing = asked.missing()  # without the cases that cannot be run, and what others have run meanwhile
    spec = asked.plan.spec
    whole = Planned(
        profile=spec.name,
        repeats=spec.repeats,
        cases=tuple(asked.plan.cases),
        skips=tuple(asked.plan.skips),
        most_repeats=spec.most_repeats,
    )
    asked.store.write_plan(whole)
    if not missing and asked.plan.runs:
        failed = _failed(asked)
        runs = len(asked.plan.runs)
        note(say("run.all_done_failed", runs=runs, failed=failed) if failed else say("run.all_done", runs=runs))
    if not missing:
        return asked, _failed(asked)
    if not locks.has_flock(asked.store.root):
        note(say("run.no_flock", folder=asked.store.root))
    for sentence in prices.sentences(asked, missing):
        note(sentence)
    disk_space.check(missing, asked.store)
    started = campaign.begin(whole, asked.store)
    if asked.measures_network:
        _measure_network(asked, missing, ready.pythons, started.id)
    estimate = asked.estimate(missing)
    remaining = RemainingTime(slurm.left_s(os.environ), estimate)
    with interruptible(), progress(missing, estimate) as shown:
        launcher = runner.Launcher(
            engine=asked.engine,
            timeout_s=spec.timeout_s,
            pythons=ready.pythons,
            packages=ready.packages,
            dialects=catalogue.known(asked.places),
            sandboxed=asked.sandboxed,
            stop_after_window=spec.stop_after_window,
            share=asked.share,
            waits=lambda words: note(say("run.waiting", who=words)),
            after_fault=preflight.mending(asked, missing, environment),
        )
        extent = campaign.Extent(
            retries=spec.retries,
            device_hours=spec.max_device_hours,
            spent_h=asked.searched_h,
            fits=remaining.fits,
        )
        repeating = Repeating(asked.plan, asked.store, asked.places, asked.criteria)
        launched = campaign.launch_all(
            plan.missing(asked.plan, asked.store),
            asked.store,
            asked.adapters,
            launcher,
            started,
            tick=shown.tick,
            seed=spec.seed,
            extent=extent,
            needed=lambda run: shown.needed(run, repeating.needs(run)),
        )
        stopped: list[Measurement] = []
        for ended in launched:
            measured = measurement.measurement(asked.store.folder(ended.run), asked.places)
            given = measured.throughput
            campaign.note_value(ended, started, asked.store, measured.value, given.unit if given else None)
            shown.ended(ended.run, ended.outcome.duration_s, measured)
            _say_log(measured, asked.store.root)
            stopped += [measured] if ended.outcome.status == "stopped_as_planned" else []
    _say_stopped(stopped)
    _say_spared(asked, shown.spared)
    if remaining.refused:
        note(say("run.no_time", runs=len(asked.missing())))
    return asked, _failed(asked)


@contextlib.contextmanager
def interruptible() -> "Iterator[None]":
    """While this holds, SIGTERM (the end of an allocation's time) is what Ctrl-C is: the run that goes on is given up
    in order, and a second SIGTERM does not disturb that."""
    import signal
    import threading

    def interrupt(number: int, frame: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _say_left_out(skips: "Sequence[Skip]") -> None:
    """What the plan leaves out, a line for each framework and reason: batches and precisions share one."""
    from evalsuite.commands.printing.terminal import note

    alike: dict[tuple[str, str], list[Skip]] = {}
    for skip in skips:
        alike.setdefault((skip.case.framework, skip.reason), []).append(skip)
    for (framework, reason), found in alike.items():
        scales = ", ".join(dict.fromkeys(skip.case.scale for skip in found))
        n = say("run.skipped_cases_of", n=len(found)) if len(found) > 1 else ""
        note(say("run.skipped", framework=framework, scale=scales, n=n, reason=speech.retold(reason)))


def _say_log(measured: "Measurement", root: "Path") -> None:
    """Where the log of a run without a value lies, and its last line: what its script said may explain it."""
    from evalsuite.commands.printing.terminal import note
    from evalsuite.logs import excerpt

    if measured.value is None and measured.log is not None:
        last = excerpt.last_line(root / measured.log)
        file = root / measured.log
        known = not last or last in measured.reason
        note(say("run.log", file=file) if known else say("run.log_says", file=file, line=last))


def _say_stopped(stopped: "Sequence[Measurement]") -> None:
    """That scripts were stopped as planned, and what that saved at least: the rest of the epoch each was in."""
    from evalsuite.commands.printing.terminal import note

    if not stopped:
        return
    known = [(run.left_s, run.run.case.total_devices) for run in stopped if run.left_s is not None]
    if not known:
        note(say("run.stopped_as_planned", runs=len(stopped)))
        return
    hours = sum(seconds * devices for seconds, devices in known) / 3600
    key = "run.stopped_saving" if len(known) == len(stopped) else "run.stopped_saving_of"
    note(say(key, runs=len(stopped), hours=f"{hours:.2g}", known=len(known)))


def _say_spared(asked: "Asked", spared: "Sequence[Run]") -> None:
    """What adaptive repeats did without, and what these runs would have taken."""
    from evalsuite.commands.printing.terminal import note

    if spared:
        prices = asked.estimate(spared).prices(spared)
        hours = [one.device_hours for one in prices if one.device_hours is not None]
        saved = f"{sum(hours):.2g}" if len(hours) == len(prices) else "?"
        note(say("run.spared", runs=len(spared), hours=saved, repeats=asked.repeats))


def _measure_network(
    asked: "Asked", missing: "Sequence[Run]", pythons: "Mapping[tuple[str, str], Path]", campaign: str
) -> None:
    """Measures the network of each scale of *missing* that has one, by what carries the all-reduces of its cases."""
    from evalsuite.commands.printing.terminal import note
    from evalsuite.documents import COLLECTIVES
    from evalsuite.launch.checks import network
    from evalsuite.plan import collectives

    measured = {}
    for case in (run.case for run in missing if run.case.total_devices > 1):
        measured[case.scale, collectives.of(asked.recipe(case), case)] = case
    for (scale, collective), case in measured.items():
        note(say("run.measuring_network", scale=scale, collective=COLLECTIVES[collective]))
        interpreter = network.python(pythons, asked.adapters, case)
        root, engine = asked.store.root, asked.engine
        found = network.measure(case, engine, interpreter, root, campaign, asked.share, collective)
        if found.error:
            note(say("run.no_network", scale=scale, reason=found.error))


def _say_skips(skips: "Sequence[Skip]") -> None:
    from evalsuite.commands.printing.terminal import note

    for reason in dict.fromkeys(skip.reason for skip in skips):
        cases = [skip.case.id for skip in skips if skip.reason == reason]
        more = ", …" if len(cases) > 1 else ""
        note(say("run.skipped_cases", n=len(cases), first=cases[0], more=more, reason=speech.retold(reason)))


def _measured(asked: "Asked") -> bool:
    """Whether any run of the plan, made in this call or before, gave a number that counts."""
    from evalsuite.results.measure import measurement
    from evalsuite.results.measure.summary import counts

    return any(counts(measurement.measurement(folder, asked.places)) for folder in _ended(asked))


def _failed(asked: "Asked") -> int:
    """Runs of the plan that have ended badly, in this call or before."""
    return sum(not folder.outcome().ended_well for folder in _ended(asked))


def _ended(asked: "Asked") -> "Iterator[RunFolder]":
    """The folders of the plan's finished runs."""
    ended = asked.store.ended()
    return (asked.store.folder(run) for run in asked.plan.runs if ended(run))
