"""Gives manifests to a Kubernetes cluster by kubectl."""

from pathlib import Path

from evalsuite.errors import EvalsuiteError
from evalsuite.launch.programs import ask_program
from evalsuite.messages import Message

ANSWER_S = 60.0


def apply(file: Path) -> str:
    """What kubectl prints. Raises EvalsuiteError in its own words if it failed."""
    said = ask_program(("kubectl", "apply", "-f", str(file)), ANSWER_S)
    if said is None:
        raise EvalsuiteError.of("launch.kubectl_absent", file=file)
    if said.returncode:
        lines = " ".join(line.strip() for line in said.stderr.splitlines() if line.strip())
        text = lines[:400] or Message("launch.run_exit", code=said.returncode)
        raise EvalsuiteError.of("launch.kubectl_refused", text=text, file=file)
    return said.stdout.strip()
