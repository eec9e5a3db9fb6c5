"""How a run ended: its outcome, and what the node agent of each host says of itself."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal, Self

from evalsuite.decode import Constraint, Mistake, at_least, said
from evalsuite.documents import Document
from evalsuite.messages import Phrase

Enough = Literal[  # why a run was ended
    "no_limit",  # after its last measured step: the script has no limit of its own
    "window",  # after its last measured step, as was asked for: the script would have gone on
    "hung",  # after its last measured step, at its end
    "silent",  # before it: no log went on
]


def _is_time(text: str) -> bool:
    """Whether *text* is a date and time in ISO 8601."""
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


TIME = Constraint("iso_time", _is_time)
IN_FOLDER = Constraint("in_folder", lambda name: "/" not in name and name not in (".", ".."))
Count = Annotated[int, at_least(0)]
Seconds = Annotated[float, at_least(0)]
ENDED_WELL = ("completed", "stopped_as_planned")  # of the statuses; earlier versions wrote the first for both


@dataclass(frozen=True, kw_only=True)
class Outcome(Document):
    """How a run ended. Written last: a run without it has not finished."""

    status: Literal["completed", "stopped_as_planned", "failed", "timed_out"]
    reason: Phrase  # empty where there is nothing to say
    exit_code: int | None = None  # negative: ended by that signal
    started_at: Annotated[str, TIME] | None = None  # ISO 8601 with zone
    duration_s: Seconds | None = None
    enough: Enough | None = None
    fault: Literal["infrastructure"] | None = None  # who failed a run, where it was not the training itself
    origin: str | None = None  # one of `model.Origin`, or what rule D27 takes for cited; None: measured here
    sha256: Mapping[Annotated[str, IN_FOLDER], str] | None = (
        None  # name of each log, arrivals and samples file → its hash
    )
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
        return super().from_json(facts, where)

    def mistakes(self) -> Iterator[Mistake]:
        if self.status == "completed" and not self.enough and self.exit_code not in (None, 0):
            yield Mistake("exit_code", said("completed", code=self.exit_code))


@dataclass(frozen=True, kw_only=True)
class AgentOutcome(Document):
    """How the node agent of one host ended, and what it had to end."""

    exit_code: int
    signal: str | None  # what killed the first process that failed: "SIGKILL"
    timed_out: bool
    interrupted_by: str | None  # the signal that asked the agent to end
    error: Phrase | None  # why the agent could not do its work
    started_at: str  # ISO 8601 with zone
    duration_s: Seconds
    cpu_s: Seconds  # of the agent itself
    left_behind: Count  # processes that a command that ended by itself had left
    survivors: Count  # processes that could not be killed
    samples: Count
    samples_missed: Count
    cores: tuple[tuple[Count, ...], ...] | None = None  # of each device; None: no process was bound to any
    group_cpu_s: Seconds | None = None  # CPU seconds of all that it started, by the control group of the run
    no_group: Phrase | None = None  # why the run had no control group of its own
    beside: Count | None = None  # other evaluations that measured on the node at the same time; None: nobody knows
    clock_ahead_s: tuple[float, float] | None = None  # of the evaluator's at the start and the end; None: not known
    clock_error_s: tuple[Seconds, Seconds] | None = None  # so far off that may be
    sha256: Mapping[str, str] | None = None  # name of each file that it wrote but this → the hash of what it wrote
