"""Measures how large a checkout is, and how far two values travel in it: the request of a run, and a log.

    python tools/measure_house.py [CHECKOUT] [--json] [--names]

Commit 2605639f, where this began: engine 62,327 lines in 435 modules and 4,229 functions, 4 of them over 60 lines;
tests 38,895; words 94,240; largest folder 55 (results); request received as a whole by 17 functions in 4 files, with
its parts by 70 in 23; between a log and its number 199 functions in 29 files.
"""

import argparse
import ast
import contextlib
import io
import json
import os
import statistics
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LONG = 60
TEXTS = ("evalsuite", "adapters", "tools")
FIRST = "run_missing"  # of commands/run.py
Function = ast.FunctionDef | ast.AsyncFunctionDef


def measure(checkout: Path) -> dict[str, Any]:
    engine, tests = _sources(checkout / "evalsuite"), _sources(checkout / "tests")
    packages: Counter[str] = Counter()
    for file in engine:
        parts = file.relative_to(checkout / "evalsuite").parts
        packages[parts[0] if len(parts) > 1 else "(root)"] += _lines(file)
    functions = list(_functions(engine, checkout))
    folders = Counter(file.parent for file in engine if file.name != "__init__.py")
    folder, modules = folders.most_common(1)[0]
    house = House(checkout, engine)
    whole, parts = walk(house, parts=False), walk(house, parts=True)
    return {
        "engine_lines": sum(packages.values()),
        "engine_lines_by_package": dict(packages.most_common()),
        "tests_lines": sum(map(_lines, tests)),
        "words_of_comments_and_docstrings": sum(_words(f) for name in TEXTS for f in _sources(checkout / name)),
        "modules": len(engine),
        "functions": len(functions),
        "functions_over_60_lines": [f"{name} ({lines})" for name, lines in functions if lines > LONG],
        "largest_folder": [folder.relative_to(checkout).as_posix(), modules],
        "request_files": len(files_of(whole)),
        "request_functions": len(whole),
        "request_or_part_files": len(files_of(parts)),
        "request_or_part_functions": len(parts),
        **walk_logs(checkout),
        "request_entered": sorted(f"{module}:{name}" for module, name in whole),
    }


def _sources(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*.py") if "__pycache__" not in file.parts)


def _lines(file: Path) -> int:
    return file.read_bytes().count(b"\n")


def _functions(files: list[Path], checkout: Path) -> Iterator[tuple[str, int]]:
    for file in files:
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, Function):
                name = f"{file.relative_to(checkout).as_posix()}:{node.name}"
                yield name, (node.end_lineno or node.lineno) - node.lineno + 1


def _words(file: Path) -> int:
    text = file.read_text("utf-8")
    comments = (
        token.string for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.type == tokenize.COMMENT
    )
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = (ast.get_docstring(node) or "" for node in ast.walk(ast.parse(text)) if isinstance(node, documented))
    return sum(len(part.lstrip("#").split()) for part in (*comments, *docstrings))


@dataclass(frozen=True)
class Place:
    module: str
    node: Function | ast.ClassDef


