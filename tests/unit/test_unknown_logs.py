"""Logs in no known dialect: those of known scripts without their dialects, and what is no training at all."""

import ast
import json
import re
import tomllib

import pytest

from evalsuite.cli import main
from evalsuite.core.errors import Exit
from evalsuite.logs.reading import read_file
from tests.readings import LOGS, read, value


@pytest.fixture
def toy(tmp_path):
    path = tmp_path / "train.log"
    path.write_text("".join(f"[toynet] step {n} loss 2.31 speed 812.5 img/s\n" for n in range(10, 2000, 10)))
    return path


def test_a_shape_that_the_user_accepts_is_no_longer_doubted(toy, capsys):
    shape = read_file(toy, devices=1).shape
    words = ("parse", str(toy), "--devices", "1", "--json", "--set")
    codes = [main([*words, f"shape={each}"]) for each in (shape, "0" * 12)]
    accepted, other = (json.loads(text) for text in capsys.readouterr().out.replace("]\n[", "]\0[").split("\0"))

    assert codes == [Exit.DONE, Exit.NOTHING_MEASURED]
    assert [(one["status"], one["shape"]) for (one,) in (accepted, other)] == [("ok", shape), ("doubtful", shape)]


AROUND = [
    "[{n:06}] loss={loss} ({s:.3f} sec/step)", "Step {n}: loss={loss}, time per 10 iters: {ten:.2f} sec",
    "[10:{m:02}:00] train | step {n} | loss {loss} | {s} s/it\n[10:{m:02}:00] valid | step {n} | loss 2 | 0.2 s/it",
    "2024-08-23 10:{m:02}:{t:02},000 [INFO] Epoch and iter 28 {n} Loss {loss} Time {ten:.2f}",
    "Train Epoch {n}: 100%|█| 9/9 [00:04<00:00,  2.00it/s, Loss={loss:.3f}]", "iter {n}00 spent {ten}00 s loss {loss}",
    "Training: 100%|██████████| 10/10 [00:05<00:00,  2.00it/s]\nEvaluating: 100%|█| 9/9 [00:01<00:00]\nloss {loss}",
    "[TRAIN] Iter: {n} Loss: {loss}\n  2%|█ | {n}/2000 [{m:02}:{t:02}<09:00,  2.00it/s]",
    "Epoch 0 of 3:  9%|█| {n}/2500 [{m:02}:{t:02}<05:00]\rLoss: {loss:.3f}:  9%|█| {n}/2500 [{m:02}:{t:02}<05:00]",
    " 2%| | {n}/1250 [{m:02}:{t:02}<09:00,  2.00batch/s]\n  return Variable._execution_engine.run_backward(  # of it",
    "Step {n:6}: Ran 10 train steps in 5.00 secs\nStep {n:6}: train loss | {loss}\nStep {n:6}: eval  loss | {loss}",
    "1699{n:06}.0 step {n} loss {loss} time: {ten:.1f} seconds\nEvaluating 1000 images",
    "optimization steps = 2000\n[Step 1{n:04}] Info\n  loss {loss}\nSteps:  2%|█ | {n}/2000 [{m:02}:{t:02}<09:00]",
]  # fmt: skip


