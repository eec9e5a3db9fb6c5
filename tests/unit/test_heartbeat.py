"""Signs of life over the network: who is heard, and what a silence means."""

import contextlib
import os
import socket
import time

import pytest

from evalsuite.agent.heartbeat import GREETING, EvaluatorLost, Heartbeat, ask_clock, read_evaluator
from evalsuite.launch.remote.heartbeat import CallServer, HeartbeatMonitor
from evalsuite.runs.store import RunFolder
from tests.processes import soon

SILENT_S = 0.4


@pytest.fixture
def server():
    found = CallServer()
    found.open()
    yield found
    found.close()


def test_a_host_that_stops_calling_falls_silent_and_one_that_never_called_is_not(server):
    assert server.silent_s("gpu01") is None

    assert ask_clock("127.0.0.1", server.port, 5.0, "gpu01")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        stranger.sendto(b"\xff no call", ("127.0.0.1", server.port))  # does no harm
    assert soon(lambda: (server.silent_s("gpu01") or 0.0) > SILENT_S)


@contextlib.contextmanager
def calling(tmp_path, port):
    """What the heartbeat of host a to *port* fails with, where SILENT_S is long; without a port, by the file alone."""
    file = tmp_path / "pulse"
    file.write_text(f'{{"addresses": ["127.0.0.1"], "port": {port}, "silent_s": {SILENT_S}}}')
    failed: list[BaseException] = []
    own = Heartbeat("a", tmp_path / "own", read_evaluator(file), failed.append)
    if port != "null":
        own._watch.silent_s = lambda: 0.0  # as where the file is touched all the time
    own.start()
    yield failed
    own.stop()


def test_an_evaluator_that_answered_and_answers_no_more_is_lost(server, tmp_path):
    with calling(tmp_path, server.port) as failed:
        assert soon(lambda: server.silent_s("a") is not None) and not failed

        server.close()

        assert soon(lambda: failed)
        assert isinstance(failed[0], EvaluatorLost) and "got no heartbeat of the evaluator" in str(failed[0])


def test_a_firewall_that_lets_no_call_through_ends_no_training(tmp_path):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as closed:
        closed.bind(("127.0.0.1", 0))  # takes what comes, and never answers
        with calling(tmp_path, closed.getsockname()[1]) as failed:
            assert not soon(lambda: failed, 3 * SILENT_S)


def test_an_evaluator_whose_file_changes_no_more_is_lost_without_a_network(tmp_path):
    with calling(tmp_path, "null") as failed:
        assert soon(lambda: failed)


@pytest.fixture
def folder(tmp_path):
    found = RunFolder(tmp_path)
    found.scratch.mkdir()
    found.beat_path("a").touch()
    return found


def call(monitor):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as agent:
        agent.sendto(GREETING + b"a", ("127.0.0.1", monitor._server.port))


@pytest.mark.parametrize(("calls_too", "found"), [(True, []), (False, ["a"])])
def test_a_host_whose_files_change_and_whose_calls_do_not_come_is_cut_off_and_lost(folder, calls_too, found):
    with HeartbeatMonitor(folder, silent_s=1.2) as monitor:
        call(monitor)
        gone: list[str] = []

        def lost():
            os.utime(folder.beat_path("a"))
            if calls_too:
                call(monitor)
            gone.extend(monitor.find_lost())
            return gone

        soon(lost, 60 if found else 1.8)

        assert gone == found
        assert monitor.find_cut_off() == found


def test_a_host_of_which_only_files_were_ever_heard_is_not_cut_off(folder):
    with HeartbeatMonitor(folder, silent_s=1.2) as monitor:

        def lost():
            os.utime(folder.beat_path("a"))
            return monitor.find_lost()

        assert not soon(lost, 1.5)
        assert monitor.find_cut_off() == []


def test_a_launcher_that_says_which_node_it_lost_is_believed_at_once(folder):
    folder.engine_log.write_text(
        "ORTE has lost communication with a remote daemon.\n\n  Remote daemon: [[28067,0],2] on node c\n"
    )
    with HeartbeatMonitor(folder) as monitor:
        assert monitor.find_lost() == ["c"]


def test_a_node_that_is_never_heard_makes_a_run_incomplete(folder, monkeypatch):
    monkeypatch.setattr("evalsuite.launch.remote.heartbeat.START_S", 0.2)
    with HeartbeatMonitor(folder, 0.2, nodes=2) as two, HeartbeatMonitor(folder, 0.2, nodes=1) as one:
        for monitor in (one, two):
            monitor.find_lost()
            monitor.is_incomplete()
        time.sleep(0.3)

        assert (one.is_incomplete(), two.is_incomplete()) == (False, True)
