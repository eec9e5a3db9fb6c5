"""The look at every node before the first run: what it finds, whom it leaves out, and what it says."""

import json
import os
import re
import subprocess
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from evalsuite import __version__, cli
from evalsuite.commands.launching import fit_nodes
from evalsuite.core import paths
from evalsuite.core.errors import Exit
from evalsuite.core.model import Run
from evalsuite.launch import fault_attribution, programs
from evalsuite.launch.checks import nodes
from evalsuite.launch.checks.nodes import NodeFacts, chosen, look_at_nodes
from evalsuite.machine import cores
from evalsuite.machine.pitfalls import Pitfall
from evalsuite.machine.sensors.sensor import DeviceProcess
from evalsuite.plan.engines import Engine
from tests import sources
from tests.processes import running, soon
from tests.toys import CASE

OURS = nodes.sources_sha256()
MACHINE = {"cores": 64.0, "devices": 8, "busy": {}, "probe_s": 0.5, "free_bytes": 50 << 30}
FACTS = NodeFacts(evalsuite=__version__, sources_sha256=OURS, folder="shared", **MACHINE)


def acted(said: dict[str, str]) -> Engine:
    """An engine whose nodes say what stands in *said*, the shell of each."""

    def on(names) -> Engine:
        def wrap(nodes, argv):
            return ("sh", "-c", said[names[0]], *argv)

        return Engine(name="acted", wrap=wrap, nodes=tuple(names), on=on)

    return on(list(said))


def saying(facts: NodeFacts = FACTS, clock: str = "$(date +%s.%N)") -> str:
    """The shell of a node that says *facts*."""
    return f"echo \"x: evalsuite-clock {clock}\"; echo 'x: evalsuite-node {json.dumps(asdict(facts))}'"


def kinds(found) -> dict[str, list[tuple[str, str]]]:
    return {
        node.name: [
            (check.state, getattr(check.detail, "id", "nodes.pitfall").partition(".")[2]) for check in node.checks
        ]
        for node in found
    }


def test_nodes_without_fault_are_chosen_in_their_order(tmp_path):
    look = look_at_nodes(acted({"b": saying(), "a": saying()}), tmp_path, devices=8)

    assert (chosen(look), kinds(look)) == (("b", "a"), {"b": [], "a": []})


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        ({"sources_sha256": "0ther", "pitfalls": ("in words of its own",)}, ("broken", "version")),
        ({"folder": "another"}, ("broken", "folder")),
        ({"folder": "read_only", "folder_said": "Read-only file system"}, ("broken", "read_only")),
        ({"free_bytes": 1000}, ("broken", "room")),
        ({"devices": 7}, ("broken", "devices")),
        ({"busy": {"python": 3.5}}, ("doubtful", "busy")),
        ({"on_devices": (DeviceProcess(device=3, pid=42),)}, ("doubtful", "on_devices")),
        ({"pitfalls": (Pitfall(area="clocks", seen="slow", remedy="hurry"),)}, ("doubtful", "pitfall")),
    ],
)
def test_what_is_wrong_on_one_node_is_said_of_that_node(tmp_path, facts, kind):
    said = {"a": saying(), "b": saying(replace(FACTS, **facts))}

    look = look_at_nodes(acted(said), tmp_path, devices=8)

    assert kinds(look) == {"a": [], "b": [kind]}
    assert chosen(look) == (("a", "b") if kind[0] == "doubtful" else ("a",))


@pytest.mark.parametrize(("ahead_s", "state"), [(0, None), (3, "doubtful"), (-3600, "broken")])
def test_a_clock_that_is_off_is_told_by_when_its_words_come(tmp_path, ahead_s, state):
    node = saying(clock=f"$(date -d '{ahead_s} seconds' +%s.%N)")

    look = look_at_nodes(acted({"a": node}), tmp_path, devices=8)

    assert kinds(look) == {"a": [(state, "clock")] if state else []}
    assert look[0].clock_offset_s == pytest.approx(ahead_s, abs=0.9)


