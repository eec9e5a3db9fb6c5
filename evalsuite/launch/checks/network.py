"""Measures network and storage at a scale, by the engine that the runs have, before the first of them."""

import importlib.util
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from evalsuite.contracts import launchers
from evalsuite.contracts.adapter import Adapter, Recipe
from evalsuite.core import decode, files, paths, redaction
from evalsuite.core.documents import AllReduceTimes, NetworkMeasurement, StorageReading
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.messages import Message
from evalsuite.core.model import Case
from evalsuite.launch import engine_process
from evalsuite.launch.provision import virtualenvs
from evalsuite.launch.remote import launcher_errors
from evalsuite.launch.remote.forwarded_environment import python_path
from evalsuite.plan.engines import Argv, Engine
from evalsuite.runs import network
from evalsuite.runs.store import RunFolder

Collective = Literal["nccl", "mpi", "gloo"]
BY_MPI = {"mpirun", "bfrun"}  # bfrun starts mpirun
PROGRAM = paths.ADAPTERS / "workloads" / "network.py"
OVER_MPI = PROGRAM.with_name("network_mpi.py")
TIMEOUT_S = 180.0
POLL_S = 0.2
GRACE_S = 60.0  # for the engine to start and to end
FRAMEWORK = "pytorch"  # whose environment has torch.distributed


def python(pythons: Mapping[tuple[str, str], Path], adapters: Mapping[str, Adapter], case: Case) -> Path | None:
    """An interpreter with PyTorch: of the runs, made before, or this one; None if there is none."""
    if python := next((path for (framework, _), path in pythons.items() if framework == FRAMEWORK), None):
        return python
    recipes = adapters[FRAMEWORK].recipes if FRAMEWORK in adapters else ()
    made = (virtualenvs.existing(recipe, device=case.device) for recipe in recipes)
    if environment := next(filter(None, made), None):
        return environment.python
    return Path(sys.executable) if importlib.util.find_spec("torch") else None


def measure(
    case: Case,
    engine: Engine,
    interpreter: Path | None,
    root: Path,
    campaign: str,
    share: bool = False,
    collective: Collective = "gloo",
) -> NetworkMeasurement:
    """Measures at the scale of *case* and writes the result beside the runs in *root*, also if it failed."""
    place = network.folder(root.resolve(), f"{case.scale}-{collective}", campaign)
    place.mkdir(parents=True, exist_ok=True)
    begun = NetworkMeasurement(
        nodes=case.nodes,
        devices_per_node=case.devices_per_node,
        device=case.device,
        backend=collective,
        at=datetime.now(UTC).astimezone().isoformat(timespec="seconds"),
        engine=engine.name,
        campaign=campaign,
        link_mbit=network.link_mbit(case),
    )
    try:
        if case.device not in ("cpu", "gpu"):
            raise EvalsuiteError.of("launch.network_device", device=case.device)
        agent = _over_mpi(case, place) if collective == "mpi" else _by_torch(case, interpreter, place)
        result = _measured(begun, case, _line(case, engine, agent, place, share), place)
    except EvalsuiteError as error:
        result = replace(begun, error=redaction.redact(error.message))
    network.write(place, result)
    return result


def _measured(begun: NetworkMeasurement, case: Case, line: Argv, place: Path) -> NetworkMeasurement:
    said = _start(line, place)
    folder = RunFolder(place)
    facts = [fact for log in folder.logs() for fact in _facts(log.path)]
    result = replace(begun, hosts=tuple(folder.environments()), **_read(facts))
    if not result.all_reduce or len(result.storage) < case.nodes:
        raise EvalsuiteError(said or Message("launch.network_ended"))
    return result


def _by_torch(case: Case, interpreter: Path | None, place: Path) -> Argv:
    if interpreter is None:
        raise EvalsuiteError.of("launch.network_no_pytorch")
    program = (str(interpreter), str(PROGRAM), "--device", case.device, "--folder", str(place))
    return ("--processes", str(case.devices_per_node), "--", *program)


def _over_mpi(case: Case, place: Path) -> Argv:
    if shutil.which("mpirun") is None:
        raise EvalsuiteError.of("launch.network_no_mpirun")
    alone = ("--first-node-only",) if case.nodes > 1 else ()
    program = (sys.executable, str(OVER_MPI), "--folder", str(place))
    return (*alone, "--", *launchers.mpirun(case), *program)


def _line(case: Case, engine: Engine, rest: Argv, place: Path, share: bool) -> Argv:
    agent = (
        *(sys.executable, "-m", "evalsuite", "sample", "-o", str(place), "--quiet", "--end-with-parent"),
        *(("--share",) if share else ()),
        *("--devices-per-node", str(case.devices_per_node), "--timeout", f"{TIMEOUT_S:g}", *rest),
    )
    return engine.command_on_nodes(case.nodes, str(place), agent)


def _start(line: Argv, place: Path) -> str | None:
    folder, environment = RunFolder(place), {**os.environ, **python_path()}
    with open(folder.engine_log, "wb") as output:
        try:
            process = engine_process.start_process(line, environment, output)
        except OSError as error:
            raise EvalsuiteError.of("launch.engine_own_command", path=line[0], error=error) from error
        try:
            _wait(process, folder)
        finally:
            engine_process.end_process(process)
    if process.returncode == 0:
        return None
    files = [folder.engine_log, *(log.path for log in folder.logs())]
    text = "\n".join(file.read_text(errors="replace") for file in files)
    if "Traceback (most recent call last)" in text:
        return text.strip().splitlines()[-1].strip()[: launcher_errors.LONGEST]
    return launcher_errors.find_reason(text) or Message("launch.run_exit", code=process.returncode)


def _wait(process: subprocess.Popen[bytes], folder: RunFolder) -> None:
    """The time limit begins once no other evaluation is waited for."""
    begun = time.monotonic()
    while process.poll() is None:
        if folder.waiting():
            begun = time.monotonic()
        if time.monotonic() - begun > TIMEOUT_S + GRACE_S:
            raise EvalsuiteError.of("launch.network_slow", seconds=TIMEOUT_S + GRACE_S)
        time.sleep(POLL_S)


def _facts(log: Path) -> Iterator[dict[str, Any]]:
    for line in log.read_text(errors="replace").splitlines():
        try:
            fact = files.parse_json(line)
        except ValueError:
            continue
        if isinstance(fact, dict) and "measured" in fact:
            yield fact


def _read(facts: list[dict[str, Any]]) -> dict[str, Any]:
    facts_read: dict[str, Any] = {"all_reduce": (), "storage": ()}
    for fact in facts:
        kind, of = fact.pop("measured"), fact
        if kind == "with":
            facts_read |= {"backend": of["backend"], "tool": of["tool"]}
        elif kind == "all_reduce":
            facts_read["all_reduce"] += (decode.decode(AllReduceTimes, of, PROGRAM.name),)
        elif kind == "read":
            facts_read["storage"] += (decode.decode(StorageReading, of, PROGRAM.name),)
    return facts_read


def collective_of(recipe: Recipe, case: Case) -> Collective:
    """NCCL on GPUs; MPI where mpirun starts the script; else gloo, or a framework's own transport (gRPC, ps-lite)."""
    if case.device == "gpu":
        return "nccl"
    words = recipe.command_of(case).argv
    starter = words[0].rpartition("/")[2]
    told = starter == "horovodrun" and "--mpi" in words
    return "mpi" if starter in BY_MPI or told else "gloo"
