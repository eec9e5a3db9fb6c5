"""Ways to mistake the machine that runs were made on: what was said of it, and what C1 makes of it."""

import json
from dataclasses import replace

import pytest

from evalsuite.cli import main
from evalsuite.core.documents import Gpu, HostEnvironment
from evalsuite.core.model import Summary
from evalsuite.results.compare import fairness
from evalsuite.results.compare.scaling import with_scaling
from evalsuite.results.evaluation import evaluate
from evalsuite.results.judge import criteria
from evalsuite.results.judge.verdicts import verdicts
from evalsuite.results.measure import facts, machines
from evalsuite.results.measure.summary import summaries
from evalsuite.runs.store import Store
from tests import sources
from tests.toys import CASE, COMMAND, measured

LINE = "2026-11-20 {hour:02d}:{minutes:02d}:{left:06.3f} "
LINE += "Epoch: [0][{step:3d}/200]\tTime  {seconds:.4f} ( 0.600)\tData  0.002 ( 0.001)\tLoss 6.7e+00\n"
WHAT = ["--set", "framework=pytorch", "--set", "model=resnet50_v1.5", "--set", "batch=64", "--set", "precision=fp32"]
PATTERN = ["--pattern", "{machine}/{nodes}n{gpus}g/{any}.log"]
ONE, TWENTY = (1, 1), (20, 8)
HOST = HostEnvironment(host="a", cpu_model="EPYC", gpus=(Gpu(name="A100"),) * 8, driver="550.54.15")


def line(step, took, hour):
    minutes, left = divmod(step * took, 60)
    return LINE.format(hour=hour, minutes=int(minutes), left=left, step=step, seconds=took)


def logs(folder, machine="dgx-a", **seconds_of):
    """Five logs of each scale, by the seconds that a step takes: `s1x1=0.5`."""
    for scale, seconds in seconds_of.items():
        nodes, devices = scale[1:].split("x")
        for repeat in range(5):
            file = folder / machine / f"{nodes}n{devices}g" / f"{repeat}.log"
            file.parent.mkdir(parents=True, exist_ok=True)
            took = seconds * (1 + 0.002 * (repeat - 2))
            file.write_text("".join(line(step, took, 10 + repeat + 6 * (nodes == "1")) for step in range(1, 131)))
    return folder


@pytest.fixture
def bring(tmp_path, capsys):
    def brought(*arguments):
        code = main(["import", *map(str, arguments), *WHAT, "--runs", str(tmp_path / "runs"), "--json"])
        said = capsys.readouterr()
        return code, json.loads(said.out) if said.out else [], said.err

    brought.store = Store(tmp_path / "runs")
    return brought


def c1(store):
    verdict = next(each for each in verdicts(evaluate(store).summaries, criteria.read()) if each.criterion == "C1")
    return verdict.outcome, " ".join((verdict.reason, *verdict.notes[:1]))


MACHINE, CAMPAIGN = ("--set", "machine=dgx-a"), ("--set", "campaign=tuesday")


@pytest.mark.parametrize(("seconds", "said", "outcome", "reason"), sources.cases("machines.toml")["imported_runs_fail"])
def test_imported_runs_fail_c1_and_pass_it_on_the_users_word(bring, tmp_path, seconds, said, outcome, reason):
    bring(logs(tmp_path, s1x1=0.5, s20x8=seconds) / "dgx-a", "--pattern", "{nodes}n{gpus}g/{any}.log", *said)

    assert c1(bring.store) == (outcome, reason)


def test_a_base_of_one_machine_and_a_scale_of_another_decide_nothing(bring, tmp_path):
    logs(tmp_path / "logs", "dgx-a", s1x1=0.5)
    logs(tmp_path / "logs", "dgx-b", s20x8=0.55)
    bring(tmp_path / "logs", *PATTERN, "--set", "campaign=tuesday")

    assert c1(bring.store) == ("undetermined", "not_comparable unlike")


@pytest.mark.parametrize(("name", "told"), [("other", '"other", and the path says "dgx-a"')])
def test_a_machine_said_twice_and_differently_or_without_a_name_is_refused(bring, tmp_path, name, told):
    code, answers, said = bring(logs(tmp_path / "logs", s1x1=0.5), *PATTERN, "--set", f"machine={name}")

    assert code == 2
    assert told in said + "".join(answer["reason"] for answer in answers)


def test_a_table_whose_column_and_option_name_two_machines_or_campaigns_is_not_read(bring, tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("nodes,gpus_per_node,throughput,unit,machine,campaign\n1,1,100,images/s,dgx-a,monday\n")

    for option, other in (("--set", "machine=dgx-b"), ("--set", "campaign=friday")):
        _, answers, _ = bring(table, option, other)
        assert f'--set says "{other.partition("=")[2]}", and the table says' in answers[0]["reason"]
    assert bring(table, "--set", "machine=dgx-a")[0] == 0


def test_the_name_of_a_machine_is_no_device(bring, tmp_path):
    bring(logs(tmp_path, s1x1=0.5) / "dgx-a", "--set", "devices=1", "--set", "machine=V100 cluster")

    (summary,) = evaluate(bring.store).summaries
    assert isinstance(summary, Summary)
    known = facts.of_runs(summary.measurements)
    assert "device_model" not in known
    assert (known["machine"][0].value, known["machine"][0].source) == ("V100 cluster", "stated")


# the driver


def machine(*drivers):
    return machines.of_run({str(place): replace(HOST, driver=driver) for place, driver in enumerate(drivers)}, COMMAND)


@pytest.mark.parametrize(("drivers", "others", "alike"), sources.cases("machines.toml")["drivers"])
def test_fairness_and_c1_agree_on_what_is_another_machine(drivers, others, alike):
    ours, theirs = machine(*drivers), machine(*others)
    of = [measured(CASE, r, 100.0 + r / 10, environment=ours) for r in range(5)]
    scale = CASE.at_scale(20, 8)
    of += [measured(scale, r, 14_000.0 + r, environment=theirs) for r in range(5)]
    rows = summaries(of)
    one, other = rows

    verdict = next(each for each in verdicts(with_scaling(rows), criteria.read()) if each.criterion == "C1")
    assert (not fairness.obstacles(one, other, fairness.SCALES)) is alike
    assert (verdict.outcome == "pass") is alike
