"""`evalsuite doctor`: what this machine can run, or whether the nodes of an engine are fit. Of this machine it needs
nothing but the standard library to say what is missing."""

import argparse
import functools
import os
from collections.abc import Sequence
from dataclasses import asdict, replace

from evalsuite.commands import options
from evalsuite.commands.printing import i18n
from evalsuite.commands.printing.i18n import say
from evalsuite.commands.printing.terminal import print_json
from evalsuite.core import decode
from evalsuite.core.errors import EvalsuiteError, Exit
from evalsuite.core.messages import Message
from evalsuite.launch.checks import doctor, nodes
from evalsuite.launch.checks.nodes import Check, Node

MARKS = {"ok": "ok", "later": "later", "missing": "--", "doubtful": "!!", "broken": "!!"}
GIB = 1 << 30


def run(arguments: argparse.Namespace) -> int:
    if arguments.on_node is not None:
        token, *programs = arguments.argv
        nodes.report(arguments.on_node, token, programs, lambda line: print(line, flush=True))
        return Exit.DONE
    if arguments.argv:
        from evalsuite.launch.remote import ssh

        whole = functools.partial(print, end="", flush=True)  # line and end at once: several threads print
        return ssh.run_on_hosts(options.read_hosts(arguments), arguments.argv, lambda line: whole(f"{line}\n"))
    if arguments.spec:
        from evalsuite.launch.checks import imports

        checks = imports.checks(arguments.spec, arguments.adapters)
        ready = all(check.state == "ok" for check in checks)
        _show(arguments, checks, ready, say("doctor.imports_ready" if ready else "doctor.imports_not_ready"))
        return Exit.USAGE if any(check.state == "missing" for check in checks) else Exit.DONE
    if arguments.hosts or arguments.engine not in (None, "local"):
        return _look_at_nodes(arguments)
    checks = doctor.checks(arguments.runs, arguments.adapters)
    ready = doctor.ready(checks)
    _show(arguments, checks, ready, say("doctor.ready" if ready else "doctor.not_ready"))
    return Exit.DONE if ready else Exit.USAGE


def _show(arguments: argparse.Namespace, checks: Sequence[Check], ready: bool, conclusion: str) -> None:
    if arguments.json:
        print_json({"ready": ready, "checks": list(map(asdict, checks))})
    else:
        _print_table(checks, conclusion)


def _look_at_nodes(arguments: argparse.Namespace) -> int:
    from evalsuite.commands.launching.request import read_engine

    engine = read_engine(arguments)
    if why := engine.unready(os.environ):
        raise EvalsuiteError(why)
    if not engine.nodes:
        raise EvalsuiteError.of("commands.no_nodes", name=engine.name)
    found = nodes.look_at_nodes(engine, arguments.runs, devices=arguments.devices_per_node)
    fit = nodes.chosen(found)
    if arguments.json:
        shown = [decode.encode(replace(node, output="")) | {"fit": node.fit} for node in found]
        print_json({"ready": len(fit) == len(found), "nodes": shown})
    else:
        checks = [check for node in found for check in (*_describe(node), *node.checks)]
        _print_table(checks, say("doctor.fit", fit=len(fit), nodes=len(found)))
    return Exit.DONE if len(fit) == len(found) else Exit.USAGE


def _describe(node: Node) -> list[Check]:
    facts = node.facts
    if facts is None:
        return []
    cells = {
        "cores": (facts.cores, "{:g}"),
        "devices": (facts.devices, "{}"),
        "free": (facts.free_bytes and facts.free_bytes / GIB, "{:.1f} GiB"),
        "probe": (facts.probe_s, "{:.2f} s"),
        "clock": (node.clock_offset_s, "{:+.1f} s"),
    }
    shown = {
        name: "—" if value is None else form.format(value).replace("-0.0 s", "+0.0 s")
        for name, (value, form) in cells.items()
    }
    detail = Message("nodes.here", **shown)
    return [Check(group="nodes", name=node.name, state="ok" if node.fit else "broken", detail=detail)]


def _print_table(checks: Sequence[Check], conclusion: str) -> None:
    """Plain text, since the package that draws tables may be what is missing."""
    names = {check.name: i18n.worded(check.name) for check in checks}
    width = max(map(i18n.columns, names.values()), default=0)
    group = None
    for check in checks:
        if check.group != group:
            group = check.group
            print(say(f"groups.{group}"))
        mark = say("doctor.later") if check.state == "later" else MARKS[check.state]
        print(f"  {i18n.padded(mark, 5)}  {i18n.padded(names[check.name], width)}  {i18n.worded(check.detail)}")
        if check.remedy:
            print(f"  {'':5}  {'':{width}}  → {i18n.worded(check.remedy)}")
    print("\n" + say("doctor.marks"))
    print(conclusion)
