"""Clusters of several machines, each with a network and a name of its own, one of which dies."""

import json
import os
import re
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest

from evalsuite.core.messages import from_json
from tests import mpi_launchers, namespaces, slurm
from tests.namespaces import evalsuite
from tests.processes import soon
from tests.runfolders import contents
from tests.toys import TOYNET

BUILT_IN = ("pytorch", "tensorflow", "paddlepaddle", "mxnet")  # jax refuses two nodes before anything starts
LONG = ("--steps", "5+500", "--option", "script=train.py", "--repeats", "1", "--quiet-rounds", "0")  # some ten seconds


def output_of(process: subprocess.Popen, seconds: float = 120) -> str:
    return process.communicate(timeout=seconds)[0]


@pytest.fixture(scope="module")
def four_nodes():
    if why := slurm.missing():
        pytest.skip(why)
    with namespaces.network("ctl", "n1", "n2", "n3", "n4") as hosts, slurm.on_hosts(hosts) as environment:
        yield hosts, environment


def job_ended(hosts, environment, job: str) -> bool:
    line = hosts["ctl"].enter("squeue", "--noheader", f"--jobs={job}", "--format=%T")
    answer = subprocess.run(line, env={**os.environ, **environment}, capture_output=True, text=True)
    return not answer.stdout.strip()


def submitted(hosts, environment, folder: Path, *words: str) -> str:
    text = output_of(evalsuite(hosts["ctl"], folder, "submit", *TOYNET, *words, "--go", **environment))
    assert "submitted as job" in text, text
    return text.partition("submitted as job ")[2].partition(";")[0]


def test_a_job_on_four_nodes_gives_a_report(four_nodes, tmp_path):
    hosts, environment = four_nodes
    words = ("--scales", "1x1,2x1,4x1", "--steps", "5+20", "--option", "script=train.py", "--repeats", "1")

    job = submitted(hosts, environment, tmp_path, *words, "--ask", "time=10")

    assert soon(lambda: job_ended(hosts, environment, job), 400)
    output = (tmp_path / "runs" / f"slurm-{job}.txt").read_text()
    assert (tmp_path / "report" / "report.html").is_file(), output
    ranks = [json.loads(file.read_text())["node_rank"] for file in tmp_path.glob("runs/*-4x1/r0/environment.*.json")]
    assert sorted(ranks) == [0, 1, 2, 3]
    status = json.loads(output_of(evalsuite(hosts["ctl"], tmp_path, "status", "--json", **environment)))
    assert (status["runs"], status["done"], status["failed"]) == (3, 3, 0)


def test_what_fails_on_a_node_is_the_reason_and_not_what_srun_says_of_the_others(four_nodes, tmp_path):
    hosts, environment = four_nodes
    words = ("--scales", "2x1", "--steps", "5+60", "--option", "script=fails.py", "--repeats", "1")

    job = submitted(hosts, environment, tmp_path, *words, "--ask", "time=10")

    assert soon(lambda: job_ended(hosts, environment, job), 400)
    output = (tmp_path / "runs" / f"slurm-{job}.txt").read_text()
    assert "no room for the weights" in (tmp_path / "report" / "report.html").read_text(), output


def test_a_controller_that_dies_in_mid_run_and_comes_back_loses_nothing(four_nodes, tmp_path):
    """It is away while the first run trains and ends and the second would begin."""
    hosts, environment = four_nodes
    words = ("--scales", "2x1", "--steps", "5+200", "--option", "script=train.py", "--repeats", "2")
    job = submitted(hosts, environment, tmp_path, *words, "--quiet-rounds", "0", "--ask", "time=10")
    assert soon(lambda: any(log.stat().st_size > 200 for log in tmp_path.glob("runs/*/r0/log.n1.txt")), 120)

    with slurm.without_controller(hosts["ctl"], environment):
        time.sleep(12)

    assert soon(lambda: job_ended(hosts, environment, job), 240)
    ended = [json.loads(file.read_text())["status"] for file in tmp_path.glob("runs/*/r[01]/outcome.json")]
    assert ended == ["completed"] * 2, (tmp_path / "runs" / f"slurm-{job}.txt").read_text()


