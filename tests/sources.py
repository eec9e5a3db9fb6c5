"""The project's own code as trees, each file parsed once in a process; and the files that tests bring along."""

import ast
import datetime
import json
import os
import subprocess
import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

NIGHTLY = bool(os.environ.get("EVALSUITE_NIGHTLY"))  # `make test-nightly`: everything, not some of it


def leave(name: str, test: str, **figures: Any) -> None:
    """Leaves *figures* of a night for docs/evidence.md, which tools/write_reliability.py makes of them."""
    house = Path(__file__).parents[1]
    line = ["git", "describe", "--always", "--dirty=+", "--abbrev=12", "--exclude=*"]
    commit = subprocess.run(line, cwd=house, capture_output=True, text=True, check=False).stdout.strip()
    command = f"EVALSUITE_NIGHTLY=1 .venv/bin/python -m pytest -n0 {test}"
    date = datetime.datetime.now(datetime.UTC).date().isoformat()
    if NIGHTLY:
        (folder := house / "build" / "figures").mkdir(parents=True, exist_ok=True)
        facts = {"figures": figures, "command": command, "date": date, "commit": commit}
        (folder / f"{name}.json").write_text(json.dumps(facts))


@cache
def tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


@cache
def nodes(file: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(tree(file)))


def text(name: str) -> str:
    """A file of `tests/files`: what a test writes somewhere, or what a program prints."""
    return (Path(__file__).parent / "files" / name).read_text(encoding="utf-8")


def lay(folder: Path, texts: Mapping[str, str]) -> Path:
    """Writes each of *texts* below *folder*, where its path says; gives *folder*."""
    for path, content in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content)
    return folder


def program(file: Path, content: str) -> Path:
    """*file* as a program: *content* is of the shell, unless it begins with what reads it."""
    lay(file.parent, {file.name: content if content.startswith("#!") else f"#!/bin/sh\n{content}\n"})
    file.chmod(0o755)
    return file


def table(name: str) -> dict[str, Any]:
    return tomllib.loads(text(name))


def cases(name: str) -> dict[str, Any]:
    """A table whose lists are tuples and in which `$NONE` stands for None."""
    return filled(table(name))


def filled(value: Any, known: Callable[[str], str] = str) -> Any:
    """*known*: what each other text stands for."""
    if isinstance(value, dict):
        return {key: filled(each, known) for key, each in value.items()}
    if isinstance(value, list):
        return tuple(filled(each, known) for each in value)
    return None if value == "$NONE" else known(value) if isinstance(value, str) else value
