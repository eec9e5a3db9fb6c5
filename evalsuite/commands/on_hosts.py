"""`evalsuite on-hosts`: one command on each of some hosts, over ssh."""

import argparse
from pathlib import Path

HELP = "start a command once on each host over ssh, and end it everywhere"
EXAMPLES = """\
  python -m evalsuite on-hosts --hosts gpu01,gpu02 -- nvidia-smi -L
  python -m evalsuite on-hosts --hostfile hosts.txt -- python -m evalsuite sample -o /shared/out -- sleep 10
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--hosts", metavar="A,B,…", help="their names, as ssh takes them")
    parser.add_argument("--hostfile", metavar="F", type=Path, help="the same from a file, a host on each line")
    parser.add_argument("argv", nargs=argparse.REMAINDER, metavar="-- ARGV…", help="the command")


def run(arguments: argparse.Namespace) -> int:
    import sys
    import threading

    from evalsuite.errors import EvalsuiteError
    from evalsuite.launch.remote import ssh
    from evalsuite.plan import hosts

    argv = arguments.argv[1:] if arguments.argv[:1] == ["--"] else arguments.argv
    if not argv:
        raise EvalsuiteError.of("commands.on_hosts_none")
    if (arguments.hosts is None) == (arguments.hostfile is None):
        raise EvalsuiteError.of("commands.on_hosts_both")
    named = hosts.from_file(arguments.hostfile) if arguments.hostfile else hosts.from_words(arguments.hosts)
    one_at_a_time = threading.Lock()

    def say(line: str) -> None:
        with one_at_a_time:
            print(line, flush=True, file=sys.stdout)

    return ssh.run_on_hosts(named, argv, say)
