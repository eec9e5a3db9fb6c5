"""Hosts of their own on this machine: each with its own network, name and list of hosts, all on one switch. A host is a
process that holds three Linux namespaces (network, name, mounts); `Host.enter` starts a command in them. They share the
disk, the clock and the cores, and take no turns with each other. Nothing of it is seen outside: the switch is in a
namespace too, so that several tests may have such networks at the same time."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from evalsuite.agent import node_lock
from evalsuite.core import paths
from tests import processes

PROGRAMS = ("unshare", "nsenter", "ip")
NETWORK = "10.77.0"


@dataclass(frozen=True)
class Host:
    name: str
    address: str
    holder: subprocess.Popen
    switch: subprocess.Popen
    port: str  # its link's other end, on the switch

    def enter(self, *command: str, folder: Path | None = None) -> list[str]:
        """*command*, started on this host in *folder* (the root)."""
        there = ["env", f"--chdir={folder}"] if folder else []
        return ["nsenter", f"--target={self.holder.pid}", "--net", "--uts", "--mount", *there, *command]

    def die(self) -> None:
        """Kills every process on this host, and takes its link away."""
        self.end_all()
        self.cut_off()

    def end_all(self) -> None:
        """Kills every process on this host but the one that holds it."""
        for folder in self._processes():
            with contextlib.suppress(OSError):
                os.kill(int(folder.name), signal.SIGKILL)

    def running(self, words: str) -> list[str]:
        """The command lines with *words* in them of what runs on this host, but for the process that holds it."""
        return [found for folder in self._processes() if words in (found := processes.line(folder / "cmdline"))]

    def _processes(self) -> Iterator[Path]:
        ours = os.readlink(f"/proc/{self.holder.pid}/ns/net")
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if os.readlink(folder / "ns/net") == ours and int(folder.name) != self.holder.pid:
                    yield folder

    def cut_off(self) -> None:
        """Takes the host's link away: what is sent to it is lost."""
        subprocess.run(self.enter("ip", "link", "set", "eth0", "down"), check=True)

    def at_both_ends(self, script: str) -> None:
        """Runs *script* at either end of the host's link, with the interface's name as its $1."""
        for end, interface in ((self.holder, "eth0"), (self.switch, self.port)):
            _inside(end, script, interface)


