"""The engine hosts on three hosts with sshd, each with a network, a name and a list of hosts of its own."""

import json
import subprocess
from pathlib import Path

from evalsuite.core.errors import Exit
from tests import mpi_launchers, namespaces
from tests.processes import running, soon
from tests.toys import TOYNET

ONCE = ("--repeats", "1", "--steps", "5+60", "--runs", "runs", "--out", "report")


def started(reached, tmp_path, *words: str) -> subprocess.Popen:
    hosts, config = reached
    return namespaces.evalsuite(hosts["a"], tmp_path, *words, **mpi_launchers.variables(config))


def compared(reached, tmp_path, *words: str) -> tuple[int, str]:
    process = started(reached, tmp_path, "run", *TOYNET, *ONCE[:-2], *words)
    said, _ = process.communicate(timeout=400)
    return process.returncode, said


def only_run(tmp_path) -> Path:
    return next((tmp_path / "runs").glob("*/r0"))


def test_every_host_trains_and_is_sampled(reached, tmp_path):
    code, said = compared(reached, tmp_path, "--scales", "3x1", "--option", "script=train.py", "--hosts", "b,a,c")

    run = only_run(tmp_path)
    assert code == Exit.DONE, said
    assert {file.name for file in run.glob("log.*")} == {"log.a.txt", "log.b.txt", "log.c.txt"}
    ranks = {host: json.loads((run / f"environment.{host}.json").read_text())["node_rank"] for host in "abc"}
    # in the order given, but for a host that was found slow, which comes last
    assert sorted(ranks.values()) == [0, 1, 2]
    switches = json.loads((run / "environment.c.json").read_text())["environment_variables"]
    assert (switches["GLOO_SOCKET_IFNAME"], switches["NCCL_SOCKET_IFNAME"]) == ("eth0", "=eth0")


def test_a_host_that_nobody_knows_is_named_before_anything_is_started(reached, tmp_path):
    code, said = compared(reached, tmp_path, "--scales", "2x1", "--hosts", "a,nowhere")

    assert code == Exit.USAGE
    assert "nowhere: not reached: ssh: Could not resolve hostname nowhere" in said
    assert "1 of 2 nodes are fit and 2 are wanted" in said
    assert list((tmp_path / "runs").glob("*/r0")) == []


def test_what_fails_on_a_host_is_the_reason(reached, tmp_path):
    compared(reached, tmp_path, "--scales", "2x1", "--option", "script=fails.py", "--hosts", "a,b")

    outcome = json.loads((only_run(tmp_path) / "outcome.json").read_text())
    assert (outcome["status"], outcome.get("fault")) == ("failed", None)


def test_the_evaluator_that_is_killed_leaves_nothing_running_anywhere(reached, tmp_path):
    words = ("--scales", "2x1", "--steps", "5+100000", "--option", "script=train.py", "--hosts", "a,b")
    process = started(reached, tmp_path, "run", *TOYNET, *words, "--repeats", "1", "--runs", "runs")
    assert soon(lambda: len(list((tmp_path / "runs").glob("*/r0/log.*.txt"))) == 2)

    process.kill()  # the evaluator, and nobody tells the hosts
    process.communicate()

    assert soon(lambda: not running(str(tmp_path)))
