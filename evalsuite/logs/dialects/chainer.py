"""Chainer and ChainerMN: LogReport's JSON and the progress bar."""

import re
from collections.abc import Mapping

from evalsuite.contracts.dialect import Dialect, line, step_before

_ENTRY_BYTES = 4096  # of LogReport's JSON: more than an entry has
_EPOCH = re.compile(rb'"epoch": (\d+)')
_ITERATION = re.compile(rb'"iteration": (\d+)')


def _log_report(match: "re.Match[bytes]") -> Mapping[str, bytes] | None:
    """An entry of LogReport's JSON, whose keys are in the order of a dict: any, before Python 3.6."""
    text, at = match.string, match.start()
    begin = max(text.rfind(b"{", max(0, at - _ENTRY_BYTES), at), 0)
    entry = text[begin : max(text.find(b"}", at, at + _ENTRY_BYTES), match.end())]
    epoch, iteration = _EPOCH.search(entry), _ITERATION.search(entry)
    return epoch and iteration and {**match.groupdict(), "epoch": epoch[1], "step": iteration[1]}


_SCORES = {
    b"main/loss": "train_loss",
    b"main/accuracy": "train_accuracy_share",
    b"validation/main/loss": "validation_loss",
    b"validation/main/accuracy": "validation_accuracy_share",
}
_SCORED = re.compile(rb'"((?:validation/)?main/(?:loss|accuracy))": ([\d.e+-]+)')


def _log_report_scores(match: "re.Match[bytes]") -> Mapping[str, bytes] | None:
    text, at = match.string, match.start()
    begin = max(text.rfind(b"{", max(0, at - _ENTRY_BYTES), at), 0)
    entry = text[begin : max(text.find(b"}", at, at + _ENTRY_BYTES), match.end())]
    epoch = _EPOCH.search(entry)
    return epoch and {**match.groupdict(), "epoch": epoch[1]} | {_SCORES[k]: v for k, v in _SCORED.findall(entry)}


DIALECTS = (
    Dialect(
        name="chainer_logreport",
        title="Chainer LogReport, JSON",
        framework="chainer",
        unit="images/s",
        scope="global",
        averaging="interval",
        per_epoch=True,
        zero_based=False,
        step=line(
            rb'"elapsed_time": (?P<elapsed_s>[\d.]+)',
            b'        "epoch": 2,\n        "iteration": 626,\n        "elapsed_time": 165.79663759144023\n',
            "chainer/chainer@a8e15cbe55:chainer/training/extensions/log_report.py",
            fields=_log_report,
        ),
        scores=line(
            rb'"elapsed_time": (?P<elapsed_s>[\d.]+)',
            b'        "main/loss": 2.6322526931762695,\n        "main/accuracy": 0.4197641909122467,\n        "epoch": 2,\n'
            b'        "iteration": 5005,\n        "elapsed_time": 2279.832700097002\n',
            "chainer/chainer@a8e15cbe55:chainer/training/extensions/log_report.py",
            fields=_log_report_scores,
        ),
        notes="Seconds since the start, evaluation inside; minibatch and devices are not printed.",
    ),
    Dialect(
        name="chainer_progress",
        title="Chainer ProgressBar",
        framework="chainer",
        unit="images/s",
        scope="global",
        averaging="cumulative",
        mean_reports=100,
        zero_based=False,
        step=line(
            rb" iter, (?P<epoch>\d+) epoch / \d+ (?:epoch|iteration)s\s+(?P<steps_per_s>[\d.e+]+|inf) iters/sec\.",
            b"       200 iter, 0 epoch / 10 epochs\n    4.8073 iters/sec. Estimated time to finish: 1:26:03.582581.",
            "chainer/chainer@a8e15cbe55:chainer/training/extensions/progress_bar.py",
            fields=step_before(rb"(\d+)$"),
        ),
        named_facts={"gpus": "devices", "bare": "batch_per_device"},
        facts=line(
            rb"Num process \(COMM_WORLD\): (?P<devices>\d+)",
            b"Num process (COMM_WORLD): 2",
            "chainer/chainer@a8e15cbe55:examples/chainermn/mnist/train_mnist.py",
        ),
        scores=line(
            rb"(?m)^(?P<epoch>\d+) +(?P<train_loss>[\d.]+) +(?P<validation_loss>[\d.]+) +"
            rb"(?P<train_accuracy_share>[\d.]+) +(?P<validation_accuracy_share>[\d.]+) +(?P<elapsed_s>[\d.]+) *\r?$",
            b"1           0.27194     0.0999939             0.918083       0.9699                    23.1534       ",
            "chainer/chainer@a8e15cbe55:chainer/training/extensions/print_report.py, with the columns of "
            "examples/chainermn/mnist/train_mnist.py",
        ),
        notes="Steps per second, a mean since the first bar or the last hundred bars, evaluation inside; redrawn with ESC.",
    ),
)
