"""Detectors that compute: detectron2 and Darknet. The others: data/dialects/detection.toml."""

import re
from collections.abc import Mapping

from evalsuite.contracts.dialect import Dialect, Fields, line

_LOADED = re.compile(rb".*\bLoaded: ([\d.]+) seconds", re.DOTALL)  # behind a rank, too
_LOADING_BYTES = 1 << 12  # of its complaints
_BATCH = re.compile(rb"(\d+): ([\d.]+|-?nan), (?:[\d.]+|-?nan)$")


def _of_batch(match: "re.Match[bytes]") -> Fields | None:
    before = _BATCH.search(match.string, max(0, match.start() - 80), match.start())
    if before is None:
        return None
    text = match.string[max(0, before.start() - _LOADING_BYTES) : before.start()]
    loaded = _LOADED.match(text, max(0, text.rfind(b" avg loss")))
    seconds = float(match["report_s"]) + float(loaded[1] if loaded else 0.0)
    rate = int(match[2]) / int(before[1]) / seconds
    return {"step": before[1], "loss": before[2], "rate": rate}


_HALF_DIGIT_S = 5e-5  # `time` has four decimals
_HUNDRED = 100  # steps, which a window has
_TOLD = 0.005  # share of the time of a hundred steps that the digits may leave open


def _iteration(match: "re.Match[bytes]") -> Mapping[str, bytes]:
    """`time` is a mean since the third iteration: late in a run its digits no longer tell what a report added.

    The same bound leaves out the first reports after a checkpoint, whose mean is over fewer iterations than the
    number says.
    """
    fields = match.groupdict()
    if fields["mean_s"] is None:
        return fields
    told = 2 * _HALF_DIGIT_S * (int(fields["step"]) + 1) <= _TOLD * _HUNDRED * float(fields["mean_s"])
    return fields if told else {name: text for name, text in fields.items() if name != "mean_s"}


DIALECTS = (
    Dialect(
        name="detectron2",
        title="detectron2",
        framework="pytorch",
        unit="images/s",
        scope="global",
        averaging="cumulative",
        zero_based=True,
        mean_since=2,  # IterationTimer(warmup_iter=3): the first time is that of the third iteration
        step=line(
            rb" iter: (?P<step>\d+)  total_loss: (?P<loss>[-+\d.eE]+|-?nan|-?inf)(?:[^\r\n]*?  time: (?P<mean_s>[\d.]+))?",
            b"[06/20 10:00:12 d2.utils.events]:  eta: 0:04:43  iter: 19  total_loss: 1.361  loss_cls: 0.6522  "
            b"loss_box_reg: 0.5817  loss_rpn_cls: 0.07138  loss_rpn_loc: 0.003773    time: 0.3000  last_time: 0.2500",
            "facebookresearch/detectron2@02b5c4e2:detectron2/utils/events.py, CommonMetricPrinter.write(): the mean of all iterations but the first two",
            fields=_iteration,
        ),
        evaluation=line(
            rb"Start inference on \d+ (?:batches|images)",
            b"[06/20 10:00:59 d2.evaluation.evaluator]: Start inference on 500 batches",
            "facebookresearch/detectron2@02b5c4e2:detectron2/evaluation/evaluator.py, inference_on_dataset()",
        ),
        named_facts={"devices": "devices"},
        facts=line(  # of the full configuration, whose keys are sorted; the file's own may be overridden by an option
            rb"IMS_PER_BATCH: (?P<global_batch>\d+)\r?\n\s+LR_SCHEDULER_NAME|Auto-scaling the config to batch_size=(?P<reduced_batch>\d+)",
            b"  IMS_PER_BATCH: 16\n  LR_SCHEDULER_NAME: WarmupMultiStepLR",
            "facebookresearch/detectron2@02b5c4e2:detectron2/config/defaults.py; behind it engine/defaults.py, auto_scale_workers()",
        ),
        notes="time is a mean since the run began, from which each report is taken apart while its digits suffice; "
        "evaluation and checkpoints, which are hooks, are outside.",
    ),
    Dialect(
        name="darknet",
        title="Darknet (AlexeyAB)",
        framework=None,
        unit="images/s",
        scope="global",
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
        notes="The seconds are those of the batch without the wait for its data, which is printed before (Loaded: …) and added. pjreddie's Darknet, "
        "whose line says avg for avg loss, counts the processor's time in some versions and is not read.",
    ),
)