@pytest.mark.parametrize("nodes", [2, 3])
@pytest.mark.parametrize("reach", ["ssh", "slurm"])
def test_every_built_in_workload_trains_over_named_hosts_and_jax_is_skipped(reach, nodes, request, tmp_path):
    hosts, config = request.getfixturevalue("reached" if reach == "ssh" else "four_nodes")
    small = ("--device", "cpu", "--batch-sizes", "2", "--option", "image_size=32", "--steps", "5+20", "--repeats", "1")
    where = ("--scales", f"{nodes}x1", "--quiet-rounds", "0", "--share", "--runs", "runs")
    words = ("--frameworks", ",".join((*BUILT_IN, "jax")), *small, *where)
    if reach == "ssh":
        line = ("run", "--hosts", ",".join(hosts), *words)
        text = output_of(evalsuite(hosts["a"], tmp_path, *line, EVALSUITE_SSH=f"ssh -F {config}"), 1800)
    else:
        line = ("submit", "--engine", "slurm", *words, "--ask", "time=60", "--go")
        text = output_of(evalsuite(hosts["ctl"], tmp_path, *line, **config))
        job = text.partition("submitted as job ")[2].partition(";")[0]
        assert job and soon(lambda: job_ended(hosts, config, job), 1800), text

    ended = {run.parent.name.partition("-")[0]: run for run in tmp_path.glob(f"runs/*-{nodes}x1/r0")}
    states = {name: json.loads((run / "outcome.json").read_text())["status"] for name, run in ended.items()}
    assert states == dict.fromkeys(BUILT_IN, "completed"), text
    assert {len([*run.glob("environment.*.json")]) for run in ended.values()} == {nodes}
    journal = [json.loads(line) for line in (tmp_path / "runs" / "attempts.jsonl").read_text().splitlines()]
    assert [row["counts"] for row in journal if row["event"] == "measured"] == [True] * len(BUILT_IN), text
    assert re.search(r"jax.*trains on one device", text), text


def test_mpirun_crosses_the_nodes_of_a_job_in_images_that_know_neither_slurm_nor_ssh(four_nodes, tmp_path):
    hosts, environment = four_nodes
    words = (*mpi_launchers.images_on(hosts.values(), tmp_path), "--device", "cpu", "--repeats", "1", "--go")
    where = ("--runs", "runs", "--out", "report", "--ask", "time=10")

    text = output_of(evalsuite(hosts["ctl"], tmp_path, "submit", "--engine", "slurm", *words, *where, **environment))

    job = text.partition("submitted as job ")[2].partition(";")[0]
    assert job and soon(lambda: job_ended(hosts, environment, job), 240), text
    output = (tmp_path / "runs" / f"slurm-{job}.txt").read_text()
    assert mpi_launchers.ranks_in_images(tmp_path) == ["n1", "n2"], output
    (run,) = tmp_path.glob("runs/*/r0")
    assert json.loads((run / "outcome.json").read_text())["status"] == "completed", output


def test_jobs_of_each_number_of_nodes_start_in_turn_and_measure_the_base_once_more(four_nodes, tmp_path):
    hosts, environment = four_nodes
    (tmp_path / "spec.toml").write_text(
        'models = ["toy"]\nscales = ["1x1", "4x1"]\nsteps = "5+20"\nrepeats = 2\nexpected_run_s = 900\n'
    )
    words = ("--spec", "spec.toml", "--option", "script=train.py", "--runs", "runs", "--go")

    text = output_of(evalsuite(hosts["ctl"], tmp_path, "submit", *TOYNET, *words, **environment))

    assert "4.00 node-hours for one of the largest scale, 3.50 for" in text
    jobs = re.findall(r"submitted as job (\d+)", text)
    assert len(jobs) == 2 and all(soon(lambda job=job: job_ended(hosts, environment, job), 240) for job in jobs), text
    assert len([*tmp_path.glob("runs/*-1x1/r[0-9]")]) == 3 and len([*tmp_path.glob("runs/*-4x1/r[0-9]")]) == 2
    output_of(evalsuite(hosts["ctl"], tmp_path, "report", "--runs", "runs", "--out", "all"))
    assert len(structure(tmp_path / "all")["cases"]) == 2
    order = [json.loads(line) for line in (tmp_path / "runs" / "attempts.jsonl").read_text().splitlines()]
    assert [line["run"].rpartition("-")[2].partition("/")[0] for line in order if line["event"] == "started"][:2] == [
        "1x1"
    ] * 2


def structure(report: Path) -> dict[str, list]:
    """What a report consists of, whatever its numbers: the cases, what is said of each, and the sections."""
    document = json.loads((report / "summary.json").read_text())
    return {
        "fields": sorted(document),
        "cases": [summary["case"]["id"] for summary in document["summaries"]],
        "of each": [sorted(summary) for summary in document["summaries"]],
        "verdicts": [(verdict["criterion"], sorted(verdict)) for verdict in document["verdicts"]],
        "sections": re.findall(r'<section[^>]* id="?([^" >]+)', (report / "report.html").read_text()),
    }


