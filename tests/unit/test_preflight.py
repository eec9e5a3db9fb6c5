"""The look at every node before the first run: what it finds, whom it leaves out, and what it says."""

import json
import os
import subprocess
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from evalsuite import __version__, cli
from evalsuite.commands import preflight as door
from evalsuite.commands.printing import i18n
from evalsuite.core import paths
from evalsuite.core.errors import Exit
from evalsuite.core.model import Run
from evalsuite.launch import engine_process
from evalsuite.launch.checks import drift_probe, node_check, preflight
from evalsuite.launch.checks.preflight import Wanted
from evalsuite.launch.remote import launcher_errors
from evalsuite.machine import foreign
from evalsuite.plan.engines import Engine
from evalsuite.runs.preflight import DeviceProcess, NodeFacts, Pitfall, Preflight
from tests import sources
from tests.processes import running, soon
from tests.toys import CASE


@pytest.fixture(autouse=True)
def in_english(monkeypatch):
    monkeypatch.setattr(i18n, "_chosen", "en")
    monkeypatch.setenv("LC_ALL", "C")


OURS = node_check.sources_sha256()
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


def kinds(found: Preflight) -> dict[str, list[tuple[str, str]]]:
    return {node.name: [(trouble.severity, trouble.kind) for trouble in node.troubles] for node in found.nodes}


def test_nodes_without_fault_are_chosen_in_their_order(tmp_path):
    look = preflight.look_at_nodes(acted({"b": saying(), "a": saying()}), tmp_path, Wanted(nodes=2, devices=8))

    assert (look.chosen, look.enough, kinds(look)) == (("b", "a"), True, {"b": [], "a": []})


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        ({"sources_sha256": "0ther", "pitfalls": ("in words of its own",)}, ("error", "version")),
        ({"folder": "another"}, ("error", "folder")),
        ({"folder": "read_only", "folder_said": "Read-only file system"}, ("error", "read_only")),
        ({"free_bytes": 1000}, ("error", "room")),
        ({"devices": 7}, ("error", "devices")),
        ({"busy": {"python": 3.5}}, ("warning", "busy")),
        ({"on_devices": (DeviceProcess(device=3, pid=42),)}, ("warning", "on_devices")),
        ({"pitfalls": (Pitfall(area="clocks", seen="slow", remedy="hurry"),)}, ("warning", "pitfall")),
    ],
)
def test_what_is_wrong_on_one_node_is_said_of_that_node(tmp_path, facts, kind):
    said = {"a": saying(), "b": saying(replace(FACTS, **facts))}

    look = preflight.look_at_nodes(acted(said), tmp_path, Wanted(nodes=2, devices=8))

    assert kinds(look) == {"a": [], "b": [kind]}
    assert look.enough == (kind[0] == "warning")


@pytest.mark.parametrize(("ahead_s", "troubles"), [(0, []), (3, [("warning", "clock")]), (-3600, [("error", "clock")])])
def test_a_clock_that_is_off_is_told_by_when_its_words_come(tmp_path, ahead_s, troubles):
    node = saying(clock=f"$(date -d '{ahead_s} seconds' +%s.%N)")

    look = preflight.look_at_nodes(acted({"a": node}), tmp_path, Wanted(devices=8))

    assert kinds(look) == {"a": troubles}
    assert look.nodes[0].clock_offset_s == pytest.approx(ahead_s, abs=0.9)


def test_a_node_that_says_nothing_is_named_with_the_engines_own_words(tmp_path):
    engine = acted({"a": saying(), "b": "echo 'srun: error: Unable to create step: node b is down' >&2; exit 1"})

    look = preflight.look_at_nodes(engine, tmp_path, Wanted(nodes=1, devices=8))

    assert kinds(look)["b"] == [("error", "unreached")]
    assert look.chosen == ("a",) and look.enough
    assert door.sentences(look) == [
        "b: not reached: srun: error: Unable to create step: node b is down. "
        "Try starting a command there by hand, the way this engine does.",
        "left out: b; enough others are fit.",
    ]


UNREACHED = "ssh: connect to host a port 22: No route to host"
DEAF = "trap '' TERM; sh -c 'sleep 60; echo {0}' & while :; do sleep 0.1; done"


@pytest.mark.parametrize(("does", "reason"), sources.cases("preflight.toml")["node_launcher_hangs"])
def test_a_node_or_launcher_that_hangs_is_given_up_with_all_that_it_started(tmp_path, monkeypatch, does, reason):
    monkeypatch.setattr(preflight, "GIVEN_UP_S", 0.3)
    monkeypatch.setattr(preflight, "ANSWER_S", 60 if reason == UNREACHED else 0.5)
    monkeypatch.setattr(engine_process, "TERMINATE_S", 0.3)
    began = time.monotonic()

    look = preflight.look_at_nodes(acted({"a": does.replace("{0}", str(tmp_path))}), tmp_path, Wanted())

    assert reason in look.nodes[0].troubles[0].values["reason"]
    assert not running(f"echo {tmp_path}")
    assert time.monotonic() - began < 50


@pytest.mark.parametrize(("line", "is_so"), sources.table("preflight.toml")["ssh"])
def test_what_ssh_says_of_a_host_that_it_did_not_reach_is_told_from_other_words(line, is_so):
    assert launcher_errors.is_unreached(line) == is_so


