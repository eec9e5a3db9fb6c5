"""What holds a run on other hosts together: signs of life."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from evalsuite.core.messages import from_json
from tests import sources
from tests.processes import soon
from tests.toys import TOYNET

# In place of srun: the agent runs in a session of its own, as behind the daemon of another host, which lives on when
# whoever asked for it dies.
STAND_IN = sources.text("other_hosts_stand_in.py.in")
LIVES_ON = "import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:]))"
SILENT_S = 4.0  # longer than a busy machine keeps a sign of life waiting


@pytest.fixture
def far(tmp_path, monkeypatch):
    """A run's command line over an engine whose agents do not see the evaluator die; it gives up after SILENT_S."""
    stand_in = sources.program(tmp_path / "bin" / "srun", STAND_IN.replace("LIVES_ON", repr(LIVES_ON)))
    program = "from evalsuite.machine.heartbeat import HeartbeatMonitor\n"
    program += "from evalsuite.launch import programs\nprograms.TERMINATE_S = 1.0\n"
    program += f"HeartbeatMonitor.__init__.__defaults__ = ({SILENT_S},)\n"
    program += "from evalsuite.cli import main\nraise SystemExit(main())"
    where = ["--engine", "slurm", "--scales", "1x1", "--repeats", "1", "--retries", "0"]
    environment = os.environ | {"PATH": f"{stand_in.parent}:{os.environ['PATH']}", "SLURM_JOB_ID": "1"}

    def started(*words):
        line = [sys.executable, "-c", program, "run", *TOYNET, *where, "--runs", str(tmp_path / "runs"), *words]
        return subprocess.Popen(line, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    return started


def training(tmp_path):
    """The numbers of the processes that work for this test's run: they stand in its scratch folder."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if os.readlink(folder / "cwd").startswith(f"{tmp_path}/runs"):
                found.append(int(folder.name))
    return found


def only(pattern, tmp_path):
    return next(iter(tmp_path.glob(f"runs/*/r0/{pattern}")), None)


def test_nothing_is_left_when_the_evaluator_s_host_dies(far, tmp_path):
    evaluator = far("--option", "script=hangs.py", "--steps", "5+20")
    assert soon(lambda: only("scratch/.evalsuite-pulse.far", tmp_path) and only("log.far.txt", tmp_path), 90)

    evaluator.kill()
    evaluator.wait()

    assert soon(lambda: not training(tmp_path))
    assert soon(lambda: only("agent.far.json", tmp_path), 90)
    told = json.loads(only("agent.far.json", tmp_path).read_text())
    assert "got no heartbeat of the evaluator" in told["error"]
    assert only("outcome.json", tmp_path) is None  # the run counts as not run


def test_a_host_that_falls_silent_ends_the_run_as_the_infrastructure_s_failure(far, tmp_path):
    evaluator = far("--option", "script=hangs.py", "--steps", "5+20")
    assert soon(lambda: only("scratch/.evalsuite-pulse.far", tmp_path) and only("log.far.txt", tmp_path), 90)

    for pid in training(tmp_path):  # as if the host had lost its power: nothing of it says anything any more
        os.kill(pid, signal.SIGSTOP)
    try:
        assert soon(lambda: only("outcome.json", tmp_path), 90)
        outcome = json.loads(only("outcome.json", tmp_path).read_text())
    finally:
        evaluator.wait(400)
        for pid in training(tmp_path):
            os.kill(pid, signal.SIGKILL)

    assert outcome["fault"] == "infrastructure"
    assert "the node agent was lost on far" in from_json(outcome["reason"])
