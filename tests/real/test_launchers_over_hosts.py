"""Each launcher's own program over played hosts of two ranks each: what every process is told of its place. The node
agent of each host starts it, as an evaluation does; no framework trains (tests/real/test_clusters.py)."""

import itertools
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from adapters import deepspeed, elasticdl
from adapters.common import launchers
from evalsuite.core import paths, placeholders
from evalsuite.core.model import Case
from tests import mpi_launchers, namespaces, sources

NAMES = ("a", "b", "c")
OF_TORCH = ("RANK", "WORLD_SIZE", "MASTER_ADDR")
OF_PADDLE = ("PADDLE_TRAINER_ID", "PADDLE_TRAINERS_NUM", "PADDLE_MASTER")
OF_PADDLE_2020 = ("PADDLE_TRAINER_ID", "PADDLE_TRAINERS_NUM", "PADDLE_TRAINER_ENDPOINTS")
OF_MPI = ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "")
OF_HOROVOD = ("HOROVOD_RANK", "HOROVOD_SIZE", "HOROVOD_GLOO_RENDEZVOUS_ADDR")


@dataclass(frozen=True, kw_only=True)
class Started:
    words: Callable[[Case], tuple[str, ...]] = lambda case: ()
    needs: str = ""  # the module, in an environment of the cache; "": in none
    spawn: str = "per_node"  # as of a recipe
    tells: tuple[str, ...] = ()  # to the probe


STARTED = {
    "torchrun": Started(words=launchers.torchrun, needs="torch", tells=OF_TORCH),
    "torch.distributed.launch": Started(words=launchers.torch_launch, needs="torch", tells=OF_TORCH),
    "paddle.distributed.launch": Started(words=launchers.paddle_launch, needs="paddle", tells=OF_PADDLE),
    "paddle.distributed.launch of 1.8": Started(
        words=launchers.paddle_launch_2020, needs="paddlepaddle==1.8.5", tells=OF_PADDLE_2020
    ),
    "oneflow.distributed.launch": Started(words=launchers.oneflow_launch, needs="oneflow==0.9.0", tells=OF_TORCH),
    "msrun": Started(words=launchers.msrun, needs="mindspore", tells=("RANK_ID", "MS_WORKER_NUM", "MS_SCHED_HOST")),
    "mpirun": Started(words=launchers.mpirun, spawn="once", tells=OF_MPI),
    "horovodrun": Started(words=launchers.horovodrun, needs="horovod==0.28.1", spawn="once", tells=OF_HOROVOD),
    "horovodrun by MPI": Started(
        words=lambda case: launchers.horovodrun(case, "mpi"), needs="horovod==0.28.1", spawn="once", tells=OF_MPI
    ),
    "deepspeed": Started(
        words=lambda case: tuple(
            itertools.takewhile(lambda word: "pretrain" not in word, deepspeed.ADAPTER.recipes[0].command(case).argv)
        ),
        needs="deepspeed==0.3.1",
        spawn="once",
        tells=OF_TORCH,
    ),
    "bfrun": Started(words=launchers.bfrun, needs="bluefog==0.3.0", spawn="once", tells=OF_MPI),
    "the agent for each device": Started(spawn="per_device", tells=OF_TORCH),
}


