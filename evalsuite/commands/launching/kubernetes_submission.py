"""`evalsuite submit --engine kubernetes`: pods for a whole evaluation, as manifests to read; with --go applied. One
allocation is a TrainingRuntime and a TrainJob of Kubeflow Trainer v2. The nodes' pods run sshd. The launcher's pod runs
the evaluation over them with the engine hosts, by the host file of Trainer's MPI policy. Kueue admits all of them
together or none. Sources: trainer.kubeflow.org/v1alpha1 (Trainer 2.1), its runtime deepspeed-distributed, and
kueue.sigs.k8s.io/docs/tasks/run/trainjobs."""

import argparse
import json
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from evalsuite.commands import report
from evalsuite.commands.launching.request import KUBERNETES, every_case, read_request
from evalsuite.commands.printing.i18n import say
from evalsuite.commands.printing.terminal import line
from evalsuite.core import files, paths
from evalsuite.core.decode import Constraint, between, decode, read_toml
from evalsuite.core.errors import EvalsuiteError, Exit
from evalsuite.launch.remote import allocations
from evalsuite.report.page import templates

HOSTFILE = "/etc/mpi/hostfile"
PLAIN_WORD = re.compile(r"[A-Za-z/][\w./-]*")
NO_TEXT = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})  # what YAML 1.1 takes for others
LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?")  # pods' names are made of it: <name>-node-0-0
EXAMPLE = 'image = "registry/lab/evalsuite:1"'
Evaluation = Callable[[argparse.Namespace, Sequence[str]], list[str]]


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


def read_values(path: Path) -> Values:
    """Raises EvalsuiteError with all mistakes in the file."""
    return decode(Values, read_toml(path, EXAMPLE), path, strict=True)


def word(text: str) -> str:
    """A text of YAML; one that is not plain is written as JSON."""
    return text if PLAIN_WORD.fullmatch(text) and text.lower() not in NO_TEXT else json.dumps(text)


def submit(arguments: argparse.Namespace, evaluation: Evaluation) -> int:
    """Writes the manifests that *arguments* of `submit` ask for; with --go it applies them. *evaluation* gives the
    line that does in the launcher's pod what they ask for."""
    if arguments.values is None:
        raise EvalsuiteError.of("commands.kubernetes_values")
    values = read_values(arguments.values)
    report.check_words(arguments)  # files lie where the pods see them
    asked = argparse.Namespace(**{**vars(arguments), "engine": KUBERNETES, "commands": True})
    cases = every_case(read_request(asked).plan)
    text = manifests(
        values,
        _in_the_pods(arguments, values, evaluation),
        nodes=max(case.nodes for case in cases),
        devices_per_node=max(case.devices_per_node for case in cases),
        device=cases[0].device,
    )
    file = files.write_beside(arguments.runs / "evaluation.yaml", text.encode())
    line(say("submit.manifests", file=file, pods=max(case.nodes for case in cases) + 1))
    if not arguments.go:
        line(say("submit.apply", file=shlex.quote(str(file))))
        return Exit.DONE
    line(allocations.apply_manifests(file))
    return Exit.DONE


def _in_the_pods(arguments: argparse.Namespace, values: Values, evaluation: Evaluation) -> Sequence[str]:
    mount = Path(values.mount)
    if arguments.container:
        raise EvalsuiteError.of("commands.kubernetes_container", name=arguments.container)
    for path in filter(None, (arguments.runs, arguments.out)):
        if path.is_absolute() and not path.is_relative_to(mount):
            raise EvalsuiteError.of("commands.kubernetes_mount", path=path, mount=mount)
    placed = {"runs": mount / arguments.runs, "out": mount / (arguments.out or "report")}
    there = argparse.Namespace(**{**vars(arguments), **placed})
    _, *words = evaluation(there, ("--engine", "hosts", "--hosts", HOSTFILE))
    return ["python3", *words]


def manifests(values: Values, command: Sequence[str], **facts: object) -> str:
    environment = templates.environment([paths.TEMPLATES / "kubernetes"], markup=False)
    environment.filters["word"] = word
    text = environment.get_template("evaluation.yaml.j2").render(values=values, command=[*command], **facts)
    return f"{text}\n"