@pytest.mark.parametrize("line", AROUND)
def test_the_time_of_a_step_is_found_whatever_stands_around_it(tmp_path, line):
    log = "\n".join(line.format(n=10 * m, loss=3 - m / 99, s=0.5, ten=5, m=m // 12, t=m * 5 % 60) for m in range(1, 99))

    assert value(read(tmp_path, "Batch size: 32\n" + log)) == pytest.approx(64, rel=0.02)


def test_a_few_reports_tell_as_much_as_many_and_bars_of_an_excerpt_begin_where_it_does(tmp_path):
    told = "".join(f"iter: {n} / 70000, total loss: 0.3\n >>> lr: 0.1\nspeed: 0.250s / iter\n" for n in (20, 40, 60))
    loss = "{'loss': 1.1, 'learning_rate': 0.1, 'epoch': 0.8}\n"
    bars = [f" 27%|██ | {230 + n}/873 [20:{n * 4:02}<45:34,  4.00s/it]\n" for n in range(14)]
    rated = [f"Epoch: [0][{n}/9000]\tTime 0.500\tImages/sec {400 + n % 3}\tLoss {9 / n:.3f}\n" for n in range(1, 99)]
    two = [f"it {n}/9 | loss 3.1 | iter_time: 0.5s | batch_tokens: 800.0 | throughput: 9.0\n" for n in (4, 5)]
    once = "train loss: 3.1\nTrain throughput/device/samples_per_sec: 8.0\nTrain throughput/samples_per_sec: 64.0\n"
    counted = [f"10:0{e}:{n:02},500 loss: 0.3 [{50 + n * 5000}/206242]\n" for e in (0, 1) for n in range(0, 36, 2)]
    ended = [f"10:0{n}:00 Iter[{n}0/99] Loss: 1\n" for n in range(5)] + ["Epoch 1 done. 2.6[s] Speed: 3.0[samples/s]\n"]
    torn = [f"Epoch 50:  62%|██   | {n}/29 [00:00<00:00, {n + 22}.21it/s, loss=1.43]\r" for n in (18, 19, 21)]

    logs = (told, (*bars[:4], loss, *bars[4:]), rated, two, once, counted, ended, torn)
    found = [value(read(tmp_path, "".join(lines))) for lines in logs]
    assert found == [4, 0.25, pytest.approx(401, rel=0.01), 1600, 64, pytest.approx(5000), 3, None]


def test_formats_that_are_accepted_make_a_case_each_and_the_code_says_what_could_not_be_read(toy, tmp_path, capsys):
    (other := tmp_path / "other.log").write_text("".join(f"it {n}: lm loss 3.1, 9000.0 tokens/s\n" for n in range(200)))
    (none := tmp_path / "none.log").write_text("no training at all\n")
    facts = 'framework = "toynet"\nmodel = "resnet50_v1.5"\ndevices = 1\nbatch = 64\nprecision = "fp32"\n'
    (tmp_path / "facts.toml").write_text(facts)
    shapes = [read_file(log, devices=1).shape for log in (toy, other)]
    words = ["--runs", str(tmp_path / "runs"), "--set", f"shape={','.join(shapes)}"]

    first = ["import", str(toy), str(none), *words, "--facts", str(tmp_path / "facts.toml")]
    codes = [main(first), main(["import", str(other), *words])]
    none.write_text("another\n")
    codes += [main(["import", str(none), *words])]

    assert codes == [Exit.SOME_FAILED, Exit.DONE, Exit.NOTHING_MEASURED]
    assert "of an import before, holds for these too: batch=64, devices=1, framework=toynet" in capsys.readouterr().err
    assert [len([*(tmp_path / "runs").glob(f"*-imported_{shape}_*/r0")]) for shape in shapes] == [1, 1]


def test_explain_prints_a_pattern_for_the_lines_that_it_took_for_reports(toy, capsys):
    assert main(["parse", str(toy), "--explain"]) == Exit.NOTHING_MEASURED

    (printed,) = (line for line in capsys.readouterr().out.splitlines() if "pattern=" in line)
    pattern = ast.literal_eval(printed.partition("pattern=")[2])
    found = [match["rate"] for line in toy.read_bytes().splitlines() if (match := re.search(pattern, line))]
    assert len(found) == 199 and {*found} == {b"812.5"}


NO_TRAINING = tomllib.loads((LOGS / "no_training.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("line", NO_TRAINING.values(), ids=NO_TRAINING)
@pytest.mark.parametrize("given", [{}, {"devices": 8, "batch_per_device": 32}], ids=["alone", "with devices and batch"])
def test_a_log_without_training_has_no_number(line, given, tmp_path):
    log = "".join(line.format(n=n, s=f"{n % 60:02d}") + "\n" for n in range(1, 61))

    assert value(read(tmp_path, log, **given)) is None
