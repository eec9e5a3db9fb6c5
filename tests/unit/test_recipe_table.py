"""Every official recipe at the scales of the report: what each case can be, or why not; nothing is unknown."""

import re

import pytest

from tools import verify_recipes
from tools.verify_recipes import COLUMNS, SCALES

ROWS = list(verify_recipes.table())


def ok(row, column):
    return row.cells[column].startswith("ok")


def test_each_recipe_has_a_row_at_each_scale_and_no_cell_is_unknown():
    for recipe in {row.recipe for row in ROWS}:
        assert {row.scale for row in ROWS if row.recipe == recipe} == {f"{nodes}x{each}" for nodes, each in SCALES}
    for row in ROWS:
        assert row.cells.keys() == {*COLUMNS}
        assert "unknown" not in row.cells.values() and all(row.cells.values())


@pytest.mark.parametrize(
    ("recipe", "data", "column", "scales"),
    [
        ("oneflow/models-resnet50", "ofrecord", "steps", "1x1 1x8 2x8 16x8 125x8"),
        ("oneflow/models-resnet50", "ofrecord", "shards", "1x1 1x8 2x8 16x8"),  # 256 files unless data_parts says more
        ("mxnet/gluoncv-resnet50", "", "steps", "1x1 1x8 2x8 16x8"),  # 156 steps of 64 images at 16x8, 20 at 125x8
        ("ngc_pytorch/resnet50-2020", "synthetic", "steps", "1x1 1x8 2x8 16x8 125x8"),
        ("ngc_pytorch/resnet50-2020", "dali-cpu", "steps", "1x1 1x8 2x8 16x8"),
        ("insightface/arcface-torch", "", "steps", "1x1 1x8 2x8"),
        ("hugectr/wide-deep", "", "devices", "1x8"),
        ("megatron/gpt2", "", "ranks", "1x1 1x8 2x8 16x8 125x8"),
    ],
)
def test_cells_are_what_was_read_in_the_scripts(recipe, data, column, scales):
    rows = [row for row in ROWS if (row.recipe, row.data) == (recipe, data)]

    assert " ".join(row.scale for row in rows if ok(row, column)) == scales


def test_scripts_that_count_devices_name_the_call_and_whether_eight_were_there_and_one_shown_or_it_was_read():
    cells = {row.recipe: row.cells["devices"] for row in ROWS if re.search(r"; re(ad|hearsed)", row.cells["devices"])}
    told = {recipe: (cell, {*re.findall(r"\.py:\d+ \S*?(\w+)[,;]", cell)}) for recipe, cell in cells.items()}

    assert [(recipe, "; rehearsed" in cell, *sorted(calls)) for recipe, (cell, calls) in sorted(told.items())] == [
        ("insightface/arcface-mxnet-2020", True, "CUDA_VISIBLE_DEVICES"),
        ("jax/flax-resnet50", True, "device_count", "local_device_count"),
        ("litgpt/train", False, "device_count"),
        ("paddlepaddle/models-bert-base-2020", True, "get_cuda_device_count"),
        ("paddlepaddle/paddlecv-resnet50-2020", True, "cuda_places", "get_cuda_device_count"),
        ("pytorch/examples-imagenet", True, "device_count"),
        ("pytorch/examples-imagenet-2020", True, "device_count"),
    ]