@pytest.mark.parametrize(("listed", "troubles"), [(True, [("error", "same")]), (False, [])])
def test_one_machine_by_two_names_in_a_list_is_refused(tmp_path, listed, troubles):
    facts = replace(FACTS, machine="7c1e/a")
    engine = acted({"a": saying(facts), "a.lab": saying(facts), "b": saying(replace(FACTS, machine="7c1e/b"))})

    look = preflight.look_at_nodes(replace(engine, listed=listed), tmp_path, Wanted(devices=8))

    assert kinds(look) == {"a": [], "a.lab": troubles, "b": []}


def test_a_node_without_the_environment_is_refused_and_a_slow_one_taken_only_if_no_other_is_left(tmp_path):
    here = str(tmp_path / "pytorch/bin/python")
    engine = acted({"a": saying(), "b": saying(replace(FACTS, absent=(here,)))})

    look = preflight.look_at_nodes(engine, tmp_path, Wanted(devices=8, programs=(here,)))

    assert kinds(look)["b"] == [("error", "program")]
    assert f"b: {here} is not there" in door.sentences(look)[0]

    said = {"a": saying(replace(FACTS, probe_s=0.8)), "b": saying(), "c": saying()}

    look = preflight.look_at_nodes(acted(said), tmp_path, Wanted(nodes=2, devices=8))

    assert kinds(look)["a"] == [("warning", "slow")]
    assert look.chosen == ("b", "c", "a")


def test_the_runs_folder_is_another_where_the_word_in_it_is_and_absent_programs_are_named(tmp_path, monkeypatch):
    monkeypatch.setattr(drift_probe, "measure_seconds", lambda: 0.5)
    monkeypatch.setattr(foreign, "busy_programs", dict)
    (tmp_path / node_check.TOKEN).write_text("ours")

    assert node_check.facts(tmp_path, "ours").folder == "shared"
    assert node_check.facts(tmp_path, "theirs").folder == "another"
    assert node_check.facts(tmp_path / "absent", "ours").folder == "another"
    assert list(tmp_path.iterdir()) == [tmp_path / node_check.TOKEN]

    (tmp_path / "no-program").write_text("")
    facts = node_check.facts(tmp_path, "ours", [sys.executable, str(tmp_path / "no-program"), "/nowhere/python"])

    assert facts.absent == (str(tmp_path / "no-program"), "/nowhere/python")
    assert facts.machine and facts.machine.endswith(os.uname().nodename)


@pytest.mark.parametrize("line", ["", "evalsuite-clock now", "evalsuite-node {", "evalsuite-node []", "x\0y"])
def test_words_that_are_none_of_ours_are_passed_over(line):
    assert node_check.read(line) is None


def test_this_machine_looks_at_itself_and_an_engine_whose_nodes_nobody_knows_cannot(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(paths.PACKAGE.parent))

    code = cli.main(["preflight", "--runs", str(tmp_path), "--json"])

    (node,) = json.loads(capsys.readouterr().out)["nodes"]
    assert code == Exit.DONE
    assert node["facts"]["folder"] == "shared" and node["facts"]["probe_s"] > 0 and node["facts"]["cores"] > 0
    assert cli.main(["preflight", "--engine", "mpi"]) == Exit.USAGE
    assert "--hosts a,b" in capsys.readouterr().err


def test_a_program_that_keeps_cores_busy_is_seen(monkeypatch):
    monkeypatch.setattr(foreign, "LEAST_CORES", 0.01)  # others may be busier here
    monkeypatch.setattr(foreign, "MOST_NAMED", 1000)

    with subprocess.Popen(["yes"], stdout=subprocess.DEVNULL) as hog:
        found = soon(lambda: "yes" in (foreign.busy_programs(0.4) or ()))
        hog.kill()

    assert found


def test_programs_on_accelerators_are_named_as_far_as_they_are_known(tmp_path):
    told = (DeviceProcess(device=0, pid=42, name="python", memory_bytes=3 << 30), DeviceProcess(device=1, pid=43))

    look = preflight.look_at_nodes(acted({"a": saying(replace(FACTS, on_devices=told))}), tmp_path, Wanted(devices=8))

    assert "python (pid 42, GPU 0, 3.0 GiB), ? (pid 43, GPU 1)" in door.sentences(look)[0]
    assert look.chosen == ("a",)
    (file,) = (tmp_path / "preflight").glob("*.json")
    assert Preflight.from_json(json.loads(file.read_text()), file) == look


@pytest.mark.parametrize(("namespace", "name"), [(foreign.FIRST_NAMESPACE, "init"), ("pid:[4026532000]", None)])
def test_a_program_is_named_only_where_processes_are_numbered_as_the_driver_does(monkeypatch, namespace, name):
    monkeypatch.setattr(foreign.os, "readlink", lambda path: namespace)
    monkeypatch.setattr(foreign.files, "text", lambda path: "init" if path == Path("/proc/1/comm") else None)

    (process,) = foreign.name_processes([DeviceProcess(device=0, pid=1)])

    assert process.name == name


def test_nodes_that_are_gone_after_a_failed_run_come_last_and_the_rest_goes_on(tmp_path, capsys):
    engine = acted({"a": "exit 1", "b": saying(), "c": saying()})
    missing = [Run(case=replace(CASE, nodes=3), repeat=0)]

    mended = door.replace_nodes(tmp_path, missing, [])(engine)

    assert mended.nodes == ("b", "c", "a")
    assert "the nodes from here on: b, c" in capsys.readouterr().err
