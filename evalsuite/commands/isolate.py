"""`evalsuite isolate`: which nodes slow a job down, by starting it on halves of their set."""

import argparse
import json
import subprocess
import time

from evalsuite.commands.printing.i18n import say
from evalsuite.commands.printing.terminal import line, note
from evalsuite.errors import EvalsuiteError, Exit
from evalsuite.launch.checks import slow_nodes
from evalsuite.launch.checks.slow_nodes import Nodes
from evalsuite.plan import hosts

HOSTS, COUNT = "{hosts}", "{nodes}"


def run(arguments: argparse.Namespace) -> int:
    argv = arguments.argv[1:] if arguments.argv[:1] == ["--"] else arguments.argv
    if not any(HOSTS in word for word in argv):
        raise EvalsuiteError.of("commands.isolate_hosts", place=HOSTS)
    if (arguments.hosts is None) == (arguments.hostfile is None):
        raise EvalsuiteError.of("commands.on_hosts_both")
    named = hosts.from_file(arguments.hostfile) if arguments.hostfile else hosts.from_words(arguments.hosts)
    slow, trials = slow_nodes.find_slow(
        [host.address for host in named], lambda nodes: _seconds(nodes, argv, arguments), arguments.limit
    )
    if arguments.json:
        print(json.dumps({"slow": sorted(slow), "trials": [vars(one) for one in trials]}, indent=1))
    elif slow:
        line(say("isolate.slow", nodes=", ".join(sorted(slow)), n=len(trials)))
        line(f"--exclude={','.join(sorted(slow))}")
    else:
        line(say("isolate.none", n=len(trials), limit=f"{arguments.limit:.0%}"))
    return Exit.CRITERION_FAILED if slow else Exit.DONE


def _seconds(nodes: Nodes, argv: list[str], arguments: argparse.Namespace) -> float | None:
    """The least of the repeats: what else runs makes a job slower, never faster. None: one failed."""
    command = [word.replace(HOSTS, ",".join(nodes)).replace(COUNT, str(len(nodes))) for word in argv]
    times = []
    for _ in range(arguments.repeats):
        begun = time.monotonic()
        try:
            subprocess.run(
                command, check=True, timeout=arguments.timeout, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL
            )
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
            note(say("isolate.failed", nodes=", ".join(nodes)))
            return None
        except OSError as error:
            raise EvalsuiteError.of("commands.isolate_start", name=command[0], error=error) from error
        times.append(time.monotonic() - begun)
    note(say("isolate.took", nodes=", ".join(nodes), seconds=f"{min(times):.2f}"))
    return min(times)
