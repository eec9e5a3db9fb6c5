"""A control group for each run: what starts in it stays in it, is counted in it, and is ended with it."""

import os
import signal
import subprocess
import sys
import time

import pytest

from evalsuite.agent import node_lock, run_groups

WHY = run_groups.why_no_group()
needs_groups = pytest.mark.skipif(WHY is not None, reason=f"no control group can be made here: {WHY}")
ESCAPES = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 256)
        os.execve("/bin/sleep", ["sleep", "60"], {})
    os._exit(0)
os.wait()
time.sleep(float(sys.argv[1]))
"""


@pytest.fixture
def group():
    made = run_groups.make_group(f"test-{os.getpid()}")
    yield made
    made.end()


def alive(folder):
    return run_groups._members(folder)


@needs_groups
def test_a_daemon_that_has_left_everything_else_is_ended_with_the_group(group):
    with group.entered():
        subprocess.run([sys.executable, "-c", ESCAPES, "0"], check=True)
    (daemon,) = alive(group.group.folder)

    assert group.kill() == (1, 0)
    assert group.cpu_s() > 0
    group.end()
    assert not group.group.folder.exists()
    assert not os.path.exists(f"/proc/{daemon}") or _is_dead(daemon)


@needs_groups
def test_the_agent_itself_is_not_in_the_group(group):
    with group.entered():
        pass

    assert alive(group.group.folder) == set()
    assert group.home.is_dir()


@needs_groups
def test_what_a_killed_agent_left_is_ended_before_the_next_run(tmp_path, monkeypatch):
    monkeypatch.setenv(node_lock.PLACE, str(tmp_path / "lock"))
    words = [sys.executable, "-m", "evalsuite", "sample", "-o", str(tmp_path / "one"), "--quiet", "--"]
    agent = subprocess.Popen([*words, sys.executable, "-c", ESCAPES, "60"], start_new_session=True)
    found = []
    while len(found) < 2:  # the script and its daemon
        time.sleep(0.05)
        found = [pid for file in (tmp_path / "lock").glob("*.present") for pid in alive(_folder(file.stem))]
    family = _family(agent.pid)  # guard, agent and script; the daemon bears no mark
    for number in (signal.SIGSTOP, signal.SIGKILL):  # neither shall have the time to end what the other left
        for pid in family:
            os.kill(pid, number)
    agent.wait()

    words[words.index(str(tmp_path / "one"))] = str(tmp_path / "two")
    assert subprocess.run([*words, "true"], timeout=30).returncode == 0

    assert [pid for pid in found if os.path.exists(f"/proc/{pid}") and not _is_dead(pid)] == []


def _folder(stem):
    home = run_groups._home(run_groups.Path("/"))
    return home.folder / f"{run_groups.PREFIX}{stem}"


def _family(pid):
    import psutil

    of = psutil.Process(pid)
    daemon = [one for one in of.children(recursive=True) if one.name() == "sleep"]
    return [one.pid for one in (of, *of.children(recursive=True)) if one not in daemon]


def _is_dead(pid):
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[0] == "Z"


def test_where_there_are_no_control_groups_or_none_may_be_made_it_is_said(tmp_path):
    assert run_groups.make_group("x", tmp_path) == "no control groups are mounted here"
    assert run_groups.end("x", tmp_path) == 0

    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text("0::/job\n")
    (tmp_path / "proc/self/mountinfo").write_text("35 31 0:32 / /cg rw,relatime - cgroup2 cgroup rw\n")
    (tmp_path / "cg/job/evalsuite-x").mkdir(parents=True)

    assert run_groups.make_group("x", tmp_path) == f"{tmp_path}/cg/job/evalsuite-x: File exists"