@dataclass
class House:
    """The engine's modules, and what each name means in each."""

    checkout: Path
    files: list[Path]
    trees: dict[str, ast.Module] = field(default_factory=dict)
    names: dict[str, dict[str, str]] = field(default_factory=dict)  # module → name → "module" or "module:name"

    def __post_init__(self) -> None:
        for file in self.files:
            parts = file.relative_to(self.checkout).with_suffix("").parts
            self.trees[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = ast.parse(file.read_text("utf-8"))
        for module, tree in self.trees.items():
            known = self.names[module] = {
                node.name: f"{module}:{node.name}" for node in tree.body if isinstance(node, (*_DEFINITIONS,))
            }
            for node in ast.walk(tree):  # also in functions
                if isinstance(node, ast.ImportFrom) and node.module:
                    for alias in node.names:
                        whole = f"{node.module}.{alias.name}"
                        known[alias.asname or alias.name] = (
                            whole if whole in self.trees else f"{node.module}:{alias.name}"
                        )
                elif isinstance(node, ast.Import):
                    for alias in node.names:
                        known[alias.asname or alias.name] = alias.name

    def place(self, module: str, node: ast.expr | None) -> Place | None:
        """What *node* (a name, an attribute, a quoted annotation) means in *module*; None if not ours."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            with contextlib.suppress(SyntaxError):
                return self.place(module, ast.parse(node.value, mode="eval").body)
        if isinstance(node, ast.BinOp):
            return self.place(module, node.left) or self.place(module, node.right)
        if isinstance(node, ast.Name):
            return self._defined(self.names[module].get(node.id, ""))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            return self._defined(f"{self.names[module].get(node.value.id, '')}:{node.attr}")
        return None

    def _defined(self, name: str) -> Place | None:
        module, _, wanted = name.partition(":")
        for node in self.trees[module].body if module in self.trees else ():
            if isinstance(node, (*_DEFINITIONS,)) and node.name == wanted:
                return Place(module, node)
        return self._defined(self.names[module][wanted]) if self._imported(module, wanted) else None

    def _imported(self, module: str, name: str) -> bool:
        return self.names.get(module, {}).get(name, f"{module}:{name}") != f"{module}:{name}"

    def member(self, owner: Place | None, name: str) -> Place | None:
        if owner is None or not isinstance(owner.node, ast.ClassDef):
            return None
        for node in owner.node.body:
            if isinstance(node, Function) and node.name == name:
                return Place(owner.module, node)
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == name:
                return self.place(owner.module, node.annotation)
        bases = (self.member(self.place(owner.module, base), name) for base in owner.node.bases)
        return next((place for place in bases if place), None)


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
Entered = dict[tuple[str, str], Place]  # (module, function) → place


def files_of(entered: Entered) -> set[str]:
    return {module for module, _ in entered}


def walk(house: House, *, parts: bool) -> Entered:
    """The functions that receive the request of `run_missing`; with *parts* also any attribute of it.

    Passed on as an argument, `self`, or a changed copy.
    """
    module = next(name for name in ("evalsuite.commands.run", *house.trees) if _has(house, name, FIRST))
    place = house.place(module, ast.Name(FIRST))
    assert place is not None and isinstance(place.node, ast.FunctionDef)
    first = place.node.args.args[0]
    entered: Entered = {}
    waiting: list[tuple[Place, dict[str, Place | None]]] = [(place, {first.arg: house.place(module, first.annotation)})]
    seen: set[tuple[str, str, frozenset[str]]] = set()
    while waiting:
        place, held = waiting.pop()
        key = (place.module, _name(house, place), frozenset(held))
        if key in seen:
            continue
        seen.add(key)
        entered[key[:2]] = place
        waiting += _Visit(house, place, dict(held), parts).calls()
    return entered


def _has(house: House, module: str, name: str) -> bool:
    return any(isinstance(node, ast.FunctionDef) and node.name == name for node in house.trees[module].body)


def _name(house: House, place: Place) -> str:
    owners = (
        node for node in house.trees[place.module].body if isinstance(node, ast.ClassDef) and place.node in node.body
    )
    return ".".join([*(owner.name for owner in owners), place.node.name])


@dataclass
class _Visit:
    """One function whose *held* names have the request or a part, with their classes if known."""

    house: House
    place: Place
    held: dict[str, Place | None]
    parts: bool

    def calls(self) -> Iterator[tuple[Place, dict[str, Place | None]]]:
        nodes = [node for node in ast.walk(self.place.node) if isinstance(node, ast.expr | ast.stmt)]
        for node in sorted(nodes, key=lambda node: (node.lineno, node.col_offset)):
            if isinstance(node, ast.Assign) and len(node.targets) == 1:
                self._assign(node.targets[0], node.value)
            elif isinstance(node, ast.Call):
                yield from self._call(node)
            elif isinstance(node, ast.Attribute):
                holder = self._class_of(node.value)
                member = self.house.member(holder, node.attr)
                if member and isinstance(member.node, Function) and self._holds(node.value):  # a property, or a method
                    yield member, {_parameters(member.node)[0]: holder}

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        pairs = [(target, value)]
        if isinstance(target, ast.Tuple):
            values = value.elts if isinstance(value, ast.Tuple) else [value] * len(target.elts)
            pairs = list(zip(target.elts, values, strict=False))
        for name, given in pairs:
            if isinstance(name, ast.Name) and self._holds(given):
                self.held[name.id] = self._class_of(given)

    def _holds(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Name):
            return node.id in self.held
        if isinstance(node, ast.Attribute):
            return self.parts and self._holds(node.value)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "replace":
            return bool(node.args) and self._holds(node.args[0])
        return False

    def _class_of(self, node: ast.expr) -> Place | None:
        if isinstance(node, ast.Name):
            return self.held.get(node.id)
        if isinstance(node, ast.Attribute):
            member = self.house.member(self._class_of(node.value), node.attr)
            if member and isinstance(member.node, Function):
                return self.house.place(member.module, member.node.returns)
            return member
        if isinstance(node, ast.Call) and node.args:
            return self._class_of(node.args[0])
        return None

    def _call(self, call: ast.Call) -> Iterator[tuple[Place, dict[str, Place | None]]]:
        callee = self.house.place(self.place.module, call.func)
        method = False
        if callee is None and isinstance(call.func, ast.Attribute):
            callee = self.house.member(self._class_of(call.func.value), call.func.attr)
            method = True
        if callee is not None and isinstance(callee.node, ast.ClassDef):
            callee, method = self.house.member(callee, "__init__"), True
        if callee is None or not isinstance(callee.node, Function):
            return
        names = _parameters(callee.node)[int(method) :]
        given = [*zip(names, call.args, strict=False), *((word.arg, word.value) for word in call.keywords)]
        received = {name: self._class_of(value) for name, value in given if name and self._holds(value)}
        if received:
            yield callee, received


def _parameters(node: Function) -> list[str]:
    return [parameter.arg for parameter in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]


COUNTER = """
import ast, importlib, json, sys
from pathlib import Path
house = Path.cwd() / "evalsuite"
parses = [file for file in sorted((house / "commands").rglob("*.py")) if file.stem in ("parse", "parse_")]
read = next(getattr(importlib.import_module(node.module), alias.name)
            for file in parses for node in ast.walk(ast.parse(file.read_text("utf-8")))
            if isinstance(node, ast.ImportFrom) and node.module.startswith("evalsuite.logs")
            for alias in node.names if alias.name.startswith("read_"))
catalogue = next(file for file in sorted((house / "logs").rglob("catalogue.py")))
known = importlib.import_module(".".join(catalogue.relative_to(Path.cwd()).with_suffix("").parts)).known
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
    """Functions and files of the engine between opening a log of tests/logs and its number: medians when read again."""
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    ran = subprocess.run(
        [sys.executable, "-c", COUNTER], cwd=checkout, env=environment, capture_output=True, text=True, check=False
    )
    if ran.returncode:
        return {"log_functions": None, "log_files": None, "log_error": ran.stderr.strip().rpartition("\n")[2]}
    counts = json.loads(ran.stdout)
    functions, files = zip(*counts, strict=True)
    return {
        "log_functions": statistics.median(functions),
        "log_files": statistics.median(files),
        "logs_with_a_number": len(counts),
    }


def table(figures: dict[str, Any], *, names: bool) -> Iterator[str]:
    for name, value in figures.items():
        if name == "engine_lines_by_package":
            yield from (f"  {package:<32} {lines:>8,}" for package, lines in value.items())
        elif name == "functions_over_60_lines":
            yield f"{'functions over 60 lines':<34} {len(value):>8}  {', '.join(value)}"
        elif name == "largest_folder":
            yield f"{'largest folder of modules':<34} {value[1]:>8}  {value[0]}"
        elif name == "request_entered":
            yield from (f"  {name}" for name in value if names)
        else:
            yield f"{name.replace('_', ' '):<34} {value:>8,}" if isinstance(value, int | float) else f"{name} {value}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("checkout", nargs="?", type=Path, default=Path(__file__).parent.parent)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--names", action="store_true", help="name the functions that receive the request")
    arguments = parser.parse_args()
    figures = measure(arguments.checkout.resolve())
    print(json.dumps(figures, indent=1) if arguments.json else "\n".join(table(figures, names=arguments.names)))


if __name__ == "__main__":
    main()
