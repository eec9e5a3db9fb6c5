"""Workloads that differ in one thing are told apart by their answers, and the thing is named."""

import json
import sys
from dataclasses import replace

import numpy
import pytest

from evalsuite import cli
from evalsuite.contracts.registry import discover
from evalsuite.core import files, paths
from evalsuite.core.errors import EvalsuiteError, Exit
from evalsuite.core.workload import EquivalenceReceipt, TrainedSetting, WorkloadAnswer
from evalsuite.launch.provision import virtualenvs
from evalsuite.results.compare.equivalence import pair, pairs
from evalsuite.runs.equivalence import FOLDER, hashes, own, receipt
from tests import sources

CHANCE = numpy.random.default_rng(5)
SIGNAL, KERNEL, TARGET = CHANCE.standard_normal(8), CHANCE.standard_normal(3), CHANCE.standard_normal(4)
OWN, PROBE, UNDECAYED = (1e-3, 1e-4), (1e-2, 5e-2), (1e-3, 0.0)


def trained(
    rate,
    decay,
    *,
    padding=(1, 1),
    decoupled=False,
    momentum=0.9,
    gain=1.0,
    optimiser="sgd",
    dtype="float64",
    name="own",
) -> TrainedSetting:
    """Three steps of a convolution of stride 2, written out: what a workload does, small enough to be read."""
    signal = numpy.pad(SIGNAL, padding).astype(dtype)
    windows = numpy.stack([signal[at : at + 3] for at in range(0, 8, 2)])
    kernel, speed, square = KERNEL.astype(dtype), numpy.zeros(3, dtype), numpy.zeros(3, dtype)
    losses, norms = [], {}
    for step in (1, 2, 3):
        error = windows @ kernel - TARGET.astype(dtype)
        losses.append(float((error**2).mean()))
        gradient = gain * 2 * windows.T @ error / len(error)
        norms = norms or {"conv.weight": float(numpy.linalg.norm(gradient))}
        pulled = gradient if decoupled else gradient + decay * kernel
        shrunk = rate * decay * kernel if decoupled else 0.0
        if optimiser == "adam":
            speed, square = 0.9 * speed + 0.1 * pulled, 0.999 * square + 0.001 * pulled**2
            moved = (speed / (1 - 0.9**step)) / (numpy.sqrt(square / (1 - 0.999**step)) + 1e-6)
        else:
            moved = speed = momentum * speed + pulled
        kernel = kernel - shrunk - rate * moved
    rates = {"learning_rate": rate, "weight_decay": decay}
    return TrainedSetting(name=name, dtype=dtype, losses=tuple(losses), gradient_norms=norms, **rates)


def answer(framework: str = "toynet", only32: bool = False, **how) -> WorkloadAnswer:
    """What a framework says that trains as *how* says."""
    doubles = [("own", OWN), ("probe", PROBE), ("undecayed", UNDECAYED)]
    singles = trained(*OWN, dtype="float32", name="float32", **how)
    return WorkloadAnswer(
        **{"framework": framework, "version": "1.0", "model": "resnet50_v1.5", "script": "toynet_resnet50.py"},
        settings=(*(() if only32 else (trained(*rates, name=name, **how) for name, rates in doubles)), singles),
        parameters={"conv.weight": "3"},
        **{"timed": ("forward", "loss", "backward", "optimiser", "loss_to_host"), "modes": {"layout": "NCHW"}},
    )


def causes(other: WorkloadAnswer, ours: WorkloadAnswer | None = None) -> list[str]:
    return [difference.cause for difference in pair(ours or answer(), other).differences]


def test_the_same_computation_is_proven_and_the_numbers_of_the_proof_are_kept():
    change = pair(answer(), answer("other"))

    assert (change.verdict, change.losses, change.gradient_norm) == ("proven", (0.0, 0.0, 0.0), 0.0)


