"""Every official recipe at the scales of the report: what each case can be, or why not; nothing is unknown."""

import pytest

from tools import verify_recipes
from tools.verify_recipes import COLUMNS, SCALES

ROWS = list(verify_recipes.table())


def ok(row, column):
    return row.cells[column].startswith("ok")


def test_each_recipe_has_a_row_at_each_scale_and_no_cell_is_unknown():
    for recipe in {row.recipe for row in ROWS}:
        assert {row.scale for row in ROWS if row.recipe == recipe} == {
            f"{nodes}x{devices}" for nodes, devices in SCALES
        }
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


def test_scripts_that_take_the_devices_that_they_see_are_told_from_those_that_are_told_a_number():
    seen = {row.recipe for row in ROWS if row.cells["devices"] == "ok: those that the agent shows"}

    assert {"pytorch/examples-imagenet", "jax/flax-resnet50", "paddlepaddle/models-bert-base-2020"} <= seen
    assert not seen & {"megatron/gpt2", "ngc_mxnet/resnet50", "tensorflow/tf-cnn-resnet50", "oneflow/face-r100"}
