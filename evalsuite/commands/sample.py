"""`evalsuite sample`: the node agent at a shell."""

import argparse
import os
import shlex
import sys
from datetime import datetime
from pathlib import Path

from evalsuite.agent import agent, node_lock, rendezvous, watchdog
from evalsuite.agent.order import Order
from evalsuite.core.errors import EvalsuiteError
from evalsuite.machine import cores
from evalsuite.machine.sensors import accelerators
from evalsuite.runs import campaign_facts, rehearsed

MOST = {"processes": 4096, "devices_per_node": 4096, "timeout": 10**9, "cores_per_device": 65_536}  # of numbers


def run(arguments: argparse.Namespace) -> int:
    def say(words: str) -> None:  # standard output is the command's own
        print(f"evalsuite sample: {words}", file=sys.stderr, flush=True)

    if arguments.csv is not None:
        return _print_table(arguments)
    order = _order(arguments)
    rehearsed.refuse_stand_in(os.environ)
    if arguments.case:
        from evalsuite.importing import user_facts

        facts = user_facts.campaign_facts(arguments.case)
    if arguments.sensors or (arguments.device and not arguments.for_run):
        (seen := accelerators.open_accelerators()).close()  # raises where a module of theirs cannot be read
        if arguments.device and seen.kind != arguments.device:
            say(f"--device {arguments.device}: none is seen here")
    folder = agent.prepare_folder(order)  # before it waits for the node and before the watchdog forks
    if arguments.case:  # beside what is recorded, where `import` reads it; raises where another node's is another
        campaign_facts.write_once(folder.path, facts)
    launched = bool(arguments.for_run)
    lock = node_lock.lock_node(
        order, share=arguments.share, end_with_parent=launched, say=lambda words: say(f"waiting: {words}")
    )
    watchdog.start_watchdog(launched)
    outcome = agent.run(order, lock)
    if not launched:
        took = f"{outcome.duration_s:.1f} s, exit code {outcome.exit_code}, {outcome.samples} samples in {order.folder}"
        again = f"`evalsuite import {shlex.quote(str(order.folder))}` makes a run of it, `sample --csv …` prints them"
        say(f"{took}; {again}")
    return outcome.exit_code


def _print_table(arguments: argparse.Namespace) -> int:
    import csv

    from evalsuite.runs import sampled
    from evalsuite.runs.store import RunFolder

    csv.writer(sys.stdout, lineterminator="\n").writerows(sampled.rows(RunFolder(Path(arguments.csv))))
    return 0


def _order(arguments: argparse.Namespace) -> Order:
    if not arguments.argv:
        raise EvalsuiteError.of("commands.sample_none")
    devices = arguments.devices_per_node or arguments.processes or 1
    here = {} if arguments.for_run else {"cores_per_device": max(1, len(cores.usable()) // devices)}  # else they share
    for name, most in {**MOST, **here}.items():
        value = getattr(arguments, name)
        if value is not None and not 0 < value <= most:
            raise EvalsuiteError.of("commands.above_0_to", name=name.replace("_", "-"), value=value, most=most)
    host = rendezvous.host(os.environ)
    if "/" in host:
        raise EvalsuiteError.of("commands.host_slash", name=host)
    return Order(
        argv=tuple(arguments.argv),
        folder=Path(arguments.out or f"sample-{datetime.now():%Y%m%d-%H%M%S}"),
        host=host,
        hz=arguments.hz,
        processes=arguments.processes,
        devices_per_node=devices,
        device=arguments.device,
        cores_per_device=arguments.cores_per_device,
        timeout_s=arguments.timeout,
        echo=not arguments.for_run,
        first_node_only=arguments.for_run == "first",
    )
