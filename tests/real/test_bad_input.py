"""What a recipe needs may be missing, changed or broken: its cases say why, and the rest of the matrix goes on."""

import json
import zipfile

import pytest

from evalsuite import cli
from evalsuite.core.errors import Exit
from evalsuite.core.messages import from_json
from tests import sources
from tests.unit.test_checkouts import git

ADAPTER = sources.text("bad_input_adapter.py.in")
MODULES = {"goodnet": "", "brokennet": "raise OSError('libcudart.so.12: cannot open shared object file')",
           "crashnet": "import os, signal\ndef crash():\n    os.kill(os.getpid(), signal.SIGSEGV)"}  # fmt: skip


def wheel(folder, name, source):
    """A distribution of one module, as pip installs it."""
    folder.mkdir(exist_ok=True)
    about = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as archive:
        archive.writestr(f"{name}.py", source)
        archive.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{about}/RECORD", "")


def adapter(folder, name, module="goodnet", more=""):
    folder.mkdir(exist_ok=True)
    text = ADAPTER.format(name=name, module=module, more=f'requirements=("{module}==1.0",), {more}')
    (folder / f"{name}.py").write_text(text)


@pytest.fixture
def lab(tmp_path, monkeypatch):
    """A folder with adapters, a package index of three wheels, and a cache of its own."""
    monkeypatch.setenv("EVALSUITE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    for name, source in MODULES.items():
        wheel(tmp_path / "wheels", name, source)
    return tmp_path


def compared(lab, *frameworks, more=()):
    """The exit code of one evaluation of *frameworks* and, by framework, why its case has no value."""
    line = ["compare", "--models", "toy", "--recipe", "official", "--device", "cpu", "--scales", "1x1"]
    line += ["--quiet-rounds", "0"]
    line += ["--frameworks", ",".join(frameworks), "--repeats", "1", "--steps", "5+20"]
    code = cli.main(
        [*line, "--adapters", str(lab / "adapters"), *more, "--runs", str(lab / "runs"), "--out", str(lab / "report")]
    )
    plan = json.loads((lab / "runs" / "plan.json").read_text())
    reasons = {skip["case"]["framework"]: from_json(skip["reason"]) for skip in plan["skips"]}
    for file in (lab / "runs").glob("*/r0/outcome.json"):
        case = json.loads((file.parent / "case.json").read_text())
        reasons[case["framework"]] = from_json(json.loads(file.read_text())["reason"])
    return code, reasons


def repository(lab, name):
    """A clone in the mirror and its entry in the adapters' own repositories.toml."""
    clone = lab / "mirror" / f"lab+{name}"
    clone.mkdir(parents=True)
    git(clone, "init", "--quiet")
    (clone / "train.py").write_text("print('official')\n")
    git(clone, "add", ".")
    git(clone, "commit", "--quiet", "-m", "first")
    with open(lab / "adapters" / "repositories.toml", "a") as file:
        file.write(f'[{name}]\nrepository = "https://host.invalid/lab/{name}"\nlicence = "MIT"\n')
        file.write(f'commit = "{git(clone, "rev-parse", "HEAD")}"\n')


def test_missing_and_changed_repositories_are_skips_and_the_rest_is_measured(lab, capsys):
    for name in ("missing", "dirty", "whole"):
        adapter(lab / "adapters", name, more=f'checkout="{name}"')
        repository(lab, name)
    place = ["--mirror", str(lab / "mirror"), "--adapters", str(lab / "adapters")]
    cli.main(["env", "repositories", "dirty", "whole", *place])
    next((lab / "cache" / "repositories").glob("dirty-*/train.py")).write_text("print('faster')\n")

    code, reasons = compared(lab, "missing", "dirty", "whole")

    assert code == Exit.DONE
    assert "run `evalsuite env repositories missing`" in reasons["missing"]
    assert "has changes (train.py), so it is no longer the official script" in reasons["dirty"]
    assert reasons["whole"] == ""


def test_environments_that_fail_and_frameworks_that_do_not_import_are_skips(lab):
    adapter(lab / "adapters", "absentnet", module="absentnet")
    adapter(lab / "adapters", "brokennet", module="brokennet")
    adapter(lab / "adapters", "goodnet")

    code, reasons = compared(lab, "absentnet", "brokennet", "goodnet")

    assert code == Exit.DONE
    assert "resolving absentnet==1.0: the installer failed" in reasons["absentnet"]
    assert "absentnet was not found" in reasons["absentnet"]
    assert "libcudart.so.12: cannot open shared object file" in reasons["brokennet"]
    assert reasons["goodnet"] == ""


def test_a_framework_that_crashes_while_it_trains_is_a_failed_run_with_its_signal(lab):
    adapter(lab / "adapters", "crashnet", module="crashnet")
    adapter(lab / "adapters", "goodnet")

    code, reasons = compared(lab, "crashnet", "goodnet")

    assert code == Exit.SOME_FAILED
    assert reasons == {"crashnet": "ended by SIGSEGV", "goodnet": ""}


DOCKER = sources.text("bad_input_docker.sh")


def test_an_image_that_cannot_be_pulled_is_a_failed_run_with_the_runtime_s_words(lab, monkeypatch):
    sources.program(lab / "bin" / "docker", DOCKER)
    monkeypatch.setenv("PATH", f"{lab / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv("PYTHONPATH", str(lab / "site"))
    (lab / "site").mkdir()
    (lab / "site" / "goodnet.py").write_text("")
    adapter(lab / "adapters", "absent", more='image="lab/absent:1"')
    adapter(lab / "adapters", "good", more='image="lab/good:1"')

    code, reasons = compared(lab, "absent", "good", more=("--container", "docker"))

    page = (lab / "report" / "report.html").read_text()
    assert code == Exit.SOME_FAILED
    assert reasons["good"] == ""
    assert "Unable to find image 'lab/absent:1' locally" in reasons["absent"]
    assert "pull access denied for lab/absent" in page
