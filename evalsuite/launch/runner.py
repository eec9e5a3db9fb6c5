"""Launches runs: one engine process after the other, each with its outcome written before the next begins."""

import functools
import os
import re
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from evalsuite import __version__
from evalsuite.contracts.adapter import Recipe
from evalsuite.contracts.dialect import Dialect
from evalsuite.core import files, redaction
from evalsuite.core.documents import CampaignPlace, RunCommand, UsedRecipe
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.messages import Message
from evalsuite.core.model import Case, Run
from evalsuite.core.paths import SCRATCH
from evalsuite.launch import fault_attribution, programs
from evalsuite.launch.programs import ask_program
from evalsuite.launch.provision import checkouts, readiness, virtualenvs
from evalsuite.logs import catalogue
from evalsuite.machine import process_tree
from evalsuite.machine.heartbeat import HeartbeatMonitor
from evalsuite.plan import repositories
from evalsuite.plan.commandline import CommandLine, command_line
from evalsuite.plan.containers import Container, Runtime
from evalsuite.plan.engines import Argv, Engine
from evalsuite.runs import equivalence
from evalsuite.runs.endings import AGENT_FAILED, EVALUATOR_LOST, Enough, Outcome
from evalsuite.runs.store import RunFolder

Tick = Callable[[float], None]
Asks = Callable[[], Enough | None]
Waits = Callable[[str], None]

POLL_S = 0.2
ENOUGH_POLL_S = 3.0  # reading a log from its beginning costs milliseconds
AGENT_GRACE_S = 30.0  # beyond the run's timeout, for the agent to end its tree
AWAY_S, AWAY_POLL_S = 600.0, 10.0  # for a file system to come back
SHOWN_S = 35.0  # until a network file system shows what another node has written (nfs(5), acdirmin: 30 s)


@dataclass(frozen=True, kw_only=True)
class Launcher:
    engine: Engine
    timeout_s: float
    pythons: Mapping[tuple[str, str], Path]  # (framework, recipe) → interpreter of its environment
    packages: Mapping[tuple[str, str], Mapping[str, str]]  # the same → distribution → version
    dialects: Mapping[str, Dialect]
    stop_after_window: bool = False  # also of scripts with a limit of their own
    agent_options: Argv = ()  # `--share`, `--hz`
    waits: Waits = lambda words: None  # called with whom a run waits for
    # the infrastructure failed a run: on which nodes next
    after_fault: Callable[[Engine], Engine] = lambda engine: engine


def launch(
    run: Run,
    recipe: Recipe,
    folder: RunFolder,
    launcher: Launcher,
    tick: Tick = lambda s: None,
    enough: Asks = lambda: None,
    place: CampaignPlace | None = None,
) -> Outcome:
    """Runs *run* in its claimed *folder*, writes its outcome and returns it.

    *enough* says every few seconds whether and why the run can be ended; it then counts as completed. *tick* is given
    the seconds since the start. Whatever ends this function early (such as Ctrl-C) ends the process tree first and
    leaves no outcome. *place*: in its campaign.
    """
    launcher = replace(launcher, engine=launcher.engine.serving(recipe))
    python = launcher.pythons[run.case.framework, recipe.name]
    line = command_line(
        recipe,
        run.case,
        python=python,
        folder=folder.path.resolve(),
        engine=launcher.engine,
        timeout_s=launcher.timeout_s,
        agent_options=launcher.agent_options,
    )
    packages = launcher.packages.get((run.case.framework, recipe.name), {})
    checkouts.without_bytecode(recipe, repositories.of(recipe))
    _fill_scratch(line, folder.scratch)
    command = replace(_command(run, recipe, line, launcher, packages), campaign=place)
    folder.write_command(command)
    inputs = folder.hash_records()
    # for other hosts alone: an agent of this machine sees our end by itself
    monitor = HeartbeatMonitor(folder) if launcher.engine.name != "local" else None
    exit_code, why, duration_s, lost = _finish(line, folder, launcher, tick, enough, monitor)
    _await_store(folder, launcher.waits)
    started_at = (datetime.now(UTC).astimezone() - timedelta(seconds=duration_s)).isoformat(timespec="milliseconds")
    shutil.rmtree(folder.scratch, ignore_errors=True)
    changed = fault_attribution.find_changes(folder, inputs, run.case.nodes)
    if folder.ensure(run):
        folder.write_command(command)
        changed = Message("launch.run_folder_gone")
    ended = Outcome(status="failed", reason=changed) if changed else None
    outcome = replace(
        ended or _recorded_end(exit_code, why, folder, run.case, launcher, lost),
        exit_code=exit_code,
        started_at=started_at,
        duration_s=round(duration_s, 3),
    )
    folder.write_outcome(outcome)
    return outcome


