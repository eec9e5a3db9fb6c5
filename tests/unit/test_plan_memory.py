"""`plan --memory`: what each rank holds, how far that is off, and what cannot fit."""

import json
import math
from dataclasses import replace

import pytest

from evalsuite import cli
from evalsuite.core import paths
from evalsuite.results.measure import flops, memory
from evalsuite.results.measure.memory import GIB, Job

LLAMA = flops.read_model("llama3_8b")


def job(**changes):
    return Job(**{"model": LLAMA, "sequence": 8192, "batch": 2, "layout": {"FSDP": 8}, **changes})


def plan(capsys, *words):
    code = cli.main(["plan", "--memory", *words])
    return code, capsys.readouterr()


def test_published_peaks_are_met_as_the_table_says():
    least, middle, most, rows = memory.spread()
    known = {row["id"]: row["notes"] for row in paths.read_rows(paths.DATA / "reference" / "published.csv")}

    assert (rows, max(-least, most) < 0.19, abs(middle) < 0.05) == (18, True, True)
    for row in paths.read_rows(paths.DATA / "reference" / "memory.csv"):
        assert f"memory {row['peak_gib']} GiB" in known[row["id"]]


@pytest.mark.parametrize(("precision", "each"), [("amp-bf16", 16), ("fp32", 16), ("bf16", 8)])
def test_states_of_all_ranks_are_those_of_the_model(precision, each):
    for layout in ({"DP": 8}, {"FSDP": 8}, {"FSDP": 2, "TP": 4}, {"FSDP": 2, "TP": 2, "PP": 2}, {"FSDP": 1, "CP": 8}):
        of = job(layout=layout, precision=precision)
        stages = memory.stages(of)
        held = math.fsum(stage[part] for stage in stages for part in ("parameters", "gradients", "optimiser"))
        copies = layout.get("DP", 1)

        assert held * of.devices / len(stages) / copies == pytest.approx(each * LLAMA.parameters, rel=0.01), layout


def test_more_is_held_of_longer_sequences_and_less_is_kept_where_it_is_computed_again():
    held = [memory.peak(job(recompute=name)) for name in memory.RECOMPUTE]

    assert held == sorted(held, reverse=True) and held[0] > 1.4 * held[-1]
    assert memory.peak(job(sequence=16384)) > memory.peak(job())
    assert memory.peak(job(micro_batch=1)) < memory.peak(job())
    first, *_, last = memory.stages(job(batch=8, layout={"PP": 4}))  # the first keeps all micro-batches in flight
    assert first["activations"] > last["activations"] - memory.LOGITS * LLAMA.vocabulary * 2 * 2 * 8192


OLMOE = flops.from_config(
    {
        **{"model_type": "mixtral", "hidden_size": 2048, "num_hidden_layers": 16, "num_attention_heads": 16},
        **{"vocab_size": 50304, "num_local_experts": 64, "num_experts_per_tok": 8, "intermediate_size": 1024},
    },
    "OLMoE 1B-7B",
)


@pytest.mark.parametrize(
    ("batch", "layout", "held"), [(4, {"FSDP": 8}, 64.5), (5, {"FSDP": 8}, 73.8), (4, {"FSDP": 8, "EP": 8}, 62.1)]
)
def test_experts_lie_over_their_ranks_and_are_off_as_said(batch, layout, held):
    of = job(model=OLMOE, sequence=4096, batch=batch, layout=layout)
    alone = job(model=OLMOE, sequence=4096, layout={"DP": 8})
    states = [memory.stages(each)[0]["optimiser"] for each in (alone, replace(alone, layout={"DP": 8, "EP": 8}))]

    assert memory.OF_EXPERTS < memory.peak(of) / held / GIB - 1 < -0.23
    assert states[0] == 8 * OLMOE.parameters and states[1] == 8 * (OLMOE.parameters - OLMOE.routed * 7 / 8)
    assert OLMOE.routed == 16 * 64 * 3 * 2048 * 1024


def test_a_layer_for_a_further_token_is_held_by_the_last_stage():
    with_mtp, without = (flops.read_model(name) for name in ("deepseek_v3", "deepseek_v3_without_mtp"))
    first, last = (
        [memory.stages(job(model=each, layout={"PP": 4}))[n] for each in (with_mtp, without)] for n in (0, 3)
    )

    assert first[0] == first[1]
    assert last[0]["parameters"] > last[1]["parameters"] + 4 * without.routed / 61


def test_what_cannot_fit_is_refused_with_a_layout_that_does(capsys):
    given = ("llama3_8b", "--batch-sizes", "2", "--option", "sequence_length=8192", "--option", "fsdp=8")
    code, said = plan(capsys, *given, "--option", "memory=80")
    better = memory.fitting(job(), 80 * GIB * (1 + memory.spread()[0]))

    assert code == 2
    assert "at least" in said.err and f"recompute {better.recompute}" in said.err
    assert memory.peak(better) < 80 * GIB and better.batch * better.of("FSDP") == 16
    code, said = plan(capsys, *given, "--option", "memory=200", "--scales", "1x8,2x8")
    assert code == 0 and "1x8,2x8" in said.out
    code, said = plan(capsys, *given, "--json")
    assert code == 0 and json.loads(said.out)["peak_bytes"] == round(memory.peak(job()))


LONG = ["--option", "sequence_length=8192"]


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["llama3_8b"], "sequence_length"),
        (["llama3_8b", "--option", "sequence_length=8k"], "8k"),
        (["llama3_8b", *LONG, "--option", "zp=8"], "zp"),
        (["llama3_8b", *LONG, "--precision", "fp9"], "fp9"),
        (["llama3_8b", *LONG, "--option", "recompute=some"], "some"),
        (["bert_base", "--option", "sequence_length=512"], "encoders"),
        (["llama3_8b", *LONG, "--option", "ep=2"], "experts"),
        (["mixtral_8x7b", *LONG, "--option", "dp=2", "--option", "ep=8"], "ep = 8 does not divide dp × fsdp × cp = 2"),
        (["mixtral_8x7b", *LONG, "--option", "dp=3", "--option", "ep=3"], "ep = 3 does not divide num_experts = 8"),
        (["llama3_8b", *LONG, "--option", "tp=99999"], "tp = 99999 does not divide num_attention_heads = 32"),
        (["llama3_8b", *LONG, "--option", "cp=3"], "2 × cp = 6 does not divide sequence_length = 8192"),
        (["llama3_8b", *LONG, "--option", "micro_batch=2"], "micro_batch = 2 does not divide --batch-sizes = 1"),
        (["llama3_8b", *LONG, "--option", "fsdp=16", "--scales", "1x8"], "= 16 does not divide --scales 1x8 = 8"),
        (["no_such_model", "--option", "sequence_length=8192"], "config.json"),
    ],
)
def test_what_is_asked_wrongly_is_named(capsys, words, named):
    code, said = plan(capsys, *words)

    assert code == 2 and named in said.err
