"""`evalsuite sensors`: what reads the accelerators of this machine, and an author's check."""

import argparse
import math
import time
from dataclasses import asdict

from evalsuite.commands.authoring.adapters import show
from evalsuite.commands.authoring.checking import Checked, Lack
from evalsuite.commands.printing import i18n, terminal
from evalsuite.contracts import author_modules
from evalsuite.core.decode import encode
from evalsuite.core.documents import Gpu
from evalsuite.core.errors import Exit
from evalsuite.core.messages import Message
from evalsuite.machine.sensors import accelerators, brought
from evalsuite.machine.sensors.brought import Brought
from evalsuite.machine.sensors.sensor import Sensor
from evalsuite.runs.samples import GpuReading

PAUSE_S, MOST_S = 0.5, 0.05  # between two readings beside a training; of one
SHOWN = ("sensor", "kind", "devices", "driver")


def run(arguments: argparse.Namespace) -> int:
    if arguments.check is not None:
        files = author_modules.find_modules(arguments.check, brought.CONTRACT)
        return show([check_sensor(Brought(file)) for file in files], arguments, brought.CONTRACT)
    rows = [_facts(sensor) for sensor in accelerators.open_sensors()]
    if arguments.json:
        terminal.print_json(rows)
    else:
        head = [i18n.say(f"columns.{name}") for name in SHOWN]
        terminal.aligned([head, *(["-" if row[name] is None else str(row[name]) for name in SHOWN] for row in rows)])
    return Exit.DONE


def _facts(sensor: Sensor) -> dict[str, object]:
    name = str(sensor.file) if isinstance(sensor, Brought) else type(sensor).__name__.lower()
    return {"sensor": name, "kind": sensor.kind, "devices": len(sensor), "driver": sensor.versions().get("driver")}


def check_sensor(sensor: Brought) -> Checked:
    facts, before = sensor.facts(), sensor.reading()
    time.sleep(PAUSE_S)
    began_s = time.perf_counter()
    now = sensor.reading()
    took_s = time.perf_counter() - began_s
    sensor.visible(facts, {}), sensor.processes(), sensor.versions()
    sensor.close()
    wrong = {
        "none": not facts,
        "index": len({gpu.index for gpu in facts} - {None}) < len(facts),
        "kind": any(gpu.kind != sensor.kind for gpu in facts),
        "named": not all(gpu.name and gpu.vendor and gpu.memory_total_bytes for gpu in facts),
        "order": any([gpu.index for gpu in each] != [gpu.index for gpu in facts] for each in (before, now)),
        "busy": any(state.utilisation_percent is None for state in now),
        "values": any(map(_is_impossible, now, facts)),
        "falls": any((new.energy_j or 0) < (old.energy_j or 0) for old, new in zip(before, now, strict=False)),
        "slow": took_s > MOST_S,
    }
    return Checked(
        name=sensor.file.stem,
        file=str(sensor.file),
        devices=tuple({**encode(gpu), "reading": encode(reading)} for gpu, reading in zip(facts, now, strict=False)),
        missing=tuple(
            Lack(Message(f"commands.sensor_{name}"), Message(f"commands.sensor_{name}_remedy"))
            for name, is_wrong in wrong.items()
            if is_wrong
        ),
    )


def _is_impossible(reading: GpuReading, gpu: Gpu) -> bool:
    known = {name: value for name, value in asdict(reading).items() if value is not None}
    shares = [value for name, value in known.items() if name.endswith("_percent")]
    return (
        min(known.values()) < 0
        or max(shares, default=0) > 100
        or (reading.memory_used_bytes or 0) > (gpu.memory_total_bytes or math.inf)
    )
