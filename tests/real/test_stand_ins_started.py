"""PyTorch for the CPU under the stand-ins: a program for a GPU trains, and says so in its own words."""

import os
import subprocess
import textwrap

import pytest

from evalsuite.contracts import registry
from evalsuite.core import paths
from evalsuite.launch.provision import virtualenvs
from tests import sources

STAND_INS = paths.ADAPTERS / "stand_ins"
DEVICES = sources.text("stand_ins_started_devices.py.in")
PRECISION = sources.text("stand_ins_started_precision.py.in")
GROUP = sources.text("stand_ins_started_group.py.in")
APEX = sources.text("stand_ins_started_apex.py.in")


@pytest.fixture(scope="module")
def python():
    return virtualenvs.ensure(registry.discover()["pytorch"].recipe("reference-face-tiny-split"), progress=print)


@pytest.mark.parametrize(
    ("program", "says"),
    [
        (DEVICES, ["torch.cuda.FloatTensor 1.0 True"]),
        (PRECISION, ["torch.bfloat16 1.0 18.0"]),
        (GROUP, ["gloo 18.0 2"]),
        (APEX, ["[2.9, 3.9]", "True True"]),
    ],
    ids=["devices", "precision", "group", "apex"],
)
def test_a_program_for_a_gpu_trains_on_the_cpu(python, program, says):
    environment = {
        **{name: value for name, value in os.environ.items() if name != "CUDA_VISIBLE_DEVICES"},
        "EVALSUITE_STAND_INS": "torch,apex",
        "EVALSUITE_STAND_IN_DEVICES": "2",
        "PYTHONPATH": os.pathsep.join(str(STAND_INS / name) for name in ("hook", "torch", "apex")),
    }

    ran = subprocess.run(
        [python, "-W", "ignore", "-c", textwrap.dedent(program)], env=environment, capture_output=True, text=True
    )

    assert ran.stdout.splitlines() == says, ran.stderr
