"""How a run ended: its outcome, and what the node agent of each host says of itself."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import ClassVar, Literal, Self

from evalsuite.documents import Document
from evalsuite.errors import EvalsuiteError
from evalsuite.messages import Phrase

Enough = Literal[  # why a run was ended
    "no_limit",  # after its last measured step: the script has no limit of its own
    "window",  # after its last measured step, as was asked for: the script would have gone on
    "hung",  # after its last measured step, at its end
    "silent",  # before it: no log went on
]


ENDED_WELL = ("completed", "stopped_as_planned")  # of the statuses; earlier versions wrote the first for both


@dataclass(frozen=True, kw_only=True)
class Outcome(Document):
    """How a run ended. Written last: a run without it has not finished."""

    LEAST: ClassVar[Mapping[str, float]] = {"duration_s": 0}

    status: Literal["completed", "stopped_as_planned", "failed", "timed_out"]
    reason: Phrase  # empty where there is nothing to say
    exit_code: int | None = None  # negative: ended by that signal
    started_at: str | None = None  # ISO 8601 with zone
    duration_s: float | None = None
    enough: Enough | None = None
    fault: Literal["infrastructure"] | None = None  # who failed a run, where it was not the training itself
    origin: str | None = None  # one of `model.Origin`, or what rule D27 takes for cited; None: measured here
    sha256: Mapping[str, str] | None = None  # name of each log, arrivals and samples file → its hash
    trimmed: bool | None = None  # the folder was made smaller by tools/keep_runs.py

    @property
    def ended_well(self) -> bool:
        """Whether the run trained what it was started for, be it that its script was then stopped."""
        return self.status in ENDED_WELL

    @classmethod
    def from_json(cls, facts: object, where: Path | str) -> Self:
        """As `Document.from_json`. `true` was written as long as there was one reason to end a run early."""
        if isinstance(facts, Mapping) and facts.get("enough") is True:
            facts = {**facts, "enough": "no_limit"}
        found = super().from_json(facts, where)
        if found.started_at is not None and not _is_time(found.started_at):
            raise EvalsuiteError(f'{where}: started_at: "{found.started_at[:60]}" is no time; expected one. {cls.TRY}')
        if found.status == "completed" and not found.enough and found.exit_code not in (None, 0):
            said = f'exit_code: {found.exit_code} stands there beside the status "completed"; expected 0'
            raise EvalsuiteError(f"{where}: {said}. {cls.TRY}")
        if strange := next((name for name in found.sha256 or {} if "/" in name or name in (".", "..")), None):
            raise EvalsuiteError(f'{where}: sha256: "{strange}" is no file of the folder; expected its name. {cls.TRY}')
        return found


def _is_time(text: str) -> bool:
    """Whether *text* is a date and time in ISO 8601."""
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


@dataclass(frozen=True, kw_only=True)
class AgentOutcome(Document):
    """How the node agent of one host ended, and what it had to end."""

    LEAST: ClassVar[Mapping[str, float]] = dict.fromkeys(
        ("duration_s", "cpu_s", "group_cpu_s", "left_behind", "survivors", "samples", "samples_missed", "beside",
         "cores", "clock_error_s"), 0
    )  # fmt: skip

    exit_code: int
    signal: str | None  # what killed the first process that failed: "SIGKILL"
    timed_out: bool
    interrupted_by: str | None  # the signal that asked the agent to end
    error: Phrase | None  # why the agent could not do its work
    started_at: str  # ISO 8601 with zone
    duration_s: float
    cpu_s: float  # of the agent itself
    left_behind: int  # processes that a command that ended by itself had left
    survivors: int  # processes that could not be killed
    samples: int
    samples_missed: int
    cores: tuple[tuple[int, ...], ...] | None = None  # of each device; None: no process was bound to any
    group_cpu_s: float | None = None  # CPU seconds of all that it started, by the control group of the run
    no_group: Phrase | None = None  # why the run had no control group of its own
    beside: int | None = None  # other evaluations that measured on the node at the same time; None: nobody knows
    clock_ahead_s: tuple[float, float] | None = None  # of the evaluator's at the start and the end; None: not known
    clock_error_s: tuple[float, float] | None = None  # so far off that may be
    sha256: Mapping[str, str] | None = None  # name of each file that it wrote but this → the hash of what it wrote
