"""What evalsuite asks of a batch scheduler. What a node is told is in `agent/platforms`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evalsuite.launch.programs import Program
from evalsuite.plan.engines import Engine

Environment = Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class QueuedJob:
    id: str
    state: str
    name: str
    nodes: int | None
    start: str | None
    end: str | None
    why: str  # it waits, or where it runs


@dataclass(frozen=True, kw_only=True)
class Scheduler:
    """What a scheduler cannot say, its function gives as None or ()."""

    name: str  # of its engine
    engine: Callable[[Sequence[str]], Engine]  # on these nodes; (): it chooses
    job_id: Callable[[Environment], str | None]  # of this shell's allocation
    nodes: Callable[[Environment], tuple[str, ...]]  # of that allocation
    left_s: Callable[[Environment], float | None]  # until its end; None: none, or unknown
    jobs: Callable[[], tuple[QueuedJob, ...] | None]  # of this user; None without an answer
    script: Callable[..., str]  # what `submit` writes
    submit: Callable[[Path], str]  # the job's number; raises EvalsuiteError
    submitter: str
    client: Program  # what `doctor` looks for
