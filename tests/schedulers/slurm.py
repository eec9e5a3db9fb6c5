"""As Slurm 22.05 does it; sinfo and scontrol as asked by `evalsuite/schedulers/slurm.py`."""

import time

ENDS_S = 36_000  # from now
_END = time.localtime(time.time() + ENDS_S)

SHELL = {"SLURM_JOB_ID": "812", "SLURM_JOB_NODELIST": "n[1-2]"}  # of an allocation of two nodes
TASK = {**SHELL, "SLURM_NODEID": "1", "SLURM_NNODES": "2"}  # on the second of them
NODES = ("n1", "n2")
JOBS = ("812", "813", "8120")  # ids that it may give
ANSWERS = {  # a word of the command line → what is printed
    "scontrol": time.strftime("   StartTime=2026-01-01T00:00:00 EndTime=%Y-%m-%dT%H:%M:%S Deadline=N/A\n", _END),
    "sbatch": "814;cluster\n",
    "sinfo": "debug* 3\nlong 12\n",
}
SUBMITTED = "814"
SIZE = 3  # of the default partition
FOLDER = "#SBATCH --chdir="  # the directive of the folder that a job starts in


def started(argv):
    """The hosts on which a step starts something."""
    return tuple(next(word for word in argv if word.startswith("--nodelist=")).removeprefix("--nodelist=").split(","))
