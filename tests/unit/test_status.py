"""How far an evaluation is, by what lies in its folder."""

import json
import os
import time

import pytest

from evalsuite import cli
from evalsuite.core.errors import Exit
from evalsuite.core.messages import Message
from evalsuite.core.model import Run
from evalsuite.launch import campaign
from evalsuite.runs.endings import Outcome
from evalsuite.runs.planned import Planned
from evalsuite.runs.store import Store
from tests.toys import CASE, measured


@pytest.fixture
def store(tmp_path) -> Store:
    """Five repeats of one case: one done, one failed, one failed by a node and made again, one going on, one left."""
    store = Store(tmp_path / "runs")
    planned = Planned(profile="quick", repeats=5, cases=(CASE,), skips=())
    store.write_plan(planned)
    started = campaign.begin(planned, store)
    ends = [
        Outcome(status="completed", reason="", duration_s=60.0),
        Outcome(status="failed", reason="exit code 1", duration_s=30.0),
        Outcome(status="failed", reason="the node agent was lost on b", fault="infrastructure", duration_s=30.0),
    ]
    for repeat, outcome in enumerate(ends):
        run = Run(case=CASE, repeat=repeat)
        attempt = store.journal.started(run, started.id, "2026-11-22T06:00:00+00:00")
        with store.claim(run) as folder:
            folder.write_outcome(outcome)
        if outcome.status == "completed":
            ended = campaign.EndedRun(run=run, outcome=outcome, attempt=attempt)
            campaign.note_value(ended, started, store, measured(CASE, repeat, 412.5))
    (tmp_path / "runs" / CASE.id / "infrastructure-r2-1").mkdir()
    with store.claim(Run(case=CASE, repeat=3)):
        pass
    return store


def status(store: Store, capsys) -> dict:
    assert cli.main(["status", "--runs", str(store.root), "--json"]) == Exit.DONE
    return json.loads(capsys.readouterr().out)


def test_runs_are_counted_by_how_they_stand(store, capsys):
    found = status(store, capsys)

    assert (found["runs"], found["done"], found["failed"], found["made_again"]) == (5, 3, 2, 1)
    assert [each["run"] for each in found["running"]] == [Run(case=CASE, repeat=3).id]
    assert found["estimated_seconds"] == pytest.approx(2 * 40, abs=2)
    assert found["cases"][0]["items_per_s"] == [412.5, None, None, None, None]


def test_the_table_says_whose_failure_it_was_and_what_is_left(store, capsys):
    assert cli.main(["status", "--runs", str(store.root)]) == Exit.DONE

    said = capsys.readouterr().out
    assert "412.50 images/s" in said and "3/5" in said
    assert "failed (framework) " in said and "exit code 1" in said
    assert "failed (platform) " in said and "the node agent was lost on b" in said
    assert "2 runs left" in said


def test_a_run_whose_files_have_not_grown_for_long_is_said_to_have_stopped(store, capsys):
    folder = store.folder(Run(case=CASE, repeat=3)).path
    for file in folder.iterdir():
        os.utime(file, (time.time() - 3600, time.time() - 3600))

    assert status(store, capsys)["running"] == []
    cli.main(["status", "--runs", str(store.root)])
    assert "nothing written for 1 h 00 min" in capsys.readouterr().out


def test_asking_takes_no_run_away_from_the_evaluation(store, capsys):
    before = sorted(path for path in store.root.rglob("*"))
    status(store, capsys)

    with store.claim(Run(case=CASE, repeat=4)) as folder:
        folder.write_waiting("n", Message("agent.turn_first", host="m"))
        during = status(store, capsys)
        assert cli.main(["status", "--runs", str(store.root), "--lang", "zh"]) == Exit.DONE
    assert [run["waits_for"] for run in during["running"]] == [None, "m runs first"]
    assert "：轮到 m 先运行" in capsys.readouterr().out
    assert [path for path in before if not path.exists()] == []


def test_what_was_submitted_and_waits_is_shown_before_its_first_run(tmp_path, capsys):
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "evaluation.sbatch").write_text("")

    assert cli.main(["status", "--runs", str(tmp_path / "runs")]) == Exit.DONE
    said = capsys.readouterr().out
    assert cli.main(["status", "--runs", str(tmp_path / "runs"), "--json"]) == Exit.DONE
    document = json.loads(capsys.readouterr().out)

    assert "no run has begun yet" in said
    assert (document["runs"], document["done"]) == (0, 0)
    assert cli.main(["status", "--runs", str(tmp_path / "elsewhere")]) == Exit.USAGE
    assert "no evaluation was started here" in capsys.readouterr().err
