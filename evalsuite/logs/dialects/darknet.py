"""Darknet. Other detectors compute nothing: `data/dialects/detection.toml`."""

import re

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


DIALECTS = (
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
