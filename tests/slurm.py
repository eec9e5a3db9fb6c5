"""A Slurm cluster of two nodes on this machine: Debian's own slurmctld, slurmd and munged, on ports of their own. Both
nodes are this machine under two names (slurm.conf(5), "NodeHostname"), so a test sees the scheduler's real steps,
variables and signals, but no second machine's clock, disk or network."""

import contextlib
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil

from tests import sources
from tests.namespaces import Host

DAEMONS = ("munged", "slurmctld", "slurmd", "srun")
READY_S = 90

COMMON = sources.text("slurm.conf")
CONFIGURATION = (
    COMMON
    + """\
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={controller}
AuthInfo=socket={folder}/munge.socket
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
NodeName=n1 NodeHostname=localhost NodeAddr=127.0.0.1 Port={first} CPUs=2
NodeName=n2 NodeHostname=localhost NodeAddr=127.0.0.1 Port={second} CPUs=2
PartitionName=all Nodes=n1,n2 Default=YES State=UP
"""
)


def missing() -> str | None:
    """Why no cluster can be started here; None if one can."""
    absent = [name for name in DAEMONS if _program(name) is None]
    if absent:
        return f"no {', '.join(absent)}; on Debian: apt-get install slurm-wlm munge"
    return None if os.geteuid() == 0 else "Slurm's daemons take their tasks' user from root alone; this is not root"


@contextlib.contextmanager
def cluster() -> Iterator[dict[str, str]]:
    """The variables that make `srun` start steps in an allocation of both nodes, n1 and n2, as inside `salloc`. Raises
    RuntimeError if the cluster does not come up."""
    folder = Path(tempfile.mkdtemp(prefix="slurm-"))  # a socket's path may have 107 characters: not pytest's folder
    environment = {"SLURM_CONF": str(folder / "slurm.conf")}
    ports = dict(zip(("controller", "first", "second"), _free_ports(3), strict=True))
    for name in ("controller", "n1", "n2"):
        (folder / name).mkdir()
    (folder / "slurm.conf").write_text(CONFIGURATION.format(folder=folder, **ports))
    with _running(folder, _daemons(folder), environment):
        _wait(lambda: _idle_nodes(environment) == 2, folder)
        yield environment | {"SLURM_JOB_ID": _allocation(environment), "SLURM_JOB_NODELIST": "n[1-2]"}


@contextlib.contextmanager
def without_controller(environment: dict[str, str]) -> Iterator[None]:
    """The cluster's slurmctld dies, as by a fault of its host, and is started again afterwards."""
    (controller,) = [child for child in psutil.Process().children() if child.name() == "slurmctld"]
    words = controller.cmdline()
    controller.kill()
    controller.wait()
    try:
        yield
    finally:
        subprocess.Popen(words, env={**os.environ, **environment}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@contextlib.contextmanager
def _running(folder: Path, daemons: list[list[str]], environment: dict[str, str]) -> Iterator[None]:
    """*daemons*: munged first, for which all others wait. *folder* goes with them."""
    started: list[subprocess.Popen] = []
    try:
        for line in daemons:
            output = open(folder / f"{len(started)}.txt", "wb")  # noqa: SIM115 (it lives as long as the daemon)
            started.append(subprocess.Popen(line, env={**os.environ, **environment}, stdout=output, stderr=output))
            _wait(lambda: (folder / "munge.socket").exists(), folder)
        yield
    finally:
        for daemon in [*psutil.Process().children(), *reversed(started)]:  # also what was started again
            if daemon.pid in {each.pid for each in started} or daemon.name() == "slurmctld":
                daemon.terminate()
        for daemon in started:
            with contextlib.suppress(subprocess.TimeoutExpired):
                daemon.wait(10)
            daemon.kill()
        shutil.rmtree(folder, ignore_errors=True)


def _daemons(folder: Path) -> list[list[str]]:
    key = folder / "munge.key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o400)
    munged = [_program("munged"), "--foreground", "--force", f"--key-file={key}"]
    munged += [f"--{name}={folder}/munge.{name.split('-')[0]}" for name in ("socket", "pid-file", "seed-file")]
    nodes = [[_program("slurmd"), "-D", "-N", node] for node in ("n1", "n2")]
    return [munged, [_program("slurmctld"), "-D"], *nodes]


def _idle_nodes(environment: dict[str, str], enter: Callable[..., list[str]] = lambda *line: [*line]) -> int:
    """*enter*: what starts a command where the controller is."""
    line = enter("sinfo", "--noheader", "--Node", "--states=idle", "--format=%N")
    said = subprocess.run(line, env={**os.environ, **environment}, capture_output=True, text=True)
    return len(said.stdout.split()) if said.returncode == 0 else 0


def _allocation(environment: dict[str, str]) -> str:
    line = ["salloc", "--nodes=2", "--no-shell"]
    said = subprocess.run(line, env={**os.environ, **environment}, capture_output=True, text=True, timeout=READY_S)
    if not (granted := re.search(r"job allocation (\d+)", said.stderr)):
        raise RuntimeError(f"no allocation: {said.stderr}")
    return granted[1]


def _program(name: str) -> str | None:
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [socket.getsockname()[1] for socket in sockets]
    for one in sockets:
        one.close()
    return ports


def _wait(ready, folder: Path) -> None:
    deadline = time.monotonic() + READY_S
    while not ready():
        if time.monotonic() > deadline:
            said = "\n".join(file.read_text(errors="replace")[-500:] for file in folder.glob("*.txt"))
            raise RuntimeError(f"the cluster did not come up in {READY_S} s: {said}")
        time.sleep(0.1)


# on hosts of their own (tests/namespaces). A job that is requeued starts again no sooner than its old credential has
# expired: after two minutes, unless the configuration says less.

ON_HOSTS = (
    COMMON
    + """\
SlurmctldHost=ctl({controller})
AuthInfo=socket={folder}/munge.socket,cred_expire=20
SlurmdTimeout=10
MessageTimeout=5
{nodes}
PartitionName=all Nodes=ALL Default=YES State=UP
"""
)


@contextlib.contextmanager
def on_hosts(hosts: dict[str, Host]) -> Iterator[dict[str, str]]:
    """The variables with which `sbatch` and `srun` reach a cluster: its controller on ctl, a node on each other."""
    folder = Path(tempfile.mkdtemp(prefix="slurm-"))
    environment = {"SLURM_CONF": str(folder / "slurm.conf")}
    names = [name for name in hosts if name != "ctl"]
    lines = [f"NodeName={name} NodeHostname={name} NodeAddr={hosts[name].address} CPUs=2" for name in names]
    text = ON_HOSTS.format(folder=folder, controller=hosts["ctl"].address, nodes="\n".join(lines))
    (folder / "slurm.conf").write_text(text)
    for name in ("controller", *names):
        (folder / name).mkdir()
    munged, controller, *_ = _daemons(folder)
    daemons = [munged, hosts["ctl"].enter(*controller)]
    daemons += [hosts[name].enter(_program("slurmd"), "-D", "-N", name) for name in names]
    with _running(folder, daemons, environment):
        _wait(lambda: _idle_nodes(environment, hosts["ctl"].enter) == len(names), folder)
        yield environment
