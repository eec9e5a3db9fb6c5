"""One allocation of pods for a whole evaluation: a TrainingRuntime and a TrainJob of Kubeflow Trainer v2.

The nodes' pods run sshd. The launcher's pod runs the evaluation over them with the engine hosts, by the host file of
Trainer's MPI policy. Kueue admits all of them together or none. Sources: trainer.kubeflow.org/v1alpha1 (Trainer 2.1),
its runtime deepspeed-distributed, and kueue.sigs.k8s.io/docs/tasks/run/trainjobs.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from evalsuite.decode import Constraint, decode, read_toml

API = "trainer.kubeflow.org/v1alpha1"
QUEUE = "kueue.x-k8s.io/queue-name"
PRIORITY = "kueue.x-k8s.io/priority-class"
HOSTFILE = "/etc/mpi/hostfile"
KEYS = "/root/.ssh"  # where Trainer's MPI policy mounts the keys by default
SSH_PORT = 2222  # 22 is the node's own on its network
LAUNCHER = {"cpu": "2", "memory": "4Gi"}
SHARED_MEMORY = "/dev/shm"
# Host keys are new in every pod; the users' keys are Trainer's secret.
SERVE = f"ssh-keygen -A && mkdir -p /run/sshd && exec /usr/sbin/sshd -De -p {SSH_PORT} -o StrictModes=no"
TRUST = (
    "mkdir -p /etc/ssh/ssh_config.d && "
    f"printf 'StrictHostKeyChecking no\\nPort {SSH_PORT}\\n' > /etc/ssh/ssh_config.d/evalsuite.conf"
)
LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?")  # pods' names are made of it: <name>-node-0-0
EXAMPLE = 'image = "registry/lab/evalsuite:1"'

Manifest = dict[str, Any]


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


def read(path: Path) -> Values:
    return decode(Values, read_toml(path, EXAMPLE), path, strict=True)


def manifests(
    values: Values, command: Sequence[str], *, nodes: int, devices_per_node: int, device: str
) -> list[Manifest]:
    accelerators = {values.device: str(devices_per_node)} if device != "cpu" else {}
    return [_runtime(values, command, nodes, devices_per_node, accelerators), _job(values, nodes)]


def text(found: Sequence[Manifest], why: Sequence[str] = ()) -> str:
    comments = [f"# {line}" for line in why]
    return "\n".join([*comments, *("\n".join(["---", *_lines(manifest)]) for manifest in found), ""])


def _runtime(
    values: Values, command: Sequence[str], nodes: int, devices: int, accelerators: Mapping[str, str]
) -> Manifest:
    launcher = _pod(values, "node", ["sh", "-c", f'{TRUST} && exec "$@"', "evalsuite", *command], LAUNCHER)
    node = _pod(values, "node", ["sh", "-c", SERVE], {**values.resources, **accelerators})
    node["containers"][0]["readinessProbe"] = {"initialDelaySeconds": 2, "tcpSocket": {"port": SSH_PORT}}
    if accelerators or values.host_network:  # pinned memory, for RDMA and for copies to devices
        node["containers"][0]["securityContext"] = {"capabilities": {"add": ["IPC_LOCK"]}}
    return {
        "apiVersion": API,
        "kind": "TrainingRuntime",
        "metadata": {"name": values.name, "namespace": values.namespace},
        "spec": {
            "mlPolicy": {
                "numNodes": nodes,
                "mpi": {
                    "mpiImplementation": "OpenMPI",
                    "numProcPerNode": devices,
                    "runLauncherAsNode": False,
                    "sshAuthMountPath": KEYS,
                },
            },
            "template": {
                "spec": {
                    "network": {"publishNotReadyAddresses": True},
                    "successPolicy": {"operator": "All", "targetReplicatedJobs": ["launcher"]},
                    "replicatedJobs": [
                        {"name": "node", "template": {"spec": {"template": {"spec": node}}}},
                        {
                            "name": "launcher",
                            "dependsOn": [{"name": "node", "status": "Ready"}],
                            "template": {
                                "metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}},
                                "spec": {"backoffLimit": 3, "template": {"spec": launcher}},
                            },
                        },
                    ],
                }
            },
        },
    }


def _job(values: Values, nodes: int) -> Manifest:
    labels = {QUEUE: values.queue, PRIORITY: values.priority}
    given = {name: value for name, value in labels.items() if value}
    return {
        "apiVersion": API,
        "kind": "TrainJob",
        "metadata": {
            "name": values.name,
            "namespace": values.namespace,
            **({"labels": given} if given else {}),
        },
        "spec": {
            "runtimeRef": {"apiGroup": API.partition("/")[0], "kind": "TrainingRuntime", "name": values.name},
            "trainer": {"numNodes": nodes},
        },
    }


def _pod(values: Values, name: str, command: Sequence[str], resources: Mapping[str, str]) -> Manifest:
    variables = {"EVALSUITE_CACHE": f"{values.mount}/cache", "EVALSUITE_DATA": f"{values.mount}/data"}
    container: Manifest = {
        "name": name,
        "image": values.image,
        "command": list(command),
        "env": [{"name": key, "value": value} for key, value in {**variables, **values.environment}.items()],
        "volumeMounts": [
            {"name": "shared", "mountPath": values.mount},
            {"name": "memory", "mountPath": SHARED_MEMORY},
        ],
    }
    if resources:
        container["resources"] = {"limits": dict(resources), "requests": dict(resources)}
    pod: Manifest = {
        "containers": [container],
        "restartPolicy": "OnFailure",
        "volumes": [
            {"name": "shared", "persistentVolumeClaim": {"claimName": values.claim}},
            {"name": "memory", "emptyDir": {"medium": "Memory", "sizeLimit": values.shared_memory}},
        ],
    }
    if values.selector:
        pod["nodeSelector"] = dict(values.selector)
    if values.tolerate:
        pod["tolerations"] = [{"key": key, "operator": "Exists"} for key in values.tolerate]
    if values.pull_secrets:
        pod["imagePullSecrets"] = [{"name": secret} for secret in values.pull_secrets]
    if values.host_network:
        pod |= {"hostNetwork": True, "dnsPolicy": "ClusterFirstWithHostNet"}
    return pod


# YAML; a text that is not plain is written as JSON


def _lines(value: object, indent: str = "") -> Iterator[str]:
    for name, held in value.items() if isinstance(value, dict) else ():
        if isinstance(held, dict) and held:
            yield f"{indent}{name}:"
            yield from _lines(held, f"{indent}  ")
        elif isinstance(held, list) and held:
            yield f"{indent}{name}:"
            for each in held:
                yield from _item(each, indent)
        else:
            yield f"{indent}{name}: {_word(held)}"


def _item(value: object, indent: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{indent}- {_word(value)}"
        return
    first, *others = _lines(value, f"{indent}  ")
    yield f"{indent}- {first.lstrip()}"
    yield from others


PLAIN_WORD = re.compile(r"[A-Za-z/][\w./-]*")
NO_TEXT = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})  # what YAML 1.1 takes for others


def _word(value: object) -> str:
    if isinstance(value, str) and PLAIN_WORD.fullmatch(value) and value.lower() not in NO_TEXT:
        return value
    return json.dumps(value)
