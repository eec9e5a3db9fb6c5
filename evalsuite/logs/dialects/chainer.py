"""Chainer and ChainerMN: LogReport's JSON. The progress bar: data/dialects/single_scripts.toml."""

import re
from collections.abc import Mapping

from evalsuite.contracts.dialect import Dialect, line

_ENTRY_BYTES = 4096  # of LogReport's JSON: more than an entry has
_EPOCH = re.compile(rb'"epoch": (\d+)')
_ITERATION = re.compile(rb'"iteration": (\d+)')


_SCORES = {
    b"main/loss": "train_loss",
    b"main/accuracy": "train_accuracy_share",
    b"validation/main/loss": "validation_loss",
    b"validation/main/accuracy": "validation_accuracy_share",
}
_SCORED = re.compile(rb'"((?:validation/)?main/(?:loss|accuracy))": ([\d.e+-]+)')


def _log_report(match: "re.Match[bytes]") -> Mapping[str, bytes] | None:
    """An entry of LogReport's JSON, whose keys are in the order of a dict: any, before Python 3.6."""
    text, at = match.string, match.start()
    begin = max(text.rfind(b"{", max(0, at - _ENTRY_BYTES), at), 0)
    entry = text[begin : max(text.find(b"}", at, at + _ENTRY_BYTES), match.end())]
    scores = {_SCORES[key]: value for key, value in _SCORED.findall(entry)}
    epoch, iteration = _EPOCH.search(entry), _ITERATION.search(entry)
    return epoch and iteration and {**match.groupdict(), "epoch": epoch[1], "step": iteration[1], **scores}


_ENTRY = line(
    rb'"elapsed_time": (?P<elapsed_s>[\d.]+)',
    b'        "main/loss": 2.6322526931762695,\n        "main/accuracy": 0.4197641909122467,\n        "epoch": 2,\n'
    b'        "iteration": 5005,\n        "elapsed_time": 2279.832700097002\n',
    "chainer/chainer@a8e15cbe55:chainer/training/extensions/log_report.py",
    fields=_log_report,
)

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
        step=_ENTRY,
        scores=_ENTRY,
        notes="Seconds since the start, evaluation inside; minibatch and devices are not printed.",
    ),
)
