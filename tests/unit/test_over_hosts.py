"""The engine that is made of a list of hosts: what it reads, and what it starts."""

import json
import os
import signal
import subprocess
import sys
import zlib
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest

from evalsuite import cli
from evalsuite.agent import rendezvous
from evalsuite.core import paths
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.placeholders import Node, port_of
from evalsuite.launch import fault_attribution, programs
from evalsuite.launch.remote import ssh as over_ssh
from evalsuite.machine import interfaces
from evalsuite.machine.sensors import system
from evalsuite.plan import containers, hosts, over_hosts
from evalsuite.plan.commandline import command_line
from evalsuite.plan.hosts import Host
from tests import sources
from tests.processes import soon
from tests.toys import CASE, toynet

TWO = replace(CASE, nodes=2, devices_per_node=8)
HOSTS = hosts.from_words("gpu01:8,me@gpu02:8,gpu03:4")


def test_fit_hosts_start_runs_in_the_container_that_was_asked_for():
    engine = over_hosts.engine(HOSTS, over_hosts.TRANSPORTS["ssh"], handed={})
    inside = replace(engine, container=containers.here("docker"))

    fit = inside.limited_to(["gpu03", "gpu02"])

    assert (fit.nodes, fit.container) == (("gpu03", "gpu02"), inside.container)


def test_a_list_or_a_host_file_of_open_mpi_or_mpich_gives_hosts_with_their_devices(tmp_path):
    expected = [("a", "a", None), ("me@b", "b", 8)]
    assert [(host.address, host.name, host.devices) for host in hosts.from_words(" a, me@b:8 ")] == expected

    (tmp_path / "hosts").write_text("# rack 1\ngpu01 slots=8 max_slots=8\n\ngpu02:4 # slow\nme@gpu03\n")
    found = hosts.from_file(tmp_path / "hosts")
    assert [(host.name, host.devices) for host in found] == [("gpu01", 8), ("gpu02", 4), ("gpu03", None)]


@pytest.mark.parametrize(("content", "said"), sources.cases("over_hosts.toml")["unreadable"])
def test_a_host_file_that_cannot_be_read_is_named(tmp_path, content, said):
    file = tmp_path / "hosts"
    if content is not None:
        file.write_bytes(content.encode("latin-1"))

    with pytest.raises(EvalsuiteError, match="expected") as error:
        hosts.from_file(file)

    assert str(file) in str(error.value) and said in str(error.value)


def line_via(name: str, case=TWO, **ways) -> str:
    ways = over_hosts.Ways(**ways)
    engine = over_hosts.engine(HOSTS, over_hosts.TRANSPORTS[name], handed={"NCCL_DEBUG": "INFO"}, ways=ways)
    line = command_line(
        toynet().recipes[0], case, python="py", folder=Path("/runs/c/r0"), engine=engine, timeout_s=60
    ).engine
    return " ".join(line).replace(sys.executable, "PYTHON")


PORT = port_of(zlib.crc32(b"/runs/c/r0"))
HANDED = (
    "env NCCL_DEBUG=INFO EVALSUITE_NODES=2 EVALSUITE_HOSTS=gpu01,gpu02 EVALSUITE_MASTER_ADDR=gpu01 "
    f"EVALSUITE_MASTER_PORT={PORT} PYTHON -m evalsuite sample -o /runs/c/r0 "
)


def test_over_ssh_and_hydra_the_hosts_follow_the_list_with_every_variable_in_words():
    assert line_via("ssh").startswith(f"PYTHON -m evalsuite doctor --hosts gpu01,me@gpu02 -- {HANDED}")

    start = "mpiexec.hydra -launcher ssh -iface eth1 -hosts gpu01,me@gpu02 -n 2 -ppn 1 -bind-to none "
    assert line_via("hydra", interface="eth1").startswith(start + HANDED)

    line = line_via("ssh", replace(CASE, nodes=1))
    assert "EVALSUITE_NODES=1 EVALSUITE_HOSTS=gpu01 PYTHON" in line and "MASTER" not in line

    assert rendezvous.host({"PMI_RANK": "1", "PMI_SIZE": "2", "EVALSUITE_HOSTS": "gpu01,gpu02"}) == "gpu02"

    ports = [port_of(zlib.crc32(f"/runs/c/r{repeat}".encode())) for repeat in (0, 1, 0)]
    assert ports[0] == ports[2] != ports[1]


