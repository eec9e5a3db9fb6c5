"""detectron2: the line of CommonMetricPrinter, and `metrics.json`."""

import re
from collections.abc import Mapping

from evalsuite.contracts.dialect import Dialect, Line, line

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
    left_open_s = 2 * _HALF_DIGIT_S * (int(fields["step"]) + 1)
    told = left_open_s <= _TOLD * _HUNDRED * float(fields["mean_s"])
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
            rb" iter: (?P<step>\d+)  total_loss: (?P<loss>[\d.e+-]+|nan|inf)(?:[^\r\n]*?  time: (?P<mean_s>[\d.]+))?",
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
        facts=(
            Line(
                pattern=rb"Rank of current process: \d+\. World size: (?P<devices>\d+)",
                sample=b"[06/20 09:59:40] detectron2 INFO: Rank of current process: 0. World size: 8",
                source="facebookresearch/detectron2@02b5c4e2:detectron2/engine/defaults.py, default_setup()",
            ),
            Line(  # of the full configuration, whose keys are sorted; the file's own may be overridden by an option
                pattern=rb"IMS_PER_BATCH: (?P<global_batch>\d+)\r?\n\s+LR_SCHEDULER_NAME",
                sample=b"  IMS_PER_BATCH: 16\n  LR_SCHEDULER_NAME: WarmupMultiStepLR",
                source='facebookresearch/detectron2@02b5c4e2:detectron2/config/defaults.py, "number of images per batch across all machines"',
            ),
        ),
        notes="time is a mean since the run began, from which each report is taken apart while its digits suffice; "
        "evaluation and checkpoints, which are hooks, are outside.",
    ),
)
