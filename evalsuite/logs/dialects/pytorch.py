"""PyTorch's training scripts and trainers other than NVIDIA's."""

import functools
import re
from collections.abc import Mapping

from evalsuite.dialect import Dialect, line
from evalsuite.logs.scan.bars import PastTotal
from evalsuite.logs.text.records import clock_s

_BAR = rb"\| +(?P<step>\d+)/(?P<of>\d+) \[([\d:]+)<[\d:?]+, +(?:(?P<steps_per_s>[\d.]+)it/s|(?P<seconds>[\d.]+)s/it)"


def _lightning(match: "re.Match[bytes]") -> Mapping[str, bytes | float]:
    """NeMo prints consumed_samples next to global_step: where both are exact, they give the batch."""
    fields = {**{name: match[name] for name in ("epoch", "step", "of", "loss")}, "mean_s": _mean_s(match)}
    try:
        batch = float(match["consumed"]) / float(match["since"])
    except (TypeError, ValueError, ZeroDivisionError):
        return fields
    exact = b"e" not in match["consumed"] and batch == int(batch)
    return {**fields, "global_batch": batch} if exact else fields


def _mean_s(match: "re.Match[bytes]") -> float:
    """As the rate says, within the second that the bar shows."""
    printed = 1 / float(match["steps_per_s"]) if match["steps_per_s"] else float(match["seconds"])
    steps, elapsed = int(match["step"]), clock_s(match[4])
    return min(max(printed * steps, elapsed), elapsed + 1) / steps


_SECONDS = {b"D": 86400.0, b"h": 3600.0, b"m": 60.0, b"s": 1.0, b"ms": 1e-3}
_TIME = re.compile(rb"(\d+)(ms|[Dhms])")


def _cifar_epoch(match: "re.Match[bytes]") -> Mapping[str, bytes | float]:
    """`391/391 … Tot: 43s169ms … (16120/50000)`: the clock starts after the first batch."""
    batches = float(match["interval"])
    share = (batches - 1) / batches
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in _TIME.findall(match[3]))
    return {
        "epoch": match["epoch"],
        "interval": batches - 1,
        "report_s": seconds,
        "items": float(match["items"]) * share,
        "loss": match["loss"],
    }


_NAMED = b"train_inner "


def _unnamed(match: "re.Match[bytes]") -> Mapping[str, bytes] | None:
    """Of fairseq before 0.9, without a logger's name: the rate counts otherwise since."""
    before = match.string[max(0, match.start() - len(_NAMED)) : match.start()]
    return None if before == _NAMED else match.groupdict()


_dialect = functools.partial(Dialect, framework="pytorch", scope="global")

