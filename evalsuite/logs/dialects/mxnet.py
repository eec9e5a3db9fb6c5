"""MXNet: Speedometer's line, and scripts that do not print it (GluonCV, GluonNLP, MLPerf SSD)."""

import functools
import re
from collections.abc import Mapping

from evalsuite.dialect import Dialect, line

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
        name="mxnet_speedometer",
        title="MXNet Speedometer",
        unit="images/s",
        scope="auto",
        steps_restart="epoch",
        step=line(
            rb"Epoch\[(?P<epoch>\d+)\] Batch ?\[(?:(?P<since>\d+)-)?(?P<step>\d+)\]\s+"
            rb"Speed: (?P<rate>[\d.]+(?:e[+-]?\d+)?) samples/sec",
            b"2020-07-10 18:52:50,644 Node[0] Epoch[0] Batch [40-60]\tSpeed: 21621.24 samples/sec\taccuracy=0.000490",
            "apache/mxnet@c981848068:python/mxnet/callback.py, Speedometer; 1.5 and later print a range, "
            "train_imagenet.py of dmlc/gluon-cv one number",
        )
        + line(
            rb"Iter\[(?P<epoch>\d+)\] Batch \[(?P<step>\d+)\]\s+Speed: (?P<rate>[\d.]+) samples/sec",
            b"INFO:root:Iter[0] Batch [20]\tSpeed: 1910.41 samples/sec",
            "apache/mxnet@c981848068:python/mxnet/callback.py, Speedometer without a metric",
        ),
        evaluation=line(
            rb"Epoch\[\d+\] (?:Validation-|Train-|Time cost)",
            b"INFO:root:Epoch[0] Time cost=11.004",
            "apache/mxnet@c981848068:python/mxnet/module/base_module.py, fit()",
        )
        + line(
            rb"\] validation: ",
            b"[Epoch 119] validation: err-top1=0.226662 err-top5=0.063795",
            "dmlc/gluon-cv@f9a8a284b8:scripts/classification/imagenet/train_imagenet.py",
        ),
        first_epoch=0,
        scores=line(
            rb"Epoch\[(?P<epoch>\d+)\] Validation-accuracy=(?P<validation_accuracy_share>[\d.]+)",
            b"Epoch[0] Validation-accuracy=0.067840",
            "apache/mxnet@c981848068:python/mxnet/module/base_module.py, fit()",
        )
        + line(
            rb"Epoch\[(?P<epoch>\d+)\] Train-accuracy=(?P<train_accuracy_share>[\d.]+)",
            b"[2020-06-22 19:39:07] Rank[0] Epoch[0] Train-accuracy=0.028929",
            "apache/mxnet@c981848068:python/mxnet/module/base_module.py, fit()",
        )
        + line(
            rb"poch (?P<epoch>\d+)\] validation: err-top1=(?P<validation_top1_error_share>[\d.]+) "
            rb"err-top5=(?P<validation_top5_error_share>[\d.]+)",
            b"[Epoch 119] validation: err-top1=0.226662 err-top5=0.063795",
            "dmlc/gluon-cv@f9a8a284b8:scripts/classification/imagenet/train_imagenet.py",
        ),
        named_facts={"all": "global_batch"},
        facts=line(  # kvstore dist_sync: batch_size is one worker's; only its name is the same in the other scripts
            rb"start with arguments Namespace\([^\n]*?\bbatch_size=(?P<batch_per_device>\d+)[^\n]*?\bgpus=None",
            b"INFO:root:start with arguments Namespace(batch_size=4, benchmark=1, ... gpus=None, ",
            "apache/mxnet@c981848068:example/image-classification/common/fit.py, fit(), on a CPU",
        ),
        tagged_print_all=True,
        yields_to=("dllogger_mxnet",),
        notes="Under kvstore dist_sync each worker prints its own share; in the NVIDIA script the whole job's.",
    ),
    _dialect(
        name="mxnet_ssd",
        title="MXNet SSD (MLPerf)",
        unit="images/s",
        scope="global",
        zero_based=False,
        step=line(
            rb"\[Training\]\[Iteration (?P<step>\d+)\]\[Epoch (?P<epoch>\d+), Batch \d+/(?P<of>\d+)\] lr: [\d.e-]+, "
            rb"training time: [\d.]+ \[ms\], speed: (?P<rate>[\d.]+) \[imgs/sec\](?:, loss=(?P<loss>[\d.]+|nan))?",
            b"INFO:root:[Training][Iteration 100][Epoch 1, Batch 100/115] lr: 0.03120, training time: 230.951 [ms], "
            b"speed: 4433.848 [imgs/sec], loss=9.127",
            "mlcommons/training_results_v0.7@0a8a85a209:DellEMC/benchmarks/ssd/implementation/mxnet/model.py",
        ),
        final=line(
            rb"\[Training\]\[Epoch \d+\] training time: [\d.]+ \[sec\],avg speed: (?P<rate>[\d.]+)",
            b"INFO:root:[Training][Epoch 1] training time: 26.544 [sec],avg speed: 4436.455 [imgs/sec],loss=13.6",
            "mlcommons/training_results_v0.7@0a8a85a209:DellEMC/benchmarks/ssd/implementation/mxnet/model.py; the mean of an epoch",
        ),
        yields_to=(),
        notes="Two handlers print each line.",
    ),
    _dialect(
        name="gluoncv_epoch",
        title="GluonCV with Horovod",
        unit="images/s",
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
            rb"Epoch (?P<epoch>\d+), training loss (?P<loss>[\d.]+|nan): +\d+%\|[^|\r\n]*\| +(?P<step>\d+)/(?P<of>\d+) "
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
    _dialect(
        name="gluonnlp_bert",
        title="GluonNLP BERT pre-training",
        unit="tokens/s",
        scope="auto",
        step=line(
            rb"\[step (?P<step>\d+)\]\s+mlm_loss=(?P<loss>[\d.]+|nan)\s[^\r\n]*?throughput=(?P<rate_k>[\d.]+)K tks/s",
            b"INFO:root:[step 16499]\tmlm_loss=3.00407\tmlm_acc=46.85820\tnsp_loss=0.10287\tnsp_acc=96.074\t"
            b"throughput=117.0K tks/s\tlr=0.0000984 time=123.06",
            "dmlc/gluon-nlp@7b7bf60259:scripts/bert/pretraining_utils.py, log(); valid tokens of one rank",
        ),
        evaluation=line(
            rb"(?:Eval mlm_loss|\] Saving |Saving model)",
            b"INFO:root:[step 4999] Saving checkpoints to /home/ubuntu/ckpt-master/0004999.params",
            "dmlc/gluon-nlp@7b7bf60259:scripts/bert/pretraining_utils.py",
        ),
        notes="Thousands of valid tokens, padding left out. Every rank prints its own; older scripts print the sum.",
    ),
    _dialect(
        name="gluonnlp_finetune",
        title="GluonNLP BERT fine-tuning",
        unit="samples/s",
        scope="per_device",
        steps_restart="epoch",
        trust_stamps=False,
        step=line(
            rb"Epoch: (?P<epoch>\d+), Batch: (?P<step>\d+)/(?P<of>\d+), Loss=(?P<loss>[\d.]+|nan), lr=[\d.e-]+ "
            rb"Time cost=(?P<report_s>[\d.]+) Thoughput=(?P<rate>[\d.]+) samples/s",
            b"INFO:gluonnlp:16:38:39 Epoch: 0, Batch: 49/7387, Loss=5.6445, lr=0.0000010 Time cost=21.1 "
            b"Thoughput=28.48 samples/s",
            "dmlc/gluon-nlp@7b7bf60259:scripts/bert/finetune_squad.py, train(); the evaluation prints the same key",
        ),
        facts=line(
            rb"Namespace\([^\r\n]*?accumulate=(?P<accumulation>\d+)",
            b"INFO:root:Namespace(accumulate=2, batch_size=16",
            "dmlc/gluon-nlp@7b7bf60259:scripts/bert/finetune_squad.py",
        ),
    ),
    _dialect(
        name="gluonnlp_nmt",
        title="GluonNLP machine translation",
        unit="words/s",
        scope="global",
        steps_restart="epoch",
        step=line(
            rb"\[Epoch (?P<epoch>\d+) Batch (?P<step>\d+)/(?P<of>\d+)\] loss=(?P<loss>[\d.]+|nan), ppl=[\d.]+, "
            rb"throughput=(?P<rate_k>[\d.]+)K wps",
            b"2018-06-25 19:30:14,140 - root - [Epoch 0 Batch 4800/34064] loss=8.0589, ppl=3161.7813, "
            b"throughput=60.92K wps, wc=6526.64K",
            "dmlc/gluon-nlp@7b7bf60259:scripts/machine_translation/train_transformer.py",
        ),
        evaluation=line(
            rb"\[Epoch \d+\] (?:valid|test) Loss",
            b"2018-06-25 20:42:47,764 - root - [Epoch 0] valid Loss=3.4307, valid ppl=30.8977, valid bleu=9.21",
            "dmlc/gluon-nlp@7b7bf60259:scripts/machine_translation/train_transformer.py",
        ),
        trust_stamps=False,
    ),
)
