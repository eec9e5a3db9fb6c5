"""The engine slurm on a real Slurm: two nodes that this machine plays both of."""

import json
import threading
import time
from pathlib import Path

import pytest

from evalsuite import cli
from evalsuite.core.errors import Exit
from tests import slurm
from tests.toys import TOYNET


@pytest.fixture(scope="module")
def cluster():
    if why := slurm.missing():
        pytest.skip(why)
    with slurm.cluster() as environment:
        yield environment


@pytest.fixture(autouse=True)
def on_the_cluster(cluster, monkeypatch):
    for name, value in cluster.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("EVALSUITE_MASTER_ADDR", "127.0.0.1")  # n1 and n2 are names that no resolver knows


def measured(tmp_path, *words: str, repeats: str = "1") -> tuple[int, list[dict], Path]:
    """Exit code, the summaries of the report, and the folder of the first run."""
    where = ("--runs", str(tmp_path / "runs"), "--out", str(tmp_path / "report"))
    code = cli.main(["compare", *words, "--engine", "slurm", "--repeats", repeats, *where])
    summaries = json.loads((tmp_path / "report" / "summary.json").read_text())["summaries"]
    return code, summaries, next((tmp_path / "runs").glob("*/r0"))


def test_a_step_on_two_nodes_looks_at_each_first_and_keeps_its_log_and_samples(tmp_path):
    code, summaries, run = measured(
        tmp_path, *TOYNET, "--scales", "2x1", "--steps", "5+60", "--option", "script=train.py"
    )

    assert code == Exit.DONE
    assert {file.name for file in run.glob("log.*")} == {"log.n1.txt", "log.n2.txt"}
    assert {file.name for file in run.glob("samples.*")} == {"samples.n1.columns", "samples.n2.columns"}
    assert json.loads((run / "environment.n2.json").read_text())["node_rank"] == 1
    assert 120 < summaries[0]["throughput"]["value"] < 1000  # 2 nodes × 8 images in 20 ms, on a busy machine more


def test_what_fails_on_a_node_is_the_reason_and_not_what_srun_says_of_the_others(tmp_path):
    measured(tmp_path, *TOYNET, "--scales", "2x1", "--steps", "5+60", "--option", "script=fails.py")

    assert "no room for the weights" in (tmp_path / "report" / "report.html").read_text()


def test_more_nodes_than_the_allocation_has_are_said_before_anything_is_started(tmp_path, capsys):
    where = ("--engine", "slurm", "--runs", str(tmp_path / "runs"))

    code = cli.main(["run", *TOYNET, "--scales", "3x1", "--steps", "5+60", *where])

    assert code == Exit.NOTHING_MEASURED
    assert "asks for 3 nodes and the allocation has 2" in capsys.readouterr().err
    assert list((tmp_path / "runs").glob("*/r0")) == []


def test_a_controller_that_dies_in_mid_run_and_comes_back_loses_nothing(tmp_path, cluster):
    """It is away while the first run trains and ends and the second would begin."""

    def die_and_return():
        while not any(log.stat().st_size > 200 for log in tmp_path.glob("runs/*/r0/log.n1.txt")):
            time.sleep(0.2)
        with slurm.without_controller(cluster):
            time.sleep(12)

    fault = threading.Thread(target=die_and_return)
    fault.start()
    *_, run = measured(
        tmp_path, *TOYNET, "--scales", "2x1", "--steps", "5+200", "--option", "script=train.py", repeats="2"
    )
    fault.join()

    ended = [json.loads(file.read_text())["status"] for file in run.parent.glob("r[01]/outcome.json")]
    assert ended == ["completed"] * 2
