"""Who failed a run: the framework, which is told so, or the infrastructure, for which a run is made again."""

import json
import threading
import time
from argparse import Namespace
from dataclasses import replace
from types import SimpleNamespace

import pytest

from evalsuite.commands import run as run_command
from evalsuite.contracts.adapter import Command, Recipe
from evalsuite.core import files
from evalsuite.core.documents import HostEnvironment
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.findings import SideBySide
from evalsuite.launch import fault_attribution, runner
from evalsuite.machine.heartbeat import EvaluatorLost
from evalsuite.plan import hosts, over_hosts, spec
from evalsuite.plan import plan as planning
from evalsuite.results.evaluation import evaluate
from evalsuite.results.measure import measurement
from evalsuite.runs.endings import EVALUATOR_LOST, NOT_FOUND, AgentOutcome, Outcome
from evalsuite.runs.store import RunFolder, Store
from tests import runfolders, sources
from tests.lab import FAILED, RUN, Lab
from tests.toys import CASE, COMMAND, LAUNCHER, toynet

TWO = CASE.at_scale(2, 1)
TIMES = {"started_at": "2026-01-01T00:00:00+00:00", "duration_s": 1.0, "cpu_s": 0.1}
COUNTS = {"left_behind": 0, "survivors": 0, "samples": 1, "samples_missed": 0}
AGENT = AgentOutcome(exit_code=1, signal=None, timed_out=False, interrupted_by=None, error=None, **TIMES, **COUNTS)
LOST = {"status": "failed", "reason": "the node agent was lost on vm", "fault": "infrastructure", "exit_code": -9}


def test_evaluations_that_went_on_beside_a_run_are_counted_and_said(tmp_path):
    with Store(tmp_path).claim(RUN) as folder:
        for host, beside in (("n0", 1), ("n1", 2)):
            folder.write_agent(host, replace(AGENT, exit_code=0, beside=beside))
        runfolders.fill(folder)

    findings = measurement.measurement(folder).findings

    assert [each for each in findings if isinstance(each, SideBySide)] == [SideBySide(evaluations=2, where=RUN.id)]


# a run folder, or the folder of all, that is gone when its run has ended


@pytest.mark.parametrize("replaced", [None, "by a file"])
def test_a_run_folder_that_is_gone_is_made_anew_for_the_outcome(tmp_path, replaced):
    with Store(tmp_path).claim(RUN) as folder:
        assert not folder.ensure(RUN)
        folder.path.rename(tmp_path / "elsewhere")
        if replaced:
            folder.path.write_text("mine")

        assert folder.ensure(RUN) and folder.run() == RUN
    assert len(list(folder.path.parent.glob("*interrupted*"))) == bool(replaced)


def test_a_shared_file_system_that_is_away_is_waited_for(tmp_path, monkeypatch):
    heard: list[str] = []
    folder = Store(tmp_path / "runs").folder(RUN)
    monkeypatch.setattr(runner, "AWAY_POLL_S", 0.01)

    runner._await_store(folder, lambda words: (heard.append(words), folder.path.mkdir(parents=True)))

    assert len(heard) == 1 and "goes on" in heard[0]


# who failed


@pytest.fixture
def left(tmp_path):
    """Fills a run folder with what agents left: {host: its outcome (None: it began and left none)}."""

    def fill(agents):
        folder = RunFolder(tmp_path / "r0")
        folder.path.mkdir()
        for host, agent in agents.items():
            folder.write_environment(HostEnvironment(host=host))
            if agent:
                folder.write_agent(host, agent)
        return folder

    return fill


@pytest.mark.parametrize(("agents", "said"), sources.cases("outcomes.toml")["nodes_left"])
def test_what_the_nodes_left_tells_who_failed(left, agents, said):
    ended = {host: None if of is None else replace(AGENT, **of) for host, of in agents.items()}

    assert fault_attribution.find_infrastructure_fault(left(ended), TWO) == said


@pytest.mark.parametrize(("ended", "status"), [(True, "completed"), (False, "failed")])
def test_an_engine_that_ended_well_without_a_node_has_not_run_on_it(left, monkeypatch, ended, status):
    monkeypatch.setattr(runner, "SHOWN_S", 0.0)
    well = replace(AGENT, exit_code=0)

    outcome = runner._ending(0, left({"a": well, "b": well if ended else None}), TWO, LAUNCHER)

    assert (outcome.status, outcome.fault) == (status, None if ended else "infrastructure")


