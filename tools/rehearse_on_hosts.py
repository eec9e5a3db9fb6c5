"""Rehearses official scripts over two hosts with sshd, played by network namespaces on this machine.

python tools/rehearse_on_hosts.py --recipe FRAMEWORK/RECIPE [--scales 2x1] [what else `evalsuite rehearse` takes]

Needs root, sshd and what `tests/namespaces.py` names.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

HOUSE = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(HOUSE))

from tests import mpi_launchers, namespaces

NAMES = ("a", "b")
Start = Callable[..., subprocess.Popen]


def main() -> int:
    if why := namespaces.sshd_missing():
        print(why, file=sys.stderr)
        return 1
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # ends the hosts too
    given = sys.argv[1:]
    scales = () if any(word.startswith("--scales") for word in given) else ("--scales", "2x1")
    with rehearsing() as start:
        return start(*given, *scales).wait()


@contextlib.contextmanager
def rehearsing() -> Iterator[Start]:
    """What starts `evalsuite rehearse` on the first of the hosts, over both of them."""
    with namespaces.network(*NAMES) as hosts, namespaces.reached_by_ssh(list(hosts.values())) as config:
        _write_ssh(config)
        path = os.pathsep.join((str(config.parent), os.environ["PATH"]))
        variables = {**os.environ, "PYTHONPATH": str(HOUSE), "PATH": path, **mpi_launchers.variables(config)}

        def start(*words: str, **more: object) -> subprocess.Popen:
            command = (sys.executable, "-m", "evalsuite", "rehearse", *words, "--hosts", ",".join(NAMES))
            return subprocess.Popen(hosts[NAMES[0]].enter(*command, folder=Path.cwd()), env=variables, **more)

        yield start


def _write_ssh(config: Path) -> None:
    """An `ssh` that reaches the hosts, for launchers that take no options for theirs."""
    file = config.parent / "ssh"
    file.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {config} "$@"\n')
    file.chmod(0o755)


if __name__ == "__main__":
    sys.exit(main())
