"""Signatures of a report's seal by OpenSSH: `ssh-keygen -Y` (man.openbsd.org/ssh-keygen#Y)."""

import re
import shutil
import subprocess
from pathlib import Path

from evalsuite.core.errors import EvalsuiteError

PROGRAM = "ssh-keygen"
NAMESPACE = "evalsuite"  # a signature for another purpose is none for this


def check(file: Path | None) -> None:
    if file is not None and not file.is_file():
        raise EvalsuiteError.of("audit.no_key", path=file)
    if file is not None and shutil.which(PROGRAM) is None:
        raise EvalsuiteError.of("audit.no_openssh")


def sign(file: Path, key: Path) -> Path:
    _ask("sign", "-f", key, file)
    return file.with_name(f"{file.name}.sig")


def signer(file: Path, signature: Path, allowed: Path) -> str:
    """Who of *allowed*, a file as ssh-keygen's "ALLOWED SIGNERS", signed *file*, with which key.

    Raises EvalsuiteError if it was none of them.
    """
    name = re.split("[,\n]", _ask("find-principals", "-s", signature, "-f", allowed))[0]
    answer = _ask("verify", "-s", signature, "-f", allowed, "-I", name, of=file)
    # Good "evalsuite" signature for lab with ED25519 key SHA256:…
    return answer.strip().rpartition(" signature for ")[2]


def _ask(what: str, *words: str | Path, of: Path | None = None) -> str:
    line = [PROGRAM, "-Y", what, "-n", NAMESPACE, *map(str, words)]
    done = subprocess.run(line, input=of.read_bytes() if of else None, capture_output=True)
    if done.returncode:
        last = (done.stderr or done.stdout).decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise EvalsuiteError.of("audit.signing", what=what, error=last)
    return done.stdout.decode("utf-8", "replace")
