"""Asks programs of the system."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Program:
    name: str
    purpose: str
    remedy: str
    version: tuple[str, ...] = ("--version",)
    alive: tuple[str, ...] = ()
    dead: str = ""  # what a failing *alive* means


def ask_program(
    line: Sequence[str], timeout_s: float, variables: Mapping[str, str] | None = None
) -> "subprocess.CompletedProcess[str] | None":
    """What *line* prints; None if there is no such program, or it does not end."""
    try:
        return _run(line, timeout_s, variables, capture_output=True)
    except (OSError, subprocess.TimeoutExpired):
        return None


def run_joined(
    line: Sequence[str | Path], folder: Path, timeout_s: float, variables: Mapping[str, str] | None = None
) -> "subprocess.CompletedProcess[str] | None":
    """Output and errors of *line* as one text; None if it does not end. Raises OSError."""
    try:
        return _run(line, timeout_s, variables, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except subprocess.TimeoutExpired:
        return None


def _run(
    line: Sequence[str | Path], timeout_s: float, variables: Mapping[str, str] | None, **how: Any
) -> "subprocess.CompletedProcess[str]":
    known = {**os.environ, **(variables or {})}
    return subprocess.run(
        line, stdin=subprocess.DEVNULL, text=True, errors="replace", timeout=timeout_s, env=known, **how
    )
