"""Manifests for Kubernetes: found right once, then held, and checked with the models that Kubeflow publishes."""

import pytest

from evalsuite import cli
from evalsuite.errors import EvalsuiteError
from evalsuite.plan import kubernetes
from evalsuite.plan.kubernetes import Values
from tests import goldens

COMMAND = ["python3", "-m", "evalsuite", "compare", "--engine", "hosts"]
COMMAND += ["--option", "note=two words: #1", "--xla", "on"]
PLAIN = Values(image="registry/lab/evalsuite:1", claim="runs")
FULL = Values(
    image="registry/lab/evalsuite:1",
    claim="runs",
    name="full",
    namespace="training",
    mount="/mnt/lab",
    queue="gpu-queue",
    priority="high",
    resources={"cpu": "96", "memory": "1Ti", "rdma/hca": "1"},
    selector={"node.kubernetes.io/instance-type": "h200x8"},
    tolerate=("nvidia.com/gpu",),
    pull_secrets=("regcred",),
    host_network=True,
    environment={"NCCL_DEBUG": "INFO", "NCCL_IB_HCA": "mlx5"},
)
CASES = {
    "plain": kubernetes.manifests(PLAIN, COMMAND, nodes=2, devices_per_node=1, device="cpu"),
    "full": kubernetes.manifests(FULL, COMMAND, nodes=125, devices_per_node=8, device="gpu"),
}
FILE = 'image = "lab/evalsuite:1"\nclaim = "runs"\n'


@pytest.mark.parametrize("name", CASES)
def test_the_manifests_are_those_that_were_read_and_found_right_and_their_text_holds_them(name):
    found = kubernetes.text(CASES[name], ["One allocation of pods."])

    assert found == goldens.expected(f"kubernetes/{name}.yaml", found)
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    assert list(yaml.safe_load_all(found)) == CASES[name]


@pytest.mark.parametrize("name", CASES)
def test_every_key_is_one_that_the_published_models_know(name):
    models = pytest.importorskip("kubeflow_trainer_api.models", reason="kubeflow-trainer-api is not installed")
    runtime, job = CASES[name]

    # from_dict passes over keys that it does not know, so that what comes back must be all that went in
    assert models.TrainerV1alpha1TrainingRuntime.from_dict(runtime).to_dict() == runtime
    assert models.TrainerV1alpha1TrainJob.from_dict(job).to_dict() == job


def test_the_nodes_are_alike_and_the_launcher_trains_nothing():
    runtime, job = CASES["full"]
    policy = runtime["spec"]["mlPolicy"]
    node, launcher = (
        one["template"]["spec"]["template"]["spec"] for one in runtime["spec"]["template"]["spec"]["replicatedJobs"]
    )

    assert (policy["numNodes"], policy["mpi"]["numProcPerNode"], policy["mpi"]["runLauncherAsNode"]) == (125, 8, False)
    assert node["containers"][0]["resources"]["limits"] == {**FULL.resources, "nvidia.com/gpu": "8"}
    assert "nvidia.com/gpu" not in launcher["containers"][0]["resources"]["limits"]
    assert launcher["containers"][0]["command"][-len(COMMAND) :] == COMMAND
    assert job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "gpu-queue"
    assert job["spec"]["runtimeRef"]["name"] == runtime["metadata"]["name"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('image = "x"', "claim: missing"),
        (FILE + "quue = 'a'", "Did you mean queue"),
        (FILE + "[resources]\ncpu = 4", "resources.cpu: got 4; expected a text"),
        (FILE + 'tolerate = "gpu"', 'tolerate: got "gpu"; expected a list'),
        (FILE + 'name = "Not A Name"', "small letters"),
        ("image = ", "expected TOML"),
    ],
)
def test_values_that_say_something_else_are_refused_with_their_name(text, said, tmp_path):
    (tmp_path / "values.toml").write_text(text)

    with pytest.raises(EvalsuiteError, match=said):
        kubernetes.read(tmp_path / "values.toml")


def submitted(tmp_path, *words):
    (tmp_path / "values.toml").write_text(FILE)
    where = ["--runs", "runs", "--values", str(tmp_path / "values.toml"), "--script", str(tmp_path / "out.yaml")]
    return cli.main(
        ["submit", "--engine", "kubernetes", "--frameworks", "pytorch", "--scales", "1x1,2x2", *where, *words]
    )


def test_submit_writes_what_the_launcher_runs_over_the_pods(tmp_path):
    assert submitted(tmp_path, "--device", "cpu") == 0

    text = (tmp_path / "out.yaml").read_text()
    assert "numNodes: 2" in text
    words = [line.strip().removeprefix("- ").strip('"') for line in text.splitlines()]
    line = words[words.index("compare") :]
    assert line[: line.index("--frameworks")] == ["compare", "--engine", "hosts", "--hostfile", kubernetes.HOSTFILE]
    assert {"/shared/runs", "/shared/report", "1x1,2x2"} <= set(line)
    assert "--values" not in words
    assert "--go" not in words


def test_go_gives_them_to_the_cluster_s_client_and_repeats_what_it_says(tmp_path, monkeypatch, capsys):
    client = tmp_path / "bin" / "kubectl"
    client.parent.mkdir()
    client.write_text('#!/bin/sh\necho "error: no matches for kind \\"TrainJob\\"" >&2; exit 1\n')
    client.chmod(0o755)
    monkeypatch.setenv("PATH", str(client.parent), prepend=":")

    assert submitted(tmp_path, "--device", "cpu", "--go") == 2
    assert 'no matches for kind "TrainJob"' in capsys.readouterr().err

    client.write_text("#!/bin/sh\necho trainjob.trainer.kubeflow.org/evaluation created\n")
    assert submitted(tmp_path, "--device", "cpu", "--go") == 0
    assert "evaluation created" in capsys.readouterr().out


def test_without_values_nothing_is_written(tmp_path, capsys):
    code = cli.main(["submit", "--engine", "kubernetes", "--frameworks", "pytorch", "--runs", str(tmp_path / "runs")])

    assert code == 2
    assert "--values FILE" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()
