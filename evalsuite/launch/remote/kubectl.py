"""Gives manifests to a Kubernetes cluster, by its own client."""

from pathlib import Path

from evalsuite.errors import EvalsuiteError
from evalsuite.launch.programs import ask_program

ANSWER_S = 60.0


def apply(file: Path) -> str:
    """What kubectl says of having applied *file*. Raises EvalsuiteError in its own words if it did not."""
    said = ask_program(("kubectl", "apply", "-f", str(file)), ANSWER_S)
    if said is None:
        raise EvalsuiteError(
            f"kubectl: no such program, or no answer; expected the cluster's client. The manifests are in {file}: "
            "apply them where it is."
        )
    if said.returncode:
        lines = " ".join(line.strip() for line in said.stderr.splitlines() if line.strip())
        raise EvalsuiteError(
            f"kubectl: {lines[:400] or f'exit code {said.returncode}'}; expected a cluster with Kubeflow Trainer 2.1 "
            f"or newer. `kubectl get crd trainjobs.trainer.kubeflow.org` says whether it has it. The manifests are in "
            f"{file}."
        )
    return said.stdout.strip()
