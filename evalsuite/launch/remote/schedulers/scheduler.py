"""What evalsuite asks of a batch scheduler. Each is one module beside this one; the agent learns from
`agent/platforms` what it says on a node."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evalsuite.launch.programs import Program
from evalsuite.plan.engines import Engine

Environment = Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class QueuedJob:
    """A job as the scheduler's queue shows it."""

    id: str
    state: str
    name: str
    nodes: int | None
    start: str | None
    end: str | None
    why: str  # it waits, or where it runs


@dataclass(frozen=True, kw_only=True)
class Scheduler:
    """One batch scheduler. Nothing of it is optional: what it cannot say, its function gives as None or ()."""

    name: str  # of its engine
    engine: Callable[[Sequence[str]], Engine]  # on these nodes of the allocation at hand; (): it chooses
    job_id: Callable[[Environment], str | None]  # of the allocation that this shell is in
    nodes: Callable[[Environment], tuple[str, ...]]  # of that allocation
    left_s: Callable[[Environment], float | None]  # seconds until its end; None: it has none, or nobody says when
    jobs: Callable[[], tuple[QueuedJob, ...] | None]  # of this user; None where the scheduler does not answer
    script: Callable[..., str]  # what `submit` writes: an allocation for a whole evaluation
    submit: Callable[[Path], str]  # gives it the script; the job's number. Raises EvalsuiteError in its words
    submitter: str  # the program that takes the script
    client: Program  # what `doctor` looks for
