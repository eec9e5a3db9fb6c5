"""Detection and text recognition: PaddleDetection, PaddleOCR and its PyTorch descendant, YOLOX, GluonCV, Darknet; Caffe."""

import functools
import re

from evalsuite.dialect import Dialect, Fields, line

_SOLVER = "BVLC/caffe@006e8b3f32:src/caffe/solver.cpp, Solver::Step()"


_BATCH = re.compile(rb"(\d+): ([\d.]+|-?nan), (?:[\d.]+|-?nan)$")


def _of_batch(match: "re.Match[bytes]") -> Fields | None:
    before = _BATCH.search(match.string, max(0, match.start() - 80), match.start())
    if before is None:
        return None
    rate = int(match[2]) / int(before[1]) / float(match["report_s"])
    return {"step": before[1], "loss": before[2], "rate": rate}


_dialect = functools.partial(Dialect, unit="images/s", scope="global", averaging="interval")

DIALECTS = (
    _dialect(
        name="paddledetection",
        title="PaddleDetection ppdet",
        framework="paddlepaddle",
        scope="per_device",
        steps_restart="epoch",
        zero_based=True,
        step=line(
            rb"Epoch: \[(?P<epoch>\d+)\] \[ *(?P<step>\d+)/(?P<of>\d+)\] learning_rate: [^\r\n]*?\bloss: (?P<loss>[\d.e+-]+|nan)"
            rb"[^\r\n]*? batch_cost: (?P<seconds>[\d.]+) data_cost: [\d.]+ ips: (?P<rate>[\d.]+) images/s",
            b"[07/21 14:43:00] ppdet.engine INFO: Epoch: [0] [ 20/200] learning_rate: 0.000025 loss_xy: 7.020596 loss_wh: 23.817680 "
            b"loss_iou: 27.600710 loss_obj: 947.480469 loss_cls: 35.948715 loss: 1037.630493 eta: 10 days, 19:39:33 "
            b"batch_cost: 6.6231 data_cost: 6.0753 ips: 4.8315 images/s",
            "PaddlePaddle/PaddleDetection@0191759ed9:ppdet/engine/callbacks.py, LogPrinter.on_step_end(): the batch of one card over the mean time of the last batches",
        ),
        evaluation=line(
            rb"ppdet\.engine INFO: Eval iter: ",
            b"[07/21 15:10:44] ppdet.engine INFO: Eval iter: 0",
            "PaddlePaddle/PaddleDetection@0191759ed9:ppdet/engine/callbacks.py, LogPrinter.on_step_end()",
        ),
        notes="ips is of one card: only the first rank prints. The mean is over the last log_iter batches, data included.",
    ),
    _dialect(
        name="paddleocr",
        title="PaddleOCR, OpenOCR",
        framework=None,
        scope="per_device",
        zero_based=True,
        step=line(
            rb"INFO: epoch: \[\d+/\d+\], global_step: (?P<step>\d+), [^\r\n]*?(?<= )loss: (?P<loss>[\d.e+-]+|nan)[^\r\n]*?"
            rb" avg_batch_cost: [\d.]+ s, avg_samples: [\d.]+, ips: (?P<rate>[\d.]+)",
            b"[2024/08/06 18:03:33] openrec INFO: epoch: [1/2], global_step: 110, lr: 0.000005, loss: 63.990349, "
            b"avg_reader_cost: 0.01058 s, avg_batch_cost: 0.18164 s, avg_samples: 64.0, ips: 352.35357 samples/s, eta: 0:32:12",
            "Topdu/OpenOCR@5ec7d4075a:tools/engine/trainer.py, Trainer.train(), as PaddleOCR prints it since 2022",
        )
        + line(
            rb"epoch: \[\d+/\d+\], iter: (?P<step>\d+), [^\r\n]*?(?<= )loss: (?P<loss>[\d.e+-]+|nan)[^\r\n]*?"
            rb" batch_cost: [\d.]+ s, samples: \d+, ips: (?P<rate>[\d.]+)",
            b"[2020/11/16 11:11:32] root INFO: epoch: [0/100], iter: 20, lr: 0.001000, acc: 0.500977, loss: 0.696527, "
            b"reader_cost: 2.33420 s, batch_cost: 2.57432 s, samples: 5120, ips: 198.88761",
            "PaddlePaddle/PaddleOCR@006d84bf07:tools/program.py, train()",
        ),
        evaluation=line(
            rb"(?:INFO: save model in |cur metric, )",
            b"[2021/02/28 15:05:17] root INFO: save model in ./output/east_r50_vd/latest",
            "PaddlePaddle/PaddleOCR@006d84bf07:tools/program.py, train()",
        ),
        notes="The samples of one card over the time of its batches: only the first rank prints. Where the line says iter "
        "(until 2022) the time in which the metric is computed is left out, and the stamps show another speed.",
    ),
    _dialect(
        name="yolox",
        title="YOLOX",
        framework="pytorch",
        steps_restart="epoch",
        zero_based=False,
        step=line(
            rb"epoch: (?P<epoch>\d+)/\d+, iter: (?P<step>\d+)/(?P<of>\d+), (?:gpu )?mem: \d+Mb, (?:mem: [\d.]+Gb, )?"
            rb"iter_time: (?P<seconds>[\d.]+)s, data_time: [\d.]+s, total_loss: (?P<loss>[\d.]+|nan)",
            b"2021-11-25 03:51:09.057 | INFO | yolox.core.trainer:after_iter:238 - epoch: 48/300, iter: 5900/7393, mem: 13208Mb, "
            b"iter_time: 0.569s, data_time: 0.002s, total_loss: 9.5, iou_loss: 2.6",
            "Megvii-BaseDetection/YOLOX@ca23ca510a:yolox/core/trainer.py, after_iter(): iter_time is the mean since the line before",
        ),
        notes="No rate. The batch size of its options is that of the whole job; the size of the images changes every ten iterations.",
    ),
    _dialect(
        name="gluoncv_detection",
        title="GluonCV detection (SSD, YOLOv3)",
        framework="mxnet",
        averaging="step",
        steps_restart="epoch",
        zero_based=True,
        step=line(
            rb"\[Epoch (?P<epoch>\d+)\]\[Batch (?P<step>\d+)\], (?:LR: [\d.E+-]+, )?Speed: (?P<rate>[\d.]+) samples/sec",
            b"INFO:root:[Epoch 0][Batch 99], Speed: 58.683 samples/sec, CrossEntropy=0.693, SmoothL1=0.536",
            "apache/mxnet@1cd2a5abe0:docs/python_docs/python/tutorials/performance/backend/amp.md; dmlc/gluon-cv@80ad1481b2 scripts/detection/yolo/train_yolo3.py has it with LR",
        ),
        evaluation=line(
            rb"\] Validation: ",
            b"INFO:root:[Epoch 0] Validation: ",
            "dmlc/gluon-cv@b022e9aa2a:scripts/detection/ssd/train_ssd.py, train()",
        ),
        notes="The batch of all devices over the time of the last batch alone, of every log_interval: scripts that resize their "
        "images at random scatter widely.",
    ),
    _dialect(
        name="darknet",
        title="Darknet (AlexeyAB)",
        framework=None,
        averaging="step",
        zero_based=False,
        step=line(
            rb" avg loss, [\d.]+ rate, (?P<report_s>[\d.]+) seconds, (\d+) images",
            b" 1187: 3.270728, 3.027621 avg loss, 0.010000 rate, 1.429193 seconds, 75968 images, 30.824708 hours left",
            "AlexeyAB/darknet@10ff51967d:src/detector.c, train_detector(): the number of the batch times the images of all GPUs in one",
            fields=_of_batch,
        ),
        evaluation=line(
            rb"calculation mAP \(mean average precision\)",
            b" calculation mAP (mean average precision)...",
            "AlexeyAB/darknet@10ff51967d:src/detector.c, validate_detector_map()",
        ),
        notes="The seconds are those of the batch without its loading, which is printed beside (Loaded: …). pjreddie's Darknet, "
        "whose line says avg for avg loss, counts the processor's time in some versions and is not read.",
    ),
    _dialect(
        name="caffe",
        title="Caffe",
        framework=None,
        zero_based=True,
        evaluation_inside=True,
        step=line(
            rb"\] Iteration (?P<step>\d+) \([\d.e+-]+ iter/s, (?P<report_s>[\d.e+-]+)s/(?P<interval>\d+) iters\), loss = (?P<loss>[\d.e+-]+|nan)",
            b"I1109 10:43:23.575582  9709 solver.cpp:219] Iteration 450 (0.170016 iter/s, 58.8181s/10 iters), loss = 0.0145158",
            _SOLVER,
        )
        + line(
            rb"\] Iteration (?P<step>\d+), loss = (?P<loss>[\d.e+-]+|nan)",
            b"I0627 17:29:49.245833 13757 solver.cpp:228] Iteration 260, loss = 33.3634",
            "BVLC/caffe@89ba6e40d1:src/caffe/solver.cpp, Solver::Step()",
        ),
        evaluation=line(
            rb", Testing net \(#\d+\)",
            b"I0509 19:45:41.120270 20669 solver.cpp:266] Iteration 7000, Testing net (#0)",
            "BVLC/caffe@006e8b3f32:src/caffe/solver.cpp, Solver::Test()",
        )
        + line(
            rb"\] Snapshotting to ",
            b"I0509 21:00:37.677863 20669 solver.cpp:334] Snapshotting to /media/3tb/example_mix/model/_iter_10000.caffemodel",
            "BVLC/caffe@006e8b3f32:src/caffe/solver.cpp, Solver::SnapshotToBinaryProto()",
        ),
        notes="Seconds since the line before, which older versions do not print: the stamps tell them. A test or a snapshot lies in "
        "the report behind it, which is left out. The batch stands in the net (batch_size of the data layer), and iter_size of "
        "the solver says how many of them an iteration takes.",
    ),
)
