import re
import subprocess
from dataclasses import replace

import pytest

from evalsuite.errors import EvalsuiteError
from evalsuite.launch import images
from evalsuite.plan import containers
from evalsuite.plan.containers import RUNTIMES, Wish
from tests import goldens

COMMAND = ("python3", "/models/train.py", "--rank", "{node_rank}", "--note", "two words")
WISH = Wish(
    image="nvcr.io/nvidia/pytorch:20.03-py3",
    folder="/runs/case/r0",
    workdir="/runs/case/r0/scratch",
    readable=("/models", "/data sets"),
    environment=("HOROVOD_CYCLE_TIME",),
    gpus=True,
    infiniband=True,
    user="1000:1000",
)


@pytest.mark.parametrize("name", RUNTIMES)
def test_the_prefix_of_a_runtime_is_the_one_that_was_read_and_found_right(name):
    found = "".join(f"{shown(word)}\n" for word in RUNTIMES[name].wrap(WISH, COMMAND))

    assert found == goldens.expected(f"containers/{name}.txt", found)


def shown(word):
    """One line, or one for each name where a word is a long list of them."""
    return re.sub(r"(?<=,)(?=[A-Z])|(?= [A-Z][A-Z_]+)", "\n    ", word) if len(word) > 100 else word


@pytest.mark.parametrize("name", RUNTIMES)
def test_the_command_stands_whole_at_the_end(name):
    wrapped = RUNTIMES[name].wrap(WISH, COMMAND)

    assert wrapped[-len(COMMAND) :] == COMMAND


@pytest.mark.parametrize("name", RUNTIMES)
def test_a_machine_without_gpus_and_infiniband_asks_for_neither(name):
    plain = " ".join(RUNTIMES[name].wrap(replace(WISH, gpus=False, infiniband=False), COMMAND))

    assert not any(word in plain for word in ("--gpus", "--nv ", "nvidia.com/gpu", "DEVICES=all", "/dev/infiniband"))


@pytest.mark.parametrize("name", RUNTIMES)
def test_ranks_and_the_recipe_s_own_variables_reach_the_container(name):
    wrapped = " ".join(RUNTIMES[name].wrap(WISH, COMMAND))

    assert all(variable in wrapped for variable in ("MASTER_ADDR", "LOCAL_RANK", "HOROVOD_CYCLE_TIME"))


def test_apptainer_gets_the_values_that_are_known_on_the_node(tmp_path):
    stand_in = tmp_path / "apptainer"
    stand_in.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\nenv | grep ^APPTAINERENV_\n')
    stand_in.chmod(0o755)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "MASTER_ADDR": "gpu03", "CUDA_VISIBLE_DEVICES": "0,1 $x"}

    argv = RUNTIMES["apptainer"].wrap(WISH, COMMAND)
    said = subprocess.run(argv, env=environment, capture_output=True, text=True, check=True).stdout.splitlines()

    assert sorted(line for line in said if line.startswith("APPTAINERENV_")) == [
        "APPTAINERENV_CUDA_VISIBLE_DEVICES=0,1 $x",
        "APPTAINERENV_MASTER_ADDR=gpu03",
    ]
    assert said[said.index("docker://nvcr.io/nvidia/pytorch:20.03-py3") + 1 :][: len(COMMAND)] == list(COMMAND)
    assert "/data sets:/data sets:ro" in said


def test_an_image_file_of_apptainer_is_taken_as_it_is():
    wrapped = RUNTIMES["apptainer"].wrap(replace(WISH, image="/images/pytorch.sif"), COMMAND)

    assert "/images/pytorch.sif" in wrapped
    assert not any(token.startswith("docker://") for token in wrapped)


def test_the_digest_is_what_the_runtime_tells(tmp_path):
    stand_in = tmp_path / "docker"
    stand_in.write_text("#!/bin/sh\necho nvcr.io/nvidia/pytorch@sha256:abc nvcr.io/other@sha256:def\n")
    stand_in.chmod(0o755)

    told = images.digest(RUNTIMES["docker"], WISH.image, {"PATH": f"{tmp_path}:/usr/bin:/bin"})

    assert told == "nvcr.io/nvidia/pytorch@sha256:abc"
    assert images.digest(RUNTIMES["enroot"], WISH.image) is None


def test_an_unknown_runtime_gets_the_known_ones_and_the_nearest():
    with pytest.raises(EvalsuiteError, match="Did you mean docker"):
        containers.runtime("doker")
