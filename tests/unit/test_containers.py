import re
import subprocess
from dataclasses import replace

import pytest

from evalsuite.contracts.adapter import Command
from evalsuite.core.errors import EvalsuiteError
from evalsuite.launch import fault_attribution, runner
from evalsuite.plan import containers, data_sets, engines, repositories
from evalsuite.plan.commandline import command_line
from evalsuite.plan.containers import RUNTIMES, Wish, with_images
from evalsuite.runs.store import RunFolder
from tests import goldens, sources
from tests.toys import CASE, toynet

COMMAND = ("python3", "/models/train.py", "--rank", "{node_rank}", "--note", "two words")
WISH = Wish(
    image="nvcr.io/nvidia/pytorch:20.03-py3", folder="/runs/case/r0", workdir="/runs/case/r0/scratch",
    readable=("/models", "/data sets"), environment=("HOROVOD_CYCLE_TIME",), gpus=True, infiniband=True,
    user="1000:1000",
)  # fmt: skip


@pytest.mark.parametrize("name", RUNTIMES)
def test_the_prefix_of_a_runtime_is_the_one_that_was_read_and_found_right(name):
    found = "".join(f"{shown(word)}\n" for word in RUNTIMES[name].wrap(WISH, COMMAND))

    assert found == goldens.expected(f"containers/{name}.txt", found)


def shown(word):
    """One line, or one for each name where a word is a long list of them."""
    return re.sub(r"(?<=,)(?=[A-Z])|(?= [A-Z][A-Z_]+)", "\n    ", word) if len(word) > 100 else word


@pytest.mark.parametrize("name", RUNTIMES)
def test_command_ranks_and_variables_reach_the_container_and_gpus_only_where_they_are_wished_for(name):
    wrapped = RUNTIMES[name].wrap(WISH, COMMAND)
    plain = " ".join(RUNTIMES[name].wrap(replace(WISH, gpus=False, infiniband=False), COMMAND))

    assert wrapped[-len(COMMAND) :] == COMMAND
    assert all(variable in " ".join(wrapped) for variable in ("MASTER_ADDR", "LOCAL_RANK", "HOROVOD_CYCLE_TIME"))
    assert not any(word in plain for word in ("--gpus", "--nv ", "nvidia.com/gpu", "DEVICES=all", "/dev/infiniband"))


def test_apptainer_gets_the_values_that_are_known_on_the_node(tmp_path):
    sources.program(tmp_path / "apptainer", 'printf "%s\\n" "$@"\nenv | grep ^APPTAINERENV_')
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "MASTER_ADDR": "gpu03", "CUDA_VISIBLE_DEVICES": "0,1 $x"}

    argv = RUNTIMES["apptainer"].wrap(WISH, COMMAND)
    said = subprocess.run(argv, env=environment, capture_output=True, text=True, check=True).stdout.splitlines()

    expected = ["APPTAINERENV_CUDA_VISIBLE_DEVICES=0,1 $x", "APPTAINERENV_MASTER_ADDR=gpu03"]
    assert sorted(line for line in said if line.startswith("APPTAINERENV_")) == expected
    assert said[said.index("docker://nvcr.io/nvidia/pytorch:20.03-py3") + 1 :][: len(COMMAND)] == list(COMMAND)
    assert "/data sets:/data sets:ro" in said


def test_a_runtime_takes_image_user_and_node_as_they_are_given():
    wrapped = RUNTIMES["apptainer"].wrap(replace(WISH, image="/images/pytorch.sif"), COMMAND)
    assert "/images/pytorch.sif" in wrapped
    assert not any(token.startswith("docker://") for token in wrapped)

    def prefix(user):
        return RUNTIMES["podman"].wrap(replace(WISH, user=user), COMMAND)

    assert "keep-id" in prefix("1000:1000")
    assert "keep-id" not in prefix("0:0")
    assert "memlock=-1" not in prefix("1000:1000")  # a user may not raise it, and podman stops

    runtime = RUNTIMES["pyxis"]
    assert any("{host}" in word for word in runtime.wrap(WISH, COMMAND))
    assert not any("{host}" in word for word in runtime.alone(runtime.wrap(WISH, COMMAND)))


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """Puts a program of that name first on the PATH."""

    def put(name, text):
        sources.program(tmp_path / name, text)
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    return put


