"""What official scripts import, and what an image lacks of it: a stand-in for docker is this interpreter."""

import json
import sys

import pytest

from evalsuite import cli
from evalsuite.commands.printing import i18n
from evalsuite.contracts.adapter import Command
from evalsuite.contracts.registry import discover
from evalsuite.core.errors import Exit
from evalsuite.launch import campaign, runner
from evalsuite.launch.checks import imports
from evalsuite.plan import containers, plan, repositories, spec, variants
from evalsuite.plan.plan import Machine
from tests import sources
from tests.toys import toynet

SPEC = """
container = "docker"
models = ["resnet50_v1.5"]
scales = ["1x1"]
batch_per_device = [8]
precision = ["fp32"]
steps = "5+20"

[[participant]]
title = "Paddle of the lab"
framework = "paddlepaddle"
recipes = ["paddleclas-resnet50"]
image = "lab/paddle:1"
"""


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    folder = tmp_path / "checkout"
    files = {
        "tools/train.py": "import os, sys, numpy\nsys.path.append('..')\nfrom nets.resnet import build\n",
        "nets/__init__.py": "",
        "nets/resnet.py": "import easydict.more\nfrom . import blocks\n",
        "nets/blocks.py": "import visualdl\ntry:\n    import absent_a\nexcept ImportError:\n    pass\n"
        "if os.name:\n    import absent_b\ndef f():\n    import absent_c\nimport its_own_op\n",
    }
    sources.lay(folder, files)
    monkeypatch.setattr(repositories, "folder", lambda recipe: folder)
    return folder


def test_what_loading_a_script_imports_is_asked_for_and_what_may_never_be_imported_is_not(checkout):
    (recipe,) = toynet(checkout="toynet").recipes

    found = imports.packages(recipe, Command(argv=("{python}", "{checkout}/tools/train.py", "--epochs=1")), checkout)

    assert found == {"numpy", "easydict", "visualdl", "its_own_op"}
    (checkout / "tools" / "train.py").write_text("print 'of Python 2'\n")
    assert imports.packages(recipe, Command(argv=("{python}", "-m", "nets.resnet")), checkout) == found - {"numpy"}
    of_a_package = Command(argv=("{python}", "-m", "torch.distributed.run", "{checkout}/nets/blocks.py"))
    (checkout / "nets" / "visualdl.py").touch()  # a module of a package is none of that name
    (checkout / "nets" / "types.py").write_text("import absent_d\n")
    assert imports.packages(recipe, of_a_package, checkout) == {"torch", "its_own_op"}


@pytest.fixture
def docker(tmp_path, monkeypatch):
    """Its image is this interpreter; it notes how often it was started."""
    (tmp_path / "spec.toml").write_text(SPEC)
    docker = sources.program(
        tmp_path / "bin" / "docker",
        f'echo "$*" | grep -o lab/paddle:1 >>"$0.asked"\n'
        f'until [ "$1" = python3 ]; do shift; done; shift; echo Welcome; exec {sys.executable} "$@"',
    )
    monkeypatch.setenv("PATH", str(docker.parent), prepend=":")
    runner.image_packages.cache_clear()
    return docker


def test_an_image_is_asked_once_and_what_it_lacks_is_named(checkout, tmp_path, docker, capsys):
    code = cli.main(["doctor", "--spec", str(tmp_path / "spec.toml"), "--json"])

    (check,) = json.loads(capsys.readouterr().out)["checks"]
    assert (code, check["state"], check["name"][:17]) == (Exit.USAGE, "missing", "Paddle_of_the_lab")
    assert docker.with_name("docker.asked").read_text() == "lab/paddle:1\n"
    assert "lab/paddle:1 lacks easydict, its_own_op, visualdl" in check["detail"]
    assert check["remedy"] == "evalsuite env image paddlepaddle/paddleclas-resnet50"
    docker.write_text("#!/bin/sh\nexit 125\n")
    runner.image_packages.cache_clear()
    assert cli.main(["doctor", "--spec", str(tmp_path / "spec.toml"), "--lang", "zh"]) == Exit.DONE
    assert "无法查询 lab/paddle:1" in capsys.readouterr().out


def test_an_environment_for_cpus_answers_for_none_for_gpus(monkeypatch):
    made = type("Made", (), {"python": "/there/bin/python"})
    monkeypatch.setattr(imports.virtualenvs, "existing", lambda recipe, device: made if device == "cpu" else None)

    assert imports._place(toynet().recipes[0], None) == ""


def test_a_run_whose_image_lacks_an_import_is_not_started(checkout, tmp_path, docker):
    asked = spec.named(str(tmp_path / "spec.toml"))
    adapters = variants.with_participants(discover(()), asked.participants)
    made = plan.plan(asked, adapters, Machine(cores=2, accelerators=1, device="gpu"))

    ready = campaign.environments(made, "container", lambda text: None, containers.here("docker"))

    assert {skip.case for skip in ready.skips} == {*made.cases} and len(made.cases) == 1
    assert "lacks easydict, its_own_op, visualdl" in i18n.worded(ready.skips[0].reason)
    assert "evalsuite env image paddlepaddle/paddleclas-resnet50" in i18n.worded(ready.skips[0].reason)
    assert docker.with_name("docker.asked").read_text() == "lab/paddle:1\n"


def test_the_layer_of_an_image_adds_what_is_lacking_and_ends_at_what_nobody_has(capsys):
    assert cli.main(["env", "image", "ngc_pytorch/bert-base"]) == Exit.DONE

    head, *lines = capsys.readouterr().out.splitlines()
    added = {line.split("'")[1]: line.rpartition(" || ")[2] for line in lines}
    assert head == "FROM nvcr.io/nvidia/pytorch:21.11-py3"
    assert {"fused_lamb_CUDA", "apex"} <= added.keys() and added["h5py"].endswith("--no-cache-dir h5py==3.11.0")
    assert added["lddl"].startswith(
        "python3 -m pip install --no-cache-dir git+https://github.com/NVIDIA/LDDL@e4006d2bad"
    )
    assert added["torch"] == added["apex"].replace("apex", "torch") == "{ echo lacking: torch >&2; exit 1; }"
    assert cli.main(["env", "image", "bluefog"]) == Exit.USAGE and "names no image" in capsys.readouterr().err
