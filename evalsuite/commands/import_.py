"""`evalsuite import`: run folders from logs or tables produced elsewhere."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from evalsuite.commands import places
from evalsuite.errors import EvalsuiteError, Exit

if TYPE_CHECKING:
    from evalsuite.launch.importing import Imported

HELP = "make run folders from logs or tables produced elsewhere"
EXAMPLES = """\
  python -m evalsuite import logs/ --pattern '{framework}/{nodes}n{gpus}g/b{batch}_{precision}_{repeat}.log' \\
      --set model=resnet50_v1.5 --runs imported/
  python -m evalsuite import logs/ --map what-they-are.toml
  python -m evalsuite import dlperf.csv --runs cited/

A mapping file says what path and log do not:
  [defaults]
  framework = "pytorch"
  model = "resnet50_v1.5"
  [[runs]]
  path = "a100/*.log"
  gpus = 8
  batch = 256
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths", nargs="+", type=Path, metavar="PATH", help="logs, folders of them, tables (.csv, .xlsx)"
    )
    parser.add_argument("--runs", type=Path, default=Path("runs"), metavar="DIR", help="where the run folders go")
    parser.add_argument("--pattern", metavar="P", help="what the paths below PATH say, with {placeholders}")
    parser.add_argument("--map", type=Path, metavar="FILE", help="a TOML file with [defaults] and [[runs]]")
    parser.add_argument(
        "--set", action="append", default=[], type=_pair, metavar="NAME=VALUE", help="what holds for all of them"
    )
    places.add_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print a JSON array, one element per log or row")


def run(arguments: argparse.Namespace) -> int:
    from evalsuite.launch import importing
    from evalsuite.logs import catalogue
    from evalsuite.runs.store import Store

    defaults, runs = importing.mapping(arguments.map) if arguments.map else ({}, [])
    defaults = {**defaults, **dict(arguments.set)}
    found_by = importing.pattern(arguments.pattern) if arguments.pattern else None
    into = Store(arguments.runs)
    results: list[importing.Imported] = []
    dialects = catalogue.known(places.places(arguments))
    for path in arguments.paths:
        if _is_table(path):
            results += importing.cited(path, into, defaults, dialects)
        else:
            results += importing.logs(path, into, found_by=found_by, defaults=defaults, runs=runs, dialects=dialects)
    _print(results, arguments.json)
    return _exit(results)


def _is_table(path: Path) -> bool:
    """A workbook, or a CSV with a column of throughputs; other CSVs (a TensorBoard series) are logs."""
    if path.suffix.lower() != ".csv":
        return path.suffix.lower() == ".xlsx"
    try:
        with open(path, encoding="utf-8-sig", errors="replace") as file:
            return "throughput" in file.readline().lower()
    except OSError as error:
        raise EvalsuiteError(f"{path}: {error.strerror}; expected a table or a log.") from error


def _print(results: Sequence["Imported"], as_json: bool) -> None:
    from evalsuite.report.text.findings import document, english

    if as_json:
        import json
        from dataclasses import asdict, replace

        facts = [
            {**asdict(replace(each, findings=())), "findings": list(map(document, each.findings))} for each in results
        ]
        print(json.dumps(facts, indent=1, ensure_ascii=False))
        return
    for result in results:
        reason = f"; {result.reason}" if result.reason else ""
        print(f"{result.source}: {result.run or 'no run'}: {result.status}{reason}")
        for finding in result.findings:
            print(f"  {finding.code}: {english(finding)}")
    made = sum(result.run is not None and result.status != "already there" for result in results)
    print(f"{made} run folders made, {len(results) - made} logs or rows left out or already there")


def _exit(results: Sequence["Imported"]) -> int:
    runs = [result for result in results if result.run is not None]
    if not runs:
        return Exit.NOTHING_MEASURED
    return Exit.DONE if len(runs) == len(results) else Exit.SOME_FAILED


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name or not value:
        raise argparse.ArgumentTypeError(f'"{text}" is no NAME=VALUE, such as model=resnet50_v1.5')
    return name, value