@pytest.mark.parametrize(("lacking", "program", "said"), sources.cases("outcomes.toml")["lacks"])
def test_a_node_that_lacks_what_the_others_start_is_the_platforms_failure(lacking, program, said):
    without = replace(AGENT, exit_code=NOT_FOUND, error="no such program")
    agents = {host: without if host in lacking else AGENT for host in ("a", "b")}

    assert fault_attribution.find_lacking_program(agents, program) == said


LOST_DAEMON = sources.text("outcomes_lost_daemon.txt")


def test_a_launcher_that_ends_the_training_and_says_that_all_went_well_is_not_believed(left):
    ended = replace(AGENT, exit_code=143, signal="SIGTERM", interrupted_by="SIGTERM")
    folder = left({"a": ended, "b": ended})
    folder.engine_log.write_text(LOST_DAEMON)

    outcome = runner._ending(0, folder, TWO, LAUNCHER)

    assert (outcome.status, outcome.fault) == ("failed", "infrastructure")
    lost = "the launcher ended the training on a, b: PRTE has lost communication with a remote daemon."
    assert outcome.reason == lost


def test_an_agent_that_heard_nothing_is_the_platforms_failure_which_an_outcome_keeps(left, tmp_path):
    folder = left(
        {
            "a": replace(
                AGENT, exit_code=EVALUATOR_LOST, error=str(EvaluatorLost.of("agent.evaluator_lost", seconds=90.0))
            )
        }
    )
    outcome = runner._recorded_end(EVALUATOR_LOST, None, folder, CASE, LAUNCHER, [])
    assert (outcome.fault, outcome.reason) == ("infrastructure", "the node agent was lost on a")

    folder = RunFolder(tmp_path)
    folder.write_outcome(Outcome(status="failed", reason="lost", fault="infrastructure"))
    assert json.loads((tmp_path / "outcome.json").read_text())["fault"] == "infrastructure"
    assert folder.outcome().fault == "infrastructure"


@pytest.mark.parametrize(("script_code", "fault"), [(0, "infrastructure"), (255, None)])
def test_a_host_that_ssh_lost_is_the_platforms_failure_and_a_script_that_ends_so_is_not(left, script_code, fault):
    folder = left(dict.fromkeys("ab", replace(AGENT, exit_code=script_code)))
    folder.engine_log.write_text("error: b was not reached, or was lost: Timeout, server b not responding.\n")
    engine = over_hosts.engine(hosts.from_words("a,b"), over_hosts.TRANSPORTS["ssh"], handed={})

    assert runner._ending(255, folder, TWO, replace(LAUNCHER, engine=engine)).fault == fault


# what follows


def test_a_run_that_the_infrastructure_failed_is_made_again_and_what_it_left_is_kept(tmp_path, monkeypatch):
    lab = Lab(tmp_path, monkeypatch, LOST, LOST, {})

    (ended,) = lab.start(retries=2)

    assert (ended.outcome.status, ended.attempt) == ("completed", 3)
    assert lab.folders == ["infrastructure-r0-1", "infrastructure-r0-2", "r0"]
    expected = [(1, "failed"), (2, "failed"), (3, "completed")]
    assert [(attempt.number, attempt.status) for attempt in lab.store.journal.attempts()] == expected
    evaluation = evaluate(lab.store)
    assert [finding.code for finding in evaluation.findings if finding.code == "taken_away"] == ["taken_away"]


@pytest.mark.parametrize(
    ("ends", "fault", "kept"),
    [((LOST, LOST), "infrastructure", ["infrastructure-r0-1", "r0"]), ((FAILED,), None, ["r0"])],
)
def test_where_no_retry_helps_or_the_framework_failed_the_run_has_failed(tmp_path, monkeypatch, ends, fault, kept):
    lab = Lab(tmp_path, monkeypatch, *ends)

    (ended,) = lab.start(retries=1)

    assert (ended.outcome.status, ended.outcome.fault) == ("failed", fault)
    (row,) = evaluate(lab.store).summaries
    assert [(run.status, run.fault) for run in row.measurements] == [("failed", fault)]
    assert lab.folders == kept


