"""PaddleClas, dynamic graph: each card prints its own rate, the batch over the mean step time."""

from evalsuite.dialect import Dialect, Line

DIALECTS = (
    Dialect(
        name="paddleclas",
        title="PaddleClas ppcls",
        framework="paddlepaddle",
        unit="images/s",
        scope="per_device",
        averaging="cumulative",
        steps_restart="epoch",
        zero_based=True,
        mean_since=5,  # "if iter_id == 5: … reset": the first batches of an epoch are left out of the means
        step=(
            Line(
                pattern=rb"\[Train\]\[Epoch (?P<epoch>\d+)/\d+\]\[Iter: (?P<step>\d+)/(?P<of>\d+)\]"
                rb"[^\r\n]*?(?:, loss: (?P<loss>[\d.e+-]+|nan))?, batch_cost: (?P<mean_s>[\d.]+) ?s, "
                rb"reader_cost: [\d.]+(?: ?s)?, ips: (?P<rate>[\d.]+) (?:samples|images)/s(?:ec)?",
                sample=b"[2026/11/20 23:40:38] ppcls INFO: [Train][Epoch 1/1][Iter: 2/16]lr(PiecewiseDecay): "
                b"0.10000000, top1: 0.08333, top5: 0.50000, CELoss: 39.59687, loss: 39.59687, "
                b"batch_cost: 1.14570s, reader_cost: 0.00022, ips: 3.49132 samples/s, eta: 0:00:16",
                source="PaddlePaddle/PaddleClas ppcls/engine/train/utils.py, log_info()",
            ),
        ),
        evaluation=(
            Line(
                pattern=rb"\[Eval\]\[Epoch \d+",
                sample=b"[2021/06/10 11:02:11] ppcls INFO: [Eval][Epoch 1][Iter: 0/196]CELoss: 3.1",
                source="PaddlePaddle/PaddleClas ppcls/engine/evaluation/classification.py",
            ),
        ),
        notes="ips = batch of one card ÷ mean step time since iteration 5 of the epoch.",
    ),
)
