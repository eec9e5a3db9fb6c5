"""Looks at every node before the first run, through the engine that will start the runs.

Each node is started by itself, so one that is gone delays no other. Its answer comes by the engine's output, and so
also where the runs folder is not shared.
"""

import contextlib
import os
import secrets
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from evalsuite import __version__
from evalsuite.core import redaction
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.findings import HostClocksDiffer
from evalsuite.core.messages import Message, Phrase
from evalsuite.launch import engine_process
from evalsuite.launch.checks import node_check
from evalsuite.launch.remote import launcher_errors
from evalsuite.plan.engines import Engine
from evalsuite.runs import preflight
from evalsuite.runs.preflight import CheckedNode, DeviceProcess, NodeFacts, Preflight, Trouble

GIVEN_UP_S = 5.0  # for a launcher to end after its ssh failed; MPICH 4's never does
ANSWER_S = 60.0  # a cold start of Python from a busy network file system is some ten seconds
AT_ONCE = 64
CLOCK_WARNED_S = 1.0
CLOCK_REFUSED_S = HostClocksDiffer.limit_s  # every run would be flagged (D21)
ROOM_BYTES = 1 << 30  # logs and samples of a day of runs
SLOW = 1.15  # times the median; the probe's noise is some percent


@dataclass(frozen=True, kw_only=True)
class Wanted:
    nodes: int = 1
    devices: int | None = None  # of each node; None: it trains on CPUs
    programs: tuple[str, ...] = ()  # interpreters that must exist there


@dataclass(frozen=True, kw_only=True)
class _Heard:
    name: str
    facts: NodeFacts | None = None
    clock_offset_s: float | None = None
    output: str


def look_at_nodes(engine: Engine, runs: Path, wanted: Wanted) -> Preflight:
    with _token(runs) as (folder, token), ThreadPoolExecutor(min(AT_ONCE, len(engine.nodes))) as pool:
        heard = list(pool.map(lambda name: _ask(engine, name, folder, token, wanted.programs), engine.nodes))
    ours = node_check.sources_sha256()
    slow, same = _slow(heard), _same(heard) if engine.listed else {}
    nodes = tuple(
        CheckedNode(
            name=node.name,
            facts=node.facts,
            clock_offset_s=node.clock_offset_s,
            troubles=tuple(_troubles(node, wanted, runs, ours, slow.get(node.name), same.get(node.name))),
        )
        for node in heard
    )
    at = datetime.now(UTC).astimezone().isoformat(timespec="milliseconds")
    result = Preflight(at=at, engine=engine.name, evalsuite=__version__, wanted=wanted.nodes, nodes=nodes)
    preflight.write(result, runs)
    return result


@contextlib.contextmanager
def _token(runs: Path) -> Iterator[tuple[Path, str]]:
    folder = runs.resolve() / preflight.FOLDER
    token = secrets.token_hex(8)
    inside = folder / f".{token}"
    try:
        inside.mkdir(parents=True)
        (inside / node_check.TOKEN).write_text(token)
    except OSError as error:
        raise EvalsuiteError.of("runs.runs_folder", path=folder, error=error) from error
    try:
        yield inside, token
    finally:
        with contextlib.suppress(OSError):
            for file in inside.iterdir():
                file.unlink()
            inside.rmdir()


