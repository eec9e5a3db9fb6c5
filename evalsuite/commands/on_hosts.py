"""`evalsuite on-hosts`: one command on each of some hosts, over ssh."""

import argparse
import threading

from evalsuite.commands.options import read_hosts
from evalsuite.core.errors import EvalsuiteError
from evalsuite.launch.remote import ssh


def run(arguments: argparse.Namespace) -> int:
    if not arguments.argv:
        raise EvalsuiteError.of("commands.on_hosts_none")
    one_at_a_time = threading.Lock()

    def say(line: str) -> None:
        with one_at_a_time:
            print(line, flush=True)

    return ssh.run_on_hosts(read_hosts(arguments), arguments.argv, say)
