"""How good the model is after each epoch: read from the logs that print it."""

import pytest

from evalsuite import dialect, reading
from evalsuite.model import Case
from evalsuite.store import Log

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


def test_of_several_ranks_in_one_log_one_is_read(tmp_path):
    text = "".join(f"[1,{rank}]<stdout>: *   Acc@1 {rank}.030 Acc@5 18.340\n" for rank in (2, 0, 1))

    found = scores(tmp_path, text, "pytorch_examples")

    assert [(one.epoch, one.metric, one.value) for one in found] == [(1, "top1", 2.03), (1, "top5", 18.34)]


@pytest.mark.parametrize("one", [d for d in dialect.discover().values() if d.scores], ids=lambda one: one.name)
def test_every_line_of_scores_is_declared_with_a_line_that_it_matches(one):
    one.check()
    for line in one.scores:
        fields = line.read(line.compiled.search(line.sample))
        assert any(dialect.SCORE.fullmatch(name) and value is not None for name, value in fields.items())
