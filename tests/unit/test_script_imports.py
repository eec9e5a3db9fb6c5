"""What official scripts import, and what an image lacks of it: a stand-in for docker is this interpreter."""

import json
import sys

import pytest

from evalsuite import cli
from evalsuite.contracts.adapter import Command
from evalsuite.core.errors import Exit
from evalsuite.launch.checks import imports
from evalsuite.plan import repositories
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
    for name, text in {
        "tools/train.py": "import os, sys, numpy\nsys.path.append('..')\nfrom nets.resnet import build\n",
        "nets/__init__.py": "",
        "nets/resnet.py": "import easydict.more\nfrom . import blocks\n",
        "nets/blocks.py": "import visualdl\ntry:\n    import absent_a\nexcept ImportError:\n    pass\n"
        "if os.name:\n    import absent_b\ndef f():\n    import absent_c\nimport its_own_op\n",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    monkeypatch.setattr(repositories, "folder", lambda recipe: folder)
    return folder


def test_what_loading_a_script_imports_is_asked_for_and_what_may_never_be_imported_is_not(checkout):
    (recipe,) = toynet(checkout="toynet").recipes

    found = imports.packages(recipe, Command(argv=("{python}", "{checkout}/tools/train.py", "--epochs=1")))

    assert found == {"numpy", "easydict", "visualdl", "its_own_op"}
    (checkout / "tools" / "train.py").write_text("print 'of Python 2'\n")
    assert imports.packages(recipe, Command(argv=("{python}", "-m", "nets.resnet"))) == found - {"numpy"}


def test_an_image_is_asked_once_and_what_it_lacks_is_named(checkout, tmp_path, monkeypatch, capsys):
    (tmp_path / "spec.toml").write_text(SPEC)
    docker = tmp_path / "bin" / "docker"
    docker.parent.mkdir()
    docker.write_text(
        f'#!/bin/sh\necho "$*" | grep -o lab/paddle:1 >>"$0.asked"\n'
        f'until [ "$1" = python3 ]; do shift; done; shift; echo Welcome; exec {sys.executable} "$@"\n'
    )
    docker.chmod(0o755)
    monkeypatch.setenv("PATH", str(docker.parent), prepend=":")

    code = cli.main(["doctor", "--spec", str(tmp_path / "spec.toml"), "--json"])

    (check,) = json.loads(capsys.readouterr().out)["checks"]
    assert (code, check["state"]) == (Exit.USAGE, "missing")
    assert docker.with_name("docker.asked").read_text() == "lab/paddle:1\n"
    assert "lab/paddle:1 lacks easydict, its_own_op, visualdl" in check["detail"]
    docker.write_text("#!/bin/sh\nexit 125\n")
    assert cli.main(["doctor", "--spec", str(tmp_path / "spec.toml"), "--lang", "zh"]) == Exit.DONE
    assert "无法查询 lab/paddle:1" in capsys.readouterr().out
