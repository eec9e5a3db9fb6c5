"""Measures how large a checkout is: what a maintainer must read, and what a user must choose from.

    python tools/measure_house.py [CHECKOUT] [--names]

`--names` lists the functions to write where they are called, and the small files.
Commit 2df570a1: engine 60,972 lines, 153,412 to read in all; 33 commands, 143 options, 16 kinds of chart;
323 one-use helpers, 108 files below 60 lines; a log enters 101 functions on the way to its number.
"""

import argparse
import ast
import json
import os
import re
import statistics
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

SHORT_HELPER = 4  # lines of a function that would be read as fast where it is called
SMALL_FILE = 60
TEMPLATES = {".j2", ".js", ".css"}


def measure(checkout: Path) -> dict[str, Any]:
    read, used = lines_to_read(checkout), choices(checkout)
    return {
        "engine": read["engine"],
        "to_read": sum(read.values()),
        "to_read_by_kind": read,
        "engine_by_package": dict(lines_by_package(checkout).most_common()),
        **{name: len(each) for name, each in used.items()},
        "one_use_helpers": len(one_use_helpers(checkout)),
        "small_files": len(small_files(checkout)),
        **walk_logs(checkout),
    }


def lines_to_read(checkout: Path) -> dict[str, int]:
    return {kind: sum(map(lines, found)) for kind, found in files_to_read(checkout).items()}


def files_to_read(checkout: Path) -> dict[str, list[Path]]:
    return {
        "engine": files(checkout / "evalsuite", {".py"}),
        "adapters": files(checkout / "adapters", {".py", ".toml"}),
        "templates": [file for folder in ("evalsuite", "templates") for file in files(checkout / folder, TEMPLATES)],
        "data": files(checkout / "data", {".toml"}),
        "tests": files(checkout / "tests", {".py"}),
        "tables of tests": files(checkout / "tests", {".toml"}),
        "tools": files(checkout / "tools"),
    }


def files(folder: Path, suffixes: set[str] | None = None) -> list[Path]:
    found = (file for file in folder.rglob("*") if file.is_file() and "__pycache__" not in file.parts)
    return sorted(file for file in found if suffixes is None or file.suffix in suffixes)


def lines(file: Path) -> int:
    return file.read_bytes().count(b"\n")


@cache
def tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text("utf-8"))


def lines_by_package(checkout: Path) -> Counter[str]:
    packages: Counter[str] = Counter()
    for file in files(checkout / "evalsuite", {".py"}):
        inside = file.relative_to(checkout / "evalsuite").parts
        packages[inside[0] if len(inside) > 1 else "(root)"] += lines(file)
    return packages


def choices(checkout: Path) -> dict[str, list[str]]:
    """What a user chooses from: commands, distinct options of all of them, kinds of chart."""
    declared = {
        file.stem: tomllib.loads(file.read_text("utf-8"))
        for file in files(checkout / "data/commands", {".toml"})
        if file.stem != "gone"
    }
    listed = (checkout / "data/commands/help.txt").read_text("utf-8")
    return {
        "commands": sorted(re.findall(r"(?m)^  (\w+)  +", listed)),
        "options": sorted({"--help", *_options(list(declared.values()))}),
        "charts": charts(checkout),
    }


def _options(declared: Any) -> Iterator[str]:
    if isinstance(declared, dict):
        if str(declared.get("name", "")).startswith("--"):
            yield declared["name"]
        declared = list(declared.values())
    for inner in declared if isinstance(declared, list) else ():
        yield from _options(inner)


def charts(checkout: Path) -> list[str]:
    """Public functions of report/figures that give a Chart."""
    return sorted(
        node.name
        for file in files(checkout / "evalsuite/report/figures", {".py"})
        for node in tree(file).body
        if isinstance(node, ast.FunctionDef) and node.returns and not node.name.startswith("_")
        if ast.unparse(node.returns).rpartition(".")[2] == "Chart"
    )


def one_use_helpers(checkout: Path) -> list[str]:
    """Private functions of a module with at most four lines that one place alone names: `file:line name`."""
    found = []
    for file in files(checkout / "evalsuite", {".py"}):
        named = Counter(node.id for node in ast.walk(tree(file)) if isinstance(node, ast.Name))
        found += [
            f"{file.relative_to(checkout)}:{node.lineno} {node.name}"
            for node in tree(file).body
            if isinstance(node, ast.FunctionDef)
            and node.name.startswith("_")
            and named[node.name] == 1
            and (node.end_lineno or node.lineno) - node.lineno < SHORT_HELPER
        ]
    return found


def small_files(checkout: Path) -> list[str]:
    """Modules below sixty lines."""
    return [
        str(file.relative_to(checkout))
        for file in files(checkout / "evalsuite", {".py"})
        if lines(file) < SMALL_FILE and (file.name != "__init__.py" or lines(file) > 1)
    ]


COUNTER = """
import json, sys
from pathlib import Path
from evalsuite.logs.catalogue import known
from evalsuite.logs.reading import read_file as read
house = Path.cwd() / "evalsuite"
logs = sorted(Path("tests/logs").glob("*.log"))
dialects, entered, found = known(), set(), []
def note(frame, event, argument):
    code = frame.f_code
    if event == "call" and not code.co_name.endswith("comp>") and code.co_name not in ("<genexpr>", "<module>"):
        if code.co_filename.startswith(str(house)):
            entered.add((code.co_filename, code.co_qualname))
for path in logs:
    read(path, devices=8, batch_per_device=32, dialects=dialects)
for path in logs:
    entered.clear()
    sys.setprofile(note)
    try:
        reading = read(path, devices=8, batch_per_device=32, dialects=dialects)
    finally:
        sys.setprofile(None)
    if reading.throughput is not None:
        found.append((len(entered), len({file for file, _ in entered})))
print(json.dumps(found))
"""


def walk_logs(checkout: Path) -> dict[str, Any]:
    """Functions and files of the engine between a log of tests/logs and its number: medians."""
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    ran = subprocess.run(
        [sys.executable, "-c", COUNTER], cwd=checkout, env=environment, capture_output=True, text=True, check=True
    )
    counts = json.loads(ran.stdout)
    functions, files = zip(*counts, strict=True)
    return {
        "log_functions": statistics.median(functions),
        "log_files": statistics.median(files),
        "logs_with_a_number": len(counts),
    }


def table(checkout: Path, *, names: bool) -> Iterator[str]:
    for name, value in measure(checkout).items():
        title = name.replace("_", " ")
        if isinstance(value, dict):
            yield f"{title}:"
            yield from (f"  {inner:<32} {number:>8,}" for inner, number in value.items())
        else:
            yield f"{title:<34} {value:>8,}" if isinstance(value, int | float) else f"{title:<34} {value}"
    if names:
        yield from (f"\n{title}: {', '.join(found)}" for title, found in choices(checkout).items())
        yield "\nprivate functions of at most four lines, used once:"
        yield from one_use_helpers(checkout)
        yield "\nfiles below sixty lines:"
        yield from small_files(checkout)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("checkout", nargs="?", type=Path, default=Path(__file__).parent.parent)
    parser.add_argument("--names", action="store_true", help="name the choices, the helpers and the small files")
    arguments = parser.parse_args()
    checkout = arguments.checkout.resolve()
    print("\n".join(table(checkout, names=arguments.names)))


if __name__ == "__main__":
    main()
