"""A built wheel carries the whole house under one name, and works away from the checkout."""

import hashlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from evalsuite import cli

ROOT = Path(__file__).resolve().parents[2]


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
        "source evalsuite; COMP_WORDS=(evalsuite $1); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); "
        "_shtab_evalsuite; echo ${COMPREPLY[@]}"
    )

    found = [
        subprocess.run(["bash", "-c", ask, "-", words], cwd=tmp_path, capture_output=True, text=True).stdout.split()
        for words in ("comp", "plan --mod", "env lock --ch")
    ]

    assert set(pages) == {"evalsuite", "evalsuite.fish", "_evalsuite", "evalsuite.1"}
    assert found == [["compare"], ["--models"], ["--check"]]
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


def test_two_builds_from_two_copies_are_the_same_bytes(tmp_path):
    built = [_built_copy(tmp_path / name, mtime_s, umask) for name, mtime_s, umask in
             (("one", 1_000_000_000, 0o022), ("two", 1_500_000_000, 0o027))]  # fmt: skip

    assert built[0] == built[1]


def _built_copy(folder, mtime_s, umask):
    """The hash of the wheel made of a copy of the checkout whose files have that time and mode."""
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, text=True, check=True)
    kept = ("evalsuite/", "adapters/", "templates/", "data/", "tools/", "pyproject.toml", "README.md", "LICENSE")
    for name in filter(None, listed.stdout.split("\0")):
        if name.startswith(kept):
            copy = folder / "source" / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes((ROOT / name).read_bytes())
            copy.chmod(0o666 & ~umask)
            os.utime(copy, (mtime_s, mtime_s))
    line = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, folder / "source"]
    subprocess.run(line, check=True, env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}, umask=umask)
    return hashlib.sha256(next(folder.glob("evalsuite-*.whl")).read_bytes()).hexdigest()
