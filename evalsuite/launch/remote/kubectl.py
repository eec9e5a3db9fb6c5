"""Gives manifests to a Kubernetes cluster, by its own client."""

import subprocess
from pathlib import Path

from evalsuite.errors import EvalsuiteError

ANSWER_S = 60.0


def apply(file: Path) -> str:
    """What kubectl says of having applied *file*. Raises EvalsuiteError in its own words if it did not."""
    try:
        said = subprocess.run(
            ["kubectl", "apply", "-f", str(file)],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=ANSWER_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EvalsuiteError(
            f"kubectl: no such program, or no answer ({error}); expected the cluster's client. The manifests are in "
            f"{file}: apply them where it is."
        ) from error
    if said.returncode:
        lines = " ".join(line.strip() for line in said.stderr.splitlines() if line.strip())
        raise EvalsuiteError(
            f"kubectl: {lines[:400] or f'exit code {said.returncode}'}; expected a cluster with Kubeflow Trainer 2.1 "
            f"or newer. `kubectl get crd trainjobs.trainer.kubeflow.org` says whether it has it. The manifests are in "
            f"{file}."
        )
    return said.stdout.strip()
