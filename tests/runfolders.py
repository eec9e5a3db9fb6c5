"""Finished run folders of a toy script, for the tests that read them: log, arrival times, environment, outcome."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from evalsuite.core.documents import HostEnvironment, RunCommand, UsedRecipe
from evalsuite.core.model import Case, Run
from evalsuite.runs.endings import Outcome
from evalsuite.runs.samples import (
    DiskCounters,
    FilesystemCounters,
    GpuReading,
    Header,
    InterfaceCounters,
    Sample,
    Samples,
    TreeReading,
    reading,
    tables,
)
from evalsuite.runs.store import RunFolder, Store
from tests.toys import CASE, COMMAND

BEGAN_S = 2.0  # when the first step begins on the run's clock


@dataclass(frozen=True, kw_only=True)
class Printed:
    """What one process printed: its lines, and when each of them arrived."""

    lines: Sequence[str]
    arrivals_s: Sequence[float]
    rank: int | None = None


def steps(count: int = 120, seconds: float = 0.5, says: float | None = None, **changes) -> Printed:
    """*count* steps of *seconds* each; *says*: the step time that the script prints, where it is another."""
    said = seconds if says is None else says
    lines = [f"Epoch: [0][{step:4d}/{count}]\tTime {said:.4f} ({said:.4f})\tLoss 6.7e+00" for step in range(count)]
    arrivals_s = [BEGAN_S + seconds * (step + 1) for step in range(count)]
    return replace(Printed(lines=lines, arrivals_s=arrivals_s), **changes)


@dataclass(frozen=True, kw_only=True)
class Host:
    """What one machine of a run left behind."""

    printed: Sequence[Printed] = (steps(),)
    samples: str | None = None  # the text of its samples file
    environment: HostEnvironment = field(default_factory=lambda: HostEnvironment(host="n0", cpu_model="EPYC"))


def cpu_samples(cpu_s: Iterable[float], cores: float = 1.0, percent: float = 100.0) -> str:
    """The text of a samples file: what the job had used, read twice a second."""
    lines = [{"header": True, "hz": 2.0, "cpu_count": cores}]
    for at, used_s in enumerate(cpu_s):
        tree = {"cpu_s": used_s, "memory_bytes": 1}
        lines.append({"at_s": at / 2, "cpu_percent": percent, "tree": tree})
    return "".join(f"{json.dumps(line)}\n" for line in lines)


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below *folder* with its bytes."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def finished(
    runs: Path,
    hosts: Mapping[str, Host] | Host | None = None,
    case: Case = CASE,
    repeat: int = 0,
    recipe: UsedRecipe = COMMAND.recipe,
    **ended,
) -> RunFolder:
    """A finished run of *case* in the folder *runs*. *ended*: how its outcome differs from that of a good run."""
    with Store(runs).claim(Run(case=case, repeat=repeat)) as folder:
        fill(folder, hosts, repeat, replace(COMMAND, recipe=recipe), **ended)
    return folder


def fill(
    folder: RunFolder,
    hosts: Mapping[str, Host] | Host | None = None,
    repeat: int = 0,
    command: RunCommand = COMMAND,
    **ended,
) -> Outcome:
    """Writes into a claimed *folder* what a run leaves there, its outcome last. Of a campaign it begins now, as the
    journal has it."""
    named = {"n0": hosts or Host()} if not isinstance(hosts, Mapping) else hosts
    last_s = max(at_s for host in named.values() for log in host.printed for at_s in log.arrivals_s)
    folder.write_command(command)
    for name, host in named.items():
        folder.write_environment(replace(host.environment, host=name))
        for log in host.printed:
            write_log(folder, name, log)
        if host.samples is not None:
            folder.samples_path(name).write_text(host.samples)
    facts = {"status": "completed", "reason": "", "exit_code": 0, "duration_s": last_s + 1.0}
    begun = datetime.now(UTC).isoformat() if command.campaign else f"2026-11-20T10:{repeat:02d}:00+08:00"
    outcome = Outcome(**{**facts, "started_at": begun, **ended})
    folder.write_outcome(outcome)
    return outcome


def write_log(folder: RunFolder, host: str, log: Printed) -> None:
    pieces = [f"{line}\n".encode("utf-8", "surrogateescape") for line in log.lines]
    folder.log_path(host, log.rank).write_bytes(b"".join(pieces))
    rows, end = ["end_byte,at_s"], 0
    for piece, at_s in zip(pieces, log.arrivals_s, strict=True):
        end += len(piece)
        rows.append(f"{end},{at_s:.6f}")
    folder.arrivals_path(host, log.rank).write_text("\n".join([*rows, ""]))


def sampled(header: Header, readings: Iterable[Sample]) -> Samples:
    """What is read of a file with this header and a line for each of *readings*."""
    lines = (json.loads(json.dumps(reading.to_json())) for reading in readings)
    return Samples(header=header, tables=tables([reading(line, "file:1") for line in lines]))


def readings(samples: Samples) -> tuple[Sample, ...]:
    return tuple(_sample(samples, place) for place in range(len(samples.tables["at_s"][""])))


def _sample(samples: Samples, place: int) -> Sample:
    read: dict[str, dict[str, dict[str, float | None]]] = {}  # "gpus" → device → "power_w" → value
    for name, rows in samples.tables.items():
        group, _, last = name.partition(".")
        for device, row in rows.items():
            if row[place] is not None:
                read.setdefault(group, {}).setdefault(device, {})[last] = row[place]

    def alone(name):
        return read.get(name, {}).get("", {}).get("")

    def each(name, kind):
        return {device: kind(**values) for device, values in read.get(name, {}).items()} or None

    return Sample(
        at_s=alone("at_s"),
        cpu_percent=alone("cpu_percent"),
        memory_used_bytes=alone("memory_used_bytes"),
        disks=each("disks", DiskCounters),
        interfaces=each("interfaces", InterfaceCounters),
        filesystems=each("filesystems", FilesystemCounters),
        tree=(each("tree", TreeReading) or {}).get(""),
        gpus=tuple(GpuReading(index=int(device), **values) for device, values in read.get("gpus", {}).items()),
    )
