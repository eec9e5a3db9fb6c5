"""Signs of life over the network: who is heard, and what a silence means."""

import os
import socket
import time

import pytest

from evalsuite.agent import calls
from evalsuite.agent.calls import Calls
from evalsuite.agent.heartbeat import EvaluatorLost, evaluator
from evalsuite.launch.remote.door import Door
from evalsuite.launch.remote.heartbeat import Pulse
from evalsuite.runs.store import RunFolder
from tests.processes import soon

SILENT_S = 0.4


@pytest.fixture
def door():
    found = Door()
    found.open()
    yield found
    found.close()


@pytest.mark.parametrize(
    ("said", "understood"),
    [(b"3", (3, "")), (b"0 gpu01", (0, "gpu01")), (b"hello", None), (b"", None), (b"-1 a", None), (b"0 \xff", None)],
)
def test_a_question_is_a_number_and_perhaps_a_host(said, understood):
    assert calls.understood(said) == understood


def test_a_host_that_never_called_is_not_silent(door):
    assert door.silent_s("gpu01") is None


def test_a_host_that_stops_calling_falls_silent(door):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as agent:
        agent.settimeout(5.0)
        agent.sendto(calls.question("gpu01"), ("127.0.0.1", door.port))
        assert b"unix_s" in agent.recv(200)
        agent.sendto(b"no question", ("127.0.0.1", door.port))  # does no harm

    assert soon(lambda: (door.silent_s("gpu01") or 0.0) > SILENT_S)


def calling(tmp_path, port, failed):
    """The calls of host a to *port*, where it takes SILENT_S for long."""
    file = tmp_path / "pulse"
    file.write_text(f'{{"addresses": ["127.0.0.1"], "port": {port}, "silent_s": {SILENT_S}}}')
    found = Calls("a", evaluator(file), failed.append)
    found.start()
    return found


def test_an_evaluator_that_answered_and_answers_no_more_is_lost(door, tmp_path):
    failed: list[BaseException] = []
    own = calling(tmp_path, door.port, failed)
    assert soon(lambda: door.silent_s("a") is not None) and not failed

    door.close()

    assert soon(lambda: failed)
    assert isinstance(failed[0], EvaluatorLost) and "nothing was heard of the evaluator" in str(failed[0])
    own.stop()


def test_a_firewall_that_lets_no_call_through_ends_no_training(tmp_path):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as closed:
        closed.bind(("127.0.0.1", 0))  # takes what comes, and never answers
        failed: list[BaseException] = []
        own = calling(tmp_path, closed.getsockname()[1], failed)
        time.sleep(3 * SILENT_S)
        own.stop()

    assert failed == []


@pytest.fixture
def folder(tmp_path):
    found = RunFolder(tmp_path)
    found.scratch.mkdir()
    found.beat_path("a").touch()
    return found


def call(pulse):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as agent:
        agent.sendto(calls.question("a"), ("127.0.0.1", pulse._door.port))


@pytest.mark.parametrize(("calls_too", "found"), [(True, []), (False, ["a"])])
def test_a_host_whose_files_change_and_whose_calls_do_not_come_is_cut_off_and_lost(folder, calls_too, found):
    with Pulse(folder, silent_s=1.2) as pulse:
        call(pulse)
        gone: list[str] = []

        def lost():
            os.utime(folder.beat_path("a"))
            if calls_too:
                call(pulse)
            gone.extend(pulse.lost())
            return gone

        soon(lost, 1.8)

        assert gone == found
        assert pulse.cut_off() == found


def test_a_host_of_which_only_files_were_ever_heard_is_not_cut_off(folder):
    with Pulse(folder, silent_s=1.2) as pulse:

        def lost():
            os.utime(folder.beat_path("a"))
            return pulse.lost()

        assert not soon(lost, 1.5)
        assert pulse.cut_off() == []


def test_a_launcher_that_says_which_node_it_lost_is_believed_at_once(folder):
    folder.engine_log.write_text(
        "ORTE has lost communication with a remote daemon.\n\n  Remote daemon: [[28067,0],2] on node c\n"
    )
    with Pulse(folder) as pulse:
        assert pulse.lost() == ["c"]


def test_a_node_that_is_never_heard_makes_a_run_incomplete(folder, monkeypatch):
    monkeypatch.setattr("evalsuite.launch.remote.heartbeat.START_S", 0.2)
    with Pulse(folder, 0.2, nodes=2) as two, Pulse(folder, 0.2, nodes=1) as one:
        for pulse in (one, two):
            pulse.lost()
            pulse.incomplete()
        time.sleep(0.3)

        assert (one.incomplete(), two.incomplete()) == (False, True)
