"""One measurement at a time on a node. The processes that a test starts are `sleep`s."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from evalsuite.agent import node_lock
from evalsuite.core.placeholders import Node
from evalsuite.machine import process_tree
from tests import sources
from tests.processes import soon


class Waited(Exception):
    """Raised by a test's `waiting`, so that it need not wait."""

    @classmethod
    def instead(cls, words):
        raise cls(words)


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv(node_lock.PLACE, str(tmp_path / "node"))
    return tmp_path / "node"


def gone(found):
    """As if the process of this presence and all that hold its lock had ended."""
    os.close(found._handle)


def alone(run, share=False):
    return node_lock.enter(run, share=share, waiting=Waited.instead)


def test_a_second_run_waits_and_is_told_for_whom(place, tmp_path):
    found = alone(tmp_path / "runs/a")

    with pytest.raises(Waited, match=rf"runs/a is measured on this machine \(process {os.getpid()} of \w+\)"):
        alone(tmp_path / "runs/b")
    assert found.count_beside() == 0


def test_rehearsals_wait_for_a_measurement_and_it_for_them_but_they_not_for_each_other(place, tmp_path):
    for name in "ab":
        alone(tmp_path / f"{name}-stand_in-fp32/r0")
    measured = tmp_path / "c-gpu-fp32/r0"
    with pytest.raises(Waited):
        alone(measured)
    alone(measured, share=True)

    with pytest.raises(Waited, match="c-gpu"):
        alone(tmp_path / "d-stand_in-fp32/r0")


def test_it_begins_once_the_first_has_ended(place, tmp_path):
    first = alone(tmp_path / "a")

    second = node_lock.enter(tmp_path / "b", share=False, waiting=lambda words: gone(first))

    assert second.count_beside() == 0


@pytest.mark.parametrize(("names", "share", "beside"), [("abc", True, 2), ("aaa", False, 0)])
def test_with_share_a_run_runs_beside_others_and_all_know_and_agents_of_one_run_do_not_wait(
    place, tmp_path, names, share, beside
):
    found = [alone(tmp_path / name, share=share) for name in names]

    assert [each.count_beside() for each in found] == [beside] * 3


def test_what_a_dead_run_left_is_ended_before_another_begins(place, tmp_path):
    program = f"""
import os, pathlib, subprocess, sys
from evalsuite.agent import node_lock
found = node_lock.enter(pathlib.Path({str(tmp_path / "a")!r}), share=False, waiting=print)
child = subprocess.Popen(["sleep", "60"], stdout=-3, env={{**os.environ, **found.variables}})
print(child.pid, flush=True)
os.kill(os.getpid(), 9)
"""
    said = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, check=False).stdout
    survivor = int(said)
    assert soon(lambda: Path(f"/proc/{survivor}/environ").read_bytes())  # empty for a moment after exec

    assert alone(tmp_path / "b").count_beside() == 0

    assert soon(lambda: not process_tree.started_ticks(survivor))


@pytest.mark.parametrize("content", [b"", b"[]\n", b"{", b"\xff\x00", b"[" * 100_000, b'{"pid": "x", "run": 3}\n'])
def test_a_file_of_a_stranger_does_no_harm(content, place, tmp_path):
    place.mkdir()
    (place / "present").write_bytes(content)

    assert alone(tmp_path / "b").count_beside() == 0


@pytest.mark.parametrize("make", [lambda file: file.symlink_to("/etc/passwd"), os.mkfifo])
def test_what_is_no_file_is_left_alone(make, place, tmp_path):
    place.mkdir()
    make(place / "present")

    assert alone(tmp_path / "b") is None


def test_words_of_a_stranger_command_no_terminal(place, tmp_path):
    first = alone(tmp_path / "\x1b[31m" / ("x" * 900))

    with pytest.raises(Waited) as told:
        alone(tmp_path / "b")

    assert "\x1b" not in str(told.value) and len(str(told.value)) < 2 * node_lock.LONGEST_WORDS
    gone(first)


def test_a_machine_without_a_folder_for_it_measures_all_the_same(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(node_lock.PLACE, str(tmp_path / "file"))

    assert alone(tmp_path / "a") is None


def test_the_folder_of_a_machine_is_for_all_users(place, tmp_path):
    alone(tmp_path / "a")

    assert place.stat().st_mode & 0o7777 == 0o1777
    assert (place / "present").stat().st_mode & 0o777 == (place / "door").stat().st_mode & 0o777 == 0o666


@pytest.mark.parametrize(("host", "hosts", "before"), sources.cases("node_lock.toml")["turns"])
def test_nodes_take_their_turn_by_name(host, hosts, before):
    place = Node(rank=0, nodes=len(hosts) or 2, master_port=29500, hosts=hosts)

    assert node_lock.nodes_before(host, place) == list(before)
