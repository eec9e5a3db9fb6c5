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
HEX = "0123456789abcdef0123456789abcdef01234567"
SAID = f"cannot log in with api_key={WORD} at https://me:{WORD}@host.example.org"
LAST_LINE = f"RuntimeError: {SAID}"
ADDRESS = f"https://me:{WORD}@git.example.org/a/b"
LINES = {  # how it is told → where the secret stands
    "flag and word": (("train.py", "--password", WORD), WORD),
    "flag=word": (("train.py", f"--api-key={WORD}"), WORD),
    "short flag of a long name": (("train.py", "-token", WORD), WORD),
    "wandb": (("wandb", "login", "--wandb_api_key", WORD), WORD),
    "override": (("train.py", f"trainer.logger.api_key={WORD}"), WORD),
    "address": (("train.py", "--data", f"https://me:{WORD}@store.example.org/x"), WORD),
    "database": (("train.py", f"postgresql://me:{WORD}@db/x"), WORD),
    "proxy": (("env", f"https_proxy=http://me:{WORD}@proxy:3128"), WORD),
    "user token in an address": (("git", "clone", f"https://{MADE}@host/x"), MADE),
    "signed address": (("train.py", f"https://store/x?X-Amz-Signature={MADE}&a=1"), MADE),
    "script": (("python", "-c", f"import w; w.login(token='{WORD}')"), WORD),
    "json": (("train.py", "--config", f'{{"password": "{WORD}"}}'), WORD),
    "header": (("curl", "-H", f"Authorization: Bearer {MADE}"), MADE),
    "random word": (("train.py", MADE), MADE),
    "github": (("x", "ghp_" + MADE), MADE),
    "huggingface": (("x", "hf_" + MADE), MADE),
    "aws": (("x", "AKIAIOSFODNN7EXAMPLE"), "AKIAIOSFODNN7EXAMPLE"),
    "service": (("x", "sk-proj-" + MADE), MADE),
    "slack": (("x", "xoxb-123456-abcdef"), "xoxb-123456-abcdef"),
    "web token": (("x", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"), "c2lnbmF0dXJl"),
    "web hook": (("x", f"https://hooks.slack.com/services/T00/B00/{MADE}"), MADE),
    "bot": (("x", f"123456789:AA{MADE}"), MADE),
    "place": (("wandb", "login", HEX), HEX),
    "place behind an option": (("wandb", "login", "--relogin", WORD), WORD),
    "user and word": (("curl", "-u", f"me:{WORD}", "https://store"), WORD),
    "sshpass": (("sshpass", "-p", WORD, "ssh", "host"), WORD),
    "jdbc": (("x", f"jdbc:mysql://db/x?user=me&password={WORD}"), WORD),
    "azure": (("x", f"DefaultEndpointsProtocol=https;AccountKey={MADE}==;EndpointSuffix=x"), MADE),
    "netrc": (("x", f"machine host login me password {WORD}"), WORD),
    "aws profile": (("x", f"aws_secret_access_key = {MADE}"), MADE),
    "camel case": (("x", f'{{"clientSecret": "{WORD}"}}'), WORD),
    "another header": (("curl", "-H", f"X-Api-Key: {WORD}"), WORD),
    "in Chinese": (("x", f"密码\N{FULLWIDTH COLON}{WORD}"), WORD),
    "behind Chinese": (("x", f"登录password={WORD}，继续"), WORD),
    "open ssh": (("x", f"-----BEGIN OPENSSH PRIVATE KEY-----\n{MADE}\n-----END OPENSSH PRIVATE KEY-----"), MADE),
    "private key": (("x", "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----"), "MIIEow"),
    "prompt": (("x", f"wandb: Paste an API key from your profile and hit enter, or press ctrl+c to quit: {HEX}"), HEX),
    "login": (("curl", "-H", "authorization: basic bWU6Y29ycmVjdC1ob3JzZTc="), "bWU6Y29ycmVjdC1ob3JzZTc="),
    "mysql": (("mysql", "-h", "db", f"-p{WORD}"), WORD),
    "libpq": (("x", f"PGPASSWORD={WORD}"), WORD),
    "sshpass by name": (("x", f"export SSHPASS={WORD}"), WORD),
    "broken by the terminal": (("x", f"hf_{MADE[:20]}\n{MADE[20:]}Qz"), f"{MADE[20:]}Qz"),
    "broken by the shell": (("x", f"ghp_{MADE[:20]}\\\n{MADE[20:]}QzQz"), f"{MADE[20:]}QzQz"),
    "kubernetes": (("x", "client-key-data: 2d2d2d2d2d424547494e"), "2d2d2d2d2d424547494e"),
    "sendgrid": (("x", f"SG.{MADE[:22]}.{MADE}"), f"SG.{MADE[:22]}.{MADE}"),
    "vault": (("x", f"hvs.{MADE}"), f"hvs.{MADE}"),
    "xml": (("x", f"<password>{WORD}</password>"), WORD),
    "yaml": (("x", f"password: |\n  {WORD}"), WORD),
    "camel case behind a word": (("x", f"dbPassword: {WORD}"), WORD),
    "percent-encoded": (("x", f"https%3A%2F%2Fme%3A{WORD}%40store"), WORD),
    "e-mail": (("x", "mail jane.doe@example.com"), "jane.doe@example.com"),
    "langsmith": (("x", f"lsv2_pt_{HEX[:32]}_{HEX[:10]}"), f"lsv2_pt_{HEX[:32]}_{HEX[:10]}"),
    "aliyun": (("x", "LTAI5tExampleAbcDef12345"), "LTAI5tExampleAbcDef12345"),
}
VARIABLES = {
    "AWS_SECRET_ACCESS_KEY": MADE, "HF_TOKEN": WORD, "MXNET_PASSWORD": WORD, "NCCL_SECRET": WORD, "FLAGS_token": WORD,
    "HOROVOD_SECRET_KEY": WORD, "UCX_KEY": WORD, "DB_PASSWD": WORD, "WANDB_API_KEY": WORD,
    "https_proxy": f"http://me:{WORD}@proxy:3128", "XLA_FLAGS": f"--xla_auth_token={WORD}", "OMP_SECRET": WORD,
}  # fmt: skip
COMMANDS = tuple(word for line, _ in LINES.values() for word in line)
SECRETS = {WORD, MADE, *(secret for _, secret in LINES.values())}
OF_COMMAND = {  # key → what stands there
    "framework_version": f"1.0 of {ADDRESS}",
    "image_digest": f"sha256:0 by {ADDRESS}",
    "container": f"docker --password={WORD}",
    "packages": {"torch": f"git+{ADDRESS}", "x": f"1.0 token={WORD}"},
    "checkout": {"name": f"x ghp_{MADE}", "repository": ADDRESS, "commit": None, "clean": True,
                 "absent": [f"a?sig={MADE}"], "licence": f"MIT, password: {WORD}"},
    "data_sets": [{"name": f"imagenet of {ADDRESS}", "source": f"secret={WORD}"}],
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
