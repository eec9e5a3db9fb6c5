"""What `sample` leaves behind is a run: of one node or many, whole or refused by name."""

import itertools
import json
from dataclasses import replace

import pytest

import evalsuite
from evalsuite.cli import main
from evalsuite.core.documents import Gpu, HostEnvironment
from evalsuite.core.errors import Exit
from evalsuite.core.model import Run
from evalsuite.machine.sensors import accelerators
from evalsuite.results.evaluation import evaluate
from evalsuite.results.measure.measurement import measurement
from evalsuite.runs import campaign_facts, sampled
from evalsuite.runs.store import RunFolder, Store
from tests import runfolders
from tests.bad_files import AGENT
from tests.runfolders import Host, Printed
from tests.toys import CASE
from tests.unit.gallery import test_starts as starts

FACTS = {"framework": "pytorch", "model": "resnet50_v1.5", "devices": "2", "batch": "8"}
SET = [word for name, value in FACTS.items() for word in ("--set", f"{name}={value}")]
RATED = "Epoch[0] Batch [{}]\tSpeed: {:.1f} samples/sec"


def out(path, hosts, nodes=2, **ended):
    """A folder that *hosts* recorded into as node 0, 1, …"""
    folder = RunFolder(path)
    path.mkdir(parents=True, exist_ok=True)
    for rank, (name, host) in enumerate(hosts.items()):
        folder.write_environment(replace(host.environment, host=name, node_rank=rank))
        for log in host.printed:
            runfolders.write_log(folder, name, log)
        if host.samples:
            folder.samples_path(name).write_text(host.samples)
        agent = replace(AGENT, nodes=nodes, command=("python", "train.py"), sha256=None, **ended)
        folder.write_agent(name, agent)
    return folder


SILENT = Host(printed=(Printed(lines=(), arrivals_s=()),))
TWO = {"n0": Host(), "n1": SILENT}


@pytest.mark.parametrize(("lack", "said"), [(None, ("pass", "by_samples")), ("n7", ("undetermined", "missing"))])
def test_twenty_nodes_that_were_started_elsewhere_pass_by_the_samples_of_each_and_not_without_one(tmp_path, lack, said):
    for number, (case, share) in itertools.product(range(5), ((starts.ONE, 1.0), (starts.TWENTY, 0.86))):
        log = runfolders.steps(starts.STEPS, starts.STEP_S / share * (1 + number / 500))
        read = starts.samples(log.arrivals_s[-1] + 2, 88.0, case.devices_per_node)
        first = Host(printed=(log,), samples=read, environment=starts.HOST)
        hosts = {f"n{rank}": replace(first, printed=() if rank else (log,)) for rank in range(case.nodes)}
        hosts |= {lack: replace(first, printed=(), samples=None)} if lack in hosts else {}
        ended = {
            "group_cpu_s": 2_000.0,
            "duration_s": log.arrivals_s[-1] + 2,
            "started_at": f"2026-11-20T1{number}:{case.nodes:02d}:00+08:00",
        }
        folder = out(tmp_path / "out" / f"{case.scale}-{number}", hosts, nodes=case.nodes, **ended)
        about = {"devices": str(case.total_devices), "precision": "fp32", "campaign": "autumn"}
        campaign_facts.write_once(folder.path, FACTS | about)
    assert main(["import", str(tmp_path / "out"), "--runs", str(tmp_path / "runs")]) == Exit.DONE

    verdicts = evaluate(Store(tmp_path / "runs")).verdicts
    assert ({each.outcome for each in verdicts}, verdicts[0].notes[0]) == ({said[0]}, said[1])


def brought(tmp_path, capsys, *words):
    code = main(["import", str(tmp_path / "out"), "--runs", str(tmp_path / "runs"), "--json", *words])
    (answer,) = json.loads(capsys.readouterr().out)
    return code, answer


def test_two_nodes_are_one_run_with_their_clock_places_and_command(tmp_path, capsys):
    out(tmp_path / "out", TWO)

    code, answer = brought(tmp_path, capsys, *SET)

    (folder,) = Store(tmp_path / "runs").finished()
    run = measurement(folder)
    assert (code, answer["status"]) == (Exit.DONE, "ok"), answer
    assert (run.run.case.scale, run.hosts, run.origin) == ("2x1", ("n0", "n1"), "imported")
    assert run.throughput.clock_items_per_s == pytest.approx(2 * 8 / 0.5)
    assert folder.command().command == ("python", "train.py") and folder.outcome().started_at == AGENT.started_at
    assert {"agent.n1.json", "arrivals.n0.csv", "environment.n1.json"} <= set(runfolders.contents(folder.path))
    assert "printed_only" not in {finding.code for finding in run.findings}

    assert brought(tmp_path, capsys, *SET)[1]["status"] == "already there"