SOURCES = {  # their launchers are Python, and need nothing of what their wheels compile: name and version → its program
    "horovod==0.28.1": ("horovodrun", "horovod.runner.launch", "run_commandline"),
    "bluefog==0.3.0": ("bfrun", "bluefog.run.run", "main"),
    "deepspeed==0.3.1": ("deepspeed", "deepspeed.launcher.runner", "main"),
    "oneflow==0.9.0": ("oneflow", "oneflow.distributed.launch", "main"),
    "paddlepaddle==1.8.5": ("paddle", "paddle.distributed.launch", "launch"),
}
NEEDED = ("setuptools==65.5.0", "wheel==0.45.1", "six==1.17.0", "cloudpickle==3.1.1", "psutil==6.1.1", "PyYAML==6.0.2")
# in place of an extension, which horovodrun asks for it
BUILT = "def gloo_built():\n    return True\n\n\nmpi_built = gloo_built\n"
DEVICES = "import os\n\n\ndef {name}():\n    return len(os.environ['CUDA_VISIBLE_DEVICES'].split(','))\n"
INSTEAD = {  # of what the launchers import and do not start, by file
    "horovod": {"horovod/torch/__init__.py": BUILT},
    "bluefog": {"bluefog/torch/__init__.py": BUILT},
    "deepspeed": {
        "deepspeed/__init__.py": "",
        "deepspeed/utils/__init__.py": "from .logging import logger\n",
        "torch/__init__.py": "from torch import cuda, version\n\n__version__ = '1.6.0'\n",
        "torch/cuda.py": DEVICES.format(name="device_count") + "\n\ndef is_available():\n    return False\n",
        "torch/distributed.py": "",
        "torch/version.py": "cuda = '10.2'\n",
        "torch/utils/cpp_extension.py": "class BuildExtension:\n    with_options = classmethod(lambda own, **_: own)\n",
        "../../../bin/pdsh": sources.text("launchers_pdsh.py.in"),  # where this machine has none
    },
    "oneflow": {"oneflow/__init__.py": ""},
    "paddlepaddle": {
        "paddle/__init__.py": "",
        "paddle/fluid/__init__.py": "from paddle.fluid import core\n",
        "paddle/fluid/core.py": DEVICES.format(name="get_cuda_device_count"),
    },
}


def of_source(wanted: str) -> str | None:
    """The Python of an environment with that launcher, unpacked if need be; None where it cannot be had."""
    name, _, version = wanted.partition("==")
    place, (program, module, function) = paths.cache() / "tests" / f"{name}-{version}", SOURCES[wanted]
    python, script = place / "bin" / "python", place / "bin" / program
    if script.exists():
        return str(python)
    shutil.rmtree(place, ignore_errors=True)
    if subprocess.run([sys.executable, "-m", "venv", place]).returncode:
        return None
    packages = next(place.glob("lib/python3*/site-packages"))
    sources.lay(packages, INSTEAD[name])
    wheel = name in ("oneflow", "paddlepaddle")
    how = ("--only-binary", ":all:", "--python-version", "3.8") if wheel else ("--no-binary", name)
    source = ("download", "-q", "--no-deps", "--no-build-isolation", *how, "-d", place, wanted)
    for words in (("install", "-q", *NEEDED), source):
        if subprocess.run([python, "-m", "pip", *words], capture_output=True).returncode:
            return None
    if wheel:
        with zipfile.ZipFile(file := next(place.glob("*.whl"))) as archive:
            archive.extractall(packages, [each for each in archive.namelist() if "/distributed/" in each])
        file.unlink()  # OneFlow's is of 1 GB
    else:
        shutil.unpack_archive(place / f"{name}-{version}.tar.gz", place, filter="data")
        kept = shutil.ignore_patterns("torch") if name != "deepspeed" else None
        shutil.copytree(place / f"{name}-{version}" / name, packages / name, dirs_exist_ok=True, ignore=kept)
    for file, text in INSTEAD[name].items():
        (packages / file).write_text(text)
        (packages / file).chmod(0o755)
    start = f'#!{python}\nfrom {module} import {function}\n\nif __name__ == "__main__":\n    {function}()\n'
    sources.program(script, start)
    return str(python)


def interpreter(module: str) -> str | None:
    """That of an environment that holds *module*, of Python 3.10 or newer if there is one; None if none does."""
    if module in SOURCES:
        return of_source(module)
    folders = [*(paths.cache() / "environments").glob("*/"), *(paths.cache() / "tests").glob("*/")]
    held = sorted(place for each in folders for place in each.glob(f"lib/python3.1*/site-packages/{module}"))
    held = held or sorted(place for each in folders for place in each.glob(f"lib/python3.*/site-packages/{module}"))
    return str(held[0].parents[3] / "bin" / "python") if held else None


