"""Making environments, with a stand-in for uv that needs no network and no framework."""

import hashlib
import os
import platform
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from evalsuite.contracts.adapter import Command, Recipe
from evalsuite.launch import campaign
from evalsuite.launch.provision import installer, recipe_locks, virtualenvs
from evalsuite.launch.provision.installer import CannotInstall
from evalsuite.plan import plan
from evalsuite.plan.spec import Spec
from tests import sources, toys

# What the stand-in does is steered by files beside it: `fails` holds the word of the command that is to fail,
# `locks` the answer to each resolution, `seen` collects the command lines.
UV = sources.text("virtualenvs_uv.py.in")
HASHES = " --hash=sha256:a0 --hash=sha256:a1\n"


class Uv:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.program = sources.program(folder / "uv", UV.replace("{python}", sys.executable))
        self.locks("toynet==1.0\n")

    def locks(self, *answers: str) -> None:
        (self.folder / "locks").write_text("---\n".join(answers))

    def fails_at(self, word: str) -> None:
        (self.folder / "fails").write_text(word)

    def mended(self) -> None:
        (self.folder / "fails").unlink()

    @property
    def seen(self) -> list[str]:
        file = self.folder / "seen"
        return file.read_text().splitlines() if file.exists() else []


@pytest.fixture
def uv(tmp_path, monkeypatch):
    (tmp_path / "uv").mkdir()
    uv = Uv(tmp_path / "uv")
    monkeypatch.setattr(installer, "uv_program", lambda: str(uv.program))
    monkeypatch.setattr(installer, "_pip_config_list", lambda: "")
    monkeypatch.setenv("EVALSUITE_CACHE", str(tmp_path / "cache"))
    return uv


def toynet(**changes) -> Recipe:
    facts = {
        "name": "train",
        "model": "toy",
        "dialect": "pytorch_examples",
        "command": lambda case: Command(argv=("{python}",)),
        "requirements": ("toynet==1.0",),
        "python": f"{sys.version_info.major}.{sys.version_info.minor}",
        "import_name": "json",  # every interpreter has it
        "package": "toynet",
    }
    return Recipe(**{**facts, **changes})


# Making


def test_an_environment_is_made_once_of_what_was_resolved_and_then_only_used(uv):
    uv.locks("toynet==1.0\nleft-pad==2.1\n")
    python = virtualenvs.ensure(toynet())
    calls = len(uv.seen)

    assert virtualenvs.ensure(toynet()) == python and python.exists()
    assert len(uv.seen) == calls
    assert (python.parents[1] / "requirements.lock").read_text() == "toynet==1.0\nleft-pad==2.1\n".replace("\n", HASHES)
    assert any("install" in line and line.endswith("requirements.lock") for line in uv.seen)


def test_other_pins_python_device_or_variables_of_a_build_make_another_environment_and_the_same_share_one(uv):
    recipe, pins = toynet(requirements_gpu=("toynet-gpu==1.0",)), ("toynet==1.0", "numpy==1.26.4")
    asked = [(recipe, "cpu"), (recipe, "gpu"), (toynet(requirements=("toynet==1.1",)), "cpu")]
    asked += [(toynet(python="3.8"), "cpu"), (toynet(), "gpu"), (toynet(built=("horovod==0.28.1",)), "cpu")]
    alike = [toynet(requirements=pins), toynet(name="other", requirements=pins)]

    assert len({virtualenvs.folder_of(*question) for question in asked}) == 6
    assert len({virtualenvs.folder_of(each, "cpu") for each in alike}) == 1

    recipe = toynet(built=("horovod==0.28.1",), build_environment={"A": "1"}, build_environment_gpu={"B": "NCCL"})
    plain = toynet(built=("horovod==0.28.1",), build_environment={"A": "1"})

    assert recipe.variables_of_build("cpu") == {"A": "1"}
    assert recipe.variables_of_build("gpu") == {"A": "1", "B": "NCCL"}
    assert virtualenvs.folder_of(recipe, "cpu") == virtualenvs.folder_of(plain, "cpu")
    assert virtualenvs.folder_of(recipe, "gpu") != virtualenvs.folder_of(plain, "gpu")