def test_no_run_is_started_once_the_device_hours_are_spent_and_the_search_for_a_batch_counts(tmp_path, monkeypatch):
    lab = Lab(tmp_path, monkeypatch, {"duration_s": 3600.0}, {"duration_s": 3600.0})

    ended = lab.start(repeats=3, device_hours=1.5 * RUN.case.total_devices)

    assert [process.run.repeat for process in ended] == [0, 1]
    assert Lab(tmp_path / "a", monkeypatch, {}).start(device_hours=1.0, spent_h=1.0) == []
    assert len(Lab(tmp_path / "b", monkeypatch, {}).start(device_hours=1.0, spent_h=0.5)) == 1


def test_a_run_that_another_evaluator_measures_is_waited_for_and_said(tmp_path, monkeypatch):
    lab, heard = Lab(tmp_path, monkeypatch, {}), list[str]()
    begun = threading.Event()

    def other():
        with lab.store.claim(RUN) as folder:
            begun.set()
            while not heard:
                time.sleep(0.01)
            runfolders.fill(folder)

    thread = threading.Thread(target=other)
    thread.start()
    begun.wait()
    ended = lab.start(repeats=2, waits=heard.append)
    thread.join()

    assert [each.run.repeat for each in ended] == [1] and len(heard) == 1 and RUN.id in heard[0]
    assert lab.folders == ["r0", "r1"] and not list(tmp_path.glob("runs/*/.r?.lock"))


def again(lab, *words):
    """What --redo of *words* sets aside."""
    plan = planning.Plan(spec=spec.Spec(), adapters={"toynet": toynet()}, cases=(RUN.case,), runs=(RUN,), skips=())
    place, options = SimpleNamespace(store=lab.store), SimpleNamespace(search_paths=())
    run_command.set_aside(Namespace(redo=words), SimpleNamespace(plan=plan, place=place, options=options))
    return lab.folders


@pytest.mark.parametrize("word", [RUN.id, RUN.case.id])
def test_a_good_run_is_set_aside_by_its_name_and_stays_known(tmp_path, monkeypatch, word):
    lab = Lab(tmp_path, monkeypatch, {}, {})
    lab.start()

    assert again(lab, "failed") == ["r0"]
    assert again(lab, word) == ["redone-r0-1"]
    lab.start()

    assert "taken_away" in [finding.code for finding in evaluate(lab.store).findings]


@pytest.mark.parametrize(("end", "steps"), [(FAILED, 150), ({}, 20)])
def test_runs_without_a_valid_number_are_set_aside_by_one_word(tmp_path, monkeypatch, end, steps):
    lab = Lab(tmp_path, monkeypatch, end)
    lab.printed = runfolders.steps(steps)
    lab.start()

    with pytest.raises(EvalsuiteError, match="expected failed, changed, a case"):
        again(lab, RUN.case.id + "x")
    assert again(lab, "failed") == ["redone-r0-1"]
    lab.ends, lab.printed = [{}], runfolders.steps()
    lab.start()
    names = {type(each).__name__ for each in evaluate(lab.store).findings}
    assert "RunMadeAgain" in names and "RunTakenAway" not in names


@pytest.mark.parametrize(("before", "after"), [("lr = 1", "lr = 2"), ("--steps 30", "--steps 60")])
def test_runs_of_another_script_or_command_are_not_those_of_the_plan(tmp_path, monkeypatch, before, after):
    lab, script = Lab(tmp_path, monkeypatch, {}), tmp_path / "train.py"
    script.write_text(before)
    wanted = ["{python}", str(script), before]
    monkeypatch.setattr(Recipe, "command_of", lambda recipe, case: Command(argv=tuple(wanted)))
    lab.command = replace(COMMAND, command=("python", *wanted[1:]), script_sha256=files.sha256(script))
    lab.start()

    assert again(lab) == ["r0"]
    script.write_text(after if "=" in after else before)
    wanted[2] = before if "=" in after else after
    with pytest.raises(EvalsuiteError, match=r"1 finished run was made by something else.*--redo changed"):
        again(lab)
    assert again(lab, "changed") == ["redone-r0-1"]