def test_digest_and_versions_are_what_the_runtime_tells(stand_in):
    stand_in("docker", "echo nvcr.io/nvidia/pytorch@sha256:abc nvcr.io/other@sha256:def")
    stand_in(
        "podman", """echo "Welcome to the image"\necho '{"distributions": {"torch": "2.3.0"}, "absent": ["apex"]}'"""
    )
    box = containers.here("podman")

    assert runner.image_digest(RUNTIMES["docker"], WISH.image) == "nvcr.io/nvidia/pytorch@sha256:abc"
    assert runner.image_digest(RUNTIMES["enroot"], WISH.image) is None
    assert runner.image_packages(box, "lab/net:1", ("apex", "torch")) == ({"torch": "2.3.0"}, ["apex"])
    stand_in("podman", "exit 125")
    assert runner.image_packages(box, "lab/net:2", ()) == ({}, None)


def test_only_data_that_a_script_reads_is_mounted(monkeypatch, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "imagenet").symlink_to(tmp_path / "elsewhere")
    monkeypatch.setenv("EVALSUITE_DATA", str(tmp_path))

    assert data_sets.folders(Command(argv=("{python}", "train.py"))) == []
    expected = [str(tmp_path), str(tmp_path / "elsewhere")]
    assert data_sets.folders(Command(argv=("train", "{data}/imagenet/train"))) == expected


def test_libraries_that_an_image_lacks_are_mounted_and_on_its_path(tmp_path):
    (recipe,) = toynet(
        image="lab/net:1",
        libraries=("dllogger",),
        command=lambda case: Command(argv=("{python}", "train.py"), environment={"PYTHONPATH": "{scratch}/own"}),
    ).recipes
    engine = replace(engines.ENGINES["local"], container=containers.here("docker"))

    line = command_line(recipe, CASE, python="python3", folder=tmp_path, engine=engine, timeout_s=1.0)
    (library,) = repositories.library_folders(recipe)

    assert line.environment["PYTHONPATH"].split(":") == [f"{tmp_path}/scratch/own", library]
    assert f"{library}:{library}:ro" in line.container and "PYTHONPATH" in line.container


@pytest.mark.parametrize("name", ["other", "other/{0}", "{0}"])
def test_an_image_is_given_to_all_recipes_or_to_those_of_a_framework_or_to_one(name):
    ours = {
        "toynet": toynet(),
        "other": replace(toynet("other"), recipes=(replace(toynet().recipes[0], name="second"),)),
    }

    given = with_images(ours, ["lab/all:1", f"{name.format('second')}=lab/one:2"])

    assert [given[name].recipes[0].image for name in ours] == ["lab/all:1", "lab/one:2"]
    assert with_images(ours, ["/images/a=b.sqfs"])["toynet"].recipes[0].image == "/images/a=b.sqfs"
    assert with_images(ours, []) == ours


@pytest.mark.parametrize(("word", "said"), sources.cases("containers.toml")["a_word_that_names_no"])
def test_a_word_that_names_no_image_and_an_unknown_runtime_are_refused(word, said):
    with pytest.raises(EvalsuiteError, match=said):
        with_images({"toynet": toynet()}, [word])
    with pytest.raises(EvalsuiteError, match="Did you mean docker"):
        containers.here("doker")
    with pytest.raises(EvalsuiteError, match="two images for one name"):
        with_images({"toynet": toynet()}, ["toynet=lab/a:1", "toynet=lab/b:1"])


@pytest.mark.parametrize(("name", "line"), sources.table("containers.toml")["reasons"])
def test_what_a_runtime_says_of_itself_is_the_reason_and_not_such_a_line_of_a_training(name, line, tmp_path):
    folder = RunFolder(tmp_path)
    folder.log_path("n1").write_text(f"Trying to pull …\n{line}\n")
    box = replace(containers.here("docker"), runtime=RUNTIMES[name])

    assert fault_attribution.find_container_fault(folder, box) == f"{name}: {line}"
    assert fault_attribution.find_container_fault(folder, None) is None
    folder.log_path("n1").write_text("step\n" * 40 + "Error: the loss is not finite\n")

    assert fault_attribution.find_container_fault(folder, box) is None