@pytest.mark.parametrize(
    ("name", "interface"), [("openmpi4", "--mca oob_tcp_if_include"), ("openmpi5", "--prtemca prte_if_include")]
)
def test_over_open_mpi_each_host_is_a_part_of_the_line_with_its_rank(name, interface):
    line = line_via(name, interface="eth1", root=True)

    first, _, second = line.partition(" : ")
    option = interface.partition(" ")[0]
    alive = " ".join(f"{option} oob_tcp_keepalive_{what}" for what in ("time 10", "intvl 5", "probes 3"))
    assert first.startswith(
        f"mpirun --allow-run-as-root --bind-to none {alive} {interface} eth1 -np 1 --host gpu01:1 "
        f"env EVALSUITE_NODE_RANK=0 EVALSUITE_HOST=gpu01 {HANDED}"
    )
    assert second.startswith(f"-np 1 --host me@gpu02:1 env EVALSUITE_NODE_RANK=1 EVALSUITE_HOST=gpu02 {HANDED}")
    assert line.count("--bind-to") == 1  # Open MPI 5 refuses the line where it stands twice


def test_the_ssh_of_hydra_gives_up_and_what_the_user_asks_of_it_goes_first():
    ways = over_hosts.Ways(ssh_options="-o ConnectTimeout=60")
    engine = over_hosts.engine(HOSTS, over_hosts.TRANSPORTS["hydra"], handed={}, ways=ways)

    said = engine.variables["HYDRA_LAUNCHER_EXTRA_ARGS"]

    assert said.startswith("-o ConnectTimeout=60 -o BatchMode=yes -o ConnectTimeout=10 ")


@pytest.mark.parametrize(
    ("nodes", "devices", "said"),
    [(4, 1, "--hosts names 3"), (3, 8, "8 devices a node and gpu03 has fewer"), (2, 8, None)],
)
def test_a_case_that_the_hosts_cannot_serve_is_refused(nodes, devices, said):
    engine = over_hosts.engine(HOSTS, over_hosts.TRANSPORTS["ssh"], handed={})

    why = engine.refusal(replace(CASE, nodes=nodes, devices_per_node=devices))

    assert (why is None) if said is None else (said in why)


def test_what_is_handed_over_changes_the_training_and_holds_no_secret():
    given = {"NCCL_DEBUG": "INFO", "AWS_SECRET_KEY": "s", "HOME": "/root", "OMP_NUM_THREADS": "4", "PATH": "/bin"}

    variables = programs.forwarded_variables(given)

    assert {name for name in variables if name in given} == {"NCCL_DEBUG", "OMP_NUM_THREADS", "PATH"}
    assert variables["EVALSUITE_INTERFACE"] == "auto"


def test_a_plan_over_hosts_is_not_judged_by_this_machine(capsys):
    words = ("--frameworks", "pytorch", "--models", "resnet50_v1.5", "--scales", "1x1,1x8,2x8", "--json")

    cli.main(["plan", *words, "--hosts", "gpu01:8,gpu02:8"])

    planned = json.loads(capsys.readouterr().out)
    expected = [("1x1", True), ("1x8", True), ("2x8", True)]
    assert [(case["scale"], "-gpu-" in case["id"]) for case in planned["cases"]] == expected
    assert not planned["skips"]


# the fan-out itself, on this machine


def fan_out(tmp_path, *argv: str, names: str = "localhost") -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", "evalsuite", "doctor", "--hosts", names, "--", *argv],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(paths.PACKAGE.parent), "EVALSUITE_SSH": "false"},
        stdout=subprocess.PIPE,
        text=True,
    )


