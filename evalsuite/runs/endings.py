"""How a run ended: its outcome, and what the node agent of each host says of itself."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

from evalsuite.documents import Document

Enough = Literal["no_limit", "hung"]  # why a run was ended after its last measured step


@dataclass(frozen=True, kw_only=True)
class Outcome(Document):
    """How a run ended. Written last: a run without it has not finished."""

    status: Literal["completed", "failed", "timed_out"]
    reason: str  # empty where there is nothing to say
    exit_code: int | None = None  # negative: ended by that signal
    started_at: str | None = None  # ISO 8601 with zone
    duration_s: float | None = None
    enough: Enough | None = None
    origin: str | None = None  # one of `model.Origin`, or what rule D27 takes for cited; None: measured here
    sha256: Mapping[str, str] | None = None  # name of each log, arrivals and samples file → its hash
    trimmed: bool | None = None  # the folder was made smaller by tools/keep_runs.py

    @classmethod
    def from_json(cls, facts: object, where: Path | str) -> Self:
        """As `Document.from_json`. `true` was written as long as there was one reason to end a run early."""
        if isinstance(facts, Mapping) and facts.get("enough") is True:
            facts = {**facts, "enough": "no_limit"}
        return super().from_json(facts, where)


@dataclass(frozen=True, kw_only=True)
class AgentOutcome(Document):
    """How the node agent of one host ended, and what it had to end."""

    exit_code: int
    signal: str | None  # what killed the first process that failed: "SIGKILL"
    timed_out: bool
    interrupted_by: str | None  # the signal that asked the agent to end
    error: str | None  # why the agent could not do its work
    started_at: str  # ISO 8601 with zone
    duration_s: float
    cpu_s: float  # of the agent itself
    left_behind: int  # processes that a command that ended by itself had left
    survivors: int  # processes that could not be killed
    samples: int
    samples_missed: int
    cores: tuple[tuple[int, ...], ...] | None = None  # of each device; None: no process was bound to any
