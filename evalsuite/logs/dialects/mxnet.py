"""MXNet: scripts that do not print Speedometer's line. Speedometer itself: data/dialects/mxnet.toml."""

import functools
import re
from collections.abc import Mapping

from evalsuite.contracts.dialect import Dialect, line

_EVERY = 10  # steps between two bars that are read: their means have two digits after the point


def _bar(match: "re.Match[bytes]") -> Mapping[str, bytes | float] | None:
    """A bar whose rate is the mean since the epoch began; every tenth of them, so that differences mean something."""
    if int(match["step"]) % _EVERY:
        return None
    mean_s = 1 / float(match["steps_per_s"]) if match["steps_per_s"] else float(match["seconds"])
    return {**{name: match[name] for name in ("epoch", "step", "of", "loss")}, "mean_s": mean_s}


_BATCHES_BEFORE = re.compile(rb"Batch\[(\d+)\]\tTime cost=[^\n]*\n[^\n]*$")


def _epoch_of_batches(match: "re.Match[bytes]") -> Mapping[str, bytes | None]:
    """The line before tells how many batches the epoch had: 1251 x 1024 / 403.06 s is its speed."""
    before = _BATCHES_BEFORE.search(match.string, max(0, match.start() - 400), match.start())
    return {**match.groupdict(), "interval": before and before[1]}


_dialect = functools.partial(Dialect, framework="mxnet", averaging="interval")

DIALECTS = (
    _dialect(
        name="gluoncv_epoch",
        title="GluonCV with Horovod",
        unit="samples/s",
        scope="global",
        per_epoch=True,
        step=line(
            rb"Epoch\[(?P<epoch>\d+)\]\s+Speed: (?P<rate>[\d.]+) samples/sec",
            b"[1,0]<stderr>:INFO:root:Epoch[1] Rank[0] Batch[1251]\tTime cost=403.06\tTrain-metric=0.025975\n"
            b"[1,0]<stderr>:INFO:root:Epoch[1]\tSpeed: 3178.23 samples/sec",
            "dmlc/gluon-cv@f9a8a284b8:scripts/classification/imagenet/train_horovod.py",
            fields=_epoch_of_batches,
        ),
        first_epoch=0,
        scores=line(
            rb"Epoch\[(?P<epoch>\d+)\] Rank\[0\]\s+Validation-accuracy=(?P<validation_accuracy_share>[\d.]+)\s+"
            rb"Validation-top_k_accuracy_5=(?P<validation_top5_share>[\d.]+)",
            b"[1,0]<stderr>:INFO:root:Epoch[4] Rank[0]\tValidation-accuracy=0.329120\t"
            b"Validation-top_k_accuracy_5=0.591300",
            "dmlc/web-data@0818ee5787:gluoncv/logs/classification/imagenet/resnest14.log, as train_horovod.py prints it",
        ),
        yields_to=("mxnet_speedometer",),
    ),
    _dialect(
        name="gluoncv_segmentation",
        title="GluonCV segmentation",
        unit="images/s",
        scope="global",
        averaging="cumulative",
        steps_restart="epoch",
        zero_based=False,
        number_repeats=True,
        step=line(
            rb"Epoch (?P<epoch>\d+), training loss (?P<loss>[-+\d.eE]+|-?nan|-?inf): +\d+%\|[^|\r\n]*\| +(?P<step>\d+)/(?P<of>\d+) "
            rb"\[[\d:]+<[\d:?]+, +(?:(?P<steps_per_s>[\d.]+)it/s|(?P<seconds>[\d.]+)s/it)",
            "Epoch 0, training loss 0.486:   5%|▌         | 10/182 [00:29<08:22,  2.92s/it]".encode(),
            "dmlc/gluon-cv@f9a8a284b8:scripts/segmentation/train.py, with tqdm, whose set_description() prints elapsed / steps",
            fields=_bar,
        ),
        evaluation=line(
            rb"validation pixAcc:",
            b"Epoch 4, validation pixAcc: 0.963, mIoU: 0.524:   0%|          | 0/90",
            "dmlc/gluon-cv@f9a8a284b8:scripts/segmentation/train.py",
        ),
        named_facts={"gpus": "devices", "bare": "global_batch"},
        notes="tqdm's mean since the epoch began, twice for each step. The batch size is the whole job's.",
    ),
)