def test_every_word_reaches_the_host_as_it_is_and_its_words_stand_behind_its_name(tmp_path):
    process = fan_out(tmp_path, "sh", "-c", "echo $EVALSUITE_NODE_RANK at $EVALSUITE_HOST in $PWD; exit 7")
    said, _ = process.communicate()
    assert (said, process.returncode) == (f"localhost: 0 at localhost in {tmp_path}\n", 7)

    line = over_ssh.ssh_line(Host(address="b"), Path("/a b"), ["echo", "it's $HOME", ""], ["ssh"])
    assert line[-3:-1] == ["--", "b"]  # no option, whatever it begins with
    said = subprocess.run(["sh", "-c", f"printf '%s|' {line[-1]}"], capture_output=True, text=True).stdout
    assert said.endswith("evalsuite|/a b|echo|it's $HOME||")


def test_what_runs_is_asked_to_end_and_has_ended_when_we_have(tmp_path):
    process = fan_out(
        tmp_path, "sh", "-c", "trap 'echo ended in order; kill $!; exit 3' TERM; echo up; sleep 60 & wait"
    )
    assert process.stdout.readline() == "localhost: up\n"

    process.send_signal(signal.SIGTERM)
    said, _ = process.communicate(timeout=60)

    assert said == "localhost: ended in order\n"
    assert process.returncode == 128 + signal.SIGTERM


def test_what_runs_ends_when_the_fan_out_is_killed(tmp_path):
    process = fan_out(tmp_path, "sh", "-c", "trap 'touch ended; kill $!; exit' TERM; echo up; sleep 60 & wait")
    process.stdout.readline()

    process.kill()
    process.wait()

    assert soon(lambda: (tmp_path / "ended").exists())


def test_a_host_that_is_not_reached_is_named_and_the_others_are_ended(tmp_path, monkeypatch):
    ssh = sources.program(tmp_path / "ssh", "echo Host key verification failed. >&2\nexit 255")
    monkeypatch.setenv("EVALSUITE_SSH", str(ssh))
    said: list[str] = []

    assert over_ssh.run_on_hosts(hosts.from_words("localhost,b"), ["sleep", "60"], said.append) == 255
    assert fault_attribution.find_reason("\n".join(said)) == "b: Host key verification failed."
    assert any("error: b was not reached" in line and "Try: ssh b true" in line for line in said)


# what the launchers say


@pytest.mark.parametrize(("text", "reason"), sources.table("over_hosts.toml")["reasons"])
def test_a_reason_is_a_line_with_words_that_names_the_failure(text, reason):
    found = fault_attribution.find_reason(text)
    assert found.startswith(reason) and bool(reason) == bool(found)


# the network between them


def test_the_loopback_is_no_network_and_the_interface_that_was_asked_for_is_every_librarys(monkeypatch):
    place = Node(rank=0, nodes=2, master_port=1, hosts=("a", "b"))
    variables = interfaces.variables({"EVALSUITE_INTERFACE": "eth1", "GLOO_SOCKET_IFNAME": "ib0"}, place)
    assert variables["NCCL_SOCKET_IFNAME"] == "=eth1" and "GLOO_SOCKET_IFNAME" not in variables

    place = Node(rank=1, nodes=2, master_addr="127.0.0.1", master_port=1, hosts=("127.0.0.1", "b"))
    assert interfaces.variables({"EVALSUITE_INTERFACE": "auto"}, place) == {}
    assert interfaces.variables({}, place) == {}

    ours = {"lo": [mock.Mock(address="::1")], "ib0:1": [mock.Mock(address="127.0.0.1")]}
    monkeypatch.setattr(system, "read_psutil", lambda name: ours)
    assert interfaces.variables({"EVALSUITE_INTERFACE": "auto"}, place)["NCCL_SOCKET_IFNAME"] == "=ib0"
