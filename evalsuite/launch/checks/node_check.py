"""Per-node preflight, started there by the engine. It prints tagged lines: an engine may put the host's name first and
other words between."""

import functools
import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from evalsuite import __version__
from evalsuite.core import decode, files, paths
from evalsuite.core.errors import EvalsuiteError
from evalsuite.launch.checks import drift_probe
from evalsuite.machine import cgroups, environment, foreign, pitfalls
from evalsuite.machine.sensors.accelerators import open_accelerators
from evalsuite.machine.sensors.processor import Cpu
from evalsuite.runs.preflight import NodeFacts

CLOCK, FACTS = "evalsuite-clock ", "evalsuite-node "
STAMPS = 5
Seen = Literal["shared", "another", "read_only"]
TOKEN = "token"  # tells this runs folder from another of the same name


def report(folder: Path, token: str, programs: Sequence[str], say: Callable[[str], None]) -> None:
    """Prints the time several times, then the facts. *folder*: where *token* was put; *programs*: what runs start."""
    for _ in range(STAMPS):
        say(f"{CLOCK}{time.time():.6f}")
        time.sleep(0.02)
    say(FACTS + json.dumps(decode.encode(facts(folder, token, programs)), separators=(",", ":")))


def facts(folder: Path, token: str, programs: Sequence[str] = ()) -> NodeFacts:
    state, said = _folder(folder, token)
    limits, accelerators = cgroups.limits(Path("/")), open_accelerators()
    on_devices = accelerators.processes()
    return NodeFacts(
        evalsuite=__version__,
        sources_sha256=sources_sha256(),
        folder=state,
        folder_said=said,
        free_bytes=shutil.disk_usage(folder).free if folder.is_dir() else None,
        cores=Cpu(limits, Path("/")).capacity,
        devices=len(accelerators),
        busy=foreign.busy_programs(),
        on_devices=None if on_devices is None else foreign.name_processes(on_devices),
        probe_s=round(drift_probe.measure_seconds(), 6),
        machine=_machine(),
        absent=tuple(program for program in programs if not os.access(program, os.X_OK)),
        pitfalls=pitfalls.find(),
    )


def _machine() -> str | None:
    """What only this machine has, not even a container with another name; None where the kernel does not say it."""
    booted = environment.boot_id()
    return f"{booted}/{os.uname().nodename}" if booted else None


def _folder(folder: Path, token: str) -> tuple[Seen, str | None]:
    try:
        if (folder / TOKEN).read_text() != token:
            return "another", None
    except OSError:
        return "another", None
    mark = folder / f"{os.uname().nodename}-{os.getpid()}.mark"
    try:
        mark.write_text(token)
        mark.unlink()
    except OSError as error:
        return "read_only", error.strerror
    return "shared", None


@functools.cache
def sources_sha256() -> str:
    """Of evalsuite's own files: two installations of one version may differ."""
    digest = hashlib.sha256()
    for file in sorted(paths.PACKAGE.rglob("*.py")):
        digest.update(str(file.relative_to(paths.PACKAGE)).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def read(line: str) -> float | NodeFacts | None:
    """The node's time or facts; None if it is another line."""
    _, mark, text = line.partition(CLOCK)
    if mark:
        try:
            return float(text)
        except ValueError:
            return None
    _, mark, text = line.partition(FACTS)
    if not mark:
        return None
    try:
        facts = files.parse_json(text)
        if isinstance(facts, dict) and facts.get("sources_sha256") != sources_sha256():
            facts.pop("pitfalls", None)  # in words that we may not have
        return decode.decode(NodeFacts, facts, "a node")
    except (ValueError, EvalsuiteError):
        return None
