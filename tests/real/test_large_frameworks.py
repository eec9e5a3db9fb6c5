"""The frameworks whose environments are too large for everybody's tests train ResNet-50 v1.5: two gigabytes each; and
an environment made twice from its lock has the same files, which downloads it twice."""

import hashlib
import re

import pytest

from evalsuite.contracts.registry import discover
from evalsuite.launch.provision import virtualenvs
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


# what an installation writes anew: bytecode, its own list of files, first lines with a path, uv's dates and our record
OF_INSTALLATION = ("RECORD", "direct_url.json", "uv_cache.json", "pyvenv.cfg", "evalsuite.json", ".lock")


@pytest.mark.parametrize(("framework", "recipe"), [("jax", "reference-resnet50"), ("mxnet", "reference-resnet50")])
def test_an_environment_made_twice_from_its_lock_has_the_same_files(framework, recipe, tmp_path, monkeypatch):
    found = []
    for name in ("first", "second"):
        monkeypatch.setenv("EVALSUITE_CACHE", str(tmp_path / name))
        monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / f"{name}-downloads"))
        python = virtualenvs.ensure(discover()[framework].recipe(recipe))
        assert virtualenvs.lock_of(python)
        found.append(hashes(python.parent.parent))

    assert len(found[0]) > 1000
    assert found[0] == found[1]


def hashes(folder):
    packages = next((folder / "lib").iterdir()) / "site-packages"
    files = [file for file in packages.rglob("*") if file.is_file() and "__pycache__" not in file.parts]
    return {
        str(file.relative_to(packages)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in files
        if file.name not in OF_INSTALLATION
    }
