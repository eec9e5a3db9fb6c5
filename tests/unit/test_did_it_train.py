"""A log that shows no training leads nothing: six forms, every fault, read alone, imported or beside an agent."""

import random
import re
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from evalsuite.cli import main
from evalsuite.core import paths
from evalsuite.core.errors import Exit
from evalsuite.core.findings import LossesApart
from evalsuite.logs.reading import read_file
from evalsuite.report.book import board, book
from evalsuite.report.text import words
from evalsuite.results import evaluation
from evalsuite.results.compare import answers
from evalsuite.results.measure import convergence, summary
from evalsuite.runs.store import Store
from tests import runfolders
from tests.runfolders import Host, Printed
from tests.sources import NIGHTLY
from tests.toys import CASE, COMMAND, measured

STAMP = "{at:%Y-%m-%d %H:%M:%S},{ms:03d}"
FORMS = {
    "torchtitan": f"[rank0]:[titan] {STAMP} - root - INFO - step: {{step}}  loss: {{loss}}  grad_norm: {{norm}}  "
    "memory: 49.66GiB(52.28%)  tps: {own:,}  tflops: 339.82  mfu: 34.36%",
    "megatron_stamped": " [{at:%Y-%m-%d %H:%M:%S}.{ms:03d}000] iteration {step:8d}/    1600 | consumed samples: "
    "{samples:12d} | elapsed time per iteration (ms): {took_ms:.1f} | learning rate: {rate} | "
    "global batch size:     8 | lm loss: {loss} | loss scale: 1.0 | grad norm: {norm} | skipped iterations: 0 |",
    "hf_trainer_tokens": "{{'loss': {loss}, 'grad_norm': {norm}, 'learning_rate': {rate}, 'num_input_tokens_seen': "
    "{tokens}, 'epoch': 0.1}} {percent:3d}%|#####| {step}/{steps} [{clock}<10:00,  1.00s/it]",
    "maxtext": "I{at:%m%d %H:%M:%S}.{ms:03d}000 140 metric_logger.py:181] completed step: {step}, "
    "seconds: {took_s:.3f}, TFLOP/s/device: 134.9, Tokens/s/device: {own}.5, total_weights: 65536, loss: {loss}",
    "nemo_automodel": f"{STAMP} | INFO | root | step {{step}} | epoch 0 | loss {{loss}} | grad_norm {{norm}} "
    "| lr {rate} | mem 29.67 GiB | tps {all}.23({own}.28/gpu) | num_label_tokens 65536",
    "": f"{STAMP} trainer: step={{step}} loss={{loss}} grad_norm={{norm}} lr={{rate}} tokens_seen={{tokens}} "
    "tokens/s={all}",
}
FAULTS = {  # what a script prints instead, and what is found
    "loss": ({"loss": "11.9803"}, "loss_constant"),
    "gradients": ({"norm": "0.0000"}, "gradients_zero"),
    "nan": ({"loss": "nan"}, "loss_not_a_number"),
    "tokens": ({"samples": 8, "tokens": 65536}, "counter_stands"),
    "rate": ({"rate": "0.000000e+00"}, "rate_zero"),
}
SAYS = {"gradients": "{norm}", "tokens": "{samples|{tokens", "rate": "{rate}"}
CASES = [
    (form, fault)
    for form, line in FORMS.items()
    for fault in FAULTS
    if any(part in line for part in SAYS.get(fault, "{loss}").split("|"))
]
WAYS = [("agent", 1), ("import", 10), *([("agent", 10), ("import", 1)] if NIGHTLY else [])]
FACTS = {
    **{"model": "toy_lm", "nodes": 1, "gpus": 8, "batch": 1, "sequence_length": 8192, "precision": "amp-bf16"},
    **{"xla": "off", "device": "NVIDIA B200", "data": "c4", "optimizer": "adamw"},
}