def test_a_node_that_says_nothing_is_named_with_the_engines_own_words(tmp_path):
    engine = acted({"a": saying(), "b": "echo 'srun: error: Unable to create step: node b is down' >&2; exit 1"})

    look = look_at_nodes(engine, tmp_path, devices=8)

    assert kinds(look)["b"] == [("broken", "unreached")]
    assert chosen(look) == ("a",)
    assert fit_nodes.sentences(look, enough=True) == [
        "b: not reached: srun: error: Unable to create step: node b is down. "
        "Try starting a command there by hand, the way this engine does.",
        "left out: b; enough others are fit.",
    ]


UNREACHED = "ssh: connect to host a port 22: No route to host"


@pytest.mark.parametrize(("does", "reason"), sources.cases("nodes.toml")["node_launcher_hangs"])
def test_a_node_or_launcher_that_hangs_is_given_up_with_all_that_it_started(tmp_path, monkeypatch, does, reason):
    monkeypatch.setattr(nodes, "GIVEN_UP_S", 0.3)
    monkeypatch.setattr(nodes, "ANSWER_S", 60 if reason == UNREACHED else 0.5)
    monkeypatch.setattr(programs, "TERMINATE_S", 0.3)
    began = time.monotonic()

    look = look_at_nodes(acted({"a": does.replace("{0}", str(tmp_path))}), tmp_path)

    assert reason in look[0].checks[0].detail.values["reason"]
    assert not running(f"echo {tmp_path}")
    assert time.monotonic() - began < 50


@pytest.mark.parametrize(("line", "is_so"), sources.table("nodes.toml")["ssh"])
def test_what_ssh_says_of_a_host_that_it_did_not_reach_is_told_from_other_words(line, is_so):
    assert bool(fault_attribution.UNREACHED.search(line)) == is_so


@pytest.mark.parametrize(("listed", "troubles"), [(True, [("broken", "same")]), (False, [])])
def test_one_machine_by_two_names_in_a_list_is_refused(tmp_path, listed, troubles):
    facts = replace(FACTS, machine="7c1e/a")
    engine = acted({"a": saying(facts), "a.lab": saying(facts), "b": saying(replace(FACTS, machine="7c1e/b"))})

    look = look_at_nodes(replace(engine, listed=listed), tmp_path, devices=8)

    assert kinds(look) == {"a": [], "a.lab": troubles, "b": []}


def test_a_node_without_the_environment_is_refused_and_a_slow_one_taken_only_if_no_other_is_left(tmp_path):
    here = str(tmp_path / "pytorch/bin/python")
    engine = acted({"a": saying(), "b": saying(replace(FACTS, absent=(here,)))})

    look = look_at_nodes(engine, tmp_path, devices=8, programs=(here,))

    assert kinds(look)["b"] == [("broken", "program")]
    assert f"b: {here} is not there" in fit_nodes.sentences(look, enough=True)[0]

    said = {"a": saying(replace(FACTS, probe_s=0.8)), "b": saying(), "c": saying()}

    look = look_at_nodes(acted(said), tmp_path, devices=8)

    assert kinds(look)["a"] == [("doubtful", "slow")]
    assert chosen(look) == ("b", "c", "a")


def test_the_runs_folder_is_another_where_the_word_in_it_is_and_absent_programs_are_named(tmp_path, monkeypatch):
    monkeypatch.setattr(cores, "measure_seconds", lambda: 0.5)
    monkeypatch.setattr(nodes, "busy_programs", dict)
    (tmp_path / nodes.TOKEN).write_text("ours")

    def seen(folder, token):
        lines = []
        nodes.report(folder, token, (), lines.append)
        return nodes.read(lines[-1]).folder

    assert (seen(tmp_path, "ours"), seen(tmp_path, "theirs")) == ("shared", "another")
    assert seen(tmp_path / "absent", "ours") == "another"
    assert list(tmp_path.iterdir()) == [tmp_path / nodes.TOKEN]

    (tmp_path / "no-program").write_text("")
    facts = nodes.facts([sys.executable, str(tmp_path / "no-program"), "/nowhere/python"])

    assert facts.absent == (str(tmp_path / "no-program"), "/nowhere/python")
    assert facts.machine and facts.machine.endswith(os.uname().nodename)


