"""`plan --memory`: what each rank holds, how far that is off, and what cannot fit."""

import json
import math

import pytest

from evalsuite import cli
from evalsuite.results.measure import flops, memory
from evalsuite.results.measure.memory import GIB, Job

LLAMA = flops.read_model("llama3_8b")


def job(**changes):
    return Job(**{"model": LLAMA, "sequence": 8192, "batch": 2, "layout": {"FSDP": 8}, **changes})


def plan(capsys, *words):
    code = cli.main(["plan", "--memory", *words])
    return code, capsys.readouterr()


def test_published_peaks_are_met_as_the_table_says():
    off = memory.errors()

    assert len(off) == 18
    assert max(map(abs, off)) < 0.19
    assert abs(memory.spread()[1]) < 0.05


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


def test_what_cannot_fit_is_refused_with_a_layout_that_does(capsys):
    given = ("llama3_8b", "--batch-sizes", "2", "--option", "sequence_length=8192", "--option", "fsdp=8")
    code, said = plan(capsys, *given, "--option", "memory=80")
    better = memory.fitting(job(), 80 * GIB * (1 + memory.spread()[0]))

    assert code == 2
    assert "at least" in said.err and f"recompute {better.recompute}" in said.err
    assert memory.peak(better) < 80 * GIB and better.batch * better.of("FSDP") == 16
    assert plan(capsys, *given, "--option", "memory=200")[0] == 0
    code, said = plan(capsys, *given, "--json")
    assert code == 0 and json.loads(said.out)["peak_bytes"] == round(memory.peak(job()))


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["llama3_8b"], "sequence_length"),
        (["llama3_8b", "--option", "sequence_length=8k"], "8k"),
        (["llama3_8b", "--option", "sequence_length=8192", "--option", "zp=8"], "zp"),
        (["llama3_8b", "--option", "sequence_length=8192", "--precision", "fp9"], "fp9"),
        (["llama3_8b", "--option", "sequence_length=8192", "--option", "recompute=some"], "some"),
        (["deepseek_v3", "--option", "sequence_length=8192"], "experts"),
        (["no_such_model", "--option", "sequence_length=8192"], "config.json"),
    ],
)
def test_what_is_asked_wrongly_is_named(capsys, words, named):
    code, said = plan(capsys, *words)

    assert code == 2 and named in said.err
