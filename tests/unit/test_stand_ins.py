"""Stand-ins for accelerators: programs for the Pythons of frameworks, tried here without any framework."""

import ast
import importlib.util
import os
import subprocess
import sys
import sysconfig
from types import ModuleType, SimpleNamespace

import pytest

from evalsuite.core import paths
from tests import sources

STAND_INS = paths.ADAPTERS / "stand_ins"
PROGRAMS = sorted(STAND_INS.rglob("*.py"))


def imported(monkeypatch, path, name):
    """A module of the stand-ins, with its folder on the path."""
    monkeypatch.syspath_prepend(str(path))
    spec = importlib.util.spec_from_file_location(name, path / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def meta_path(monkeypatch):
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    return monkeypatch


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: str(program.relative_to(STAND_INS)))
def test_the_oldest_python_of_a_recipe_reads_every_stand_in(program):
    tree = ast.parse(program.read_text(encoding="utf-8"), feature_version=(3, 7))

    assert ast.get_docstring(tree), "says what it stands for"


def test_a_module_is_changed_right_after_its_import_and_one_that_is_there_already_at_once(tmp_path, meta_path):
    (tmp_path / "foreign.py").write_text("speed = 1\nat_import = speed\n")
    meta_path.syspath_prepend(str(tmp_path))
    hook = imported(meta_path, STAND_INS / "hook", "after_import")
    hook.after_import("foreign", lambda module: setattr(module, "speed", 2))

    import foreign

    assert (foreign.speed, foreign.at_import) == (2, 1)
    del sys.modules["foreign"]

    foreign = ModuleType("foreign")
    meta_path.setitem(sys.modules, "foreign", foreign)

    hook.after_import("foreign", lambda module: setattr(module, "speed", 2))

    assert foreign.speed == 2


def test_the_hook_starts_the_stand_ins_in_order_and_then_what_it_hides(tmp_path, meta_path):
    for name in ("second", "first"):
        (tmp_path / f"stand_in_{name}.py").write_text(f"import started\nstarted.names.append({name!r})\n")
    (tmp_path / "sitecustomize.py").write_text("import started\nstarted.names.append('hidden')\n")
    started = ModuleType("started")
    started.names = []
    meta_path.setitem(sys.modules, "started", started)
    meta_path.syspath_prepend(str(tmp_path))
    meta_path.setenv("EVALSUITE_STAND_INS", "first,packages_alone,second")

    imported(meta_path, STAND_INS / "hook", "sitecustomize")

    assert started.names == ["first", "second", "hidden"]


class Device:
    def __init__(self, name):
        self.type = name


@pytest.mark.parametrize(
    ("device", "place"),
    [("cuda", "cpu"), ("cuda:1", "cpu"), (3, "cpu"), ("meta", "meta"), (None, None), (False, False)],
)
def test_an_accelerator_is_the_cpu_and_anything_else_itself(monkeypatch, device, place):
    torch = ModuleType("torch")
    torch.device = Device

    assert imported(monkeypatch, STAND_INS / "torch", "torch_devices").on_cpu(torch, device) == place


@pytest.mark.parametrize(("variables", "number"), sources.table("stand_ins.toml")["visible"])
def test_a_process_sees_what_is_visible_or_what_the_launcher_started(monkeypatch, variables, number):
    for name in ("CUDA_VISIBLE_DEVICES", "EVALSUITE_STAND_IN_DEVICES", "LOCAL_WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    assert imported(monkeypatch, STAND_INS / "torch", "torch_cuda").devices() == number


def test_dali_has_its_names_and_makes_no_pipeline(monkeypatch):
    monkeypatch.syspath_prepend(str(STAND_INS / "dali"))
    for name in [name for name in sys.modules if name.split(".")[0] == "nvidia"]:
        monkeypatch.delitem(sys.modules, name)
    from nvidia.dali import types
    from nvidia.dali.pipeline import Pipeline

    with pytest.raises(RuntimeError, match="synthetic"):
        Pipeline(batch_size=2)

    assert types.FLOAT == "FLOAT"


def test_a_download_that_is_named_is_answered_from_its_file(tmp_path, meta_path):
    (tmp_path / "vocab.txt").write_text("[PAD]\n")
    requests = ModuleType("requests")
    requests.Session = type("Session", (), {"get_adapter": lambda self, url: "the network"})
    requests.adapters = SimpleNamespace(BaseAdapter=object)
    requests.models = SimpleNamespace(Response=SimpleNamespace)
    requests.structures = SimpleNamespace(CaseInsensitiveDict=dict)
    meta_path.setitem(sys.modules, "requests", requests)
    meta_path.setenv("EVALSUITE_DOWNLOADS", f"https://example.org/v.txt={tmp_path}/vocab.txt")
    meta_path.syspath_prepend(str(STAND_INS / "hook"))
    imported(meta_path, STAND_INS / "downloads", "stand_in_downloads")

    here, there = (
        requests.Session().get_adapter(url) for url in ("https://example.org/v.txt", "https://example.org/other")
    )
    answer = here.send(SimpleNamespace(url="https://example.org/v.txt"))

    assert (answer.status_code, answer.raw.read(), answer.headers["Content-Length"]) == (200, b"[PAD]\n", "6")
    assert there == "the network"


def test_what_is_compiled_is_for_the_python_that_runs_and_nvcc_says_its_version(monkeypatch):
    monkeypatch.setenv("PATH", os.environ["PATH"])
    imported(monkeypatch, STAND_INS / "python_config", "stand_in_python_config")
    asked = subprocess.run(["python3-config", "--extension-suffix"], capture_output=True, text=True, check=True)
    assert asked.stdout.strip() == sysconfig.get_config_var("EXT_SUFFIX")

    monkeypatch.setenv("CUDA_HOME", "")
    imported(monkeypatch, STAND_INS / "nvcc", "stand_in_nvcc")
    said = subprocess.run([f"{os.environ['CUDA_HOME']}/bin/nvcc", "-V"], capture_output=True, text=True, check=True)
    assert "release 11.0," in said.stdout  # megatron/fused_kernels/__init__.py reads the word after "release"
