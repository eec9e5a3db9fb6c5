"""Run folders with secrets wherever a run can hold one: in commands, variables, logs, and every free text of a record.

They are as an older version, another tool or a hand may have left them: evalsuite itself writes none of it.
"""

import json
from dataclasses import replace

from evalsuite.documents import HostEnvironment
from evalsuite.model import Case, Skip
from evalsuite.runs.planned import Planned
from evalsuite.runs.store import RunFolder, Store
from tests import runfolders
from tests.toys import CASE

WORD = "correct-horse7"  # of a person's
MADE = "Zx9Qw3Lk8Vb2Nm7Rt5Yp1Hs6Dg4Fj0Ca"  # of a machine's
SAID = f"cannot log in with api_key={WORD} at https://me:{WORD}@host.example.org"
LAST_LINE = f"RuntimeError: {SAID}"
ADDRESS = f"https://me:{WORD}@git.example.org/a/b"
OF_COMMAND = {  # key → what stands there
    "framework_version": f"1.0 of {ADDRESS}",
    "image_digest": f"sha256:0 by {ADDRESS}",
    "container": f"docker --password={WORD}",
    "packages": {"torch": f"git+{ADDRESS}", "x": f"1.0 token={WORD}"},
    "checkout": {"name": f"x ghp_{MADE}", "repository": ADDRESS, "commit": None, "clean": True,
                 "absent": [f"a?sig={MADE}"], "licence": f"MIT, password: {WORD}"},
    "data_sets": [{"name": f"imagenet of {ADDRESS}", "origin": f"secret={WORD}"}],
    "imported": [{"path": f"/home/me/hf_{MADE}/a.log", "sha256": "0" * 64}],
    "stated": {"data": f"synthetic, passwd={WORD}"},
}  # fmt: skip
OF_RECIPE = {"source": ADDRESS, "image": f"registry/x?token={WORD}", "facts": {"data": f"token={WORD}"}}
OF_HOST = {
    "os": f"Linux password={WORD}", "kernel": MADE, "cpu_model": f"EPYC api_key={WORD}", "driver": f"550 hf_{MADE}",
    "topology": f"GPU0 {ADDRESS}", "disks": [f"sda secret={WORD}"], "python": f"3.11 {ADDRESS}",
}  # fmt: skip


def plant(runs, commands, variables):
    """Two runs of a case below *runs*, one failed, the words of all *commands* in them, and a plan with a skip."""
    for repeat in range(2):
        facts = {**OF_HOST, "disks": tuple(OF_HOST["disks"])}
        environment = HostEnvironment(host="n0", environment_variables=variables, **facts)
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
    return replace(found, lines=[f"{line}\tlogger token={WORD} {ADDRESS}" for line in found.lines])


def _plant_command(folder: RunFolder, commands, variables):
    file = folder.path / "command.json"
    facts = json.loads(file.read_text())
    facts |= {"argv": commands, "command": commands, "environment": variables, **OF_COMMAND}
    facts["files"] = {"config.json": json.dumps({"password": WORD})}
    facts["recipe"] |= OF_RECIPE
    file.write_text(json.dumps(facts))


def _other() -> Case:
    return replace(CASE, devices_per_node=2)
