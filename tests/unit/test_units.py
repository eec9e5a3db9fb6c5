"""What a log prints, named by what its model is made of; sequences in tokens where their length is on record."""

import json
from dataclasses import replace

import pytest
import synthetic

from evalsuite.cli import main
from evalsuite.core.findings import ClaimDenied, CountedInTokens, ItemsApart
from evalsuite.core.model import Fact
from evalsuite.logs.formatting import unit_of
from evalsuite.results.measure import flops, measurement, units
from evalsuite.results.rules import work_done
from evalsuite.runs.store import Store
from tests import runfolders
from tests.toys import CASE


def counted_in(unit, items_per_s, length=None, **changes):
    run = synthetic.measured(synthetic.case(options=(), **changes), 0, items_per_s)
    facts = [Fact(key="input_size", value=length, source="recipe")] if length else []
    return replace(run, throughput=replace(run.throughput, unit=unit), facts=tuple(facts))


@pytest.mark.parametrize(
    ("length", "model", "value", "unit"),
    [("128", "bert", 1280.0, "tokens/s"), (None, "bert", 10.0, "sequences/s"), ("128", "gpt2", 10.0, "sequences/s")],
)
def test_sequences_beside_tokens_are_counted_in_tokens_where_their_length_is_known(length, model, value, unit):
    tokens = counted_in("tokens/s", 1000.0, model="bert")
    sequences = counted_in("sequences/s", 10.0, length, model=model)

    same, summary = units.in_one_unit([tokens, sequences])

    assert same == tokens
    assert (summary.value, summary.throughput.unit) == (pytest.approx(value), unit)
    counted = summary.throughput.counted
    assert sum(counted.items) / sum(counted.seconds) == pytest.approx(value)
    assert any(isinstance(said, CountedInTokens) for said in summary.findings) == (unit == "tokens/s")


@pytest.mark.parametrize(("length", "method"), [("128", "arrival times"), (None, "harmonic mean of rates")])
def test_tokens_are_timed_by_our_clock_where_the_sequence_has_a_known_length(length, method, tmp_path):
    case = replace(CASE, options=(("sequence_length", length),) if length else ())
    recipe = replace(runfolders.COMMAND.recipe, unit="tokens/s", dialect="torchtune")
    lines = [f"Step {step} | loss:1.58 lr:2e-05 tokens_per_second_per_gpu:8200.0" for step in range(1, 121)]
    host = runfolders.Host(printed=(runfolders.steps(seconds=0.5, lines=lines),))

    measured = measurement.measurement(runfolders.finished(tmp_path, host, case, recipe=recipe))

    assert measured.throughput.method == method
    assert measured.value == pytest.approx(32 * 128 / 0.5 if length else 8200.0)


def test_a_recipe_that_names_tokens_has_a_log_of_sequences_counted_in_them(tmp_path):
    case = replace(CASE, options=(("sequence_length", "128"),))
    recipe = replace(runfolders.COMMAND.recipe, unit="tokens/s", dialect="litgpt")
    lines = [
        f"Epoch 1 | iter {n} step {n} | loss train: 1.6, val: n/a | iter time: 500.00 ms (step)" for n in range(1, 121)
    ]
    host = runfolders.Host(printed=(runfolders.steps(seconds=0.5, lines=lines),))

    rate = measurement.measurement(runfolders.finished(tmp_path, host, case, recipe=recipe)).throughput

    assert (rate.unit, rate.items_per_s) == ("tokens/s", pytest.approx(32 * 128 / 0.5))
    assert sum(rate.counted.items) / sum(rate.counted.seconds) == pytest.approx(rate.items_per_s)


