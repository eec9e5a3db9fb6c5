"""How good the model is after each epoch: read from the logs that print it."""
# ruff: noqa: E501 (a line of a log is kept whole)

import pytest

from evalsuite import dialect
from evalsuite.logs import catalogue, reading
from evalsuite.model import Case
from evalsuite.runs.store import Log

CASE = Case(framework="pytorch", recipe="examples-imagenet", model="resnet50_v1.5", batch_per_device=32)
LOG_REPORT = """[
    {
        "main/loss": 4.48,
        "main/accuracy": 0.16866,
        "epoch": 1,
        "iteration": 2503,
        "elapsed_time": 1016.5
    },
    {
        "main/loss": 2.63,
        "main/accuracy": 0.41976,
        "validation/main/loss": 2.4,
        "validation/main/accuracy": 0.4501,
        "epoch": 2,
        "iteration": 5005,
        "elapsed_time": 2279.8
    }
]
"""
PRINT_REPORT = """Num Minibatch-size: 50
epoch       main/loss   validation/main/loss  main/accuracy  validation/main/accuracy  elapsed_time
       100 iter, 0 epoch / 2 epochs
    33.525 iters/sec. Estimated time to finish: 0:01:05.623315.
1           0.27194     0.0999939             0.918083       0.9699                    23.1534
       1300 iter, 1 epoch / 2 epochs
    33.525 iters/sec. Estimated time to finish: 0:01:05.623315.
2           0.10194     0.0799939             0.968083       0.9761                    46.9
"""
MXNET = """INFO:root:Epoch[0] Batch [0-20]\tSpeed: 1910.41 samples/sec\taccuracy=0.1
INFO:root:Epoch[0] Train-accuracy=0.412
INFO:root:Epoch[0] Validation-accuracy=0.067840
INFO:root:Epoch[1] Batch [0-20]\tSpeed: 1910.41 samples/sec\taccuracy=0.1
INFO:root:Epoch[1] Validation-accuracy=0.25
[Epoch 119] validation: err-top1=0.226662 err-top5=0.063795
"""
KERAS_2 = """Epoch 1/10
100/100 [==================] - 17s 174ms/step - loss: 0.8651 - acc: 0.7398 - val_loss: 1.2604 - val_acc: 0.5504
Epoch 2/10
100/100 [==================] - 8s 80ms/step - loss: 0.4206 - acc: 0.8522 - val_loss: 0.8465 - val_acc: 0.7080
"""
KERAS_3 = """Epoch 1/2
100/100 - 1s - 12ms/step - accuracy: 0.1000 - loss: 2.3266
Epoch 2/2
100/100 - 0s - 5ms/step - accuracy: 0.1147 - loss: 2.3034 - val_accuracy: 0.1250 - val_loss: 2.3022
"""
MLPERF = "".join(
    f':::MLLOG {{"namespace": "", "time_ms": {10 * k}, "event_type": "POINT_IN_TIME", "key": "eval_accuracy", "value": {value}, "metadata": {{"file": "{file}", "lineno": 1056, "epoch_num": {epoch}}}}}\n'
    for k, (file, value, epoch) in enumerate(
        (
            ("/workspace/image_classification/common/fit.py", 0.39042, 3),
            ("/workspace/ft-llm/custom_callbacks.py", 0.93982, 4),
            ("run_pretrain.py", 0.37301, 5),
            ("/workspace/image_classification/common/fit.py", 0.4973, 7),
        )
    )
)
DLLOGGER = """DLLL {"timestamp": "1609395526.108971", "datetime": "2020-12-31 06:18:46.108971", "elapsedtime": "213.013751", "type": "LOG", "step": [0], "data": {"train.loss": 2.7364323, "train.total_ips": 7749.54, "val.top1": 71.9009088010204, "val.top5": 91.06146364795919, "val.loss": 1.2844293823047561, "val.total_ips": 16824.23}}
"""
TRAIN, VALIDATION = "train", "validation"
SCORES = {  # the dialect, the log, (epoch, split, metric, value) of what is read
    "Chainer's LogReport gives train and validation by epoch": (
        *("chainer_logreport", LOG_REPORT),
        (
            *((1, TRAIN, "accuracy", 16.866), (1, TRAIN, "loss", 4.48)),
            *((2, TRAIN, "accuracy", 41.976), (2, TRAIN, "loss", 2.63)),
            *((2, VALIDATION, "accuracy", 45.01), (2, VALIDATION, "loss", 2.4)),
        ),
    ),
    "the table that Chainer's PrintReport prints is read": (
        *("chainer_progress", PRINT_REPORT),
        (
            *((1, TRAIN, "accuracy", 91.8083), (1, TRAIN, "loss", 0.27194)),
            *((1, VALIDATION, "accuracy", 96.99), (1, VALIDATION, "loss", 0.0999939)),
            *((2, TRAIN, "accuracy", 96.8083), (2, TRAIN, "loss", 0.10194)),
            *((2, VALIDATION, "accuracy", 97.61), (2, VALIDATION, "loss", 0.0799939)),
        ),
    ),
    "an epoch that a script calls zero is the first, and errors are turned into accuracies": (
        *("mxnet_speedometer", MXNET),
        (
            *((1, TRAIN, "accuracy", 41.2), (1, VALIDATION, "accuracy", 6.784), (2, VALIDATION, "accuracy", 25.0)),
            *((120, VALIDATION, "top1", 77.3338), (120, VALIDATION, "top5", 93.6205)),
        ),
    ),
    "Keras 2 prints its scores behind the bar of each epoch": (
        *("keras", KERAS_2),
        (
            *((1, TRAIN, "accuracy", 73.98), (1, TRAIN, "loss", 0.8651)),
            *((1, VALIDATION, "accuracy", 55.04), (1, VALIDATION, "loss", 1.2604)),
            *((2, TRAIN, "accuracy", 85.22), (2, TRAIN, "loss", 0.4206)),
            *((2, VALIDATION, "accuracy", 70.8), (2, VALIDATION, "loss", 0.8465)),
        ),
    ),
    "Keras 3 prints a line an epoch": (
        *("keras", KERAS_3),
        (
            *((1, TRAIN, "accuracy", 10.0), (1, TRAIN, "loss", 2.3266)),
            *((2, TRAIN, "accuracy", 11.47), (2, TRAIN, "loss", 2.3034)),
            *((2, VALIDATION, "accuracy", 12.5), (2, VALIDATION, "loss", 2.3022)),
        ),
    ),
    "and its bar many times an epoch, which is not read": (
        *("keras", 2 * "100/100 ━━━━━━━━━━━━━━━━━━━━ 1s 772us/step - accuracy: 0.1000 - loss: 2.3266\n"),
        (),
    ),
    "MLPerf calls many things accuracy, and only that of ResNet is read": (
        *("mlperf_mllog", MLPERF, ((3, VALIDATION, "top1", 39.042), (7, VALIDATION, "top1", 49.73))),
    ),
    "DLLogger's JSON counts epochs from zero": (
        *("dllogger_json", DLLOGGER),
        (
            *((1, TRAIN, "loss", 2.7364323), (1, VALIDATION, "loss", 1.2844293823047561)),
            *((1, VALIDATION, "top1", 71.9009088010204), (1, VALIDATION, "top5", 91.06146364795919)),
        ),
    ),
    "GluonCV counts epochs from zero": (
        "gluoncv_epoch",
        "[1,0]<stderr>:INFO:root:Epoch[4] Rank[0]\tValidation-accuracy=0.329120\tValidation-top_k_accuracy_5=0.591300\n",
        ((5, VALIDATION, "accuracy", 32.912), (5, VALIDATION, "top5", 59.13)),
    ),
    "PaddleClas counts epochs from zero": (
        "paddleclas_static",
        "ppcls INFO: END epoch:1   train  loss:  3.0592 top1:  0.3302 top5:  0.1167 batch_cost: 0.18731 s, \n",
        ((2, TRAIN, "loss", 3.0592), (2, TRAIN, "top1", 33.02)),
    ),
    "of several ranks in one log one is read": (
        "pytorch_examples",
        "".join(f"[1,{rank}]<stdout>: *   Acc@1 {rank}.030 Acc@5 18.340\n" for rank in (2, 0, 1)),
        ((1, VALIDATION, "top1", 2.03), (1, VALIDATION, "top5", 18.34)),
    ),
}


