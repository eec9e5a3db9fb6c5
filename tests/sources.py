"""The project's own code as trees, each file parsed once in a process; and the files that tests bring along."""

import ast
import tomllib
from functools import cache
from pathlib import Path
from typing import Any


@cache
def tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


@cache
def nodes(file: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(tree(file)))


def text(name: str) -> str:
    """A file of `tests/files`: what a test writes somewhere, or what a program prints."""
    return (Path(__file__).parent / "files" / name).read_text(encoding="utf-8")


def table(name: str) -> dict[str, Any]:
    return tomllib.loads(text(name))
