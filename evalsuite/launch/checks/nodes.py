"""Looks at every node before the first run, through the engine that will start the runs. Each node is started by
itself, so one that is gone delays no other. Its answer comes by the engine's output, and so also where the runs folder
is not shared: tagged lines, since an engine may put the host's name first."""

import contextlib
import functools
import hashlib
import json
import os
import secrets
import shutil
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import psutil

from evalsuite import __version__
from evalsuite.core import decode, files, paths, redaction
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.messages import Message
from evalsuite.launch import fault_attribution, programs
from evalsuite.machine import cgroups, cores, environment, pitfalls
from evalsuite.machine.pitfalls import Pitfall
from evalsuite.machine.sensors.accelerators import open_accelerators
from evalsuite.machine.sensors.processor import Cpu
from evalsuite.machine.sensors.sensor import DeviceProcess
from evalsuite.plan.engines import Engine

GIVEN_UP_S = 5.0  # for a launcher to end after its ssh failed; MPICH 4's never does
ANSWER_S = 60.0  # a cold start of Python from a busy network file system is some ten seconds
AT_ONCE = 64
CLOCK_WARNED_S = 1.0
CLOCK_REFUSED_S = 5.0  # the samples of hosts are laid over one clock
ROOM_BYTES = 1 << 30  # logs and samples of a day of runs
SLOW = 1.15  # times the median; the probe's noise is some percent
CLOCK, FACTS = "evalsuite-clock ", "evalsuite-node "
STAMPS = 5
TOKEN = "token"  # tells this runs folder from another of the same name
State = Literal["ok", "later", "missing", "doubtful", "broken"]


@dataclass(frozen=True, kw_only=True)
class Check:
    group: str
    name: str
    state: State  # "later": made on first use; "doubtful": it can do with it; "broken": there, and does not work
    detail: str
    remedy: str = ""


