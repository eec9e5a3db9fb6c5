"""PaddleClas, dynamic graph: each card prints its own rate, the batch over the mean step time.

The means were over the epoch, without its first five steps, until they were reset at each report (commit be33107d8
of 2024-04-26). The lines are alike; that of 2021 says `lr: ` where `lr(Cosine): ` is printed today. Logs of the two
years between are read as if the means were of the report alone, which is nearly so.
"""

from evalsuite.dialect import Dialect, Line, line

_TRAIN = rb"\[Train\]\[Epoch (?P<epoch>\d+)/\d+\]\[Iter: (?P<step>\d+)/(?P<of>\d+)\]"
_LOSS = rb"[^\r\n]*?(?:, loss: (?P<loss>[\d.e+-]+|nan)[^\r\n]*?)?"
_RATE = rb" ?s, reader_cost: [\d.]+(?: ?s)?, ips: (?P<rate>[\d.]+) (?:samples|images)/s(?:ec)?"
_EVALUATION = Line(
    pattern=rb"\[Eval\]\[Epoch \d+",
    sample=b"[Eval][Epoch 1][Iter: 0/196]CELoss: 6.91042, loss: 6.91042, top1: 0.00000, top5: 0.00000, batch_cost: "
    b"1.10210s, reader_cost: 0.80112, ips: 58.07096 images/sec",
    source="PaddlePaddle/PaddleClas@d178931fca:ppcls/engine/evaluation/classification.py",
)

DIALECTS = (
    Dialect(
        name="paddleclas",
        title="PaddleClas ppcls",
        framework="paddlepaddle",
        unit="images/s",
        scope="per_device",
        averaging="interval",
        steps_restart="epoch",
        zero_based=True,
        step=line(
            _TRAIN + rb"lr\(" + _LOSS + rb", batch_cost: (?P<seconds>[\d.]+)" + _RATE,
            b"[2026/11/20 23:40:38] ppcls INFO: [Train][Epoch 1/1][Iter: 2/16]lr(PiecewiseDecay): "
            b"0.10000000, top1: 0.08333, top5: 0.50000, CELoss: 39.59687, loss: 39.59687, "
            b"batch_cost: 1.14570s, reader_cost: 0.00022, ips: 3.49132 samples/s, eta: 0:00:16",
            "PaddlePaddle/PaddleClas@d178931fca:ppcls/engine/train/utils.py, log_info()",
        ),
        evaluation=(_EVALUATION,),
        notes="ips = batch of one card ÷ mean step time since the line before.",
    ),
    Dialect(
        name="paddleclas_2021",
        title="PaddleClas ppcls, 2021",
        framework="paddlepaddle",
        unit="images/s",
        scope="per_device",
        averaging="cumulative",
        steps_restart="epoch",
        zero_based=True,
        mean_since=5,  # "if iter_id == 5: … reset": the first batches of an epoch are left out of the means
        step=line(
            _TRAIN + rb"lr: " + _LOSS + rb", batch_cost: (?P<mean_s>[\d.]+)" + _RATE,
            b"[Train][Epoch 1/120][Iter: 10/5005]lr: 0.00010, CELoss: 7.03412, loss: 7.03412, "
            b"top1: 0.00142, top5: 0.00568, "
            b"batch_cost: 0.20000s, reader_cost: 0.00084, ips: 1280.00000 images/sec, ",
            "PaddlePaddle/PaddleClas@00455839:ppcls/engine/trainer.py, train_epoch()",
        ),
        evaluation=(_EVALUATION,),
        notes="ips = batch of one card ÷ mean step time since iteration 5 of the epoch.",
    ),
)