def test_a_rate_that_the_arrivals_refute_is_doubtful_in_import_and_parse(tmp_path, capsys):
    lines = [RATED.format(step, 1000.0) for step in range(1, 131)]
    printed = Printed(lines=lines, arrivals_s=[step / 10 for step in range(1, 131)])
    folder = out(tmp_path / "out", {"n0": Host(printed=(printed,))}, nodes=1)

    (answer,) = [brought(tmp_path, capsys, "--set", "model=toy", "--set", "devices=1", "--set", "batch=8")[1]]
    read = []
    for path in (folder.path, folder.log_path("n0")):
        main(["parse", str(path), "--lang", "en"])
        assert "let that clock confirm the printed figure" in capsys.readouterr().out
        main(["parse", str(path), "--devices", "1", "--batch-per-device", "8", "--json"])
        read += json.loads(capsys.readouterr().out)

    assert [each["status"] for each in (answer, *read)] == ["doubtful"] * 3
    # what is given beside a log never costs it its number: the log is read by itself then
    assert [(each["throughput"], each["certainty"]) for each in read] == [(1000.0, "printed only")] * 2
    assert all("given beside the log" in each["reason"] for each in read)


LAUNCHED = "--runs"
HARMS = {  # what is said → what is done to the folder
    "agent.n1.json: missing": lambda folder: (folder.path / "agent.n1.json").unlink(),
    "environment.n1.json: missing": lambda folder: (folder.path / "environment.n1.json").unlink(),
    "schema": lambda folder: (file := folder.path / "agent.n1.json").write_text(
        file.read_text().replace('"schema": 1', '"schema": 7')
    ),
    "n0, n1 both have rank 0": lambda folder: folder.write_environment(HostEnvironment(host="n1", node_rank=0)),
    "n0, n1 both have rank 3": lambda folder: [folder.log_path(host, 3).write_text("") for host in ("n0", "n1")],
    "the job had 3 nodes": lambda folder: folder.write_agent("n0", replace(AGENT, nodes=3, sha256=None)),
    "log.n0.txt: changed": lambda folder: folder.write_agent("n0", replace(AGENT, nodes=2)),
    "campaign.json": lambda folder: (folder.path / campaign_facts.NAME).write_text("{"),
    LAUNCHED: lambda folder: folder.write_case(Run(case=CASE, repeat=0)),
}


@pytest.mark.parametrize("says", HARMS)
def test_what_is_no_whole_run_is_refused_by_name(says, tmp_path, capsys):
    HARMS[says](out(tmp_path / "out", TWO))

    code, answer = brought(tmp_path, capsys, *SET)

    assert (code, answer["status"], answer["run"]) == (Exit.USAGE, "skipped", None)
    assert says in answer["reason"]
    if says != LAUNCHED:
        main(["parse", str(tmp_path / "out"), "--json"])
        (row,) = json.loads(capsys.readouterr().out)
        assert row["status"] == evalsuite.read(tmp_path / "out").status == "doubtful" and says in row["reason"]


def test_who_states_another_number_of_nodes_is_contradicted(tmp_path, capsys):
    out(tmp_path / "out", TWO)

    _, answer = brought(tmp_path, capsys, *SET, "--set", "nodes=4")

    assert answer["status"] == "skipped" and "4" in answer["reason"] and "recorded" in answer["reason"]


@pytest.mark.parametrize(
    ("ended", "status"), [({"exit_code": 1}, "failed"), ({"exit_code": 124, "timed_out": True}, "timed_out")]
)
def test_a_run_that_did_not_end_well_is_kept_as_that(ended, status, tmp_path, capsys):
    out(tmp_path / "out", TWO, **ended)

    brought(tmp_path, capsys, *SET)

    (folder,) = Store(tmp_path / "runs").finished()
    assert (folder.outcome().status, measurement(folder).value) == (status, None)


GPU = Gpu(index=0, kind="gpu", name="A100")


@pytest.mark.parametrize(
    ("gpus", "utilised", "device"), [((), 0.0, "cpu"), ((GPU,), 90.0, "gpu"), ((GPU,), 0.0, None), (None, 0.0, None)]
)
def test_the_device_is_what_the_samples_saw_working(gpus, utilised, device, tmp_path):
    host = replace(Host(), environment=HostEnvironment(host="n0", gpus=gpus))
    folder = out(tmp_path / "out", {"n0": host}, nodes=1)
    reading = {"at_s": 1.0, "gpus": [{"index": 0, "utilisation_percent": utilised}] if gpus else []}
    folder.samples_path("n0").write_text(f'{{"header": true, "hz": 2.0}}\n{json.dumps(reading)}\n')

    assert sampled.device(folder) == device


def test_the_case_is_written_beside_and_needs_no_words_at_the_import(tmp_path, capsys, monkeypatch):
    case = tmp_path / "case.toml"
    case.write_text("".join(f'{name} = "{value}"\n' for name, value in FACTS.items()))
    out(tmp_path / "out", TWO)
    campaign_facts.write_once(tmp_path / "out", FACTS)

    assert brought(tmp_path, capsys)[1]["status"] == "ok"
    main(["parse", str(tmp_path / "out"), "--json"])
    assert json.loads(capsys.readouterr().out)[0]["throughput"] == pytest.approx(2 * 8 / 0.5)
    case.write_text('modle = "x"\n')
    assert main(["sample", "-o", str(tmp_path / "o"), "--share", "--case", str(case), "--", "true"]) == Exit.USAGE
    assert ('"modle"' in capsys.readouterr().err, (tmp_path / "o").exists()) == (True, False)
    monkeypatch.setattr(accelerators, "VENDORS", ())
    assert main(["sample", "-o", str(case), "--device", "gpu", "--", "true"]) == Exit.USAGE
    assert "--device gpu: none is seen here" in capsys.readouterr().err
