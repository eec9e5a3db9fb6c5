"""How good the model is after each epoch: read from the logs that print it."""

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
"""


def scores(tmp_path, text, name, arrivals=""):
    (path := tmp_path / "log.txt").write_text(text)
    (timed := tmp_path / "arrivals.csv").write_text(f"end_byte,at_s\n{arrivals}")
    return reading.read_run([Log(host="a", rank=None, path=path, arrivals=timed)], CASE, name).scores


def test_log_report_gives_train_and_validation_by_epoch_with_the_seconds_since_the_start(tmp_path):
    found = scores(tmp_path, LOG_REPORT, "chainer_logreport")

    assert [(one.epoch, one.split, one.metric, one.value, one.at_s) for one in found] == [
        (1, "train", "accuracy", 16.866, 1016.5),
        (1, "train", "loss", 4.48, 1016.5),
        (2, "train", "accuracy", 41.976, 2279.8),
        (2, "train", "loss", 2.63, 2279.8),
        (2, "validation", "accuracy", 45.01, 2279.8),
        (2, "validation", "loss", 2.4, 2279.8),
    ]


def test_the_table_that_print_report_prints_is_read(tmp_path):
    found = scores(tmp_path, PRINT_REPORT, "chainer_progress")

    validated = [
        (one.epoch, one.value, one.line) for one in found if (one.split, one.metric) == ("validation", "accuracy")
    ]
    assert validated == [(1, 96.99, 5), (2, 97.61, 8)]


def test_an_epoch_that_a_script_calls_zero_is_the_first(tmp_path):
    found = scores(tmp_path, MXNET, "mxnet_speedometer")

    assert [(one.epoch, one.split, one.value) for one in found] == [
        (1, "train", 41.2),
        (1, "validation", 6.784),
        (2, "validation", 25.0),
    ]


def test_errors_are_turned_into_accuracies(tmp_path):
    text = MXNET + "[Epoch 119] validation: err-top1=0.226662 err-top5=0.063795\n"

    found = scores(tmp_path, text, "mxnet_speedometer")

    assert [(one.epoch, one.metric, one.value) for one in found[-2:]] == [
        (120, "top1", 77.3338),
        (120, "top5", 93.6205),
    ]


def test_lines_without_an_epoch_are_counted_and_timed_by_their_arrival(tmp_path):
    line = " *   Acc@1 7.030 Acc@5 18.340\n"
    step = "Epoch: [0][  1/10]\tTime  0.551 ( 0.654)\tData  0.003 ( 0.019)\tLoss 8.2e+00 (7.0e+00)\n"
    text = step + line + step + line.replace("7.030", "9.000")

    found = scores(tmp_path, text, "pytorch_examples", f"{len(step + line)},61.5\n{len(text)},120.25\n")

    top1 = [(one.epoch, one.value, one.at_s) for one in found if one.metric == "top1"]
    assert top1 == [(1, 7.03, 61.5), (2, 9.0, 120.25)]


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
KERAS_3_BAR = "100/100 ━━━━━━━━━━━━━━━━━━━━ 1s 772us/step - accuracy: 0.1000 - loss: 2.3266\n"


def test_keras_prints_its_scores_behind_the_bar_of_each_epoch(tmp_path):
    found = scores(tmp_path, KERAS_2, "keras")

    validated = [(one.epoch, one.metric, one.value) for one in found if one.split == "validation"]
    assert validated == [
        (1, "accuracy", 55.04),
        (1, "loss", 1.2604),
        (2, "accuracy", 70.8),
        (2, "loss", 0.8465),
    ]
    assert (found[0].split, found[0].value) == ("train", 73.98)


def test_keras_3_prints_a_line_an_epoch_and_its_bar_many_times_an_epoch(tmp_path):
    found = scores(tmp_path, KERAS_3, "keras")

    assert [one.epoch for one in found if (one.split, one.metric) == ("train", "accuracy")] == [1, 2]
    assert [(one.epoch, one.value) for one in found if one.split == "validation"] == [(2, 12.5), (2, 2.3022)]
    assert scores(tmp_path, KERAS_3_BAR * 2, "keras") == ()


def test_mlperf_calls_many_things_accuracy_and_only_that_of_resnet_is_read(tmp_path):
    line = (
        ':::MLLOG {{"namespace": "", "time_ms": {ms}, "event_type": "POINT_IN_TIME", "key": "eval_accuracy", '
        '"value": {value}, "metadata": {{"file": "{file}", "lineno": 1056, "epoch_num": {epoch}}}}}\n'
    )
    told = (
        ("/workspace/image_classification/common/fit.py", 0.39042, 3),
        ("/workspace/ft-llm/custom_callbacks.py", 0.93982, 4),
        ("run_pretrain.py", 0.37301, 5),
        ("/workspace/image_classification/common/fit.py", 0.4973, 7),
    )
    text = "".join(line.format(ms=10 * k, value=v, file=file, epoch=e) for k, (file, v, e) in enumerate(told))

    found = scores(tmp_path, text, "mlperf_mllog")

    assert [(one.epoch, one.metric, one.value) for one in found] == [(3, "top1", 39.042), (7, "top1", 49.73)]


def test_dllogger_json_tells_the_seconds_since_its_start_and_counts_epochs_from_zero(tmp_path):
    text = (
        'DLLL {"timestamp": "1609395526.108971", "datetime": "2020-12-31 06:18:46.108971", '
        '"elapsedtime": "213.013751", "type": "LOG", "step": [0], "data": {"train.loss": 2.7364323, '
        '"train.total_ips": 7749.54, "val.top1": 71.9009088010204, "val.top5": 91.06146364795919, '
        '"val.loss": 1.2844293823047561, "val.total_ips": 16824.23}}\n'
    )

    found = scores(tmp_path, text, "dllogger_json")

    assert {(one.split, one.metric): round(one.value, 2) for one in found} == {
        ("train", "loss"): 2.74,
        ("validation", "loss"): 1.28,
        ("validation", "top1"): 71.9,
        ("validation", "top5"): 91.06,
    }
    assert {(one.epoch, one.at_s) for one in found} == {(1, 213.013751)}


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (
            "gluoncv_epoch",
            "[1,0]<stderr>:INFO:root:Epoch[4] Rank[0]\tValidation-accuracy=0.329120"
            "\tValidation-top_k_accuracy_5=0.591300\n",
            [(5, "validation", "accuracy", 32.912), (5, "validation", "top5", 59.13)],
        ),
        (
            "paddleclas_static",
            "ppcls INFO: END epoch:1   train  loss:  3.0592 top1:  0.3302 top5:  0.1167 batch_cost: 0.18731 s, \n",
            [(2, "train", "loss", 3.0592), (2, "train", "top1", 33.02)],
        ),
    ],
)
def test_epochs_that_are_counted_from_zero_become_those_completed(tmp_path, name, text, expected):
    found = scores(tmp_path, text, name)

    assert [(one.epoch, one.split, one.metric, one.value) for one in found] == expected


def test_of_several_ranks_in_one_log_one_is_read(tmp_path):
    text = "".join(f"[1,{rank}]<stdout>: *   Acc@1 {rank}.030 Acc@5 18.340\n" for rank in (2, 0, 1))

    found = scores(tmp_path, text, "pytorch_examples")

    assert [(one.epoch, one.metric, one.value) for one in found] == [(1, "top1", 2.03), (1, "top5", 18.34)]


@pytest.mark.parametrize("one", [d for d in catalogue.discover().values() if d.scores], ids=lambda one: one.name)
def test_every_line_of_scores_is_declared_with_a_line_that_it_matches(one):
    one.check("evalsuite")
    for line in one.scores:
        fields = line.read(line.compiled.search(line.sample))
        assert any(dialect.SCORE.fullmatch(name) and value is not None for name, value in fields.items())
