"""The receipts of `evalsuite equivalence` on disk: those of the house, and those of a lab.

A lab keeps its own in the folder `equivalence` beside its runs, where a report finds them, or names a folder.
"""

import ast
import functools
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from evalsuite import files, paths
from evalsuite.workload import EquivalenceReceipt

FOLDER = paths.DATA / "equivalence"  # the receipts of the house, one for each model
BESIDE_RUNS = "equivalence"  # the folder of a lab's own, beside its runs


def write(receipt: EquivalenceReceipt, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{receipt.model}.json"
    files.write_json(file, receipt.to_json())
    return file


@functools.cache
def receipts(folder: Path = FOLDER) -> Mapping[str, EquivalenceReceipt]:
    """Those in *folder*, by model."""
    found = [EquivalenceReceipt.from_json(files.read_json(file), file) for file in sorted(folder.glob("*.json"))]
    return {receipt.model: receipt for receipt in found}


def own(folders: Iterable[Path]) -> tuple[EquivalenceReceipt, ...]:
    """Those of a lab in *folders*, in order."""
    found = (file for folder in folders for file in sorted(folder.glob("*.json")))
    return tuple(EquivalenceReceipt.from_json(files.read_json(file), file) for file in found)


def hashes(script: Path) -> dict[str, str]:
    """The SHA-256 of *script* and of every file beside it that it imports, however far round, by name."""
    return {file.name: files.sha256(file) for file in sorted(_imported(script))}


def _imported(script: Path) -> set[Path]:
    found: set[Path] = set()
    left = {script}
    while left:
        file = left.pop()
        found.add(file)
        left |= {beside for name in _names(file) if (beside := script.parent / f"{name}.py").is_file()} - found
    return found


def _names(file: Path) -> Iterator[str]:
    """The modules that *file* imports by one name, as those beside a script are; none where this Python reads none."""
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
