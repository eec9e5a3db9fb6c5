"""The receipts of `evalsuite equivalence`: built-in ones, and a lab's in its runs folder or elsewhere."""

import ast
import functools
from collections.abc import Iterable, Iterator
from pathlib import Path

from evalsuite.core import files, paths
from evalsuite.core.workload import EquivalenceReceipt

FOLDER = paths.DATA / "equivalence"  # one for each model
BESIDE_RUNS = "equivalence"  # of a lab


@functools.cache
def receipt(model: str) -> EquivalenceReceipt | None:
    return next(iter(own((FOLDER,), model)), None)


def own(folders: Iterable[Path], model: str | None = None) -> tuple[EquivalenceReceipt, ...]:
    receipts = (file for folder in folders for file in sorted(folder.glob("*.json")) if model in (None, file.stem))
    return tuple(EquivalenceReceipt.from_json(files.read_json(file), file) for file in receipts)


def hashes(script: Path) -> dict[str, str]:
    """By name: *script* and all files of its folder that it imports, directly or not."""
    return {file.name: files.sha256(file) for file in sorted(_imported(script))}


def _imported(script: Path) -> set[Path]:
    imported: set[Path] = set()
    left = {script}
    while left:
        file = left.pop()
        imported.add(file)
        left |= {beside for name in _names(file) if (beside := script.parent / f"{name}.py").is_file()} - imported
    return imported


def _names(file: Path) -> Iterator[str]:
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