def test_slurm_and_hosts_give_reports_alike_and_the_same_folders_the_same_bytes(four_nodes, tmp_path):
    hosts, environment = four_nodes
    matrix = ("--scales", "1x1,2x1", "--steps", "5+20", "--option", "script=train.py", "--repeats", "1")
    folders = {name: tmp_path / name for name in ("slurm", "ssh")}
    for folder in folders.values():
        folder.mkdir()

    job = submitted(hosts, environment, folders["slurm"], *matrix, "--ask", "time=10")
    assert soon(lambda: job_ended(hosts, environment, job), 120)
    nodes = [hosts[name] for name in ("n1", "n2")]
    with namespaces.reached_by_ssh([hosts["ctl"], *nodes]) as config:
        words = ("compare", *TOYNET, *matrix, "--hosts", "n1,n2", "--runs", "runs", "--out", "report")
        output = output_of(evalsuite(hosts["ctl"], folders["ssh"], *words, EVALSUITE_SSH=f"ssh -F {config}"))

    for folder in folders.values():
        output_of(evalsuite(hosts["ctl"], folder, "report", "--runs", "runs", "--out", "again"))
        assert contents(folder / "again") == contents(folder / "report"), output
    slurm_s, over_ssh = (structure(folder / "report") for folder in folders.values())
    assert slurm_s == over_ssh, output
    assert len(over_ssh["cases"]) == 2 and len(over_ssh["sections"]) > 3


def test_a_node_that_dies_costs_one_run_and_a_spare_one_takes_its_place(four_nodes, tmp_path):
    hosts, environment = four_nodes
    job = submitted(hosts, environment, tmp_path, "--scales", "2x1", *LONG, "--nodes-spare", "1", "--ask", "time=10")
    runs = tmp_path / "runs"
    assert soon(lambda: len(list(runs.glob("*/r0/samples.*.jsonl"))) == 2)
    time.sleep(2)

    hosts["n2"].die()

    assert soon(lambda: job_ended(hosts, environment, job), 240)
    output = (runs / f"slurm-{job}.txt").read_text()
    (run,) = runs.glob("*/r0")
    assert json.loads((run / "outcome.json").read_text())["status"] == "completed", output
    assert {file.name for file in run.glob("log.*")} == {"log.n1.txt", "log.n3.txt"}, output
    (failed,) = runs.glob("*/infrastructure-r0-1")
    assert json.loads((failed / "outcome.json").read_text())["fault"] == "infrastructure"
    assert "the nodes from here on: n1, n3" in output


def test_a_job_that_is_requeued_goes_on_where_it_was(four_nodes, tmp_path):
    hosts, environment = four_nodes
    job = submitted(hosts, environment, tmp_path, "--scales", "1x1,2x1", *LONG, "--ask", "time=10")
    runs = tmp_path / "runs"
    first, second = (lambda scale=scale: next(runs.glob(f"*-{scale}/r0"), None) for scale in ("1x1", "2x1"))
    assert soon(lambda: (run := first()) and (run / "outcome.json").is_file(), 120)
    kept = contents(first())
    assert soon(lambda: (run := second()) and list(run.glob("samples.*.jsonl")))

    subprocess.run(hosts["ctl"].enter("scontrol", "requeue", job), env={**os.environ, **environment}, check=True)

    assert soon(lambda: job_ended(hosts, environment, job), 300)
    output = (runs / f"slurm-{job}.txt").read_text()
    assert contents(first()) == kept, output
    assert json.loads((second() / "outcome.json").read_text())["status"] == "completed", output
    journal = [json.loads(line) for line in (runs / "attempts.jsonl").read_text().splitlines()]
    started = Counter(each["run"] for each in journal if each.get("event") == "started")
    assert sorted(started.values()) == [1, 1, 2], journal  # and the base again, for the start that makes 2x1
    assert (tmp_path / "report" / "report.html").is_file(), output
    status = json.loads(output_of(evalsuite(hosts["ctl"], tmp_path, "status", "--json", **environment)))
    assert (status["runs"], status["done"], status["failed"]) == (2, 2, 0)


def test_a_host_that_is_cut_off_costs_one_run_and_another_takes_its_place(tmp_path):
    with namespaces.with_ssh("a", "b", "c") as (hosts, config):
        words = ("run", *TOYNET, "--scales", "2x1", *LONG, "--hosts", "a,b,c", "--runs", "runs")
        process = evalsuite(hosts["a"], tmp_path, *words, EVALSUITE_SSH=f"ssh -F {config}")
        runs = tmp_path / "runs"
        assert soon(lambda: len(list(runs.glob("*/r0/samples.*.jsonl"))) == 2)
        files = runs.glob("*/r0/samples.*.jsonl")
        victim = max(file.name.split(".")[1] for file in files)  # b, or c where b was found slow

        hosts[victim].cut_off()

        output = output_of(process, 240)
    (run,) = runs.glob("*/r0")
    assert json.loads((run / "outcome.json").read_text())["status"] == "completed", output
    assert {file.name for file in run.glob("log.*")} == {f"log.{name}.txt" for name in {*hosts} - {victim}}, output
    (failed,) = runs.glob("*/infrastructure-r0-1")
    reason = from_json(json.loads((failed / "outcome.json").read_text())["reason"])
    assert victim in reason, output
