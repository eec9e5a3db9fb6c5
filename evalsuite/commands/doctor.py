"""`evalsuite doctor`: what this machine can run. Needs nothing but the standard library to say what is missing."""

import argparse
from collections.abc import Sequence
from dataclasses import asdict

from evalsuite.commands.printing import i18n
from evalsuite.commands.printing.i18n import say
from evalsuite.commands.printing.terminal import print_json
from evalsuite.core.errors import Exit
from evalsuite.launch.checks import doctor
from evalsuite.launch.checks.doctor import Check

MARKS = {"ok": "ok", "later": "later", "missing": "--", "broken": "!!"}


def run(arguments: argparse.Namespace) -> int:
    checks = doctor.checks(arguments.runs, arguments.adapters)
    ready = doctor.ready(checks)
    if arguments.json:
        print_json({"ready": ready, "checks": list(map(asdict, checks))})
    else:
        _print_table(checks, ready)
    return Exit.DONE


def _print_table(checks: Sequence[Check], ready: bool) -> None:
    """Plain text, since the package that draws tables may be what is missing."""
    names = {check.name: i18n.worded(check.name) for check in checks}
    width = max(map(i18n.columns, names.values()))
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
    print(say("doctor.ready" if ready else "doctor.not_ready"))
