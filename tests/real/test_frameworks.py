"""Four frameworks really train, by day in one evaluation; at night by every recipe, each alone. Its virtual environment
is made on first use, which takes minutes where nothing is cached."""

import functools
import json
import math
import os
import re
import subprocess

import pytest

from evalsuite import cli
from evalsuite.contracts import registry
from evalsuite.core.errors import Exit
from evalsuite.core.model import Case, Protocol
from evalsuite.launch.provision import virtualenvs
from evalsuite.plan import engines
from evalsuite.plan.commandline import command_line
from tests import sources

STEPS = 4
TIMEOUT_S = 300
STEP_LINES = sources.table("frameworks.toml")["step_lines"]
PRINTED_BY_EVERY_PROCESS = ("tensorflow", "mxnet")


def trained(framework: str, folder, name: str = "reference-resnet50", **changes) -> list[str]:
    """The logs of one real run under the node agent, one text per log file."""
    recipe = registry.discover()[framework].recipe(name)
    facts = {
        "framework": framework,
        "recipe": recipe.name,
        "model": recipe.model,
        "batch_per_device": 4,
        "protocol": Protocol(warmup_steps=1, measured_steps=STEPS - 1),
        "options": (("image_size", "32"),),
    }
    case = Case(**{**facts, **changes})
    python = virtualenvs.ensure(recipe, progress=print)
    line = command_line(
        recipe, case, python=python, folder=folder, engine=engines.engine("local"), timeout_s=float(TIMEOUT_S)
    )
    environment = {**os.environ, **line.environment}
    ended = subprocess.run(
        line.engine, env=environment, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT_S + 60
    )
    logs = [file.read_text() for file in sorted(folder.glob("log.*.txt"))]
    assert ended.returncode == 0, ended.stderr + "\n".join(logs)[-3000:]
    return logs


def test_four_frameworks_train_on_two_processes_and_stand_on_one_page(tmp_path):
    matrix = ["--frameworks", ",".join(sorted(STEP_LINES)), "--scales", "1x2", "--batch-sizes", "4", "--repeats", "1"]
    small = ["--steps", "1+20", "--option", "image_size=32", "--device", "cpu", "--quiet-rounds", "0"]
    places = ["--runs", str(tmp_path / "runs"), "--out", str(tmp_path / "report")]

    code = cli.main(["compare", *matrix, *small, *places])

    said = json.loads((tmp_path / "report" / "summary.json").read_text())
    logs = [file.read_text() for file in (tmp_path / "runs").rglob("log.*.txt")]
    assert code == Exit.DONE
    assert len(said["summaries"]) == len(STEP_LINES)
    assert sum("processes=2 global_batch=8 image_size=32" in text for text in logs) >= len(STEP_LINES)


@pytest.mark.parametrize("frameworks", ["mxnet,pytorch", ",".join(sorted(STEP_LINES))])
def test_frameworks_train_one_bert_from_one_start(frameworks, capsys):
    code = cli.main(["equivalence", "--models", "bert_tiny", "--frameworks", frameworks, "--json"])

    (model,) = json.loads(capsys.readouterr().out)["models"]
    assert code == Exit.DONE, model["not_run"]
    assert ",".join(answer["framework"] for answer in model["answers"]) == frameworks
    assert {pair["verdict"] for pair in model["pairs"]} == {"proven"}
    assert all(0 < pair["gradient_norm"] < 1e-6 for pair in model["pairs"])  # different code, and yet the same


# two processes in fp32, one in AMP; on one in fp32 the proofs of equivalence train
WAYS = [(name, processes, how) for name in STEP_LINES for processes, how in ((2, "fp32"), (1, "amp"))]
WAYS.remove(("paddlepaddle", 1, "amp"))  # it has none on a CPU


@pytest.mark.parametrize(("framework", "processes", "precision"), [*WAYS, ("paddlepaddle", 1, "fp32")])
def test_a_framework_trains_the_reference_model_and_prints_every_step(framework, processes, precision, tmp_path):
    logs = trained(framework, tmp_path, devices_per_node=processes, precision=precision)

    text = "".join(logs)
    reports = re.findall(STEP_LINES[framework], text)
    assert len(reports) == STEPS * (processes if framework in PRINTED_BY_EVERY_PROCESS else 1)
    assert f"processes={processes} global_batch={4 * processes} image_size=32" in text
    assert text.count("trainable_parameters=25557032 stride_on=3x3") == 1
    assert all(math.isfinite(float(number)) for report in reports for number in report)
    assert ("precision=amp amp_kind=bfloat16" in logs[0]) == (precision == "amp")