@dataclass(frozen=True, kw_only=True)
class NodeFacts:
    """None: the node did not say."""

    evalsuite: str | None = None
    sources_sha256: str | None = None  # of evalsuite's own files
    folder: Literal["shared", "another", "read_only"] | None = None  # the runs folder, as the node sees it
    folder_said: str | None = None  # why it cannot be written
    free_bytes: int | None = None  # on the runs folder's file system
    cores: float | None = None
    devices: int | None = None  # accelerators
    busy: Mapping[str, float] | None = None  # other programs → cores
    on_devices: tuple[DeviceProcess, ...] | None = None  # on its accelerators
    probe_s: float | None = None  # of a fixed computation on all cores
    machine: str | None = None  # the same for two names of one machine
    absent: tuple[str, ...] | None = None  # missing programs
    pitfalls: tuple[Pitfall, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class Node:
    name: str
    facts: NodeFacts | None = None  # None: unreached
    clock_offset_s: float | None = None  # ahead of this machine's, about
    output: str = ""
    slow: float | None = None  # times the median of the fixed computation, where it is slow
    checks: tuple[Check, ...] = ()  # what is not as it should be

    @property
    def fit(self) -> bool:
        return all(check.state != "broken" for check in self.checks)


def chosen(nodes: Sequence[Node]) -> tuple[str, ...]:
    """The fit nodes in their order; slow ones last."""
    return tuple(node.name for node in sorted(nodes, key=lambda node: node.slow is not None) if node.fit)


# on the node


def report(folder: Path, token: str, programs: Sequence[str], say: Callable[[str], None]) -> None:
    """Prints the time several times, then the facts. *folder*: where *token* was put; *programs*: what runs start."""
    for _ in range(STAMPS):
        say(f"{CLOCK}{time.time():.6f}")
        time.sleep(0.02)
    told = replace(facts(programs), **_folder(folder, token), probe_s=round(cores.measure_seconds(), 6))
    say(FACTS + json.dumps(decode.encode(told), separators=(",", ":")))


def facts(programs: Sequence[str] = ()) -> NodeFacts:
    accelerators, booted = open_accelerators(), environment.boot_id()
    on_devices = accelerators.processes()
    return NodeFacts(
        evalsuite=__version__,
        sources_sha256=sources_sha256(),
        cores=Cpu(cgroups.limits(Path("/")), Path("/")).capacity,
        devices=len(accelerators),
        busy=busy_programs(),
        on_devices=None if on_devices is None else name_processes(on_devices),
        machine=f"{booted}/{os.uname().nodename}" if booted else None,  # a container with another name is another
        absent=tuple(program for program in programs if not os.access(program, os.X_OK)),
        pitfalls=pitfalls.find(),
    )


def _folder(folder: Path, token: str) -> dict[str, Any]:
    free_bytes = shutil.disk_usage(folder).free if folder.is_dir() else None
    mark = folder / f"{os.uname().nodename}-{os.getpid()}.mark"
    try:
        if (folder / TOKEN).read_text() != token:
            return {"folder": "another", "free_bytes": free_bytes}
    except OSError:
        return {"folder": "another", "free_bytes": free_bytes}
    try:
        mark.write_text(token)
        mark.unlink()
    except OSError as error:
        return {"folder": "read_only", "folder_said": error.strerror, "free_bytes": free_bytes}
    return {"folder": "shared", "free_bytes": free_bytes}


@functools.cache
def sources_sha256() -> str:
    """Of evalsuite's own files: two installations of one version may differ."""
    digest = hashlib.sha256()
    for file in sorted(paths.PACKAGE.rglob("*.py")):
        digest.update(str(file.relative_to(paths.PACKAGE)).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def read(line: str) -> float | NodeFacts | None:
    """The node's time or facts; None if it is another line."""
    try:
        if CLOCK in line:
            return float(line.partition(CLOCK)[2])
        if FACTS not in line:
            return None
        told = files.parse_json(line.partition(FACTS)[2])
        if isinstance(told, dict) and told.get("sources_sha256") != sources_sha256():
            told.pop("pitfalls", None)  # in words that we may not have
        return decode.decode(NodeFacts, told, "a node")
    except (ValueError, EvalsuiteError):
        return None


# here


def look_at_nodes(
    engine: Engine, runs: Path, *, devices: int | None = None, programs: Sequence[str] = ()
) -> tuple[Node, ...]:
    """What is found on each node of *engine*, which must have so many *devices* (None: it trains on CPUs) and these
    *programs*."""
    with _token(runs) as (folder, token), ThreadPoolExecutor(min(AT_ONCE, len(engine.nodes))) as pool:
        heard = list(pool.map(lambda name: _ask(engine, name, folder, (token, *programs)), engine.nodes))
    probes = {node.name: node.facts.probe_s for node in heard if node.facts and node.facts.probe_s}
    usual = statistics.median(probes.values()) if len(probes) > 2 else min(probes.values(), default=None)
    slow = {name: probe_s / usual for name, probe_s in probes.items() if usual and probe_s / usual > SLOW}
    first: dict[str, str] = {}
    for node in heard if engine.listed else ():
        if node.facts and node.facts.machine:
            first.setdefault(node.facts.machine, node.name)
    found = [replace(node, slow=slow.get(node.name)) for node in heard]
    return tuple(replace(node, checks=tuple(judge(node, runs, devices, first))) for node in found)


@contextlib.contextmanager
def _token(runs: Path) -> Iterator[tuple[Path, str]]:
    token = secrets.token_hex(8)
    inside = runs.resolve() / f".nodes-{token}"
    try:
        inside.mkdir(parents=True)
        (inside / TOKEN).write_text(token)
    except OSError as error:
        raise EvalsuiteError.of("runs.runs_folder", path=runs.resolve(), error=error) from error
    try:
        yield inside, token
    finally:
        shutil.rmtree(inside, ignore_errors=True)


def _ask(engine: Engine, name: str, folder: Path, words: Sequence[str]) -> Node:
    alone = engine.limited_to([name])
    argv = (sys.executable, "-m", "evalsuite", "doctor", "--on-node", str(folder), "--", *words)
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
        return Node(name=name, output=f"error: {error.filename}: {error.strerror}")
    with process:
        return _hear(name, process)


def _hear(name: str, process: "subprocess.Popen[str]") -> Node:
    """Until it ends, or is ended after ANSWER_S or soon after its ssh failed: Open MPI 5 may not end itself."""
    lines: list[str] = []
    known, offset_s, unreached = None, None, False
    too_late = threading.Event()

    def end() -> None:
        too_late.set()
        programs.end_process(process)

    timers = [threading.Timer(ANSWER_S, end)]
    timers[0].start()
    for line in process.stdout or ():
        now = time.time()
        said = read(line.rstrip())
        if isinstance(said, float):
            offset_s = said - now if offset_s is None else max(offset_s, said - now)
        elif said is not None:
            known = said
        else:
            lines.append(line)
            if fault_attribution.UNREACHED.search(line):
                unreached = True
                timers.append(threading.Timer(GIVEN_UP_S, end))
                timers[-1].start()
    for timer in timers:
        timer.cancel()
    if too_late.is_set() and not unreached:
        lines.append(f"error: no answer in {ANSWER_S:.0f} s\n")
    return Node(name=name, facts=known, clock_offset_s=offset_s, output="".join(lines))


def judge(
    node: Node, runs: Path, devices: int | None = None, first: Mapping[str, str] | None = None
) -> Iterator[Check]:
    """*first*: machine → the name by which it stands first in the list."""
    known, folder = node.facts, str(runs.resolve())

    def found(state: State, kind: str, **values: object) -> Check:
        return Check(group="nodes", name=node.name, state=state, detail=Message(f"nodes.{kind}", **values))

    if known is None:
        said = redaction.redact(fault_attribution.find_reason(node.output)).removeprefix(f"{node.name}: ").rstrip(".")
        yield found("broken", "unreached", reason=said or Message("launch.answers_nothing"))
        return
    other = (first or {}).get(known.machine or "", node.name)
    if other != node.name:
        yield found("broken", "same", other=other)
    for program in known.absent or ():
        yield found("broken", "program", program=program)
    if known.sources_sha256 != sources_sha256():
        yield found("broken", "version", theirs=known.evalsuite or "?", ours=__version__)
    if known.folder == "another":
        yield found("broken", "folder", folder=folder)
    if known.folder == "read_only":
        yield found("broken", "read_only", folder=folder, reason=known.folder_said or "?")
    if known.free_bytes is not None and known.free_bytes < ROOM_BYTES:
        yield found("broken", "room", folder=folder, free=f"{known.free_bytes / ROOM_BYTES:.2f}")
    if devices is not None and known.devices is not None and known.devices < devices:
        yield found("broken", "devices", found=str(known.devices), wanted=str(devices))
    if (offset_s := node.clock_offset_s) is not None and abs(offset_s) > CLOCK_WARNED_S:
        yield found("broken" if abs(offset_s) > CLOCK_REFUSED_S else "doubtful", "clock", offset=f"{offset_s:+.1f}")
    if known.busy:
        programs = ", ".join(f"{name} ({cores:g})" for name, cores in known.busy.items())
        yield found("doubtful", "busy", programs=programs)
    if known.on_devices:
        memory = [each.memory_bytes for each in known.on_devices]
        shares = ["" if used is None else f", {used / ROOM_BYTES:.1f} GiB" for used in memory]
        texts = [
            f"{each.name or '?'} (pid {each.pid}, GPU {each.device}{share})"
            for each, share in zip(known.on_devices, shares, strict=True)
        ]
        yield found("doubtful", "on_devices", programs=", ".join(texts))
    if node.slow is not None:
        yield found("doubtful", "slow", times=f"{node.slow:.2f}")
    for pitfall in known.pitfalls or ():
        yield Check(group="nodes", name=node.name, state="doubtful", detail=pitfall.seen, remedy=pitfall.remedy)


FIRST_NAMESPACE = "pid:[4026531836]"  # PROC_PID_INIT_INO in include/linux/proc_ns.h
LEAST_CORES = 0.3  # less is what any machine does anyway
WATCHED_S = 0.5
MOST_NAMED = 3


def busy_programs(watched_s: float = WATCHED_S) -> dict[str, float]:
    ours = {os.getpid(), *(parent.pid for parent in psutil.Process().parents())}
    before = _cpu_s(ours)
    began = time.monotonic()
    time.sleep(watched_s)
    after, passed_s = _cpu_s(ours), time.monotonic() - began
    busy: dict[str, float] = {}
    for process, (name, cpu_s) in after.items():
        if process in before:
            busy[name] = busy.get(name, 0.0) + (cpu_s - before[process][1]) / passed_s
    loud = sorted((item for item in busy.items() if item[1] >= LEAST_CORES), key=lambda item: -item[1])
    return {name: round(cores, 1) for name, cores in loud[:MOST_NAMED]}


def name_processes(running: Iterable[DeviceProcess]) -> tuple[DeviceProcess, ...]:
    """Adds program names. The driver gives the machine's process numbers, which are others in a container: there no
    name is given."""
    ours = False
    with contextlib.suppress(OSError):
        ours = os.readlink("/proc/self/ns/pid") == FIRST_NAMESPACE
    return tuple(
        replace(process, name=files.text(Path(f"/proc/{process.pid}/comm")) if ours else None) for process in running
    )


def _cpu_s(ours: set[int]) -> dict[int, tuple[str, float]]:
    cpu_s_of = {}
    for process in psutil.process_iter(["name", "cpu_times", "cmdline"]):
        times = process.info["cpu_times"]
        if process.pid in ours or times is None or any("evalsuite" in word for word in process.info["cmdline"] or ()):
            continue
        cpu_s_of[process.pid] = (process.info["name"] or "?", times.user + times.system)
    return cpu_s_of
