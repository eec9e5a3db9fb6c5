"""Ultralytics' table: a row and a bar per epoch, whose bars look different in each version."""

from pathlib import Path

import pytest

from evalsuite.logs.reading import read_file

LOGS = Path(__file__).resolve().parents[1] / "logs"
ARGUMENTS = "engine/trainer: agnostic_nms=False, amp=True, batch=16, bgr=0.0, device=None, dfl=1.5, epochs=30\n"
HEADER = "\n      Epoch    GPU_mem   box_loss   cls_loss   dfl_loss  Instances       Size\n"
END = "\n30 epochs completed in 0.103 hours.\n"


@pytest.fixture
def read(tmp_path):
    def reading(rows, *, head=ARGUMENTS, end=END, **more):
        log = tmp_path / "log"
        lines = (
            f"{HEADER}{epoch:>8}/30      10.4G      1.198      4.461      1.333        538        608: {bar}\n"
            for epoch, bar in enumerate(rows, 1)
        )
        log.write_text(head + "".join(lines) + end, newline="")
        return read_file(log, **more)

    return reading


def test_an_epoch_is_its_batches_over_the_time_of_the_bar():
    reading = read_file(LOGS / "ultralytics.log")

    assert (reading.dialect, reading.status) == ("ultralytics", "ok")
    assert (reading.total_devices, reading.batch_per_device) == (2, 8)
    assert reading.throughput.items_per_s == pytest.approx(16 * 400 / (20 + 3 * 25))


def test_a_real_log_of_85_images_in_batches_of_16_is_read():
    reading = read_file(LOGS / "ultralytics_8.log")
    rates = (
        10.9,
        10.89,
        11.03,
        11.06,
        10.83,
        11.19,
        10.56,
        10.68,
        10.24,
        10.52,
        11.22,
        10.86,
        11.47,
        10.69,
        11.23,
        10.7,
        11.28,
    )

    assert (reading.status, reading.batch_per_device) == ("ok", None)
    assert reading.throughput.items_per_s == pytest.approx(85 * len(rates) / sum(6 / rate for rate in rates))


def test_a_bar_that_is_drawn_again_counts_once():
    reading = read_file(LOGS / "ultralytics.log")

    assert [step.index for step in reading.steps] == [100, 200, 300, 400, 500]


@pytest.mark.parametrize(
    ("bar", "seconds"),
    [
        ("100%|██████████| 36/36 [00:09<00:00,  3.79it/s]", 36 / 3.79),
        ("100% 36/36 [00:09<00:00,  3.79it/s]", 36 / 3.79),  # a notebook
        ("100%|██████████| 36/36 [00:45<00:00,  1.26s/it]", 36 * 1.26),
        ("100%|██████████| 36/36 [00:09<00:00,  9.99it/s]", 9.0),  # of the last batches alone
        ("100%|██████████| 36/36 02:10", 130.5),  # YOLOv9
        ("100% ━━━━━━━━━━━━ 36/36 6.9it/s 5.2s<0.2s", 36 / 6.9),  # its own bar
        ("100% ━━━━━━━━━━━━ 36/36 6.9it/s 5.2s", 36 / 6.9),
        ("100% ━━━━━━━━━━━━ 36/36 0.4it/s 1:26", 86.5),
        ("100% ━━━━━━━━━━━━ 36/36 2.4s/it 1:26", 86.4),
    ],
)
def test_the_bars_of_all_versions_are_read(read, bar, seconds):
    reading = read([bar] * 6)

    assert reading.throughput.items_per_s == pytest.approx(16 * 36 / seconds)


def test_the_batch_that_is_left_of_the_data_set_is_counted_as_what_it_is(read):
    head = ARGUMENTS + "Using 563 train, 150 val images for fraction=1.0 at imgsz=640\n"

    reading = read(["100%|██████████| 36/36 [00:09<00:00,  4.00it/s]"] * 6, head=head)

    assert reading.throughput.items_per_s == pytest.approx(563 / 9)


def test_images_without_a_label_are_trained_on_too(read):
    head = (
        ARGUMENTS
        + "train: Scanning /l... 550 images, 13 backgrounds, 0 corrupt: 100% 563/563 [00:00<00:00, 41.8it/s]\n"
    )

    reading = read(["100%|██████████| 36/36 [00:09<00:00,  4.00it/s]"] * 6, head=head)

    assert reading.throughput.items_per_s == pytest.approx(563 / 9)


def test_a_batch_that_did_not_fit_and_was_halved_twice_counts_as_trained(read):
    head = ARGUMENTS + "".join(
        f"CUDA out of memory with batch={batch}. Reducing to batch={batch // 2} and retrying ({n}/3).\n"
        for n, batch in ((1, 16), (2, 8))
    )

    reading = read(["100%|██████████| 36/36 [00:09<00:00,  4.00it/s]"] * 6, head=head)

    assert reading.throughput.items_per_s == pytest.approx(4 * 36 / 9)


def test_yolov5_prints_its_batch_over_all_devices(read):
    head = "train: weights=yolov5s.pt, cfg=, data=data/coco.yaml, epochs=30, batch_size=64, imgsz=640, device=0,1,2,3\n"

    reading = read(["100%|██████████| 36/36 [00:09<00:00,  4.00it/s]"] * 6, head=head)

    assert reading.throughput.items_per_s == pytest.approx(64 * 36 / 9)


def test_a_run_that_is_cut_off_is_incomplete(read):
    reading = read(["100%|██████████| 36/36 [00:09<00:00,  4.00it/s]"] * 6, end="")

    assert reading.status == "incomplete"


def test_results_csv_tells_no_throughput_and_says_why():
    reading = read_file(LOGS / "ultralytics_csv.log")

    assert (reading.dialect, reading.throughput) == ("ultralytics_csv", None)
    assert "not how many steps" in reading.reason
