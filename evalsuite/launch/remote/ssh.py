"""Starts a command on each of some hosts over ssh, and ends all when one fails, when asked, and when we are gone. A
shell on each host reads its standard input. When that is closed (by us, our death, or sshd after the network was cut),
it ends the command with SIGTERM."""

import os
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import IO

from evalsuite.core.messages import Message
from evalsuite.plan import over_hosts
from evalsuite.plan.hosts import Host

UNREACHED = 255  # ssh(1): "255 if an error occurred"; evalsuite's commands never give it
HERE = "localhost"  # needs no ssh
POLL_S = 0.05
GRACE_S = 12.0  # for the agents to end their trees; less than the evaluator gives us
OPTIONS = ("-T", *over_hosts.PATIENCE)
ON_HOST = Path(__file__).with_name("on_host.sh").read_text(encoding="utf-8")


@dataclass(kw_only=True)
class _Connection:
    host: Host
    process: subprocess.Popen[bytes]
    reader: threading.Thread
    last_line: list[str] = field(default_factory=list)  # at most one

    def let_go(self) -> None:
        if self.process.stdin and not self.process.stdin.closed:
            self.process.stdin.close()


def ssh_line(host: Host, folder: Path, command: Sequence[str], ssh: Sequence[str]) -> list[str]:
    there = ["sh", "-c", ON_HOST, "evalsuite", str(folder), *command]
    return there if host.name == HERE else [*ssh, *OPTIONS, "--", host.address, shlex.join(there)]


def run_on_hosts(hosts: Sequence[Host], command: Sequence[str], say: Callable[[str], None]) -> int:
    """The exit code of the first that failed, else 0. *say* is given each line after its host's name. Must be called on
    the main thread."""
    asked: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        asked.append(number)

    before = {number: signal.signal(number, note) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)}
    connections = _connect(hosts, command, say)
    try:
        return _follow(connections, asked, say)
    finally:
        for connection in connections:
            connection.let_go()
            if connection.process.poll() is None:
                connection.process.kill()
        for number, handler in before.items():
            signal.signal(number, handler)


def _connect(hosts: Sequence[Host], command: Sequence[str], say: Callable[[str], None]) -> list[_Connection]:
    ssh = shlex.split(os.environ.get("EVALSUITE_SSH", "ssh"))
    connections = []
    for rank, host in enumerate(hosts):
        process = subprocess.Popen(
            ssh_line(host, Path.cwd(), over_hosts.rank_command(rank, host, tuple(command)), ssh),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # a signal to our group reaches us alone
        )
        last: list[str] = []
        reader = threading.Thread(target=_pass_on, args=(process.stdout, host.name, last, say), daemon=True)
        reader.start()
        connections.append(_Connection(host=host, process=process, reader=reader, last_line=last))
    return connections


def _pass_on(output: IO[bytes], name: str, last: list[str], say: Callable[[str], None]) -> None:
    for line in output:
        if text := line.decode(errors="replace").rstrip():
            last[:] = [text]
            say(f"{name}: {text}")


def _follow(connections: Sequence[_Connection], asked: Sequence[int], say: Callable[[str], None]) -> int:
    code, parent, deadline = 0, os.getppid(), None
    left = list(connections)
    while left:
        for connection in [link for link in left if link.process.poll() is not None]:
            left.remove(connection)
            connection.reader.join(1.0)
            ended = connection.process.returncode
            if ended and not code and deadline is None:
                code = ended if ended > 0 else 128 - ended
            if ended == UNREACHED and deadline is None:
                why = connection.last_line[0] if connection.last_line else Message("launch.ssh_nothing")
                host = connection.host
                say(f"error: {host.name} was not reached, or was lost: {why}. Try: ssh {host.address} true")
        orphaned = os.getppid() != parent
        if deadline is None and (code or asked or orphaned):
            deadline = time.monotonic() + GRACE_S
            code = code or 128 + (asked[0] if asked else signal.SIGTERM)
            for connection in left:
                connection.let_go()
        if deadline is not None and time.monotonic() > deadline:
            return code
        time.sleep(POLL_S)
    return code