@pytest.mark.parametrize(("how", "ours", "cause"), sources.table("equivalence.toml")["causes"])
def test_what_differs_is_named_and_what_follows_from_it_is_not(how, ours, cause):
    assert causes(answer("other", **how), answer(**ours)) == [cause]


@pytest.mark.parametrize(("changes", "cause"), sources.cases("equivalence.toml")["built"])
def test_what_is_built_and_what_is_timed_must_be_the_same(changes, cause):
    assert causes(replace(answer("other"), **changes)) == list(cause)


def test_a_framework_without_float64_gets_a_limited_proof_that_sees_another_backward_pass_and_no_rounding():
    change = pair(answer(), answer("other", only32=True))

    assert (change.verdict, change.losses, change.float32) == ("limited", (), 0.0)
    assert causes(answer("other", only32=True, gain=1.02)) == []
    assert causes(answer("other", only32=True, gain=1.1)) == ["backward"]


def test_a_gradient_that_is_nothing_but_rounding_is_no_difference():
    def rounded(each: float) -> WorkloadAnswer:
        settings = [replace(one, gradient_norms={**one.gradient_norms, "key.bias": each}) for one in answer().settings]
        return replace(answer("other"), settings=tuple(settings))

    assert causes(rounded(1e-17), rounded(3e-16)) == []
    assert causes(rounded(1e-2), rounded(3e-2)) == ["backward"]


# the files of a workload


def test_a_workload_is_its_script_and_all_that_it_imports_beside_it_or_alone_where_python_cannot_read_it(tmp_path):
    (tmp_path / "train.py").write_text("import loop\nimport json\nimport torch\n")
    (tmp_path / "loop.py").write_text("from common import place\nimport train\n")
    (tmp_path / "common.py").write_text("place = 1\n")
    (tmp_path / "json_reader.py").write_text("")
    (tmp_path / "old.py").write_text("print 'Python 2'\nimport loop\n")

    before = hashes(tmp_path / "train.py")
    (tmp_path / "common.py").write_text("place = 2\n")

    assert sorted(before) == ["common.py", "loop.py", "train.py"]
    assert [name for name, one in hashes(tmp_path / "train.py").items() if one != before[name]] == ["common.py"]
    assert list(hashes(tmp_path / "old.py")) == ["old.py"]


def test_a_receipt_is_read_as_it_was_written(tmp_path):
    receipt = EquivalenceReceipt(model="m", day="2026-11-22", evalsuite="0.1.0", answers=(answer(), answer("other")))

    files.write_json(file := tmp_path / f"{receipt.model}.json", receipt.to_json())

    assert EquivalenceReceipt.from_json(json.loads(file.read_text()), file) == receipt


def test_every_program_that_a_recipe_names_is_there():
    named = {recipe.equivalence for adapter in discover().values() for recipe in adapter.recipes if recipe.equivalence}

    assert {name for name in named if not (paths.ADAPTERS / "workloads" / name).is_file()} == set()


def test_the_receipts_of_the_house_are_about_the_workloads_as_they_are():
    """Else every report says "not proven for this script": `make equivalence` proves them again."""
    known = [(receipt.model, answer) for receipt in own((FOLDER,)) for answer in receipt.answers]
    workloads = paths.ADAPTERS / "workloads"

    assert [(model, one.framework) for model, one in known if one.files != hashes(workloads / one.script)] == []


def test_every_pair_in_the_receipts_of_the_house_is_proven_but_mindspores_which_takes_no_float64():
    for each in (each for known in own((FOLDER,)) for each in pairs(known.answers)):
        assert each.verdict == ("limited" if "mindspore" in (each.first, each.second) else "proven"), each
    as_well = {name: receipt("llama_tiny").answer(name).modes["as_well"] for name in ("pytorch", "jax")}
    both = [f"{way}: " in text for text in as_well.values() for way in ("recompute", "accumulation 2", "DDP 2")]
    assert all(both) and "FSDP 2: " in as_well["pytorch"]


