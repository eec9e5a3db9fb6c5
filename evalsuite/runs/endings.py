"""How a run ended, and what its node agents report."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from evalsuite.core.decode import Constraint, Mistake, at_least, instant, message
from evalsuite.core.documents import Document
from evalsuite.core.messages import Phrase
from evalsuite.core.model import Origin

Enough = Literal[  # why evalsuite ended a run
    "no_limit",  # after its last measured step: the script has no limit
    "window",  # after its last measured step, as asked for
    "hung",  # at its end, after its last measured step
    "silent",  # before that: no log went on
]


AGENT_FAILED = 125  # the exit codes of timeout(1) and env(1)
EVALUATOR_LOST = 123  # used by none of those, nor by a shell
CANNOT_EXECUTE = 126
NOT_FOUND = 127
TIME = Constraint("iso_time", instant)
IN_FOLDER = Constraint("in_folder", lambda name: "/" not in name and name not in (".", ".."))
Count = Annotated[int, at_least(0)]
Seconds = Annotated[float, at_least(0)]
ENDED_WELL = ("completed", "stopped_as_planned")  # older outcomes have the first for both


@dataclass(frozen=True, kw_only=True)
class Outcome(Document):
    """Written last: a run without it has not finished."""

    status: Literal["completed", "stopped_as_planned", "failed", "timed_out"]
    reason: Phrase  # "": nothing to say
    exit_code: int | None = None  # negative: a signal
    started_at: Annotated[str, TIME] | None = None  # ISO 8601 with zone
    duration_s: Seconds | None = None
    enough: Enough | bool | None = None  # true in older outcomes: no_limit
    fault: Literal["infrastructure"] | None = None  # None: not the machines
    origin: Origin | None = None  # None: measured here
    sha256: Mapping[Annotated[str, IN_FOLDER], str] | None = None  # of each log, arrivals and samples file
    trimmed: bool | None = None  # by tools/keep_runs.py

    @property
    def ended_well(self) -> bool:
        return self.status in ENDED_WELL

    def mistakes(self) -> Iterator[Mistake]:
        bad = (self.exit_code or self.reason) if self.exit_code is not None and not self.enough else None
        if self.status == "completed" and bad:
            yield Mistake("exit_code", message("completed", code=bad))


@dataclass(frozen=True, kw_only=True)
class AgentOutcome(Document):
    exit_code: int
    signal: str | None  # of the first process that failed: "SIGKILL"
    timed_out: bool
    interrupted_by: str | None  # a signal
    error: Phrase | None  # why the agent could not work
    started_at: str  # ISO 8601 with zone
    duration_s: Seconds
    cpu_s: Seconds  # of the agent itself
    left_behind: Count  # processes that outlived a command
    survivors: Count  # processes that could not be killed
    samples: Count
    samples_missed: Count
    reading_s: Seconds | None = None  # that the node's sensors took to be read, in the median
    cores: tuple[tuple[Count, ...], ...] | None = None  # of each device; None: not bound
    group_cpu_s: Seconds | None = None  # of all that it started
    beside: Count | None = None  # other evaluations on the node; None: unknown
    sha256: Mapping[str, str] | None = None  # of each file that it wrote but this
    nodes: Count | None = None  # of the job, as the platform says
    command: tuple[str, ...] | None = None  # as given, without secrets
