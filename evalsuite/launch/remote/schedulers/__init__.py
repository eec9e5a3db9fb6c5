"""The batch schedulers."""

from evalsuite.launch.remote.schedulers import slurm
from evalsuite.launch.remote.schedulers.scheduler import Environment, QueuedJob

SCHEDULERS = {scheduler.name: scheduler for scheduler in (slurm.SCHEDULER,)}


def wall_time_left_s(environment: Environment) -> float | None:
    """Seconds left of the allocation; None where there is none, or it has no end."""
    ours = next((scheduler for scheduler in SCHEDULERS.values() if scheduler.job_id(environment)), None)
    return ours.left_s(environment) if ours else None


def queued_jobs() -> tuple[QueuedJob, ...] | None:
    """This user's jobs of every scheduler that answers; None where none does."""
    answers = [jobs for scheduler in SCHEDULERS.values() if (jobs := scheduler.jobs()) is not None]
    return tuple(job for jobs in answers for job in jobs) if answers else None