def _ask(engine: Engine, name: str, folder: Path, token: str, programs: Sequence[str]) -> _Heard:
    alone = engine.limited_to([name])
    wanted = (word for program in programs for word in ("--program", program))
    argv = (sys.executable, "-m", "evalsuite", "preflight", "--on-node", str(folder), "--token", token, *wanted)
    try:
        process = subprocess.Popen(
            alone.command_on_nodes(1, str(folder), argv),
            cwd="/",  # a node without the runs folder must be able to say so
            env={**os.environ, **alone.variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        return _Heard(name=name, output=f"error: {error.filename}: {error.strerror}")
    with process:
        return _hear(name, process)


def _hear(name: str, process: "subprocess.Popen[str]") -> _Heard:
    """Until it ends, or is ended after ANSWER_S or soon after its ssh failed: Open MPI 5 may not end itself."""
    lines: list[str] = []
    facts, offset_s, unreached = None, None, False
    too_late = threading.Event()

    def end() -> None:
        too_late.set()
        engine_process.end_process(process)

    def limit(seconds: float) -> threading.Timer:
        timer = threading.Timer(seconds, end)
        timer.start()
        return timer

    timers = [limit(ANSWER_S)]
    for line in process.stdout or ():
        now = time.time()
        said = node_check.read(line.rstrip())
        if isinstance(said, float):
            offset_s = said - now if offset_s is None else max(offset_s, said - now)
        elif said is not None:
            facts = said
        else:
            lines.append(line)
            if launcher_errors.is_unreached(line):
                unreached = True
                timers.append(limit(GIVEN_UP_S))
    for timer in timers:
        timer.cancel()
    if too_late.is_set() and not unreached:
        lines.append(f"error: no answer in {ANSWER_S:.0f} s\n")
    return _Heard(name=name, facts=facts, clock_offset_s=offset_s, output="".join(lines))


def _slow(heard: Sequence[_Heard]) -> dict[str, float]:
    """Node → times the median (of two: the shorter) of the fixed computation, where it is slow."""
    probes = {node.name: node.facts.probe_s for node in heard if node.facts and node.facts.probe_s}
    if len(probes) < 2:
        return {}
    usual = statistics.median(probes.values()) if len(probes) > 2 else min(probes.values())
    return {name: probe_s / usual for name, probe_s in probes.items() if probe_s / usual > SLOW}


def _same(heard: Sequence[_Heard]) -> dict[str, str]:
    first: dict[str, str] = {}
    for node in heard:
        if node.facts and node.facts.machine:
            first.setdefault(node.facts.machine, node.name)
    names = {node.name: first[node.facts.machine] for node in heard if node.facts and node.facts.machine}
    return {name: other for name, other in names.items() if name != other}


def _troubles(
    node: _Heard, wanted: Wanted, runs: Path, ours: str, slow: float | None, same: str | None
) -> Iterator[Trouble]:
    facts, folder = node.facts, str(runs.resolve())

    def error(kind: str, **values: str) -> Trouble:
        return Trouble(node=node.name, kind=kind, severity="error", values=values)

    def warning(kind: str, **values: Phrase) -> Trouble:
        return Trouble(node=node.name, kind=kind, severity="warning", values=values)

    if facts is None:
        said = redaction.redact(launcher_errors.find_reason(node.output)).removeprefix(f"{node.name}: ").rstrip(".")
        yield error("unreached", reason=said or Message("launch.answers_nothing"))
        return
    if same is not None:
        yield error("same", other=same)
    for program in facts.absent or ():
        yield error("program", program=program)
    if facts.sources_sha256 != ours:
        yield error("version", theirs=facts.evalsuite or "?", ours=__version__)
    if facts.folder == "another":
        yield error("folder", folder=folder)
    if facts.folder == "read_only":
        yield error("read_only", folder=folder, reason=facts.folder_said or "?")
    if facts.free_bytes is not None and facts.free_bytes < ROOM_BYTES:
        yield error("room", folder=folder, free=f"{facts.free_bytes / ROOM_BYTES:.2f}")
    if wanted.devices is not None and facts.devices is not None and facts.devices < wanted.devices:
        yield error("devices", found=str(facts.devices), wanted=str(wanted.devices))
    if (offset_s := node.clock_offset_s) is not None and abs(offset_s) > CLOCK_WARNED_S:
        yield (error if abs(offset_s) > CLOCK_REFUSED_S else warning)("clock", offset=f"{offset_s:+.1f}")
    if facts.busy:
        yield warning("busy", programs=", ".join(f"{name} ({cores:g})" for name, cores in facts.busy.items()))
    if facts.on_devices:
        yield warning("on_devices", programs=", ".join(map(_on_device, facts.on_devices)))
    if slow is not None:
        yield warning("slow", times=f"{slow:.2f}")
    for pitfall in facts.pitfalls or ():
        yield warning("pitfall", seen=pitfall.seen, remedy=pitfall.remedy)


def _on_device(node: DeviceProcess) -> str:
    memory = "" if node.memory_bytes is None else f", {node.memory_bytes / ROOM_BYTES:.1f} GiB"
    return f"{node.name or '?'} (pid {node.pid}, GPU {node.device}{memory})"
