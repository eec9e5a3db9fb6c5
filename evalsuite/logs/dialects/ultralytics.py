"""YOLO of Ultralytics, versions 5 to 12 and 26, and those that share its table (7, 9): a row and a bar per epoch."""

import re

from evalsuite.contracts.dialect import Dialect, Fields, Line, line
from evalsuite.logs.text.records import clock_s

_LINE_BYTES = 400  # of a row, before its bar
# `     70/1000      6.73G      1.081     0.4706      1.084         10        640`: epoch, memory, losses, instances, size
_ROW = re.compile(rb"(\d+)/\d+ +[\d.]+[GM] +((?:(?:[\d.e+-]+|nan|inf) +)+)\d+ +\d+ *$")
# [00:05<00:00,  2.78it/s]   02:10 (YOLOv9)   6.9it/s 48.8s<0.2s   2.4s/it 1:26
_TQDM_CLOCK = re.compile(rb"\[([\d:]+)<|(?=\d+:)([\d:]+) *$")
_OWN_CLOCK = re.compile(rb"(?:it/s|s/it) ([\d.]+s|\d+:[\d:]+)(?:<|[ )]*$)")
_PER_SECOND = re.compile(rb"([\d.]+)it/s")
_PER_BATCH = re.compile(rb"([\d.]+)s/it")
_OF_BAR = re.compile(rb" (\d+)/\1(?!\d)")


def _epoch(match: "re.Match[bytes]") -> Fields | None:
    """The batches of an epoch and their time: as the rate says, within what the bar's clock shows."""
    row = _ROW.search(match.string, max(0, match.start() - _LINE_BYTES), match.start())
    taken, batches, timing = match.groups()
    shown = _shown_s(timing)
    if row is None or shown is None or taken != batches:
        return None
    earliest, latest = shown
    per_second, per_batch = _PER_SECOND.search(timing), _PER_BATCH.search(timing)
    told = int(batches) / float(per_second[1]) if per_second else int(batches) * float(per_batch[1]) if per_batch else 0
    return {
        "epoch": row[1],
        "interval": float(batches),
        "report_s": min(max(told, earliest), latest) if told else (earliest + latest) / 2,
        "loss": sum(float(loss) for loss in row[2].split()),
    }


def _shown_s(timing: bytes) -> tuple[float, float] | None:
    """The earliest and the latest that a bar's clock may mean: tqdm's are whole seconds passed, Ultralytics' own are
    rounded."""
    if passed := _TQDM_CLOCK.match(timing):
        seconds = clock_s(passed[1] or passed[2])
        return seconds, seconds + 1
    if rounded := _OWN_CLOCK.search(timing):
        text = rounded[1]
        seconds, off = (float(text[:-1]), 0.05) if text.endswith(b"s") else (clock_s(text), 0.5)
        return seconds - off, seconds + off
    return None


def _scanned(match: "re.Match[bytes]") -> Fields:
    """`1592 images, 0 backgrounds, 0 corrupt: 100%|███| 1600/1600`: the bar counts those without a label, too."""
    bar = _OF_BAR.search(match.string, match.end(), match.end() + 80)
    return {"epoch_items": bar[1] if bar else None}


_TRAINER = "ultralytics/ultralytics@0001630010:ultralytics/engine/trainer.py"
DIALECTS = (
    Dialect(
        name="ultralytics",
        title="Ultralytics YOLO",
        framework="pytorch",
        unit="images/s",
        scope="global",
        averaging="interval",
        per_epoch=True,
        step=(
            Line(
                # 640: 100%|██████████| 16/16 [00:05<00:00,  2.78it/s]    tqdm
                # 640: 100% 36/36 [00:24<00:00,  1.49it/s]                tqdm in a notebook
                # 640: 100%|██████████| 653/653 02:10                     YOLOv9
                # 640: 100% ━━━━━━━━━━━━ 337/337 6.9it/s 48.8s            its own bar, of 2025 and later
                pattern=rb": 100%(?:\|[^|\r\n]*\|)?[^\d\r\n]{0,60}(\d+)/(\d+) ([^\r\n]*)(?=\r?\n|$)",
                sample="       1/50      2.02G      2.314      4.096      1.557         11        640: 100%|██████████| 6/6 [00:01<00:00,  4.30it/s]".encode(),
                source=f"{_TRAINER}, _do_train(): the bar over the batches of an epoch, which closes with the mean since the epoch began",
                fields=_epoch,
            ),
        ),
        end=line(
            rb" epochs completed in [\d.]+ hours", b"50 epochs completed in 0.014 hours.", f"{_TRAINER}, _do_train()"
        ),
        facts=line(
            rb"engine[/\\]trainer: [^\r\n]*?\bbatch=(?P<global_batch>\d+),",
            b"engine/trainer: task=detect, mode=train, model=yolov8n.pt, data=SL.yaml, epochs=50, time=None, patience=50, batch=16, ",
            f"{_TRAINER}, BaseTrainer: each process takes batch // world_size",
        )
        + line(
            rb"engine[/\\]trainer: [^\r\n]*?\bdevice=\[?(\d+(?:, ?\d+)*)\]?,",
            b"engine/trainer: agnostic_nms=False, amp=True, batch=16, data=coco.yaml, device=0,1, ",
            f"{_TRAINER}, BaseTrainer",
            # `device=0,1,2,3` are four
            fields=lambda match: {"devices": float(len(match[1].split(b",")))},
        )
        + line(
            rb"AutoBatch: Using batch-size (?P<global_batch>\d+) for ",
            b"AutoBatch: Using batch-size 35 for CUDA:0 8.91G/14.75G (60%)",
            "ultralytics/yolov5@5081342f0:utils/autobatch.py, autobatch(); only on one device",
        )
        + line(
            rb"Reducing to batch=(?P<reduced_batch>\d+) and retrying",
            b"CUDA out of memory with batch=16. Reducing to batch=8 and retrying (1/3).",
            f"{_TRAINER}, _do_train(): in the first epoch, which then begins again",
        )
        + line(
            rb"Using (?P<epoch_items>\d+) train, \d+ val images",
            b"Using 91 train, 16 val images for fraction=1.0 at imgsz=640",
            f"{_TRAINER}, _do_train(): the length of the data set",
        )
        + line(
            rb"train: Scanning [^\r\n]*?(?P<epoch_items>\d+) images, \d+ backgrounds, 0 corrupt: 100%",
            "train: Scanning /home/songbaoxian/codehub/ultralytics/datasets/SL/labels/train.cache... 85 images, 0 backgrounds, 0 corrupt: 100%|██████████| 85/85".encode(),
            "ultralytics/yolov5@5081342f0:utils/dataloaders.py, cache_labels()",
            fields=_scanned,
        )
        + line(
            rb": weights=[^\r\n]*?\bbatch_size=(?P<global_batch>\d+),",
            b"train: weights=yolov5s.pt, cfg=, data=data/coco128.yaml, epochs=3, batch_size=16, ",
            'ultralytics/yolov5@5081342f0:train.py, "total batch size for all GPUs"; printed by print_args() of utils/general.py',
        ),
        named_facts={"all": "global_batch"},
        notes="Time of an epoch's batches, without its validation. Where the log does not say "
        "how many images the data set has, a smaller last batch counts as a whole one.",
    ),
)
