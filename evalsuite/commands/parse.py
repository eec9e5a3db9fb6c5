"""`evalsuite parse`: what training logs say, without any run folder."""

import argparse
import functools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalsuite.commands import places
from evalsuite.errors import EvalsuiteError, Exit
from evalsuite.model import Protocol

if TYPE_CHECKING:
    from evalsuite.dialect import Dialect
    from evalsuite.logs.reading import Reading

HELP = "say what a training log says"
EXAMPLES = """\
  python -m evalsuite parse train.log
  python -m evalsuite parse logs/ --devices 8 --batch-per-device 256 --json
  python -m evalsuite parse train.log --dialects my_dialects/ --dialect toynet
"""
Row = dict[str, Any]  # one element of `parse --json`
Read = Callable[[Path], Row]
WORTH_FORKING_BYTES = 16 << 20  # below, starting processes takes longer than reading


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("logs", nargs="+", metavar="LOG", help="a log (also .gz, .bz2, .xz, .zst), or a folder of them")
    parser.add_argument("--dialect", metavar="NAME", help="read as this dialect instead of finding out")
    places.add_arguments(parser)
    parser.add_argument("--devices", metavar="N", type=_count, help="devices of the whole job")
    parser.add_argument("--batch-per-device", metavar="B", type=_count, help="items on each device per step")
    parser.add_argument(
        "--scope",
        choices=("global", "per_device", "own"),
        help="whose rate the log prints: the whole job's, one device's, or each printer's own share",
    )
    parser.add_argument("--steps", metavar="W+M", type=_protocol, default=Protocol(), help="warm-up + measured steps")
    parser.add_argument("--json", action="store_true", help="print a JSON array, one element per log")


def run(arguments: argparse.Namespace) -> int:
    from evalsuite.logs import catalogue

    dialects = catalogue.known(places.places(arguments))
    if arguments.dialect:
        catalogue.chosen(arguments.dialect, dialects)
    paths = list(_files(arguments.logs))
    if not paths:
        raise EvalsuiteError(f"{arguments.logs[0]}: the folder holds no file; expected training logs.")
    found = _each(paths, _reader(arguments, dialects))
    (_print_json if arguments.json else _print_table)(found)
    return _exit(found, arguments.logs)


def _reader(arguments: argparse.Namespace, dialects: Mapping[str, "Dialect"]) -> Read:
    from evalsuite.logs.reading import read_file

    read = functools.partial(
        read_file,
        dialect=arguments.dialect,
        devices=arguments.devices,
        batch_per_device=arguments.batch_per_device,
        protocol=arguments.steps,
        scope=arguments.scope,
        dialects=dialects,
    )
    return lambda path: facts(path, read(path))


def _each(paths: Sequence[Path], read: Read) -> list[Row]:
    """The facts of each log, in order; much to read is read by a process on each core."""
    cores = len(os.sched_getaffinity(0))
    if cores < 2 or len(paths) < 2 or sum(map(_size, paths)) < WORTH_FORKING_BYTES:
        return [read(path) for path in paths]
    import multiprocessing

    _INHERITED.append(read)  # by the forked processes; a closure cannot be sent to them
    with multiprocessing.get_context("fork").Pool(min(cores, len(paths))) as pool:
        return pool.map(_read_inherited, paths, chunksize=max(1, len(paths) // (4 * cores)))


_INHERITED: list[Read] = []


def _read_inherited(path: Path) -> Row:
    return _INHERITED[-1](path)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except (OSError, ValueError):
        return 0


def _files(names: Sequence[str]) -> Iterator[Path]:
    for name in names:
        path = Path(name)
        if path.is_dir():
            yield from sorted(file for file in path.rglob("*") if not file.is_dir() or file.is_symlink())
        else:
            yield path


def _exit(found: Sequence[Row], names: Sequence[str]) -> int:
    """Nothing measured at all, some logs without a valid number, or done. A log that is not there is wrong usage."""
    measured = [one for one in found if one["throughput"] is not None and one["status"] in ("ok", "partial")]
    if not all(map(os.path.exists, names)):
        return Exit.USAGE
    if not measured:
        return Exit.NOTHING_MEASURED
    return Exit.DONE if len(measured) == len(found) else Exit.SOME_FAILED


def facts(path: Path, reading: "Reading") -> Row:
    """One element of `parse --json` (docs/contracts.md#parse---json)."""
    from evalsuite.report.text.findings import english

    throughput = reading.throughput
    window = None if throughput is None else throughput.window
    findings = (*reading.findings, *(throughput.findings if throughput else ()))
    return {
        "file": _shown(str(path)),
        "dialect": reading.dialect,
        "framework": reading.framework,
        "model": reading.model,
        "status": reading.status,
        "reason": reading.reason,
        "total_devices": reading.total_devices,
        "batch_size_per_device": _plain(reading.batch_per_device),
        "scope": reading.scope,
        "throughput": None if throughput is None else throughput.items_per_s,
        "unit": reading.unit,
        "method": None if throughput is None else throughput.method,
        "window": window and {"first_step": window.first_step, "last_step": window.last_step, "steps": window.steps},
        "steps_reported": reading.steps_reported,
        "reported_final": reading.reported_final,
        "certainty": reading.certainty,
        "certainty_reason": reading.certainty_reason,
        "findings": [{"code": one.code, "severity": one.severity, "text": english(one)} for one in findings],
    }


def _plain(batch: float | None) -> float | int | None:
    return int(batch) if batch is not None and batch == int(batch) else batch


def _print_json(found: Sequence[Row]) -> None:
    import json

    print(json.dumps(found, indent=1, ensure_ascii=False, allow_nan=False))


def _print_table(found: Sequence[Row]) -> None:
    for one in found:
        print(f"{one['file']}: {_sentence(one)}")
        for finding in one["findings"]:
            print(f"  {finding['code']}: {finding['text']}")


def _sentence(one: Row) -> str:
    if one["throughput"] is None:
        return f"{one['status']}; {one['reason']}"
    window = one["window"]
    steps = f", steps {window['first_step']} to {window['last_step']}" if window else ""
    devices = f" on {one['total_devices']} devices" if one["total_devices"] else ""
    how = f"({one['dialect']}, {one['method']}{steps})"
    sure = f"; {one['certainty']}: {one['certainty_reason']}"
    reason = f"; {one['reason']}" if one["reason"] else ""
    return f"{one['status']}; {one['throughput']:,.2f} {one['unit']}{devices} {how}{sure}{reason}"


def _shown(name: str) -> str:
    """A file's name may hold bytes that are no text, or control characters."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in name)


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f'"{text}" is no count; expected a whole number above 0, such as 8')
    return int(text)


def _protocol(text: str) -> Protocol:
    warmup, plus, measured = text.partition("+")
    if not (plus and warmup.isdigit() and measured.isdigit() and int(measured) > 0):
        raise argparse.ArgumentTypeError(f'"{text}" is no number of steps; expected warm-up + measured, such as 20+100')
    return Protocol(warmup_steps=int(warmup), measured_steps=int(measured))
