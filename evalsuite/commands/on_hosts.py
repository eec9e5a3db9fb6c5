"""`evalsuite on-hosts`: one command on each of some hosts, over ssh."""

import argparse


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