# the command


PROGRAM = sources.text("equivalence_program.py.in")
TOY = sources.text("equivalence_toy.py.in")


@pytest.fixture
def toys(tmp_path, monkeypatch):
    """Adds a framework that answers as given; returns the words of the command."""
    monkeypatch.setattr(virtualenvs, "ensure", lambda recipe, **_: sys.executable)
    (tmp_path / "workloads").mkdir()
    (tmp_path / "workloads" / "toynet_resnet50.py").write_text("")

    def add(name: str, last: str = "", **how) -> list[str]:
        (tmp_path / f"{name}.py").write_text(TOY.format(name=name))
        said = json.dumps(answer(name, **how).to_json())
        program = PROGRAM.format(said=said, last=last)
        (tmp_path / "workloads" / f"{name}_equivalence.py").write_text(program)
        return ["equivalence", "--models", "toy", "--adapters", str(tmp_path)]

    return add


@pytest.mark.parametrize(("how", "code", "said"), sources.cases("equivalence.toml")["pairs_printed_their"])
def test_pairs_are_printed_with_their_difference_and_a_receipt_holds_hashes(how, code, said, toys, tmp_path, capsys):
    toys("anet")
    words = toys("bnet", **how)

    assert cli.main([*words, "--lang", "en", "--receipts", str(tmp_path / "receipts")]) == code

    printed = capsys.readouterr()
    assert said in printed.out or said in " ".join(printed.out.split())
    assert "[2/2] toy: bnet answered in" in printed.err
    receipt = json.loads((tmp_path / "receipts" / "toy.json").read_text())
    assert [list(answer["files"]) for answer in receipt["answers"]] == [["toynet_resnet50.py"]] * 2


def test_one_that_fails_is_not_run_and_stops_no_other(toys, capsys):
    toys("anet")
    toys("bnet", last="sys.exit('no such operator')")
    words = toys("cnet")

    assert cli.main([*words, "--json"]) == Exit.SOME_FAILED

    found = json.loads(capsys.readouterr().out)["models"][0]
    assert [(pair["first"], pair["second"], pair["verdict"]) for pair in found["pairs"]] == [("anet", "cnet", "proven")]
    assert "no such operator" in found["not_run"][0]["reason"]


def test_where_none_answers_nothing_was_measured(toys, tmp_path, capsys):
    toys("anet", last="sys.exit(7)")
    words = toys("bnet", last="sys.exit(7)")

    assert cli.main([*words, "--receipts", str(tmp_path / "receipts")]) == Exit.NOTHING_MEASURED

    assert not (tmp_path / "receipts").exists()
    assert "anet: not run: anet_equivalence.py ended with 7" in capsys.readouterr().out


@pytest.mark.parametrize("change", sources.table("equivalence.toml")["no_answers"])
def test_what_cannot_be_compared_is_no_answer(toys, capsys, change):
    toys("anet")
    words = toys("bnet", last=change)

    assert cli.main(words) == Exit.NOTHING_MEASURED
    assert "bnet: not run" in capsys.readouterr().out


def test_the_receipts_of_a_lab_are_read_and_one_without_a_loss_or_none_is_refused(tmp_path, capsys):
    house = receipt("bert_tiny")
    assert cli.main(["report", "--runs", str(tmp_path), "--receipts", str(tmp_path)]) == 2
    assert "no receipt" in capsys.readouterr().err
    files.write_json(tmp_path / f"{house.model}.json", house.to_json())

    assert own([tmp_path / "none", tmp_path]) == (house,)
    emptied = replace(house, answers=tuple(replace(answer, settings=()) for answer in house.answers))
    files.write_json(tmp_path / f"{emptied.model}.json", emptied.to_json())
    with pytest.raises(EvalsuiteError, match=r"bert_tiny.json: .*answers: that of \w+ has no loss; expected"):
        own([tmp_path])
