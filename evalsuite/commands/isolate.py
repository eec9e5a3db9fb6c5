"""`evalsuite isolate`: which nodes slow a job down, by starting it on halves of their set."""

import argparse
import subprocess
import time

from evalsuite.commands.options import read_hosts
from evalsuite.commands.printing.i18n import say
from evalsuite.commands.printing.terminal import line, note, print_json
from evalsuite.core.errors import EvalsuiteError, Exit
from evalsuite.launch.checks import slow_nodes
from evalsuite.launch.checks.slow_nodes import Nodes

HOSTS, COUNT = "{hosts}", "{nodes}"


def run(arguments: argparse.Namespace) -> int:
    if not any(HOSTS in word for word in arguments.argv):
        raise EvalsuiteError.of("commands.isolate_hosts", place=HOSTS)
    nodes = [host.address for host in read_hosts(arguments)]
    slow, trials = slow_nodes.find_slow(nodes, lambda part: _seconds(part, arguments), arguments.limit)
    compared = bool(trials) and all(trial.seconds is not None for trial in trials)
    if arguments.json:
        print_json({"slow": sorted(slow), "trials": [vars(trial) for trial in trials]})
    elif slow:
        line(say("isolate.slow", nodes=", ".join(sorted(slow)), n=len(trials)))
        line(f"--exclude={','.join(sorted(slow))}")
    else:
        line(say("isolate.none" if compared else "isolate.undecided", n=len(trials), limit=f"{arguments.limit:.0%}"))
    return Exit.CRITERION_FAILED if slow else Exit.DONE if compared else Exit.UNDETERMINED


def _seconds(nodes: Nodes, arguments: argparse.Namespace) -> float | None:
    """The least of the repeats: what else runs makes a job slower, never faster. None: one failed."""
    command = [word.replace(HOSTS, ",".join(nodes)).replace(COUNT, str(len(nodes))) for word in arguments.argv]
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