def agents(reached, hosts: int, how: Started, python: str, folder: Path) -> list[subprocess.Popen]:
    """The node agents of the first *hosts*, as the engine hosts starts them."""
    known, config = reached
    for host in known.values():  # for the ssh of horovodrun
        subprocess.run(host.enter("mount", "--bind", str(config), "/etc/ssh/ssh_config"), check=True)
    case = Case(framework="f", recipe="r", model="m", nodes=hosts, devices_per_node=2, batch_per_device=1, device="gpu")
    (folder / "seen").mkdir(parents=True)
    (folder / "probe.py").write_text(sources.text("launchers_probe.py.in"))
    told = {"{python}": python, "{bin}": str(Path(python).parent), "{scratch}": str(folder)}
    launcher = how.words(case)
    starts_it = {"{python}", "{bin}", "{bin}/deepspeed"} & {*launcher}  # the script itself, by Python
    python_too = () if starts_it else ("{python}",)
    words = (*launcher, *python_too, str(folder / "probe.py"), str(folder / "seen"), *how.tells)
    argv = [placeholders.fill(word, told) for word in words]
    first = "first" if how.spawn == "once" else "all"
    own = ("--processes", "2") if how.spawn == "per_device" else ()
    line = ("sample", "-o", str(folder / "run"), "--for-run", first, *own, "--device", "gpu", "--devices-per-node", "2")
    meeting = {"EVALSUITE_NODES": str(hosts), "EVALSUITE_HOSTS": ",".join(NAMES[:hosts])}
    meeting |= {"EVALSUITE_MASTER_ADDR": NAMES[0], "EVALSUITE_MASTER_PORT": "23456", "EVALSUITE_INTERFACE": "auto"}
    variables = {**mpi_launchers.variables(config), **meeting}
    variables["PATH"] = f"{os.environ['PATH']}:{Path(python).parent}"  # of pdsh
    return [
        namespaces.evalsuite(
            *(known[name], folder, *line, "--share", "--timeout", "100", "--", *argv),
            **{**variables, "EVALSUITE_NODE_RANK": str(rank), "EVALSUITE_HOST": name},
        )
        for rank, name in enumerate(NAMES[:hosts])
    ]


@pytest.mark.parametrize("hosts", [2, 3])
@pytest.mark.parametrize("name", STARTED)
def test_every_process_has_its_own_rank_on_its_host_and_all_meet_on_the_first(reached, tmp_path, name, hosts):
    how = STARTED[name]
    if (python := interpreter(how.needs) if how.needs else sys.executable) is None:
        pytest.skip(f"no {how.needs} in the cache")

    started = agents(reached, hosts, how, python, tmp_path)
    ended = [(process.communicate(timeout=150)[0], process.returncode) for process in started]
    logs = "".join(file.read_text() for file in tmp_path.glob("run/log.*"))

    seen = sorted(json.loads(file.read_text()) for file in (tmp_path / "seen").iterdir())
    assert [code for _, code in ended] == [0] * hosts, f"{ended}\n{logs}"
    ranks = {int(rank): host for host, rank, *_ in seen}
    assert sorted(ranks) == list(range(hosts * 2)), f"{seen}\n{logs}"
    assert {int(count) for _, _, count, *_ in seen} == {len(ranks)}
    assert ranks == {rank: NAMES[rank // 2] for rank in ranks}
    places = {(place or "").partition(":")[0] for *_, place, _ in seen}
    assert places <= {"", NAMES[0], reached[0][NAMES[0]].address}
    assert {visible for *_, visible in seen} == {"0,1"}


@pytest.mark.parametrize(("phase", "code"), [("Succeeded", 0), ("Failed", 1)])
def test_the_logs_of_elasticdl_s_pods_are_followed_to_their_end_and_the_pods_go_with_the_run(tmp_path, phase, code):
    for name in ("kubectl", "elasticdl"):
        sources.program(tmp_path / name, sources.text("launchers_kubectl.sh"))
    case = Case(
        framework="elasticdl", recipe="r", model="m", nodes=1, devices_per_node=2, batch_per_device=1, device="cpu"
    )
    argv = [
        placeholders.fill(word, {"{bin}": str(tmp_path)}) for word in elasticdl.ADAPTER.recipes[0].command(case).argv
    ]
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "PHASE": phase}
    asked = {}
    for run in ("r0", "r1"):
        (tmp_path / run).mkdir()
        ended = subprocess.run(argv, cwd=tmp_path / run, env=environment, capture_output=True, text=True)
        asked[run] = (tmp_path / run / "asked").read_text().splitlines()

        assert (ended.returncode, ended.stdout.count("step 1")) == (code, 2)

    client, *_, last = asked["r0"]
    names = {run: lines[0].partition("--job_name=")[2] for run, lines in asked.items()}
    assert client.startswith("elasticdl train")
    assert last == f"kubectl delete pods,services -l elasticdl-job-name={names['r0']} --timeout=60s"
    assert names["r0"] != names["r1"]
