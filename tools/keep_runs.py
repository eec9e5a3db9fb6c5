"""Keeps finished runs in `data/recorded`, trimmed and without paths of this machine.

python tools/keep_runs.py RUNS [--to data/recorded] [--pack FILE.zip] [--every 4] [--replace /some/path=<name> …]

Kept are case, command, environment, log, arrival times, every *n*th sample, the ends of agents and run, and the journal
of attempts with its plans, in place of older ones. Hashes are those of what is kept: runs that ended well.
"""

import argparse
import json
import os
import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path

HOUSE = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(HOUSE))

from evalsuite.core import paths
from evalsuite.runs import archive, columns
from evalsuite.runs.journal import ATTEMPTS, CAMPAIGNS, Journal, JournalLine
from evalsuite.runs.samples import Samples
from evalsuite.runs.store import RunFolder, Store


def main() -> None:
    options = _parser().parse_args()
    names = _names(options)
    for folder in Store(options.runs).finished():
        if folder.outcome().ended_well:
            kept = options.to / folder.path.parent.name / folder.path.name
            _keep(folder, kept, names, options.every)
            size = sum(file.stat().st_size for file in kept.iterdir())
            print(f"{kept.parent.name}/{kept.name} {size / 1e3:.0f} kB")
    _keep_journal(options.runs, options.to)
    if options.pack:
        archive.pack(options.to, options.pack, lambda _: False)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", type=Path, metavar="RUNS")
    parser.add_argument("--to", type=Path, default=HOUSE / "data" / "recorded", metavar="DIR")
    parser.add_argument("--every", type=int, default=4, metavar="N", help="keep one sample in N (4; 1 for short runs)")
    parser.add_argument("--pack", type=Path, metavar="FILE.zip", help="all that is kept there as one archive, too")
    parser.add_argument("--replace", action="append", default=[], metavar="PATH=NAME", help="further paths to replace")
    return parser


def _names(options) -> list[tuple[bytes, bytes]]:
    known = {
        str(options.runs.resolve()): "<runs>",
        str(paths.cache()): "<cache>",
        str(paths.data_sets()): "<data>",
        str(HOUSE): "<evalsuite>",
        sys.executable: "<python>",
        str(Path.home()): "<home>",
        **dict(pair.rsplit("=", 1) for pair in options.replace),
    }
    return sorted(((old.encode(), new.encode()) for old, new in known.items()), key=lambda pair: -len(pair[0]))


def _keep(folder: RunFolder, kept: Path, names, every: int) -> None:
    shutil.rmtree(kept, ignore_errors=True)
    kept.mkdir(parents=True)
    for file in sorted(folder.path.iterdir()):
        if file.suffix == ".json" and file.name != "outcome.json":
            (kept / file.name).write_bytes(_replaced(file.read_bytes(), names)[0])
    for host in folder.sampled_hosts():
        if samples := folder.samples(host):
            _write_fewer(RunFolder(kept).packed_samples_path(host), samples, every)
    for log in folder.logs():
        text, moved = _replaced(log.path.read_bytes(), names)
        (kept / log.path.name).write_bytes(text)
        if log.arrivals.is_file():
            (kept / log.arrivals.name).write_text(_arrivals(log.arrivals.read_text(), moved))
    RunFolder(kept).write_outcome(replace(folder.outcome(), trimmed=True))


def _keep_journal(runs: Path, to: Path) -> None:
    (to / ATTEMPTS).unlink(missing_ok=True)
    for text in (runs / ATTEMPTS).read_text(encoding="utf-8").splitlines():
        entry = JournalLine.from_json(json.loads(text), text)
        folder = RunFolder(to / entry.run)
        if entry.sha256 is not None and entry.event == "ended" and folder.path.is_dir():
            entry = replace(entry, sha256=folder.hash_records(folder.outcome().sha256))  # as they are kept
        Journal(to).note(entry)
    shutil.rmtree(to / CAMPAIGNS, ignore_errors=True)
    shutil.copytree(runs / CAMPAIGNS, to / CAMPAIGNS)


def _replaced(text: bytes, names) -> tuple[bytes, list[tuple[int, int]]]:
    new_of = dict(names)
    pattern = re.compile(b"|".join(re.escape(old) for old, _ in names))
    moved, by = [], 0
    for match in pattern.finditer(text):
        by += len(new_of[match.group()]) - len(match.group())
        moved.append((match.end(), by))
    return pattern.sub(lambda match: new_of[match.group()], text), moved


def _arrivals(text: str, moved: list[tuple[int, int]]) -> str:
    head, *lines = text.splitlines()
    kept = [head]
    for line in lines:
        end, _, at_s = line.partition(",")
        shift = max((entry for entry in moved if entry[0] <= int(end)), default=(0, 0))[1]
        kept.append(f"{int(end) + shift},{at_s}")
    return "\n".join(kept) + "\n"


def _write_fewer(file: Path, samples: Samples, every: int) -> None:
    rows = samples.tables.items()
    values = [(name, device, row) for name, of in rows for device, row in of.items()]
    readings = (
        {(name, device): row[place] for name, device, row in values if row[place] is not None}
        for place in range(0, len(samples.tables["at_s"][""]), every)
    )
    columns.write(file, replace(samples.header, hz=samples.header.hz / every), readings)


if __name__ == "__main__":
    os.umask(0o022)
    main()