DIALECTS = (
    _dialect(
        name="pytorch_examples",
        title="pytorch/examples imagenet",
        unit="images/s",
        averaging="step",
        steps_restart="epoch",
        step=line(
            rb"Epoch: \[(?P<epoch>\d+)\]\[ *(?P<step>\d+)/(?P<of>\d+)\]\s+Time +(?P<seconds>[\d.]+)"
            rb"(?: \( *(?P<mean_s>[\d.]+)\))?(?:\s+Data +[\d.]+ \( *[\d.]+\))?"
            rb"(?:\s+Loss +(?P<loss>[\d.e+-]+|nan))?",
            b"Epoch: [0][     6/320292]\tTime  0.551 ( 0.654)\tData  0.003 ( 0.019)\t"
            b"Loss 8.2782e+01 (7.0250e+01)\tAcc@1   0.00 (  0.00)\tAcc@5   0.00 (  0.00)",
            "pytorch/examples@77f55b9121:imagenet/main.py, ProgressMeter; first index 0 before 2022",
        ),
        evaluation=line(
            rb"Test: \[ *\d+/\d+\]",
            b"Test: [  1/196]\tTime  1.204 ( 1.204)\tLoss 6.9078e+00 (6.9078e+00)\t",
            "pytorch/examples@77f55b9121:imagenet/main.py, validate()",
        ),
        scores=line(
            rb"\*\s+Acc@1 (?P<validation_top1>[\d.]+) Acc@5 (?P<validation_top5>[\d.]+)",
            b"*   Acc@1 7.030 Acc@5 18.340",
            "pytorch/examples@77f55b9121:imagenet/main.py, ProgressMeter.display_summary(), once an epoch",
        ),
        yields_to=("apex_imagenet",),
        notes="The rate is not printed: the batch size comes from the options. Time contains Data. Every rank prints.",
    ),
    _dialect(
        name="pytorch_word_language_model",
        title="pytorch/examples word_language_model",
        unit="sequences/s",
        averaging="interval",
        steps_restart="epoch",
        zero_based=True,
        step=line(
            rb"\| epoch +(?P<epoch>\d+) \| +(?P<step>\d+)/ *(?P<of>\d+) batches \| lr [\d.]+ \| ms/batch +(?P<ms>[\d.]+) \| "
            rb"loss +(?P<loss>[\d.]+|nan)",
            b"| epoch   1 |     6/    9 batches | lr 5.00 | ms/batch 8434.82 | loss  9.82 | ppl 18359.19",
            "pytorch/examples@77f55b9121:word_language_model/main.py, line 201",
        ),
        evaluation=line(
            rb"\| end of epoch +\d+ \| time: +[\d.]+s \| valid loss",
            b"| end of epoch   1 | time: 72.91s | valid loss  9.80 | valid ppl 17970.33",
            "pytorch/examples@77f55b9121:word_language_model/main.py, line 230",
        ),
        notes="An epoch's first time is that of one batch more than it says: of two with --log-interval 1.",
    ),
    _dialect(
        name="apex_imagenet",
        title="Apex and HAL ImageNet examples",
        unit="images/s",
        averaging="interval",
        steps_restart="epoch",
        zero_based=False,
        step=line(
            rb"Epoch: \[(?P<epoch>\d+)\]\[(?P<step>\d+)/(?P<of>\d+)\]\s+Time (?P<seconds>[\d.]+) \([\d.]+\)\s+"
            rb"(?:Speed|Throughput) (?P<rate>[\d.]+) \([\d.]+\)(?:\s+Loss (?P<loss>[\d.]+|nan))?",
            b"Epoch: [0][20/5004]\tTime 0.400 (0.450)\tSpeed 640.000 (568.889)\tLoss 6.9310226440 (6.9655)\t",
            "NVIDIA/apex@c54dbd3a:examples/imagenet/main_amp.py; imagenet_ddp_apex.py of richardkxu/distributed-pytorch says Throughput",
        ),
        evaluation=line(
            rb"Test: \[\d+/\d+\]",
            b"Test: [10/196]\tTime 0.120 (0.120)\tSpeed 2133.333 (2133.333)\t",
            "NVIDIA/apex@c54dbd3a:examples/imagenet/main_amp.py, validate()",
        ),
        notes="Speed is world size x batch over the mean time since the line before. The first rank of each node prints.",
    ),
    _dialect(
        name="torchvision",
        title="torchvision references",
        unit="images/s",
        scope="per_device",
        averaging="step",
        steps_restart="epoch",
        zero_based=True,
        step=line(
            rb"Epoch: \[(?P<epoch>\d+)\] +\[ *(?P<step>\d+)/(?P<of>\d+)\]  eta: [^\r\n]*?img/s: (?P<rate>[\d.]+)"
            rb"[^\r\n]*?  loss: (?P<loss>[\d.]+|nan)[^\r\n]*?  time: (?P<seconds>[\d.]+)",
            b"Epoch: [0]  [ 134/5005]  eta: 4:26:15  lr: 0.1  img/s: 6.728650373418343  loss: 6.7313 (6.9128)  "
            b"acc1: 0.0000 (0.3009)  acc5: 0.0000 (1.1806)  time: 2.5828  data: 0.0012  max mem: 3524",
            "pytorch/vision@bde124ee2f:references/classification/train.py, printed by MetricLogger of utils.py",
        ),
        evaluation=line(
            rb"Test: +\[ *\d+/\d+\]",
            b"Test:  [  0/196]  eta: 0:06:12  loss: 6.9103 (6.9103)  acc1: 0.0000 (0.0000)",
            "pytorch/vision@bde124ee2f:references/classification/train.py, evaluate()",
        ),
        notes="img/s starts its clock after the batch has arrived; time is smoothed and contains the wait for data.",
    ),
    _dialect(
        name="timm",
        title="timm train.py",
        unit="images/s",
        averaging="step",
        steps_restart="epoch",
        zero_based=True,
        step=line(
            rb"Train: (?P<epoch>\d+) \[ *(?P<step>\d+)/(?P<of>\d+) [^\]]*\]  Loss: +(?P<loss>[\d.e+-]+|nan) [^\r\n]*?"
            rb"Time: +(?P<seconds>[\d.]+)s, +(?P<rate>[\d.]+)/s",
            b"Train: 29 [   0/4 (  0%)]  Loss: 6.814 (6.81)  Time: 0.946s, 1082.47/s  (0.946s, 1082.47/s)  LR: 3.908e-02",
            "huggingface/pytorch-image-models@ce4d3485b6:train.py, train_one_epoch(): batch x world size / time",
        ),
        evaluation=line(
            rb"Test(?: \(EMA\))?: \[ *\d+/\d+\]",
            b"Test: [   0/97]  Time: 1.021 (1.021)  Loss:  6.9110 (6.9110)  ",
            "huggingface/pytorch-image-models@ce4d3485b6:train.py, validate()",
        ),
    ),
    _dialect(
        name="lightning",
        title="PyTorch Lightning progress bar",
        unit="samples/s",
        averaging="cumulative",
        clock_s=1.0,
        steps_restart="epoch",
        zero_based=False,
        step=line(
            rb"Epoch (?P<epoch>\d+): +\d+%\|[^|\r\n]*"
            + _BAR
            + rb", [^\]\r\n]*?(?:loss=(?P<loss>[\d.]+|nan)|_acc1?=[\d.]+)"
            rb"(?:[^\]\r\n]*?global_step=(?P<since>[\d.e+]+))?(?:[^\]\r\n]*?consumed_samples=(?P<consumed>[\d.e+]+))?",
            "Epoch 0: 100%|██████████| 40/40 [00:31<00:00,  1.27it/s, loss=10.9, v_num=, "
            "reduced_train_loss=10.90, global_step=39.00, consumed_samples=9984.0]".encode(),
            "Lightning-AI/pytorch-lightning@7f0c3436cd:src/lightning/pytorch/callbacks/progress/tqdm_progress.py",
            fields=_lightning,
        ),
        redrawn=True,
        second=PastTotal,
        yields_to=("nemo_dllogger",),
        notes="The rate is a mean since the epoch began (tqdm with smoothing=0) and flips to s/it below one step a second.",
    ),
    _dialect(
        name="fairseq",
        title="fairseq train_inner",
        unit="tokens/s",
        averaging="interval",
        zero_based=False,
        step=line(
            rb"train_inner \| epoch (?P<epoch>\d+): [^\r\n]*?\bloss=(?P<loss>[\d.e+-]+|nan), [^\r\n]*?"
            rb"\bwps=(?P<rate>[\d.e+]+), [^\r\n]*?\bwpb=(?P<global_batch>[\d.e+]+), [^\r\n]*?\bnum_updates=(?P<step>\d+)",
            b"2020-07-10 10:00:10 | INFO | train_inner | epoch 001:    200 / 1093 loss=12.011, nll_loss=11.43, "
            b"ppl=2759.13, wps=18000, ups=2, wpb=9000, bsz=300, num_updates=200, lr=2e-05",
            "facebookresearch/fairseq@3d262bb256:fairseq/logging/progress_bar.py, SimpleProgressBar.log()",
        )
        + line(
            rb'train_inner \| \{"epoch": (?P<epoch>\d+), [^\r\n]*?"loss": "(?P<loss>[\d.e+-]+|nan)", [^\r\n]*?'
            rb'"wps": "(?P<rate>[\d.e+]+)", [^\r\n]*?"wpb": "(?P<global_batch>[\d.e+]+)", [^\r\n]*?"num_updates": "(?P<step>\d+)"',
            b'2021-03-08 12:35:43 | INFO | train_inner | {"epoch": 1, "update": 0.001, "loss": "18.079", "ppl": '
            b'"276809", "wps": "285.5", "ups": "0.02", "wpb": "16384", "bsz": "8", "num_updates": "4", ',
            "facebookresearch/fairseq@3d262bb256:fairseq/logging/progress_bar.py, JsonProgressBar.log()",
        ),
        evaluation=line(
            rb"begin validation on ",
            b'2021-03-08 12:41:04 | INFO | fairseq_cli.train | begin validation on "valid" subset',
            "facebookresearch/fairseq@3d262bb256:fairseq_cli/train.py, validate()",
        ),
        notes="Tokens of all workers since the line before, without those of its first update.",
    ),
    _dialect(
        name="fairseq_2018",
        title="fairseq, before 0.9",
        unit="tokens/s",
        averaging="cumulative",
        steps_restart="epoch",
        zero_based=True,
        mean_since=1,
        evaluation_inside=True,
        step=line(
            rb"\| epoch (?P<epoch>\d+):? +(?P<step>\d+) / (?P<of>\d+) loss=(?P<loss>[\d.e+-]+|nan)[, ][^\r\n]*?"
            rb"\bwps=(?P<rate>[\d.e+]+), ",
            b"| epoch 001:    500 / 1891 loss=11.346, nll_loss=10.678, ppl=1637.83, wps=53351, ups=0.5, wpb=104872, "
            b"bsz=5322, num_updates=495, lr=9.90876e-05, gnorm=1.507, clip=0%, oom=0, loss_scale=2.000, wall=973, train_wall=840",
            "facebookresearch/fairseq@e6422528da:fairseq/progress_bar.py, simple_progress_bar; the mean is that of "
            "fairseq/meters.py, TimeMeter, which train.py begins anew with each epoch",
            fields=_unnamed,
        ),
        evaluation=line(
            rb"\| epoch \d+ \| valid on ",
            b"| epoch 001 | valid on 'valid' subset | valid_loss 8.11425 | valid_nll_loss 6.8834 | valid_ppl 118.06 | num_updates 600",
            "facebookresearch/fairseq@e6422528da:train.py, validate()",
        ),
        yields_to=("fairseq",),
        notes="Tokens of all workers, a mean since the epoch began, without its first batch; a validation within the epoch is inside. "
        "An update that overflowed is counted as a step.",
    ),
    _dialect(
        name="mmcv",
        title="OpenMMLab mmcv runner",
        unit="images/s",
        averaging="interval",
        steps_restart="epoch",
        zero_based=False,
        step=line(
            rb" - INFO - (?:Epoch \[(?P<epoch>\d+)\]|Iter )\[(?P<step>\d+)/(?P<of>\d+)\]\s+lr[_:][^\r\n]*?"
            rb", time: (?P<seconds>[\d.]+), data_time: [\d.]+[^\r\n]*?, loss: (?P<loss>[\d.]+|nan)",
            b"2021-05-31 09:18:37,085 - mmseg - INFO - Iter [8/10]\tlr: 3.450e-03, eta: 0:00:08, time: 1.875, "
            b"data_time: 0.027, memory: 29369, decode.loss_seg: 2.1192, decode.acc_seg: 27.9262, aux.loss_seg: 1.0318, "
            b"aux.acc_seg: 30.1232, loss: 3.1511",
            "open-mmlab/mmcv@b8c09f3b84:mmcv/runner/hooks/logger/text.py, TextLoggerHook",
        ),
        evaluation=line(
            rb" - INFO - (?:Iter\(val\)|Epoch\(val\)|Saving checkpoint)",
            b"2023-08-03 02:27:26,318 - mmseg - INFO - Saving checkpoint at 180 iterations",
            "open-mmlab/mmcv@b8c09f3b84:mmcv/runner/hooks/checkpoint.py",
        ),
        named_facts={"per_device": "batch_per_device"},
        facts=line(
            rb"gpu_ids = range\(0, (?P<devices>(?:[2-9]|\d\d+))\)",
            b"gpu_ids = range(0, 8)",
            "open-mmlab/mmcv@b8c09f3b84:mmcv/utils/config.py, pretty_text(); range(0, 1) also stands there under MPI and says nothing",
        ),
        notes="time is seconds per iteration and contains data_time.",
    ),
    _dialect(
        name="nersc_unet",
        title="NERSC PyTorch DDP U-Net",
        unit="samples/s",
        averaging="interval",
        per_epoch=True,
        trust_stamps=False,
        step=line(
            rb"Time taken for epoch (?P<epoch>\d+) is (?P<report_s>[\d.]+) sec, avg (?P<rate>[\d.]+) samples/sec",
            b"2021-11-12 00:46:23,492 - root - INFO - Time taken for epoch 1 is 752.9529612064362 sec, avg "
            b"87.03863770585806 samples/sec",
            "NERSC/sc21-dl-tutorial@820c9e48ba:train.py: steps x global batch ÷ seconds",
        ),
    ),
    _dialect(
        name="olmo",
        title="OLMo trainer",
        unit="tokens/s",
        scope="per_device",
        averaging="interval",
        zero_based=False,
        step=line(
            rb"\[step=(?P<step>\d+)/\d+[^\]\r\n]*\][^\[]{0,4000}?throughput/device/tokens_per_second=(?P<rate>[\d,.]+)",
            b"olmo.train:990\tINFO\t[step=10/10000,epoch=0]\n    optim/total_grad_norm=1.608\n ...\n"
            b"    throughput/device/tokens_per_second=105,477\n",
            "allenai/OLMo@59a53e3f68:olmo/train.py, SpeedMonitor.check() and log_metrics_to_console()",
        ),
        named_facts={"all": "global_batch", "per_device": "batch_per_device", "sequence": "items_per_batch"},
    ),
    _dialect(
        name="pytorch_cifar",
        title="kuangliu/pytorch-cifar",
        unit="images/s",
        averaging="interval",
        per_epoch=True,
        step=line(
            rb"Epoch: (?P<epoch>\d+)\s+\[=+ (?P<interval>\d+)/(?P=interval) =+>\]  Step: \w+ \| Tot: (\w+) \| "
            rb"Loss: (?P<loss>[\d.]+|nan) \| Acc: [\d.]+% \(\d+/(?P<items>\d+)\)",
            b"Epoch: 0\n [============================ 391/391 ===========================>]  Step: 1s194ms | Tot: "
            b"45s885ms | Loss: 2.703 | Acc: 15.342% (7671/50000)\n",
            "kuangliu/pytorch-cifar@49b7aa97b0:utils.py, progress_bar(), as a terminal shows it",
            fields=_cifar_epoch,
        ),
        notes="The full bar of each epoch's training; that of its test follows and is left out.",
    ),
    _dialect(
        name="nanogpt_sps",
        title="Argonne wordplay (nanoGPT)",
        unit="tokens/s",
        averaging="step",
        zero_based=False,
        step=line(
            rb"step=(?P<step>\d+) loss=(?P<loss>[\d.]+|nan) dt=(?P<ms>[\d.]+) [^\r\n]*?mtps=(?P<rate_k>[\d.]+)",
            b"step=5 loss=3.6333 dt=84.3107 dtf=4.3360 dtb=78.0501 sps=94.8871 mtps=1.5546 mfu=-100.0000",
            "saforem2/wordplay@23fd191:src/wordplay/trainer.py",
            fields=lambda match: {**match.groupdict(), "rate_k": 1000 * float(match["rate_k"])},
        ),
        notes="sps leaves the batch of a device out (samples_per_iter in configs.py): mtps, millions of tokens, is read.",
    ),
)