def _fill_scratch(line: CommandLine, scratch: Path) -> None:
    scratch.mkdir()
    for name, folder in line.copies.items():
        shutil.copytree(folder, scratch / name, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    for name in (*line.files, *line.links):
        (scratch / name).parent.mkdir(parents=True, exist_ok=True)
    for name, text in line.files.items():
        (scratch / name).write_text(text)
    for name, target in line.links.items():
        (scratch / name).symlink_to(target)


def _finish(
    line: CommandLine, folder: RunFolder, launcher: Launcher, tick: Tick, enough: Asks, monitor: HeartbeatMonitor | None
) -> tuple[int, Enough | None, float, list[str]]:
    """Exit code (negative: a signal), why *enough* ended it, seconds without waiting, and the hosts lost."""
    with open(folder.engine_log, "wb", opener=files.open_private) as output:
        try:
            environment = {**os.environ, **line.environment, **launcher.engine.variables}
            environment |= programs.python_path(environment)
            process = programs.start_process(line.engine, environment, output, folder.scratch)
        except OSError as error:
            raise EvalsuiteError.of("launch.engine_command", path=line.engine[0], error=error) from error
        began = asked = time.monotonic()
        told: str | None = None
        try:
            while process.poll() is None:
                now = time.monotonic()
                if waits_for := folder.waiting():
                    began = asked = now
                    if waits_for != told:
                        launcher.waits(waits_for)
                    told = waits_for
                if now - began > launcher.timeout_s + AGENT_GRACE_S:
                    return 124, None, now - began, []
                if now - asked > ENOUGH_POLL_S:
                    asked = now
                    if why := enough():
                        programs.end_process(process)
                        return process.returncode, why, time.monotonic() - began, []
                if monitor and (lost := monitor.find_lost()):
                    programs.end_process(process)
                    return process.returncode, None, time.monotonic() - began, lost
                tick(now - began)
                time.sleep(POLL_S)
            return process.returncode, None, time.monotonic() - began, []
        finally:
            programs.end_process(process)


def _await_store(folder: RunFolder, waits: Waits) -> None:
    """Until the folder of runs is there: a shared file system may be away for a while."""
    root, began_s = folder.path.parents[1], time.monotonic()
    if not root.is_dir():
        waits(Message("launch.runs_away", path=root, minutes=AWAY_S / 60))
    while not root.is_dir() and time.monotonic() - began_s < AWAY_S:
        time.sleep(AWAY_POLL_S)


def _agent_error(folder: RunFolder) -> str | None:
    return next((agent.error for agent in folder.agents().values() if agent.error), None)


def _recorded_end(
    exit_code: int, why: Enough | None, folder: RunFolder, case: Case, launcher: Launcher, lost: Sequence[str]
) -> Outcome:
    if lost:
        return _failed_by_infrastructure(Message("launch.run_agent_lost", nodes=lost), folder)
    if exit_code == AGENT_FAILED and (error := _agent_error(folder)):
        raise EvalsuiteError.of("launch.kept_go_on", error=error)
    return _ended(why) if why else _ending(exit_code, folder, case, launcher)


def _ended(why: Enough) -> Outcome:
    ended = Outcome(status="stopped_as_planned", reason=Message(f"launch.run_enough_{why}"), enough=why)
    if why in ("no_limit", "window"):
        return ended
    return replace(ended, status="failed" if why == "silent" else "completed")


def _lost(folder: RunFolder, case: Case) -> str | None:
    """A launcher may ignore a dead node (srun --no-kill), and a network file system may show files late."""
    deadline = time.monotonic() + SHOWN_S
    while (
        lost := fault_attribution.find_infrastructure_fault(folder, case) if case.nodes > 1 else None
    ) and time.monotonic() < deadline:
        time.sleep(POLL_S)
    return lost


def _failed_by_infrastructure(why: str, folder: RunFolder) -> Outcome:
    said = _engine_said(folder.engine_log)
    return Outcome(
        status="failed", reason=Message("system.of", name=why, what=said) if said else why, fault="infrastructure"
    )


def _ending(exit_code: int, folder: RunFolder, case: Case, launcher: Launcher) -> Outcome:
    agents = folder.agents()
    if exit_code == 124 or any(agent.timed_out for agent in agents.values()):
        return Outcome(status="timed_out", reason=Message("launch.run_limit", seconds=launcher.timeout_s))
    if exit_code == 0 and not _lost(folder, case):
        # Open MPI 5 gives 0 after it lost a node
        ended = sorted(host for host, agent in agents.items() if agent.interrupted_by)
        if ended and any(agent.exit_code for agent in agents.values()):
            return _failed_by_infrastructure(Message("launch.run_launcher_ended", nodes=ended), folder)
        return Outcome(status="completed", reason="")
    if deaf := sorted(host for host, agent in agents.items() if agent.error and agent.exit_code == EVALUATOR_LOST):
        return _failed_by_infrastructure(Message("launch.run_agent_lost", nodes=deaf), folder)
    if error := _agent_error(folder):
        elsewhere = launcher.engine.name != "local"
        lacking = fault_attribution.find_lacking_program(agents, folder.command().command[0]) if elsewhere else None
        return Outcome(status="failed", reason=lacking or error, fault="infrastructure" if lacking else None)
    if lost := fault_attribution.find_infrastructure_fault(folder, case):
        return _failed_by_infrastructure(lost, folder)
    if exit_code in launcher.engine.lost_codes and all(agent.exit_code != exit_code for agent in agents.values()):
        return Outcome(status="failed", reason=_engine_said(folder.engine_log), fault="infrastructure")
    if refused := fault_attribution.find_container_fault(folder, launcher.engine.container):
        return Outcome(status="failed", reason=refused, fault="infrastructure")
    if not any(log.path.stat().st_size for log in folder.logs()):  # the training never spoke: the engine may have
        return Outcome(
            status="failed", reason=_engine_said(folder.engine_log) or Message("launch.run_exit", code=exit_code)
        )
    if exit_code < 0 or exit_code > 128:
        number = -exit_code if exit_code < 0 else exit_code - 128
        return Outcome(status="failed", reason=Message("launch.run_signal", signal=process_tree.signal_name(number)))
    return Outcome(status="failed", reason=Message("launch.run_exit", code=exit_code))


def _command(
    run: Run, recipe: Recipe, line: CommandLine, launcher: Launcher, packages: Mapping[str, str]
) -> RunCommand:
    container = launcher.engine.container
    checkout = checkouts.facts(recipe, repositories.of(recipe))
    script = next((Path(token) for token in line.training if token.endswith(".py") and Path(token).is_file()), None)
    return RunCommand(
        argv=redaction.redact_words(line.engine),
        command=redaction.redact_words(line.training),
        environment=redaction.redact_variables(line.environment),
        files=redaction.redact_variables(line.files),
        links=line.links or None,
        container=container.runtime.name if container else None,
        image_digest=image_digest(container.runtime, recipe.image) if container else None,
        data_sets=readiness.data_facts(run.case, recipe),
        engine=launcher.engine.name,
        timeout_s=launcher.timeout_s,
        evalsuite=__version__,
        recipe=UsedRecipe(
            name=recipe.name,
            kind=recipe.kind,
            model=recipe.model,
            dialect=recipe.dialect,
            dialect_source=catalogue.source(launcher.dialects.get(recipe.dialect or "")),
            unit=recipe.unit,
            line=recipe.line or None,
            scope=recipe.scope,
            spawn=recipe.spawn,
            source=recipe.source or (checkout.repository if checkout else ""),
            commit=recipe.commit or (checkout.commit if checkout else ""),
            image=recipe.image if container else "",
            amp=recipe.amp,
            participant=recipe.participant,
            made_by=recipe.made_by or None,
            features=recipe.features,
            facts=recipe.stated(run.case) or None,
        ),
        checkout=checkout,
        script_sha256=files.sha256(script) if script else None,
        workload_sha256=equivalence.hashes(script) if script and recipe.kind == "reference" else None,
        framework_version=virtualenvs.framework_version(recipe, packages),
        packages=dict(sorted(packages.items())),
        lock_sha256=virtualenvs.lock_of(launcher.pythons[run.case.framework, recipe.name]),
    )


def find_change(folder: RunFolder, recipe: Recipe) -> Message | None:
    """What of the run in *folder* is another now than when it was made: its script, or its command."""
    made, case = folder.command(), folder.run().case
    if not made.command or recipe.refusal(case):
        return None
    argv = redaction.redact_words(recipe.command_of(case).argv)
    script = next(
        (Path(word) for word in (*argv, *made.command) if word.endswith(".py") and Path(word).is_file()), None
    )
    if script and made.script_sha256 not in (None, files.sha256(script)):
        return Message("launch.changed_script", path=script)
    bare = ("\0".join(re.sub(r"^/.*/", "", word) for word in words) for words in (argv, made.command))  # moved folders
    pattern = ".*".join(map(re.escape, re.split(r"\{\w+\}", next(bare))))  # what the plan and the agents fill in
    same = made.container or re.search(rf"(?s){pattern}\Z", next(bare))
    return None if same else Message("launch.changed_command")


def _engine_said(file: Path) -> str:
    return redaction.redact(fault_attribution.find_reason(files.read_text(file) if files.is_file(file) else ""))


# What is known of a container image on this machine


ASKING_S = 600.0  # a runtime that has not the image yet pulls it first


def image_digest(runtime: Runtime, image: str) -> str | None:
    if not runtime.digest:
        return None
    answer = ask_program([image if word == "{image}" else word for word in runtime.digest], ASKING_S)
    return next(iter(answer.stdout.split()), None) if answer and answer.returncode == 0 else None


@functools.cache
def image_packages(
    container: Container, image: str, imported: tuple[str, ...]
) -> tuple[dict[str, str], list[str] | None]:
    """What virtualenvs.listing gives of the Python inside *image*, which is started once."""
    with files.scratch("image") as folder:
        (folder / SCRATCH).mkdir()
        words = ("python3", "-I", "-c", virtualenvs.LISTING.read_text("utf-8"), *imported)
        asking = container.argv(words, image=image, folder=str(folder))
        return virtualenvs.listing(ask_program(container.runtime.alone(asking), ASKING_S))