def evalsuite(host: Host, folder: Path, *words: str, **variables: str) -> subprocess.Popen:
    """A command of ours on *host*, its standard error behind its output."""
    environment = {**os.environ, "PYTHONPATH": str(paths.PACKAGE.parent), "LC_ALL": "C", **variables}
    line = host.enter(sys.executable, "-m", "evalsuite", *words, folder=folder)
    return subprocess.Popen(line, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def missing() -> str | None:
    """Why no such hosts can be made here; None if they can."""
    absent = [name for name in PROGRAMS if shutil.which(name) is None]
    if absent:
        return f"no {', '.join(absent)}; on Debian: apt-get install util-linux iproute2"
    made = subprocess.run(["unshare", "--net", "--uts", "--mount", "true"], capture_output=True)
    return None if made.returncode == 0 else "namespaces cannot be made here (CAP_SYS_ADMIN is missing)"


@contextlib.contextmanager
def network(*names: str) -> Iterator[dict[str, Host]]:
    """The hosts *names*, each of which reaches all others by name."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hosts-")))
        lines = [f"{NETWORK}.{number} {name}" for number, name in enumerate(names, 1)]
        (folder / "hosts").write_text("\n".join(["127.0.0.1 localhost", *lines, ""]))
        switch = stack.enter_context(_holder())
        _inside(switch, "ip link add br0 type bridge && ip link set br0 up && ip link set lo up")
        found = {}
        for number, name in enumerate(names, 1):
            holder = stack.enter_context(_holder())
            _plug_in(switch, holder, number)
            _inside(holder, f"hostname {name} && mount --bind {folder / 'hosts'} /etc/hosts")
            _apart(holder, folder / f"measuring-{name}")
            address = f"{NETWORK}.{number}"
            found[name] = Host(name=name, address=address, holder=holder, switch=switch, port=f"p{number}")
        try:
            yield found
        finally:
            for host in found.values():
                host.end_all()  # a session of sshd outlives it where the host was cut off


def _apart(holder: subprocess.Popen, folder: Path) -> None:
    """Lets what is measured there wait for nobody who measures elsewhere, as on a machine of its own."""
    for place in (folder, node_lock.COMMON):
        place.mkdir(exist_ok=True)
        with contextlib.suppress(PermissionError):  # another user's is for all already
            place.chmod(0o1777)
    _inside(holder, f"mount --bind {folder} {node_lock.COMMON}")


def _plug_in(switch: subprocess.Popen, holder: subprocess.Popen, number: int) -> None:
    _inside(switch, f"ip link add p{number} type veth peer name eth0 netns {holder.pid}")
    _inside(switch, f"ip link set p{number} master br0 && ip link set p{number} up")
    _inside(holder, f"ip link set lo up && ip address add {NETWORK}.{number}/24 dev eth0 && ip link set eth0 up")


@contextlib.contextmanager
def _holder() -> Iterator[subprocess.Popen]:
    """A process with namespaces of its own."""
    process = subprocess.Popen(["unshare", "--net", "--uts", "--mount", "sleep", "infinity"])
    try:
        ours = os.readlink("/proc/self/ns/net")
        for _ in range(500):
            if os.readlink(f"/proc/{process.pid}/ns/net") != ours and _is_asleep(process.pid):
                break
            time.sleep(0.01)
        yield process
    finally:
        process.kill()
        process.wait()


def _is_asleep(pid: int) -> bool:
    """Whether `unshare` has become `sleep`: all its namespaces are made."""
    return Path(f"/proc/{pid}/comm").read_text().strip() == "sleep"


def _inside(holder: subprocess.Popen, script: str, *words: str) -> None:
    """*script* where *holder* is, with *words* as its $1, $2, …"""
    line = ["nsenter", f"--target={holder.pid}", "--net", "--uts", "--mount", "sh", "-c", script, "sh", *words]
    subprocess.run(line, check=True, capture_output=True)


# sshd on hosts


def sshd_missing() -> str | None:
    if shutil.which("sshd", path="/usr/sbin:/sbin") is None or shutil.which("ssh") is None:
        return "no sshd, ssh; on Debian: apt-get install openssh-server"
    return missing()


@contextlib.contextmanager
def with_ssh(*names: str) -> Iterator[tuple[dict[str, Host], Path]]:
    """The hosts *names*, and what `ssh -F` takes to reach them. Without sshd the test is skipped."""
    import pytest  # tools have such hosts without it

    if why := sshd_missing():
        pytest.skip(why)
    with network(*names) as hosts, reached_by_ssh(list(hosts.values())) as config:
        yield hosts, config


@contextlib.contextmanager
def reached_by_ssh(hosts: Sequence[Host], first: Callable[[Host], Sequence[str]] = lambda host: ()) -> Iterator[Path]:
    """sshd on each of *hosts*; gives the file that `ssh -F` takes to reach them without a question. *first*: what
    starts a host's sshd, and so everything that is ever started there."""
    folder = Path(tempfile.mkdtemp(prefix="sshd-"))
    started = []
    try:
        for name in ("host_key", "user_key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True)
        shutil.copy(folder / "user_key.pub", folder / "authorized_keys")
        key = " ".join((folder / "host_key.pub").read_text().split()[:2])
        (folder / "known_hosts").write_text("".join(f"{host.name} {key}\n" for host in hosts))
        (folder / "config").write_text(
            f"Host *\n  User root\n  IdentityFile {folder}/user_key\n  IdentitiesOnly yes\n"
            f"  UserKnownHostsFile {folder}/known_hosts\n  GlobalKnownHostsFile /dev/null\n"
            "  StrictHostKeyChecking yes\n  BatchMode yes\n"
        )
        (folder / "sshd_config").write_text(
            f"HostKey {folder}/host_key\nAuthorizedKeysFile {folder}/authorized_keys\nStrictModes no\nUsePAM no\n"
            f"PidFile none\nPermitRootLogin yes\nPasswordAuthentication no\nMaxStartups 100\n{_kept_apart()}"
        )
        Path("/run/sshd").mkdir(exist_ok=True)
        program = shutil.which("sshd", path="/usr/sbin:/sbin")
        for host in hosts:
            log = open(folder / f"{host.name}.txt", "wb")  # noqa: SIM115 (it lives as long as the daemon)
            line = host.enter(*first(host), program, "-D", "-e", "-f", str(folder / "sshd_config"))
            started.append(subprocess.Popen(line, stderr=log, start_new_session=True))
        for host in hosts:
            _wait_for_ssh(host, folder)
        yield folder / "config"
    finally:
        for daemon in started:
            daemon.kill()
            daemon.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _kept_apart() -> str:
    """Gives what comes in by ssh our own place for who measures: it would wait for all others on this machine."""
    place = os.environ.get(node_lock.PLACE)
    return f"SetEnv {node_lock.PLACE}={place}\n" if place else ""


def _wait_for_ssh(host: Host, folder: Path) -> None:
    line = host.enter("ssh", "-F", str(folder / "config"), host.name, "true")
    if processes.soon(lambda: subprocess.run(line, capture_output=True).returncode == 0):
        return
    raise RuntimeError(f"sshd on {host.name} does not answer: {(folder / f'{host.name}.txt').read_text()[-500:]}")