def lines_of(form, every, repeat=0, speed=1.0, reports=150, **said):
    chance, at, began = random.Random(f"{form}{repeat}{said}"), datetime(2026, 8, 20, 12, repeat), None
    lines, arrivals = [], []
    for step in range(every, (reports + 1) * every, every):
        took_s = (1 + chance.gauss(0, 0.01)) / speed * (1 + repeat / 1000)
        at += timedelta(seconds=took_s * every)
        began = began or at
        told = {
            "loss": f"{12 - 2 * step / reports / every + chance.gauss(0, 0.02):.4f}",
            "norm": f"{chance.gauss(2, 0.3):.4f}",
        }
        told |= {"rate": "6.000000e-05", "samples": 8 * step, "tokens": 65536 * step, **said}
        counted = {"own": round(8192 / took_s), "all": round(65536 / took_s), "took_s": took_s, "took_ms": 1e3 * took_s}
        passed = round((at - began).total_seconds() + took_s * every)
        bar = {
            "clock": f"{passed // 60:02d}:{passed % 60:02d}",
            "steps": reports * every,
            "percent": 100 * step // reports // every,
        }
        lines.append(FORMS[form].format(at=at, ms=at.microsecond // 1000, step=step, **told, **counted, **bar))
        arrivals.append((at - began).total_seconds() + 60)
    return lines, arrivals


def brought(origin, form, every, said, tmp_path):
    """Runs of an honest framework and of one that is half as fast again and trains nothing."""
    logs = {
        (name, repeat): lines_of(form, every, repeat, speed, reports=30 if every > 1 else 130, **fault)
        for name, speed, fault in (("honest", 1.0, {}), ("idle", 1.5, said))
        for repeat in range(2)
    }
    (tmp_path / "one").write_text("\n".join([*logs["honest", 0][0], ""]))
    shape = read_file(tmp_path / "one", devices=8, scope="global").shape
    if origin == "agent":
        for (name, repeat), (lines, arrivals) in logs.items():
            case = replace(CASE, framework=name, devices_per_node=8, batch_per_device=1, model="toy_lm")
            recipe = replace(COMMAND.recipe, dialect=form or None, scope=None if form else "global", shape=shape)
            runfolders.finished(
                tmp_path, Host(printed=[Printed(lines=lines, arrivals_s=arrivals)]), case, repeat, recipe
            )
    else:
        (tmp_path / "in").mkdir()
        for (name, repeat), (lines, _) in logs.items():
            (tmp_path / "in" / f"{name}_{repeat}.log").write_text("\n".join([*lines, ""]))
        words = [
            word
            for name, value in (FACTS if form else FACTS | {"scope": "global", "shape": shape}).items()
            for word in ("--set", f"{name}={value}")
        ]
        pattern = ["--pattern", "{framework}_{repeat}.log", "--runs", str(tmp_path)]
        assert main(["import", str(tmp_path / "in"), *words, *pattern]) in (Exit.DONE, Exit.SOME_FAILED)
    return evaluation.evaluate(Store(tmp_path))


@pytest.mark.parametrize("every", [1, 10])
@pytest.mark.parametrize(("form", "fault"), CASES)
def test_a_log_alone_says_that_nothing_was_trained(form, fault, every, tmp_path):
    said, found = FAULTS[fault]
    honest, idle = (tmp_path / name for name in ("honest", "idle"))
    honest.write_text("\n".join([*lines_of(form, every)[0], ""]))
    idle.write_text("\n".join([*lines_of(form, every, **said)[0], ""]))

    read, against = (read_file(path, devices=8) for path in (honest, idle))

    assert (read.dialect or "", read.trained) == (form, "trained")
    assert (against.trained, against.status) == ("did_not_train", "doubtful")
    assert found in {each.name for each in against.findings}


@pytest.mark.parametrize(("printed", "trained"), [(35, "trained"), (7, "too_seldom"), (0, "not_printed")])
def test_a_loss_is_read_by_the_name_that_its_script_prints_and_too_few_are_no_verdict(printed, trained, tmp_path):
    [kept] = (paths.DATA / "recorded").glob("mxnet-reference-resnet50-*-1x1/r0/log.*.txt")
    lines = kept.read_text().splitlines()
    bare = [re.sub(r"\tcross-entropy=\S+", "", line) for line in lines[len(lines) - 35 + printed :]]
    (tmp_path / "log").write_text("\n".join([*lines[: len(lines) - 35 + printed], *bare, ""]))

    assert read_file(tmp_path / "log").trained == trained


@pytest.mark.parametrize(("origin", "every"), WAYS)
@pytest.mark.parametrize(("form", "fault"), CASES)
def test_what_did_not_train_has_no_rank_and_no_headline(form, fault, origin, every, tmp_path):
    found = brought(origin, form, every, FAULTS[fault][0], tmp_path)

    trained = {(row.case.framework, run.trained) for row in found.summaries for run in row.measurements}
    assert trained == {("honest", "trained"), ("idle", "did_not_train")}
    ranked = {entry.summary.case.framework for answer in answers.answers(found.summaries) for entry in answer.ranked}
    assert ranked == {"honest"}
    rows = board.board(book.Book(evaluation=found), words.read(("en",))).sheets[0].chosen.rows
    assert [row.framework for row in rows] == ["honest", "idle"]


@pytest.mark.parametrize(
    ("levels", "apart"),
    [
        ((0.0, 0.02), set()),  # as an honest pair of one model
        ((0.0, 2.0), {0, 1}),
        ((0.0, 0.1, 3.0), {2}),  # of one that is apart from several it is said alone
    ],
)
def test_losses_of_one_language_model_are_held_against_each_other_at_equal_tokens(levels, apart):
    def row(number, level, seeds=3):
        case = replace(CASE, framework=f"framework{number}", model="toy_lm")
        chance = random.Random(number)
        of_runs = [
            [(step, 10 - level - step / 50 + chance.gauss(0, 0.02)) for step in range(10, 130 + 10 * number, 10)]
            for _ in range(seeds)
        ]
        runs = [measured(case, repeat, 10.0, course=tuple(course)) for repeat, course in enumerate(of_runs)]
        tokens = [replace(run, throughput=replace(run.throughput, unit="tokens/s")) for run in runs]
        return summary.summary(case, tokens)

    rows = convergence.hold_together([row(*pair) for pair in enumerate(levels)])
    few = convergence.hold_together([row(*pair, seeds=2) for pair in enumerate(levels)])

    assert {n for n, row in enumerate(rows) if any(isinstance(each, LossesApart) for each in row.findings)} == apart
    assert {n for n, row in enumerate(rows) if row.grounds == "disputed"} == apart
    assert all(row.grounds == "clock" for row in few)


def test_a_loss_of_zero_from_the_first_is_held_against_others_that_fall():
    def row(name, level):
        case, course = replace(CASE, framework=name), ((10, level), (120, level / 2))
        return summary.summary(case, [measured(case, repeat, 10.0, course=course) for repeat in range(3)])

    assert convergence.hold_together([row("zero", 0.0), row("honest", 2.0)])
