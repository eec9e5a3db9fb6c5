"""Ultralytics' table of bars, mmengine's lines and detectron2's means: what their seconds cover."""
# ruff: noqa: E501 (a line of a log is kept whole)

from evalsuite.model import Protocol
from tests.readings import LOGS, each, near, on, row, seen, table

ARGUMENTS = "engine/trainer: agnostic_nms=False, amp=True, batch=16, bgr=0.0, device=None, dfl=1.5, epochs=30\n"
SCANNED = "train: Scanning /l... 550 images, 13 backgrounds, 0 corrupt: 100% 563/563 [00:00<00:00, 41.8it/s]\n"
HALVED = "".join(
    f"CUDA out of memory with batch={batch}. Reducing to batch={batch // 2} and retrying ({n}/3).\n"
    for n, batch in ((1, 16), (2, 8))
)
V5 = "train: weights=yolov5s.pt, cfg=, data=data/coco.yaml, epochs=30, batch_size=64, imgsz=640, device=0,1,2,3\n"


def ultralytics(bar="100%|██████████| 36/36 [00:09<00:00,  4.00it/s]", head=ARGUMENTS, end=True):
    header = "\n      Epoch    GPU_mem   box_loss   cls_loss   dfl_loss  Instances       Size\n"
    rows = (
        f"{epoch:>8}/30      10.4G      1.198      4.461      1.333        538        608: {bar}\n"
        for epoch in range(1, 7)
    )
    return head + "".join(header + text for text in rows) + ("\n30 epochs completed in 0.103 hours.\n" if end else "")


BARS = {  # of the versions of Ultralytics: an epoch's seconds
    "100%|██████████| 36/36 [00:09<00:00,  3.79it/s]": 36 / 3.79,
    "100% 36/36 [00:09<00:00,  3.79it/s]": 36 / 3.79,  # a notebook
    "100%|██████████| 36/36 [00:45<00:00,  1.26s/it]": 36 * 1.26,
    "100%|██████████| 36/36 [00:09<00:00,  9.99it/s]": 9.0,  # of the last batches alone
    "100%|██████████| 36/36 02:10": 130.5,  # YOLOv9
    "100% ━━━━━━━━━━━━ 36/36 6.9it/s 5.2s<0.2s": 36 / 6.9,  # its own bar
    "100% ━━━━━━━━━━━━ 36/36 6.9it/s 5.2s": 36 / 6.9,
    "100% ━━━━━━━━━━━━ 36/36 0.4it/s 1:26": 86.5,
    "100% ━━━━━━━━━━━━ 36/36 2.4s/it 1:26": 86.4,
}
TEN_AND_30 = Protocol(warmup_steps=10, measured_steps=30)


def iteration_line(step):
    """Half a second a step; behind the 20th an evaluation, in whose time it is a minute."""
    head = "06/13 14:03:51 - mmengine - INFO - Iter(val) [11/11]    aAcc: 87.9000  mIoU: 51.3200  time: 0.4532\n"
    return f"{head if step == 30 else ''}06/13 14:04:55 - mmengine - INFO - Iter(train) [{step:4}/2000]  lr: 9.6207e-03  eta: 0:02:56  time: {60.0 if step == 30 else 0.5:.4f}  data_time: 0.0178  memory: 3979  loss: 0.0454  decode.loss_ce: 0.0321"


def first_version_line(step):
    return f"2022/08/22 18:42:22 - mmengine - INFO - Epoch(train) [1][{step}/70]  lr: 7.0000e-03  memory: 7730  data_time: 0.4496  loss_prob: 14.6061  loss_thr: 2.2904  loss_db: 0.9879  loss: 17.8843  time: 0.5000"


def detectron2(steps, seconds):
    return each(
        steps,
        lambda step: (
            f"[11/01 11:27:04 d2.utils.events]: eta: 8:05:12  iter: {step}  total_loss: 1.012  loss_cls: 0.714  loss_box_reg: 0.291  time: {seconds:.4f}  data_time: 0.0334  lr: 0.010000  max_mem: 3961M"
        ),
    )


ROWS = {
    # Ultralytics
    **{bar: row(ultralytics(bar), items_per_s=16 * 36 / seconds) for bar, seconds in BARS.items()},
    "the batch that is left of the data set is counted as what it is": row(
        ultralytics(head=f"{ARGUMENTS}Using 563 train, 150 val images for fraction=1.0 at imgsz=640\n"),
        items_per_s=563 / 9),
    "images without a label are trained on too": row(ultralytics(head=ARGUMENTS + SCANNED), items_per_s=563 / 9),
    "a batch that did not fit and was halved twice counts as trained": row(
        ultralytics(head=ARGUMENTS + HALVED), items_per_s=4 * 36 / 9),
    "YOLOv5 prints its batch over all devices": row(ultralytics(head=V5), items_per_s=64 * 36 / 9),
    "a run that is cut off is incomplete": row(ultralytics(end=False), status="incomplete"),
    # mmengine
    "the report behind an evaluation inside the run is left out": row(
        each(range(10, 60, 10), iteration_line), on(1, 4, protocol=TEN_AND_30), index=[10, 20, 40, 50],
        items_per_s=4 / 0.5),
    "the first versions print the time behind the losses": row(
        each(range(10, 70, 10), first_version_line), on(1, 16, protocol=TEN_AND_30), items_per_s=16 / 0.5),
    # detectron2
    "the batch of the full configuration counts and not that of the file": row(
        "SOLVER:\n  IMS_PER_BATCH: 64\n  BASE_LR: 0.02\n" + (LOGS / "detectron2.log").read_text(),
        items_per_s=near(16 / 0.25, 0.001)),
    "a log of the first versions": row(
        detectron2(range(19, 200, 20), 0.5), on(8, 2), items_per_s=16 / 0.5, ends=(20, 160)),
    "late in a run the digits of the mean tell nothing of one report": row(
        detectron2(range(90_019, 90_200, 20), 0.3322), on(8, 2), throughput=None, reason="too coarse"),
    "a log without times says so": row(
        "[06/28 10:28:32 d2.utils.events]:  iter: 0  total_loss: 4.649  loss_cls: 2.798  lr: 0.000000  \n",
        **{"throughput": None, "dialect": "detectron2"}),
}  # fmt: skip


@table(ROWS)
def test_a_log_of_a_vision_library_is_read_as_it_counts(row, tmp_path):
    assert seen(tmp_path, row) == row.expected