@pytest.mark.parametrize("line", ["", "evalsuite-clock now", "evalsuite-node {", "evalsuite-node []", "x\0y"])
def test_words_that_are_none_of_ours_are_passed_over(line):
    assert nodes.read(line) is None


def test_the_nodes_of_an_engine_are_listed_and_an_engine_whose_nodes_nobody_knows_is_refused(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.setenv("PYTHONPATH", str(paths.PACKAGE.parent))

    code = cli.main(["doctor", "--hosts", "localhost", "--runs", str(tmp_path), "--json"])

    (node,) = json.loads(capsys.readouterr().out)["nodes"]
    assert code == Exit.DONE and node["fit"]
    assert node["facts"]["folder"] == "shared" and node["facts"]["probe_s"] > 0 and node["facts"]["cores"] > 0

    said = acted({"a": "exit 1", "b": saying()})
    monkeypatch.setattr(nodes, "look_at_nodes", lambda *_, **__: look_at_nodes(said, tmp_path))
    assert cli.main(["doctor", "--hosts", "a", "--runs", str(tmp_path)]) == Exit.USAGE
    assert re.search(r"!!     a  not reached.*ok     b  64 cores", capsys.readouterr().out, re.DOTALL)
    assert cli.main(["doctor", "--engine", "mpi"]) == Exit.USAGE
    assert "--hosts a,b" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        cli.main(["doctor", "--", "hostname"])
    assert "-- ARGV… says nothing without --hosts" in capsys.readouterr().err


def test_a_program_that_keeps_cores_busy_is_seen(monkeypatch):
    monkeypatch.setattr(nodes, "LEAST_CORES", 0.01)  # others may be busier here
    monkeypatch.setattr(nodes, "MOST_NAMED", 1000)

    with subprocess.Popen(["yes"], stdout=subprocess.DEVNULL) as hog:
        found = soon(lambda: "yes" in (nodes.busy_programs(0.4) or ()))
        hog.kill()

    assert found


def test_programs_on_accelerators_are_named_as_far_as_they_are_known(tmp_path):
    told = (DeviceProcess(device=0, pid=42, name="python", memory_bytes=3 << 30), DeviceProcess(device=1, pid=43))

    look = look_at_nodes(acted({"a": saying(replace(FACTS, on_devices=told))}), tmp_path, devices=8)

    assert "python (pid 42, GPU 0, 3.0 GiB), ? (pid 43, GPU 1)" in fit_nodes.sentences(look, enough=True)[0]
    assert chosen(look) == ("a",)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("namespace", "name"), [(nodes.FIRST_NAMESPACE, "init"), ("pid:[4026532000]", None)])
def test_a_program_is_named_only_where_processes_are_numbered_as_the_driver_does(monkeypatch, namespace, name):
    monkeypatch.setattr(nodes.os, "readlink", lambda path: namespace)
    monkeypatch.setattr(nodes.files, "text", lambda path: "init" if path == Path("/proc/1/comm") else None)

    (process,) = nodes.name_processes([DeviceProcess(device=0, pid=1)])

    assert process.name == name


def test_nodes_that_are_gone_after_a_failed_run_come_last_and_the_rest_goes_on(tmp_path, capsys):
    engine = acted({"a": "exit 1", "b": saying(), "c": saying()})
    missing = [Run(case=replace(CASE, nodes=3), repeat=0)]

    mended = fit_nodes.replace_nodes(tmp_path, missing, [])(engine)

    assert mended.nodes == ("b", "c", "a")
    assert "the nodes from here on: b, c" in capsys.readouterr().err
