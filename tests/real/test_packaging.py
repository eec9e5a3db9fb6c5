"""A built wheel carries the whole house under one name, and works away from the checkout."""

import hashlib
import json
import os
import resource
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import markupsafe
import pytest
import yaml

import evalsuite
from evalsuite import cli
from tests import sources

ROOT = Path(__file__).resolve().parents[2]
LOG = ROOT / "tests" / "logs" / "deepspeed.log"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    line = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT)]
    subprocess.run(line, check=True)
    return next(folder.glob("evalsuite-*.whl"))


def names(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def test_the_wheel_installs_one_top_level_name_with_its_types_adapters_templates_and_data(wheel):
    tops = {name.split("/")[0] for name in names(wheel)}
    assert {top for top in tops if not top.endswith((".dist-info", ".data"))} == {"evalsuite"}
    parts = ("py.typed", "adapters/pytorch.py", "adapters/workloads/common.py", "templates/report.html.j2",
             "report/sections/verdict/verdict.html.j2", "data/specs/quick.toml", "data/glossary.csv")  # fmt: skip
    assert {f"evalsuite/{part}" for part in parts} <= set(names(wheel))


def test_the_wheel_brings_completions_that_complete_and_a_man_page_of_every_command(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        brought = [name for name in archive.namelist() if ".data/data/share/" in name]
        pages = {Path(name).name: archive.read(name).decode() for name in brought}
        (tmp_path / "evalsuite").write_text(pages["evalsuite"])
    ask = (
        "source ./evalsuite; COMP_WORDS=(evalsuite $1); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); "
        "_shtab_evalsuite; echo ${COMPREPLY[@]}"
    )

    found = [
        subprocess.run(["bash", "-c", ask, "-", words], cwd=tmp_path, capture_output=True, text=True).stdout.split()
        for words in ("comp", "plan --mod", "env lock --ad")
    ]

    assert set(pages) == {"evalsuite", "evalsuite.fish", "_evalsuite", "evalsuite.1"}
    assert found == [["compare"], ["--models"], ["--adapters"]]
    of_commands = pages["evalsuite.1"].replace("\\-", "-")
    assert [name for name in cli.COMMANDS if f"COMMAND \\fI\\,'evalsuite {name}'" not in of_commands] == []


def test_the_unpacked_wheel_plans_without_the_checkout(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    # -P and the clean PYTHONPATH keep the checkout and its editable install behind the unpacked wheel.
    program = (
        "import evalsuite, sys; from evalsuite import cli; print(evalsuite.__file__); sys.exit(cli.main(['plan']))"
    )

    done = subprocess.run(
        [sys.executable, "-P", "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "site")},
        capture_output=True,
        text=True,
    )

    assert done.returncode == 0, done.stderr
    assert str(tmp_path / "site") in done.stdout
    assert "paddlepaddle" in done.stdout


def test_an_editable_install_leaves_no_copy_that_would_grow_old(tmp_path):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv")], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    line = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", "-e", str(ROOT)]
    subprocess.run(line, check=True)
    program = (
        "from evalsuite.core import paths; print(paths.PACKAGE.parent, paths.ADAPTERS, paths.TEMPLATES, paths.DATA)"
    )

    seen = subprocess.run(
        [python, "-P", "-c", program],
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        capture_output=True,
        text=True,
    )

    assert seen.stdout.split() == [str(ROOT), *(str(ROOT / name) for name in ("adapters", "templates", "data"))]
    (site,) = (tmp_path / "venv" / "lib").glob("python3*/site-packages")
    installed = {file.name.partition("-")[0] for file in site.iterdir()}
    assert installed == {"_evalsuite.pth", "evalsuite"}
    assert not (site / "evalsuite").exists()


def test_two_builds_from_two_clones_are_the_same_bytes(tmp_path):
    built = [_built(tmp_path / name, umask) for name, umask in (("one", 0o022), ("two", 0o027))]

    sources.leave(
        "wheel", "tests/real/test_packaging.py -k two_builds", tried=2, bad=built[0] != built[1], hashes=built[0]
    )
    assert built[0] == built[1] and [name.rpartition(".")[2] for name in built[0]] == ["whl", "gz"]


def _built(folder, umask):
    """File → SHA-256 of the sdist made of a clone, and of the wheel that is made of this sdist."""
    subprocess.run(
        ["git", "clone", "--quiet", "--depth=1", f"file://{ROOT}", folder / "source"], check=True, umask=umask
    )
    line = [sys.executable, "-m", "build", "--no-isolation", "--outdir", folder / "dist", folder / "source"]
    subprocess.run(line, check=True, capture_output=True, umask=umask)
    files = sorted((folder / "dist").glob("evalsuite-*"))
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def test_parse_takes_little_time_and_place_and_no_library_but_markupsafe(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    shutil.copytree(Path(markupsafe.__file__).parent, tmp_path / "markupsafe")
    line = [sys.executable, "-S", "-P", "-m", "evalsuite", "parse", LOG]
    taken = []

    for _ in range(4):  # the first compiles
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(line, env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)

    assert (done.returncode, "samples/s" in done.stdout) == (0, True), done.stderr
    assert min(taken) < 0.4
    assert sum(file.stat().st_size for file in tmp_path.rglob("*") if file.is_file()) < 60e6


@pytest.mark.parametrize("front", [["uvx", "--from"], ["uvx", "pipx", "run", "--spec"]], ids=["uvx", "pipx"])
def test_one_line_runs_the_wheel_in_an_environment_of_its_own(front, wheel, tmp_path):
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    line = [Path(sys.executable).with_name(front[0]), *front[1:], wheel, "evalsuite", "parse", LOG]

    done = subprocess.run(line, cwd=tmp_path, env={**env, "HOME": str(tmp_path)}, capture_output=True, text=True)

    assert done.returncode == 0, done.stderr
    assert "samples/s" in done.stdout


def test_the_steps_of_the_containerfile_install_it_in_a_plain_folder(tmp_path):
    steps = [line.split(" ", 1) for line in (ROOT / "Containerfile").read_text("utf-8").splitlines() if line[0] != "#"]
    subprocess.run(["git", "clone", "--quiet", "--depth=1", f"file://{ROOT}", tmp_path / "source"], check=True)
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "image"], check=True)
    env = {**os.environ, "PATH": f"{tmp_path}/image/bin:{os.environ['PATH']}", "PYTHONPATH": ""}
    folder = tmp_path

    for word, rest in steps:
        if word == "WORKDIR":
            folder = tmp_path / rest.strip("/")
            folder.mkdir(exist_ok=True)
        elif word == "RUN":
            subprocess.run(rest, shell=True, cwd=folder, env=env, check=True)
    assert [steps[0][0], *(word for word, _ in steps if word in ("COPY", "ENTRYPOINT"))] == [
        "FROM",
        "COPY",
        "ENTRYPOINT",
    ]
    done = subprocess.run(
        [*json.loads(steps[-1][1]), "parse", LOG], cwd=folder, env=env, capture_output=True, text=True
    )
    assert done.returncode == 0 and "samples/s" in done.stdout


def test_a_release_is_built_for_the_tag_of_its_version_alone():
    jobs = yaml.safe_load((ROOT / ".github/workflows/publish.yml").read_text("utf-8"))["jobs"]
    check = next(step["run"] for step in jobs["build"]["steps"] if "GITHUB_REF_NAME" in step.get("run", ""))
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}

    ended = [
        subprocess.run(["bash", "-c", check], cwd=ROOT, env={**env, "GITHUB_REF_NAME": tag}).returncode
        for tag in (evalsuite.__version__, "9.9.9")
    ]

    assert ended == [0, 1]
    assert [name for name, job in jobs.items() if "id-token" in job.get("permissions", {})] == ["publish"]