ON_ONE_DEVICE = sources.table("frameworks.toml")["on_one_device"]


@pytest.mark.parametrize("framework", ON_ONE_DEVICE)
def test_a_framework_trains_the_reference_model_on_one_device(framework, tmp_path):
    (log,) = trained(framework, tmp_path)

    steps = re.findall(ON_ONE_DEVICE[framework], log)
    assert [number for number, _ in steps] == ["1", "2", "3", "4"]
    assert "trainable_parameters=25557032 stride_on=3x3" in log
    assert float(steps[-1][1]) < float(steps[0][1])


def test_the_static_graph_of_oneflow_trains_what_it_trains_eagerly(tmp_path):
    (tmp_path / "eager").mkdir()
    (tmp_path / "graph").mkdir()
    (eager,), (graph,) = trained("oneflow", tmp_path / "eager"), trained("oneflow", tmp_path / "graph", xla=True)

    losses = [re.findall(ON_ONE_DEVICE["oneflow"], log) for log in (eager, graph)]
    assert len(losses[0]) == 4
    assert [float(loss) for _, loss in losses[1]] == pytest.approx([float(loss) for _, loss in losses[0]], rel=1e-3)


SEQUENCES_PER_S = sources.table("frameworks.toml")["sequences_per_s"]


@pytest.mark.parametrize("framework", sorted(SEQUENCES_PER_S))
def test_a_framework_trains_the_small_bert_on_two_processes(framework, tmp_path):
    options = (("sequence_length", "64"),)

    logs = trained(framework, tmp_path, "reference-bert-tiny", devices_per_node=2, options=options)

    text = "".join(logs)
    reports = re.findall(SEQUENCES_PER_S[framework], text)
    assert len(reports) == STEPS * (2 if framework in PRINTED_BY_EVERY_PROCESS else 1)
    assert all(float(report) > 0 for report in reports)
    assert "processes=2 global_batch=8 sequence_length=64 predictions_per_sequence=10" in text
    assert text.count("trainable_parameters=4433468 ") == 1


def test_a_step_of_wide_and_deep_is_a_line_of_samples(tmp_path):
    (log,) = trained("paddlepaddle", tmp_path, "reference-wide-deep-tiny", options=())

    reports = re.findall(STEP_LINES["paddlepaddle"], log)
    assert [int(step) for step, _, _ in reports] == [0, 1, 2, 3]
    assert "wide_fields=2 deep_fields=26 numbers=13" in log
    assert log.count("trainable_parameters=4145985 ") == 1


@pytest.fixture(scope="module")
def small_images(tmp_path_factory):
    """The log of two processes on small images, which each framework trains once."""

    @functools.cache
    def text(framework, more=""):
        recipe = f"reference-mobilenetv2-cifar10{more}"
        return "".join(trained(framework, tmp_path_factory.mktemp(framework), recipe, devices_per_node=2))

    return text


@pytest.mark.parametrize("framework", sorted(STEP_LINES))
def test_the_parts_of_a_step_on_small_images_fill_the_step(framework, small_images):
    steps = re.findall(r"reference workload: step=\d+ (data_s=.*) step_s=([\d.]+)", small_images(framework))
    assert len(steps) == STEPS
    for parts, whole_s in steps:
        seconds = dict(part.split("=") for part in parts.split())
        assert list(seconds) == ["data_s", "forward_backward_s", "allreduce_s", "optimiser_s"]
        assert sum(map(float, seconds.values())) == pytest.approx(float(whole_s), abs=1e-5)


def test_gradients_summed_on_the_host_train_alike_and_their_copy_lies_inside_the_all_reduce(small_images):
    device, host = (small_images("pytorch", how) for how in ("", "-host-reduce"))

    losses = [re.findall(r"Loss ([\d.e+-]+)", log) for log in (device, host)]
    seconds = re.findall(r"allreduce_s=([\d.]+) tensor_copy_s=([\d.]+) optimiser_s", host)
    assert losses[0] == losses[1] and len(losses[0]) == len(seconds) == STEPS
    assert all(0 < float(copied) < float(whole) for whole, copied in seconds)
