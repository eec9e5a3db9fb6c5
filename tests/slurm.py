"""A Slurm cluster on hosts of their own (tests/namespaces): Debian's slurmctld, slurmd and munged, so that a test sees
the scheduler's real steps, variables and signals, but no second machine's clock or disk."""

import contextlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

from tests import namespaces, sources
from tests.namespaces import Host

DAEMONS = ("munged", "slurmctld", "slurmd", "srun")
READY_S = 90


def missing() -> str | None:
    """Why no cluster can be started here; None if one can."""
    absent = [name for name in DAEMONS if _program(name) is None]
    if absent:
        return f"no {', '.join(absent)}; on Debian: apt-get install slurm-wlm munge"
    if os.geteuid() != 0:
        return "Slurm's daemons take their tasks' user from root alone; this is not root"
    return namespaces.missing()


@contextlib.contextmanager
def on_hosts(hosts: dict[str, Host]) -> Iterator[dict[str, str]]:
    """The variables with which `sbatch` and `srun` reach a cluster: its controller on ctl, a node on each other."""
    folder = Path(tempfile.mkdtemp(prefix="slurm-"))
    environment = {"SLURM_CONF": str(folder / "slurm.conf")}
    names = [name for name in hosts if name != "ctl"]
    lines = [f"NodeName={name} NodeHostname={name} NodeAddr={hosts[name].address} CPUs=2" for name in names]
    text = sources.text("slurm.conf").format(folder=folder, controller=hosts["ctl"].address, nodes="\n".join(lines))
    (folder / "slurm.conf").write_text(text)
    for name in ("controller", *names):
        (folder / name).mkdir()
    (key := folder / "munge.key").write_bytes(os.urandom(1024))
    key.chmod(0o400)
    munged = [_program("munged"), "--foreground", "--force", f"--key-file={key}"]
    munged += [f"--{name}={folder}/munge.{name.split('-')[0]}" for name in ("socket", "pid-file", "seed-file")]
    daemons = [munged, hosts["ctl"].enter(_program("slurmctld"), "-D")]
    daemons += [hosts[name].enter(_program("slurmd"), "-D", "-N", name) for name in names]
    with _running(folder, daemons, environment):
        _wait(lambda: _idle_nodes(hosts["ctl"], environment) == len(names), folder)
        yield environment


@contextlib.contextmanager
def without_controller(host: Host, environment: dict[str, str]) -> Iterator[None]:
    """The cluster's slurmctld dies, as by a fault of its host, and is started again afterwards."""
    (controller,) = [child for child in psutil.Process().children() if child.name() == "slurmctld"]
    words = host.enter(*controller.cmdline())
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


def _idle_nodes(controller: Host, environment: dict[str, str]) -> int:
    line = controller.enter("sinfo", "--noheader", "--Node", "--states=idle", "--format=%N")
    said = subprocess.run(line, env={**os.environ, **environment}, capture_output=True, text=True)
    return len(said.stdout.split()) if said.returncode == 0 else 0


def _program(name: str) -> str | None:
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")


def _wait(ready, folder: Path) -> None:
    deadline = time.monotonic() + READY_S
    while not ready():
        if time.monotonic() > deadline:
            said = "\n".join(file.read_text(errors="replace")[-500:] for file in folder.glob("*.txt"))
            raise RuntimeError(f"the cluster did not come up in {READY_S} s: {said}")
        time.sleep(0.1)
