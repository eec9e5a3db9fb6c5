"""`--sandbox`: what a script can still do, tried by scripts that try more."""

import json
import os
from pathlib import Path

import pytest
from test_hostile_scripts import STEPS, evalsuite, run_of

from evalsuite.launch.checks import doctor
from evalsuite.launch.provision import sandbox_trial
from evalsuite.plan import sandbox
from tests import sources

WHY = sandbox_trial.missing()
pytestmark = pytest.mark.skipif(WHY is not None, reason=WHY or "")
TRIES = sources.text("sandbox_tries.py.in")


def test_a_script_in_a_sandbox_writes_into_its_scratch_alone_and_reaches_nobody(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    monkeypatch.setenv("EVALSUITE_DATA", str(tmp_path / "data"))

    ended, outcome = run_of(TRIES.replace("else 1 / 0", "else os.stat('/nowhere')") + STEPS, tmp_path, "--sandbox")

    assert outcome["status"] == "completed", ended.stderr
    (log,) = (tmp_path / "runs").glob("*/r0/log.*.txt")
    (line,) = [line for line in log.read_text().splitlines() if line.startswith("FOUND")]
    found, end = json.JSONDecoder().raw_decode(line.removeprefix("FOUND "))
    assert (found.pop("scratch"), found.pop("temporary")) == ("done", "done")
    assert "done" not in found.values(), found
    assert int(line.removeprefix("FOUND ")[end:]) < 5  # processes in sight
    assert "bwrap" in (log.parent / "command.json").read_text()
    assert not (tmp_path / "data" / "x").exists()


def test_doctor_says_what_the_sandbox_holds_and_what_can_be_read_and_where_it_does_not_hold(monkeypatch):
    (held,) = [check for check in doctor.machine() if check.name == "sandbox"]
    assert held.state == "ok" and all(
        name in held.detail for name in ("scratch folder", "network", "kernel's settings")
    )
    assert ("as root" in held.detail) == (os.geteuid() == 0) and str(Path.home()) in held.remedy

    argv = sandbox.argv
    monkeypatch.setattr(  # as an older one was: a network, and the processes of others
        sandbox, "argv", lambda *given, **named: [
            word for word in argv(*given, **named) if word not in ("--unshare-net", "--unshare-pid")
        ],
    )  # fmt: skip
    open_to_all = doctor.sandbox()

    assert open_to_all.state == "broken"
    assert "use the network, see other processes; try" in open_to_all.detail


def test_what_needs_a_network_is_skipped_with_that_reason(tmp_path):
    words = "plan --sandbox --frameworks pytorch --scales 2x1 --engine mpi --device cpu --commands"
    ended = evalsuite(*words.split())

    assert "--sandbox gives a script no network, and 2 nodes need one" in ended.stdout


def test_a_sandbox_wants_no_container_and_bubblewrap_before_anything_is_made(tmp_path, monkeypatch):
    ended = evalsuite("plan", "--sandbox", "--container", "docker", "--frameworks", "pytorch")
    assert ended.returncode == 2 and "expected one of the two" in ended.stderr

    monkeypatch.setenv("PATH", str(tmp_path))
    ended = evalsuite("run", "--sandbox", "--frameworks", "pytorch", "--runs", tmp_path / "runs")
    assert ended.returncode == 2 and "apt install bubblewrap" in ended.stderr
    assert not (tmp_path / "runs").exists()
