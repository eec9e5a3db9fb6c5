"""Run folders with secrets wherever a run can hold one: in commands, variables, logs, and every free text of a record.
They are as an older version, another tool or a hand may have left them: evalsuite itself writes none of it."""

import base64
import json
import random
import re
import string
import tomllib
from dataclasses import replace
from pathlib import Path

from evalsuite.core.documents import HostEnvironment
from evalsuite.core.model import Case, Skip
from evalsuite.runs.planned import Planned
from evalsuite.runs.store import RunFolder, Store
from tests import runfolders, sources
from tests.toys import CASE

WORD = "correct-horse7"  # of a person's
MADE = "Zx9Qw3Lk8Vb2Nm7Rt5Yp1Hs6Dg4Fj0Ca"  # of a machine's
HEX = "0123456789abcdef0123456789abcdef01234567"
SAID = f"cannot log in with api_key={WORD} at https://me:{WORD}@host.example.org"
LAST_LINE = f"RuntimeError: {SAID}"
ADDRESS = f"https://me:{WORD}@git.example.org/a/b"
KNOWN = {"$WORD": WORD, "$MADE": MADE, "$HEX": HEX, "$ADDRESS": ADDRESS}
TABLE = sources.filled(  # with the secrets in it
    tomllib.loads((Path(__file__).parent / "attacks" / "secrets.toml").read_text(encoding="utf-8")),
    lambda text: re.sub(r"\$[A-Z]+", lambda name: KNOWN[name[0]], text),
)
DATA = Path(__file__).parent / "data"
MIXED = string.ascii_letters + string.digits
WORDS = {"any": MIXED, "hex": string.hexdigits[:16], "up": MIXED[26:], "low": MIXED[:26]}


def drawn(kind, chance):
    """(a text of *kind*, the secret in it): <any40> are 40 letters and digits, <b64:…> is what it says in base64."""
    draw = lambda match: "".join(chance.choices(WORDS[match[1]], k=int(match[2])))  # noqa: E731
    parts = re.split(r"(?s)\[\[(.*?)\]\]", re.sub(r"<(any|hex|up|low)(\d+)>", draw, kind))
    encoded = base64.b64encode(parts[1][4:].encode()).decode() if parts[1].startswith("b64:") else parts[1]
    return parts[0] + encoded + parts[2], encoded


KINDS = json.loads((DATA / "secrets.json").read_text(encoding="utf-8"))
TOLD = [(kind, drawn(kind, random.Random(kind))) for kind in KINDS]
LINES = TABLE["lines"] | {
    kind: ([text], secret)
    for kind, (text, secret) in TOLD
    if len(secret) > 8 and "\n" not in secret and "chap-" not in kind  # which SECURITY.md leaves out
}
VARIABLES = TABLE["variables"]
COMMANDS = tuple(word for line, _ in LINES.values() for word in line)
SECRETS = {WORD, MADE, *(secret for _, secret in LINES.values())}


def plant(runs, commands, variables):
    """Two runs of a case below *runs*, one failed, the words of all *commands* in them, and a plan with a skip."""
    for repeat in range(2):
        environment = HostEnvironment(host="n0", environment_variables=variables, **TABLE["host"])
        printed = runfolders.steps(lines=[LAST_LINE], arrivals_s=[1.0]) if repeat else _steps()
        ended = {"status": "failed", "exit_code": 1, "reason": SAID} if repeat else {}
        host = runfolders.Host(environment=environment, printed=(printed,))
        _plant_command(runfolders.finished(runs, host, repeat=repeat, **ended), commands, variables)
    skip = Skip(case=_other(), reason=f"no image: {ADDRESS}")
    Store(runs).write_plan(Planned(profile="quick", repeats=2, cases=(CASE,), skips=(skip,)))
    return runs


def _steps():
    """Steps whose every line tells a secret behind what is read of it."""
    found = runfolders.steps()
    return replace(found, lines=[f"{line}\tlogger token={WORD} {ADDRESS} \0\x07\udce9" for line in found.lines])


def _plant_command(folder: RunFolder, commands, variables):
    file = folder.path / "command.json"
    facts = json.loads(file.read_text())
    facts |= {"argv": commands, "command": commands, "environment": variables, **TABLE["command"]}
    facts["files"] = {"config.json": json.dumps({"password": WORD})}
    facts["recipe"] |= TABLE["recipe"]
    file.write_text(json.dumps(facts))


def _other() -> Case:
    return replace(CASE, devices_per_node=2)
