import json

import pytest

from evalsuite import cli
from evalsuite.core.errors import Exit
from evalsuite.launch.checks import doctor
from evalsuite.launch.checks.nodes import Check
from evalsuite.launch.programs import Program
from evalsuite.launch.provision import virtualenvs
from evalsuite.machine import environment as machine
from tests import sources
from tests.toys import toynet

GHOST = Program(name="no-such-program-anywhere", purpose="nothing", remedy="apt install nothing")


@pytest.fixture
def program_on_path(tmp_path, monkeypatch):
    """Puts a shell script of that name and text on the PATH."""

    def put(name, text):
        sources.program(tmp_path / name, text)
        monkeypatch.setenv("PATH", str(tmp_path), prepend=":")

    return put


def test_a_program_has_its_version_or_the_way_to_get_it_and_a_client_without_its_server_is_broken(program_on_path):
    program_on_path("tool", "echo tool 1.2")

    missing = doctor.program(GHOST, "engines")
    check = doctor.program(Program(name="tool", purpose="", remedy=""), "tools")

    assert (missing.state, missing.remedy) == ("missing", "apt install nothing")
    assert (check.state, check.detail.split(" (")[0]) == ("ok", "tool 1.2")

    program_on_path("tool", "[ $1 = --version ]")
    tool = Program(name="tool", purpose="", remedy="", alive=("tool", "ping"), dead="nobody answers")
    check = doctor.program(tool, "x")
    assert check.state == "broken" and "nobody answers" in check.detail


@pytest.mark.parametrize(
    ("made", "python", "state", "detail", "remedy"), sources.cases("doctor.toml")["a_framework_is_ready_will"]
)
def test_a_framework_is_ready_will_be_installed_or_lacks_its_python(
    monkeypatch, tmp_path, made, python, state, detail, remedy
):
    environment = virtualenvs.Environment(
        folder=tmp_path, pins=("toy==1.0",), device="cpu", size_bytes=1, packages={"toy": "1.0"}
    )
    monkeypatch.setattr(virtualenvs, "existing", lambda recipe, device: environment if made else None)
    monkeypatch.setattr(doctor, "_python_found", lambda version: version == "3.11")
    adapter = toynet(requirements=("toy==1.0",), package="toy", python=python)

    check = doctor.framework(adapter, adapter.recipes[0], "cpu")

    assert check.state == state
    assert detail in (check.detail, check.detail.split(" (")[0], "") and remedy in (check.remedy or "")


@pytest.mark.parametrize(("compiles", "absent"), [("exit 1", ["mpicc + mpi.h"]), ("echo int", [])])
def test_an_mpicc_without_its_header_is_absent(program_on_path, compiles, absent):
    machine.output.cache_clear()
    program_on_path("mpicc", compiles)

    assert machine.absent(["mpicc"]) == absent


def test_a_folder_that_can_be_made_is_writable_and_nvidia_cards_are_counted_on_the_bus(tmp_path):
    (tmp_path / "runs").write_text("")

    assert doctor.folder("runs", tmp_path / "a" / "b", "").state == "ok"
    assert not (tmp_path / "a").exists()
    assert doctor.folder("runs", tmp_path / "runs", "").state == "broken"
    assert doctor.folder("cache", tmp_path, "", room_bytes=1 << 70).state == "broken"

    for name, vendor, kind in (("a", "0x10de", "0x030200"), ("b", "0x10de", "0x040300"), ("c", "0x8086", "0x030000")):
        device = tmp_path / "sys/bus/pci/devices" / name
        device.mkdir(parents=True)
        (device / "vendor").write_text(vendor + "\n")
        (device / "class").write_text(kind + "\n")

    assert doctor.nvidia_cards(tmp_path) == 1


@pytest.mark.parametrize(("state", "ready"), [("ok", True), ("later", True), ("missing", False)])
def test_a_machine_is_ready_with_a_framework_and_a_folder(state, ready):
    runs = Check(group="folders", name="runs", state="ok", detail="")
    framework = Check(group="frameworks", name="toynet", state=state, detail="")

    assert doctor.ready([runs, framework]) is ready


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_the_command_prints_every_check(capsys, monkeypatch, options):
    found = [Check(group="engines", name="srun", state="missing", detail="not here", remedy="apt install slurm-client")]
    monkeypatch.setattr(doctor, "checks", lambda runs, folders: found)

    code = cli.main(["doctor", *options])

    printed = capsys.readouterr().out
    assert code == Exit.USAGE  # no framework: not ready
    assert "apt install slurm-client" in printed
    if options:
        assert json.loads(printed)["checks"][0]["name"] == "srun"


@pytest.mark.parametrize(
    ("looks", "wait_s", "said"),
    [
        ([{}], 9.0, ["is quiet"]),
        ([{"stress": 1.5}, {"stress": 0.4}, {}], 9.0, ["(stress): waiting up to 9 s", "is quiet"]),
        ([{"stress": 1.5}], 0.0, ["not quiet"]),
    ],
)
def test_this_machine_is_looked_at_first_and_waited_for_a_stated_while(monkeypatch, looks, wait_s, said):
    left = iter(looks)
    monkeypatch.setattr(doctor.nodes, "busy_programs", lambda: next(left))
    monkeypatch.setattr(doctor.Cpu, "percent", lambda cpu: 2.0)
    monkeypatch.setattr(doctor.pitfalls, "clocks", lambda devices, root: ())
    monkeypatch.setattr(doctor, "LOOK_EVERY_S", 0.0)
    told: list[str] = []

    doctor.await_quiet(told.append, wait_s)

    assert len(told) == len(said) and all(words in line for words, line in zip(said, told, strict=True))
