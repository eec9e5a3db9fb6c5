"""As the manual pages of OpenPBS say; qstat and pbsnodes as asked by `evalsuite/schedulers/pbs.py`."""

import json
import re
import time

ENDS_S = 36_000  # from now
_BEGAN = time.strftime("%a %b %d %H:%M:%S %Y", time.localtime(time.time() + ENDS_S - 40_000))
_RUNS = {"Resource_List": {"nodect": 4, "walltime": "11:06:40"}, "stime": _BEGAN}

SHELL = {"PBS_JOBID": "812.pbs", "PBS_NODEFILE": "/var/spool/pbs/aux/812.pbs", "PBS_NODENUM": "0"}
TASK = {"PBS_JOBID": "812.pbs", "PBS_NODENUM": "1", "EVALSUITE_NODES": "2", "EVALSUITE_NODE_RANK": "1"}
NODES = ("n1", "n2")
JOBS = ("812.pbs", "813.pbs", "8120.pbs")
ANSWERS = {
    "cat": "n1\nn1\nn2\nn2\n",
    "qstat": json.dumps({"Jobs": {"813.pbs": _RUNS}}),
    "qsub": "814.pbs\n",
    "pbsnodes": json.dumps({"nodes": {"n1": {}, "n2": {}, "n3": {}}}),
}
SUBMITTED = "814.pbs"
SIZE = 3
FOLDER = None  # no directive names the folder that a job starts in


def started(argv):
    """The hosts on which a step starts something."""
    return tuple(NODES[int(number)] for number in re.search(r"for number in ([\d ]+);", argv[2])[1].split())