def scores(tmp_path, text, name, arrivals=""):
    (path := tmp_path / "log.txt").write_text(text)
    (timed := tmp_path / "arrivals.csv").write_text(f"end_byte,at_s\n{arrivals}")
    return reading.read_run([Log(host="a", rank=None, path=path, arrivals=timed)], CASE, name).scores


@pytest.mark.parametrize(("name", "text", "expected"), SCORES.values(), ids=SCORES)
def test_each_script_tells_how_good_the_model_is_in_its_own_words(name, text, expected, tmp_path):
    found = scores(tmp_path, text, name)

    assert [(one.epoch, one.split, one.metric, one.value) for one in found] == [
        (*place, pytest.approx(value)) for *place, value in expected
    ]


def test_a_score_has_its_line_and_its_seconds_since_the_start_by_the_log_or_by_its_arrival(tmp_path):
    line = " *   Acc@1 7.030 Acc@5 18.340\n"
    step = "Epoch: [0][  1/10]\tTime  0.551 ( 0.654)\tData  0.003 ( 0.019)\tLoss 8.2e+00 (7.0e+00)\n"
    text = step + line + step + line.replace("7.030", "9.000")

    by_arrival = scores(tmp_path, text, "pytorch_examples", f"{len(step + line)},61.5\n{len(text)},120.25\n")

    top1 = [(one.epoch, one.value, one.at_s) for one in by_arrival if one.metric == "top1"]
    assert top1 == [(1, 7.03, 61.5), (2, 9.0, 120.25)]
    assert {one.at_s for one in scores(tmp_path, LOG_REPORT, "chainer_logreport")} == {1016.5, 2279.8}
    assert {one.at_s for one in scores(tmp_path, DLLOGGER, "dllogger_json")} == {213.013751}
    assert {one.line for one in scores(tmp_path, PRINT_REPORT, "chainer_progress")} == {5, 8}


@pytest.mark.parametrize("one", [d for d in catalogue.discover().values() if d.scores], ids=lambda one: one.name)
def test_every_line_of_scores_is_declared_with_a_line_that_it_matches(one):
    one.check("evalsuite")
    for line in one.scores:
        fields = line.read(line.compiled.search(line.sample))
        assert any(dialect.SCORE.fullmatch(name) and value is not None for name, value in fields.items())