def test_a_failed_install_says_why_and_the_next_attempt_starts_clean(uv):
    uv.fails_at("install")
    with pytest.raises(CannotInstall) as error:
        virtualenvs.ensure(toynet())
    assert virtualenvs.existing(toynet()) is None
    uv.mended()

    virtualenvs.ensure(toynet())

    assert "installing toynet==1.0: the installer failed with exit status 1" in error.value.reason
    assert error.value.last_lines[-1] == "error: no such distribution"
    assert virtualenvs.existing(toynet()).pins == ("toynet==1.0",)


@pytest.mark.parametrize(("fails_at", "recipe", "said"), sources.table("virtualenvs.toml")["no_environment"])
def test_what_cannot_be_installed_or_imported_is_no_environment_and_says_why(uv, fails_at, recipe, said):
    uv.fails_at(fails_at or "nothing")

    with pytest.raises(CannotInstall) as error:
        virtualenvs.ensure(toynet(**recipe))

    assert said in str(error.value) and "secret" not in str(error.value)
    assert virtualenvs.existing(toynet(**recipe)) is None


def test_every_pinned_package_is_imported_and_one_that_fails_is_named_with_what_it_says(uv, tmp_path, monkeypatch):
    (tmp_path / "torchtoy.py").write_text("raise RuntimeError('operator torchtoy::nms does not exist')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    uv.locks("toynet==1.0\ntorchtoy==2.0\n")
    said = []

    virtualenvs.ensure(
        toynet(requirements=("toynet==1.0", "torchtoy==2.0")), progress=lambda line: said.append(str(line))
    )

    (named,) = [line for line in said if "cannot be imported" in line]
    assert "torchtoy is installed" in named and "RuntimeError: operator torchtoy::nms does not exist" in named


MIXED, PAIR = (f"torch==2.13.0+cpu\ntorchvision==0.28.0{build}\n" for build in ("", "+cpu"))


def test_a_torchvision_for_cuda_beside_a_torch_for_cpus_is_imported_by_every_script(uv):
    uv.locks(MIXED, MIXED)
    said = []

    python = virtualenvs.ensure(toynet(requirements=("torch==2.13.0", "torchvision==0.28.0")), progress=said.append)

    assert not [line for line in said if "cannot be imported" in line]
    assert subprocess.run([python, "-c", "import torchvision"]).returncode == 0


def test_what_was_left_half_made_or_has_lost_its_interpreter_is_made_anew(uv):
    half_made = virtualenvs.folder_of(toynet(), "cpu")
    (half_made / "bin").mkdir(parents=True)
    (half_made / "rubbish").write_text("from a killed attempt")

    python = virtualenvs.ensure(toynet())

    assert python.is_relative_to(half_made)
    assert not (half_made / "rubbish").exists()
    python.unlink()
    python.symlink_to("/nowhere/python3")
    assert virtualenvs.ensure(toynet()) == python and python.exists()


def test_two_at_once_make_one(uv):
    threads = [threading.Thread(target=virtualenvs.ensure, args=(toynet(),)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sum(line.startswith("venv") for line in uv.seen) == 1


def test_environments_of_a_plan_are_made_side_by_side_and_one_that_fails_skips_its_own_cases(monkeypatch):
    both = threading.Barrier(2, timeout=60)

    def ensure(recipe, device, progress):
        both.wait()
        if recipe is broken:
            raise CannotInstall("no such pin")
        return Path(sys.executable)

    monkeypatch.setattr(virtualenvs, "ensure", ensure)
    monkeypatch.setattr(virtualenvs, "packages", lambda recipe, kind, device: {})
    adapters = {name: toys.toynet(name) for name in ("toynet", "othernet")}
    broken = adapters["othernet"].recipes[0]
    asked = Spec(frameworks=tuple(adapters), scales=((1, 1), (1, 2)))
    made = plan.plan(asked, adapters, plan.Machine(cores=4, accelerators=0, device="cpu"))

    ready = campaign.environments(made, "managed", lambda line: None)

    assert [name for name, _ in ready.pythons] == ["toynet"]
    assert [skip.case.framework for skip in ready.skips] == ["othernet"] * 2


def test_progress_is_told_as_it_comes_without_the_chatter_of_uv(uv):
    told = []

    virtualenvs.ensure(toynet(), progress=told.append)

    assert told[0] == f"making the environment of toynet==1.0 for Python {toynet().python}"
    assert "Downloading toynet (1.0KiB)" in told and "Resolved 1 package" not in told
    assert told[-1].endswith("MB")


# CUDA builds


CUDA, OF_CPU = "torch==2.13.0\nnvidia-cublas==13.0\n", "torch==2.13.0+cpu\n"


@pytest.mark.parametrize(("device", "lock"), [("cpu", OF_CPU), ("gpu", CUDA)])
def test_a_cuda_build_is_not_installed_for_a_cpu_but_the_cpu_build_is_asked_for(uv, device, lock):
    uv.locks(CUDA, OF_CPU)

    python = virtualenvs.ensure(toynet(), device=device)

    assert (python.parents[1] / "requirements.lock").read_text() == lock.replace("\n", HASHES)
    assert any("--torch-backend cpu" in line for line in uv.seen) is (device == "cpu")


@pytest.mark.parametrize(("given", "made"), [((MIXED, PAIR), PAIR), ((PAIR,), PAIR), ((MIXED, None), MIXED)])
def test_a_torchvision_for_cuda_is_not_put_beside_a_cpu_build_of_torch_where_its_like_can_be_had(uv, given, made):
    uv.locks(*filter(None, given))
    (uv.folder / "no_cpu_build").touch() if None in given else None

    python = virtualenvs.ensure(toynet())

    assert (python.parents[1] / "requirements.lock").read_text() == made.replace("\n", HASHES)


@pytest.mark.parametrize(("device", "kind", "locks"), [("cpu", "CUDA", (CUDA, CUDA)), ("gpu", "CPU", (OF_CPU,))])
def test_where_only_a_build_for_the_other_kind_of_device_can_be_had_nothing_is_installed(uv, device, kind, locks):
    uv.locks(*locks)

    with pytest.raises(CannotInstall, match=f"answer with a {kind} build"):
        virtualenvs.ensure(toynet(), device=device)

    assert not any("install" in line.split() for line in uv.seen)


# Locks


@pytest.fixture
def locked(uv, monkeypatch, tmp_path):
    """Writes the lock of a recipe, and gives what is asked for and where it is."""
    monkeypatch.setattr(recipe_locks, "SERVED", (platform.system(), platform.machine()))

    def lock(recipe, device="cpu"):
        wanted = virtualenvs.wanted_of(replace(recipe, brought_by=tmp_path), device)
        recipe_locks.write_lock(wanted)
        return wanted

    return lock


def test_an_environment_with_a_lock_holds_what_the_lock_names_and_a_run_records_its_hash(uv, locked):
    uv.locks("toynet==1.0\nleft-pad==2.1\n")
    recipe = toynet(built=("Horo_vod==0.28.1",), without_dependencies=("glue==0.1",), off_index=("APEX",))
    wanted = locked(recipe)
    resolved = len(uv.seen)

    python = virtualenvs.ensure(wanted.recipe)

    text = wanted.file.read_text()
    assert [line.split()[-2] for line in uv.seen[:resolved] if "--no-deps" in line] == ["--no-deps"]  # glue alone
    assert f"left-pad==2.1{HASHES}" in text and f"Horo_vod==0.28.1{HASHES}" in text
    assert "# by hand, on no package index: APEX\n" in text
    assert virtualenvs.lock_of(python) == hashlib.sha256(text.encode()).hexdigest()
    installs = [line for line in uv.seen[resolved:] if "install" in line.split()]
    assert not any("compile" in line for line in uv.seen[resolved:])
    assert all("--no-deps --require-hashes" in line for line in installs)
    files = [Path(line.split()[-1]) for line in installs]
    expected = [["toynet", "left-pad"], ["Horo_vod"], ["glue"]]
    assert [[line.split("==")[0] for line in file.read_text().splitlines()] for file in files] == expected


def test_another_lock_makes_another_environment_and_one_from_before_its_lock_is_used_and_says_so(uv, locked):
    before = virtualenvs.ensure(locked(toynet()).recipe)
    uv.locks("toynet==1.0\nleft-pad==2.2\n")
    recipe = locked(toynet()).recipe

    assert virtualenvs.ensure(recipe) != before
    old = toynet(requirements=("toynet==1.1",))
    python = virtualenvs.ensure(old)
    uv.locks("toynet==1.1\n")
    assert virtualenvs.ensure(locked(old).recipe) == python
    assert virtualenvs.lock_of(python) is None
    assert virtualenvs.existing(old).lock is None


def test_pytorchs_index_is_asked_for_the_cpu_build_that_a_lock_names_and_for_nothing_else(uv, locked):
    uv.locks(PAIR + "toynet==1.0\n")
    recipe = locked(toynet()).recipe
    (uv.folder / "no_cpu_build").touch()

    virtualenvs.ensure(recipe)

    asked = [Path(line.split()[-1]).read_text() for line in uv.seen if "--torch-backend" in line]
    assert asked == [PAIR.replace("\n", HASHES)]


def test_a_lock_and_pins_that_disagree_are_seen_and_what_no_index_hashes_is_not_locked(uv, locked):
    wanted = locked(toynet())
    assert recipe_locks.find_mistakes(wanted) == []
    wanted.file.write_text(wanted.file.read_text().replace("toynet==1.0", "toynet==1.0.1"))

    assert recipe_locks.find_mistakes(wanted) == ["toynet==1.0"]
    with pytest.raises(CannotInstall, match="unhashed: got no hash"):
        locked(toynet(without_dependencies=("unhashed",)))


# The machine's pip configuration

LISTING = sources.text("virtualenvs_listing.txt")


def test_pips_settings_are_said_in_uvs_variables_and_a_more_special_place_or_uv_itself_wins(uv, monkeypatch):
    monkeypatch.setattr(installer, "_pip_config_list", lambda: LISTING)
    for name in ("SSL_CERT_FILE", *(name for name in os.environ if name.startswith("UV_"))):
        monkeypatch.delenv(name, raising=False)

    variables = installer.uv_variables()

    assert {name: variables[name] for name in variables if name.startswith("UV_")} == {
        "UV_DEFAULT_INDEX": "https://install.example/simple",
        "UV_INDEX": "https://one.example/simple https://two.example/simple",
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "UV_FIND_LINKS": "/opt/wheels,/more",
        "UV_PYTHON_DOWNLOADS": "never",
    }
    monkeypatch.setenv("UV_DEFAULT_INDEX", "https://mine.example/simple")
    assert installer.uv_variables()["UV_DEFAULT_INDEX"] == "https://mine.example/simple"


# The current interpreter


def test_packages_and_version_are_those_installed_or_those_of_the_interpreter_at_hand(uv):
    virtualenvs.ensure(toynet())
    assert virtualenvs.packages(toynet(), "managed", "cpu") == {"toynet": "1.0"}
    assert virtualenvs.packages(toynet(), "current", "cpu")["pytest"] == pytest.__version__

    recipe = toynet(package="toynet-cpu", requirements_gpu=("Toy_Net.GPU==1.0",))
    assert virtualenvs.framework_version(recipe, {"toynet-cpu": "1.0"}) == "1.0"
    assert virtualenvs.framework_version(recipe, {"toy-net-gpu": "1.1"}) == "1.1"
    assert virtualenvs.framework_version(recipe, {"numpy": "2.0"}) is None

    assert virtualenvs.current(toynet()) == virtualenvs.current(toynet(import_name="")) == Path(sys.executable)
    with pytest.raises(CannotInstall, match="it fails in the current interpreter"):
        virtualenvs.current(toynet(import_name="toynet_absent"))
