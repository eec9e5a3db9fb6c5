"""The frameworks whose environments are too large for everybody's tests train ResNet-50 v1.5: two gigabytes each."""

import re

import pytest

from tests.real.test_frameworks import trained

STEP_LINES = {  # one per framework: the step and its loss
    "mindspore": r"mindcv\.utils\.callbacks INFO - Epoch: \[1/1\], batch: \[(\d)/4\], loss: ([\d.]+), lr: ",
    "oneflow": r"\[rank:0\] \[train\], epoch: 0/1, iter: (\d)/4, loss: ([\d.]+), throughput: [\d.]+ \| ",
}


@pytest.mark.parametrize("framework", sorted(STEP_LINES))
def test_a_framework_trains_the_reference_model_on_one_device(framework, tmp_path):
    (log,) = trained(framework, tmp_path)

    steps = re.findall(STEP_LINES[framework], log)
    assert [number for number, _ in steps] == ["1", "2", "3", "4"]
    assert "trainable_parameters=25557032 stride_on=3x3" in log
    assert float(steps[-1][1]) < float(steps[0][1])


def test_the_static_graph_of_oneflow_trains_what_it_trains_eagerly(tmp_path):
    (tmp_path / "eager").mkdir()
    (tmp_path / "graph").mkdir()
    (eager,), (graph,) = trained("oneflow", tmp_path / "eager"), trained("oneflow", tmp_path / "graph", xla=True)

    losses = [re.findall(STEP_LINES["oneflow"], log) for log in (eager, graph)]
    assert len(losses[0]) == 4
    assert [float(loss) for _, loss in losses[1]] == pytest.approx([float(loss) for _, loss in losses[0]], rel=1e-3)
