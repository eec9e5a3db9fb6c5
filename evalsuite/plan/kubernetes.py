"""One allocation of pods for a whole evaluation: a TrainingRuntime and a TrainJob of Kubeflow Trainer v2.

The nodes' pods run sshd. The launcher's pod runs the evaluation over them with the engine hosts, by the host file of
Trainer's MPI policy. Kueue admits all of them together or none. Sources: trainer.kubeflow.org/v1alpha1 (Trainer 2.1),
its runtime deepspeed-distributed, and kueue.sigs.k8s.io/docs/tasks/run/trainjobs.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from evalsuite.core.decode import Constraint, between, decode, read_toml

HOSTFILE = "/etc/mpi/hostfile"
PLAIN_WORD = re.compile(r"[A-Za-z/][\w./-]*")
NO_TEXT = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})  # what YAML 1.1 takes for others
LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?")  # pods' names are made of it: <name>-node-0-0
EXAMPLE = 'image = "registry/lab/evalsuite:1"'


@dataclass(frozen=True, kw_only=True)
class Values:
    image: str  # with evalsuite, sshd and what the frameworks need
    claim: str  # the PersistentVolumeClaim that all pods see
    name: Annotated[str, Constraint("label", LABEL.fullmatch)] = "evaluation"
    namespace: str = "default"
    mount: str = "/shared"  # where the claim lies in the pods
    queue: str | None = None  # Kueue's LocalQueue
    priority: str | None = None  # Kueue's WorkloadPriorityClass
    resources: Mapping[str, str] = field(default_factory=dict)  # of a node's pod: cpu, memory, rdma/hca, …
    device: str = "nvidia.com/gpu"  # the resource of one device
    selector: Mapping[str, str] = field(default_factory=dict)  # labels of the nodes
    tolerate: tuple[str, ...] = ()  # keys of taints
    pull_secrets: tuple[str, ...] = ()
    host_network: bool = False  # for RDMA without a plugin
    environment: Mapping[str, str] = field(default_factory=dict)
    shared_memory: str = "16Gi"  # for data loaders and NCCL; the default is 64 MB
    pinned_memory: bool = False  # the capability IPC_LOCK, which RDMA wants where the limit of locked memory is low
    user: Annotated[int, between(1, 2**31 - 1)] = 1000  # whose home is *home* in the image's /etc/passwd
    home: str = "/home/mpiuser"

    @property
    def restricted(self) -> bool:
        """Whether the pods keep to Pod Security "restricted": a user's, without a capability."""
        return not (self.host_network or self.pinned_memory)


def read(path: Path) -> Values:
    """Raises EvalsuiteError with all mistakes in the file."""
    return decode(Values, read_toml(path, EXAMPLE), path, strict=True)


def word(text: str) -> str:
    """A text of YAML; one that is not plain is written as JSON."""
    return text if PLAIN_WORD.fullmatch(text) and text.lower() not in NO_TEXT else json.dumps(text)