@pytest.mark.parametrize(
    ("printed", "grounds"), [(8192, "clock"), (6000, "clock"), (64, "disputed"), (668886, "disputed")]
)
def test_a_counter_of_tokens_counts_tokens_and_a_rate_printed_beside_it_is_asked(printed, grounds, tmp_path):
    case = replace(CASE, model="llama3_8b", options=(("sequence_length", "128"),))
    recipe = replace(runfolders.COMMAND.recipe, unit="tokens/s", dialect="hf_trainer_seconds")
    lines = [
        f"{{'loss': '{7 - step / 100}', 'num_input_tokens_seen': {step * 4096}, 'train_runtime': '{step / 2}', "
        f"'train_tokens_per_second': '{printed}'}} {step}%|#| {step}/120 [00:05<00:38,  1.91s/it]"
        for step in range(1, 121)
    ]
    host = runfolders.Host(printed=(runfolders.steps(seconds=0.5, lines=lines),))

    run = measurement.measurement(runfolders.finished(tmp_path, host, case, recipe=recipe))

    assert (run.value, run.grounds) == (pytest.approx(8192, rel=0.01), grounds)


@pytest.mark.parametrize(("times", "apart"), [(128, False), (256, True)])
def test_tokens_of_a_step_are_held_against_batch_and_sequence(times, apart):
    of = synthetic.case(model="llama_tiny", options=(("sequence_length", "128"),))
    run = synthetic.measured(of, 0, 10.0)
    run = replace(run, throughput=replace(run.throughput, unit="tokens/s", items_per_s=10.0 * times))

    assert any(isinstance(said, ItemsApart) for said in work_done.findings(run)) == apart


@pytest.mark.parametrize(
    ("model", "unit"),
    [
        *(("bert_base", "sequences/s"), ("BERT-Large", "sequences/s"), ("gpt2", "sequences/s")),
        *(
            ("resnet50", "images/s"),
            ("vit_b_16", "images/s"),
            ("face_r100", "images/s"),
            ("hubert", "samples/s"),
            ("wide_deep", "samples/s"),
        ),
        *(("qwen2_vl", "samples/s"), (None, "samples/s")),
    ],
)
def test_samples_of_a_log_are_what_its_model_is_made_of_and_else_samples(model, unit, tmp_path, capsys):
    lines = [f"INFO:root:Epoch[0] Batch [{n}]\tSpeed: 500.00 samples/sec\taccuracy=0.{n}" for n in range(101, 231)]
    (log := tmp_path / "log.txt").write_text("\n".join(lines) + "\n")
    facts = {"framework": "mxnet", "model": model or "own_net", "devices": 1, "batch": 50}

    main(["parse", str(log), "--devices", "1", "--json"])
    (parsed,) = json.loads(capsys.readouterr().out)
    said = [word for name, value in facts.items() for word in ("--set", f"{name}={value}")]
    main(["import", str(log), "--runs", str(tmp_path / "runs"), *said])
    (folder,) = Store(tmp_path / "runs").finished()
    old = folder.command()  # the dialect said so
    runs = []
    for recorded in (old.recipe, replace(old.recipe, unit="images/s")):
        folder.write_command(replace(old, recipe=recorded))
        runs.append(measurement.measurement(folder))

    assert (parsed["unit"], parsed["printed_unit"]) == ("samples/s", "samples/s")
    assert [(run.throughput.unit, run.value) for run in runs] == [(unit, pytest.approx(500.0))] * 2
    assert not [said for run in runs for said in run.findings if isinstance(said, ClaimDenied)]


def test_each_listed_model_is_known_to_be_of_text_or_of_images():
    kinds = {"transformers": "sequences/s", "convolutions": "images/s"}

    for kind, unit in kinds.items():
        assert {unit_of(name, "samples/s") for each in flops.listed()[kind] for name in each["names"]} == {unit}
    assert unit_of("bert_base", "tokens/s") == "tokens/s"


@pytest.mark.parametrize(
    ("others", "origin", "unit"),
    [
        (("images/s",), "imported", "images/s"),
        (("images/s", "sequences/s"), "imported", "samples/s"),
        (("steps/s",), "imported", "samples/s"),
        (("images/s",), "measured", "samples/s"),  # as its participant declares
    ],
)
def test_samples_of_a_model_of_ones_own_are_what_the_other_logs_of_it_name(others, origin, unit):
    runs = [counted_in(other, 10.0, model="own_net") for other in others]
    samples = replace(counted_in("samples/s", 10.0, model="own_net"), origin=origin)

    assert units.in_one_unit([samples, *runs])[0].throughput == replace(samples.throughput, unit=unit)
    assert units.in_one_unit([samples, counted_in("images/s", 10.0, model="another")])[0] == samples
