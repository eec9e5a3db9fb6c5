"""Signs of life by files: who is heard, and what a silence means."""

import pytest

from evalsuite.machine.heartbeat import EvaluatorLost, Heartbeat, HeartbeatMonitor
from evalsuite.runs.store import RunFolder
from tests import bad_files
from tests.processes import soon

SILENT_S = 0.4


@pytest.fixture
def folder(tmp_path):
    found = RunFolder(tmp_path)
    found.scratch.mkdir()
    found.beat_path("a").touch()
    return found


@pytest.mark.parametrize(("content", "lost"), [(f"{SILENT_S}", True), ("", False), ("nan", False)])
def test_an_evaluator_whose_file_changes_no_more_is_lost_and_without_its_file_none_is_missed(folder, content, lost):
    failed: list[BaseException] = []
    folder.pulse.write_text(content)
    own = Heartbeat(folder.beat_path("a"), folder.pulse, failed.append)
    own.start()

    assert soon(lambda: failed, 60 if lost else 3 * SILENT_S) == lost
    own.stop()
    assert not lost or (isinstance(failed[0], EvaluatorLost) and "no heartbeat of the evaluator" in str(failed[0]))


def test_an_evaluator_that_touches_its_file_is_not_lost_and_hears_the_agent(folder):
    failed: list[BaseException] = []
    monitor = HeartbeatMonitor(folder, silent_s=1.2)
    own = Heartbeat(folder.beat_path("a"), folder.pulse, failed.append)
    own.start()

    assert not soon(lambda: monitor.find_lost() or failed, 2.5)
    own.stop()


@pytest.mark.parametrize(("ended", "lost"), [(False, ["a"]), (True, [])])
def test_a_host_whose_file_changes_no_more_is_lost_unless_its_agent_has_ended(folder, ended, lost):
    monitor = HeartbeatMonitor(folder, silent_s=SILENT_S)
    if ended:
        folder.write_agent("a", bad_files.AGENT)

    found = soon(monitor.find_lost, 60 if lost else 3 * SILENT_S)

    assert bool(found) == bool(lost)
