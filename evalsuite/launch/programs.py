"""Asks programs of the system."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


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
        return subprocess.run(
            line,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout_s,
            env={**os.environ, **(variables or {})},
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
