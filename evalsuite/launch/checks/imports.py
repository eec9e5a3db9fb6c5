"""What the scripts of recipes import, and what of it the Python of an image or an environment lacks."""

import ast
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from evalsuite.contracts.adapter import Command, Recipe
from evalsuite.core import files
from evalsuite.core.model import by_key
from evalsuite.plan import repositories

CHECKOUT = "{checkout}/"
# Of the packages that its arguments name, those that a Python does not find, as JSON.
FINDING = """import importlib.util, json, sys
print(json.dumps([name for name in sys.argv[1:] if importlib.util.find_spec(name) is None]))"""


def packages(recipe: Recipe, command: Command) -> set[str]:
    """What loading the scripts of *command* imports, by themselves or by modules beside them, less Python's own.

    An import in `try`, `if` or a function may never be made, and is not asked for. Scripts add folders to their path:
    a module anywhere in the repository is one of its own.
    """
    root = Path(command.folder) if command.folder else repositories.folder(recipe)
    named = [*command.environment.get("PYTHONPATH", "").split(":"), *repositories.library_folders(recipe)]
    folders = [Path(part.replace("{checkout}", str(root))) for part in named if part]
    ours = () if command.folder else root.rglob("*.py")  # a folder of one's own may hold whole environments
    modules = (file.parent if file.stem == "__init__" else file for file in ours)
    own = by_key((module.stem, module.parent) for module in modules)
    needed: set[str] = set()
    seen: set[Path] = set()
    for script in _scripts(command, root, folders):
        waiting, places = [script], [script.parent, *folders]
        while waiting:
            if (file := waiting.pop()) in seen:
                continue
            seen.add(file)
            for base, name in _imported(file):
                top = name.partition(".")[0]
                there = [each for each in places if (each / f"{top}.py").is_file() or (each / top).is_dir()]
                beside = [base] if base else there or own.get(top, [])
                waiting += [found for place in beside for found in _modules(place, name)]
                needed |= set() if base or beside else {top}
    return needed - {*sys.stdlib_module_names}


def _scripts(command: Command, root: Path, folders: Sequence[Path]) -> Iterator[Path]:
    for before, word in zip(("", *command.argv), command.argv, strict=False):
        if word.startswith((CHECKOUT, "/")) and word.endswith(".py") and "config" not in before:
            yield root / word.removeprefix(CHECKOUT)
        elif before == "-m":
            yield from (found for folder in (*folders, root) for found in _modules(folder, word)[-1:])


def _imported(file: Path) -> Iterator[tuple[Path | None, str]]:
    """The folder that a relative import starts at, and the name."""
    try:
        body = ast.parse(file.read_bytes()).body
    except (OSError, SyntaxError, ValueError):
        return
    for node in body:
        if isinstance(node, ast.Import):
            yield from ((None, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base, module = file.parents[node.level - 1] if node.level else None, node.module or ""
            yield from ((base, f"{module}.{alias.name}".strip(".")) for alias in node.names)


def _modules(folder: Path, name: str) -> list[Path]:
    """The files that importing *name* from *folder* loads: packages on the way, and the module."""
    parts = name.split(".")
    ways = [folder.joinpath(*parts[:n]) for n in range(1, len(parts) + 1)]
    return [file for way in ways for file in (way / "__init__.py", way.with_suffix(".py")) if file.is_file()]


def lacking(printed: str, names: Iterable[str]) -> list[str] | None:
    """Which of *names* are among those that FINDING has printed last; None: it has not answered."""
    try:
        absent = files.parse_json(printed.strip().splitlines()[-1])
    except (ValueError, IndexError):
        return None
    return sorted(set(names) & set(absent)) if isinstance(absent, list) else None
