"""A head of face recognition that is split over two processes trains as a whole one, shown by training both."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from evalsuite.contracts import registry
from evalsuite.core import paths
from evalsuite.launch.provision import virtualenvs

PROGRAM = Path(__file__).with_name("split_classifier.py")


def test_a_split_head_gives_the_losses_gradients_and_weights_of_the_whole_one():
    python = virtualenvs.ensure(registry.discover()["pytorch"].recipe("reference-face-tiny-split"), progress=print)
    launched = (python, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2")

    ended = subprocess.run(
        (*launched, PROGRAM, paths.ADAPTERS / "workloads"),
        env={**os.environ, "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE"},
        capture_output=True,
        text=True,
        timeout=400,
    )

    assert ended.returncode == 0, ended.stderr[-3000:]
    document = json.loads(ended.stdout.strip().splitlines()[-1])
    assert document["split"] == pytest.approx(document["whole"], rel=1e-10)
    assert document["whole"][0] > document["whole"][-1]  # it trains
    assert 0 < document["gradients"] < 1e-8 and 0 < document["weights"] < 1e-8  # different code, and yet the same
