"""The script for sbatch, and what Slurm's queue says."""

import contextlib
import os
import shlex
import time

import pytest
import yaml

from evalsuite import cli
from evalsuite.commands import run as launching
from evalsuite.commands.launching import kubernetes_submission
from evalsuite.commands.launching.kubernetes_submission import HOSTFILE, Values
from evalsuite.commands.launching.request import read_request
from evalsuite.core.errors import EvalsuiteError, Exit
from evalsuite.core.model import Run
from evalsuite.launch import campaign
from evalsuite.launch.checks.room import RemainingTime
from evalsuite.launch.remote import allocations
from evalsuite.plan.estimate import Estimate
from evalsuite.schedulers import SCHEDULERS, slurm
from tests import goldens, sources
from tests.sources import program
from tests.toys import CASE, TOYNET

SLURM = SCHEDULERS["slurm"]
ASKED = ("partition=gpu", "account=dl", "time=8:00:00", "gres=gpu:8", "constraint=a100")
PLACE = tuple(word for each in ASKED for word in ("--ask", each))
CONTAINERS = sources.table("submit.toml")["containers"]


def written(tmp_path, monkeypatch, capsys, *words: str) -> str:
    """The script that `submit` writes, with this machine's paths in words."""
    import sys

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("evalsuite.launch.programs.python_path", lambda: {"PYTHONPATH": "/shared/evalsuite"})
    assert cli.main(["submit", "--frameworks", "pytorch", "--scales", "1x8,4x8", "--anyway", *words]) == Exit.DONE
    text = (tmp_path / "runs" / "evaluation.sbatch").read_text()
    return text.replace(str(tmp_path), "/srv/evaluation").replace(sys.executable, "/shared/python")


@pytest.mark.parametrize("container", CONTAINERS)
def test_the_script_for_slurm(tmp_path, monkeypatch, capsys, container):
    words = (*PLACE, "--nodes-spare", "1", "--before", "module load cuda/12.4", *CONTAINERS[container])

    found = written(tmp_path, monkeypatch, capsys, *words)

    assert found == goldens.expected(f"sbatch/slurm-{container}.sbatch", found)


def test_what_was_asked_for_reaches_compare_word_for_word(tmp_path, monkeypatch, capsys):
    odd = ("--option", "note=it's here", "--option", "image_size=64", "--oversubscribe", "--max-device-hours", "9.5")

    found = written(tmp_path, monkeypatch, capsys, *odd, "--device", "gpu", "--out", "my report", "--steps", "5+20")

    line = found.partition("TERM\n")[2].partition(" &\n")[0].replace("\\\n", " ")
    words = os.popen(f"printf '%s\\n' {line}").read().splitlines()
    assert "#SBATCH --gres=gpu:8\n" in found
    assert words[:4] == ["/shared/python", "-m", "evalsuite", "compare"]
    for option, value in zip(odd[::2], odd[1::2], strict=False):
        assert option in words and (value in words or value.startswith("--"))
    assert words[words.index("--out") + 1] == "my report"


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """A folder first on the PATH, for programs of Slurm that say what a test wants."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return folder


def test_a_job_has_a_number_and_one_that_slurm_refuses_or_nobody_takes_says_why(programs, tmp_path, monkeypatch):
    program(programs / "sbatch", 'echo "812;cluster"')
    assert allocations.submit(SLURM, tmp_path / "evaluation.sbatch", print) == "812"

    why = "sbatch: error: invalid partition specified: gpux\nsbatch: error: Batch job submission failed"
    program(programs / "sbatch", f"printf '{why}' >&2; exit 1")
    program(programs / "scontrol", "exit 0")

    with pytest.raises(EvalsuiteError, match=r"sbatch: invalid partition specified: gpux .*expected.*Try another"):
        allocations.submit(SLURM, tmp_path / "evaluation.sbatch", print)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EvalsuiteError, match=r"no such program.*evaluation\.sbatch"):
        allocations.submit(SLURM, tmp_path / "evaluation.sbatch", print)
    assert slurm.nodes({}, allocations.ask) == ()


def test_a_controller_that_is_away_is_waited_for_and_no_run_is_at_fault(programs, monkeypatch):
    heard: list[str] = []
    monkeypatch.setattr(allocations, "PAUSES_S", [0.01] * 4)
    engine = allocations.engine(SLURM, {})
    program(programs / "scontrol", 'echo x >>"$0.asked"; test $(wc -l <"$0.asked") -gt 3')

    assert allocations.await_answer(engine, heard.append)
    assert len(heard) == 3 and "Slurm" in heard[0]
    assert not allocations.await_answer(engine, heard.append) and len(heard) == 3
    program(
        programs / "sbatch", 'rm -f "${0%/*}/scontrol.asked"; test -e "$0.again" && echo 9 || { >"$0.again"; exit 1; }'
    )
    (programs / "scontrol.asked").unlink()
    assert allocations.submit(SLURM, programs / "job", heard.append) == "9" and len(heard) == 6
    assert heard[-1].endswith("asked for 1 s more")
    program(programs / "scontrol", "exit 1")
    program(programs / "sbatch", "echo 'sbatch: error: Unable to contact slurm controller' >&2; exit 1")
    assert not allocations.await_answer(engine, heard.append)
    with pytest.raises(EvalsuiteError, match=r"sbatch: Unable to contact.*expected an answer of Slurm.*submit it then"):
        allocations.submit(SLURM, programs / "job", heard.append)


def test_submit_refuses_more_nodes_than_there_are_or_a_plan_without_runs_before_anything_is_written(
    programs, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    program(programs / "sinfo", "echo 'debug* 3'")
    asked = ["submit", "--frameworks", "pytorch", "--recipe", "reference-resnet50", "--scales"]
    on_cpus = ["--device", "cpu"]

    assert cli.main([*asked, "4x1", *on_cpus]) == Exit.NOTHING_MEASURED
    assert "the partition has 3" in "".join(capsys.readouterr())
    assert cli.main([*asked, "1x2", "--device", "gpu", "--ask", "gres=gpu:a100:1"]) == Exit.NOTHING_MEASURED
    assert "--ask gres=gpu:a100:1" in "".join(capsys.readouterr())
    assert (
        cli.main([*asked, "1x1", "--models", "gpt2", *on_cpus]) == Exit.NOTHING_MEASURED
        and not (tmp_path / "runs").exists()
    )
    assert cli.main([*asked, "2x1", *on_cpus]) == Exit.DONE and "not checked" not in capsys.readouterr().err
    program(programs / "sinfo", "exit 1")
    assert (
        cli.main([*asked, "2x1", *on_cpus]) == Exit.DONE
        and "nodes were not checked: `sinfo`" in capsys.readouterr().err
    )
    assert "#SBATCH --mem=0\n" in (tmp_path / "runs" / "evaluation.sbatch").read_text()
    for _ in range(2):  # that of another matrix stays
        assert cli.main([*asked, "1x1", *on_cpus]) == Exit.DONE and "evaluation.2.sbatch" in capsys.readouterr().out
    assert " 2x1" in (tmp_path / "runs" / "evaluation.sbatch").read_text()
    assert " 1x1" in (tmp_path / "runs" / "evaluation.2.sbatch").read_text()


@pytest.mark.parametrize(
    "asked",
    [
        *("--redo nothing", "--lang xx", "--forms docx", "--against nobody", "--author none.toml", "--forecast zz"),
        *("--criteria none.toml", "--receipts none", "--junit /dev/zero", "--certificate /dev/zero", "--out /dev/zero"),
        *("--out /proc/x", "--ask account='a\\'", "--ask 'x --uid=0'", "--ask time=soon"),
    ],
)
def test_what_compare_would_refuse_on_the_nodes_is_refused_before_a_job_waits(tmp_path, monkeypatch, asked):
    monkeypatch.chdir(tmp_path)
    line = ["submit", "--frameworks", "pytorch", "--scales", "1x1", "--device", "cpu", "--anyway"]

    assert cli.main([*line, *shlex.split(asked)]) == Exit.USAGE
    assert not list(tmp_path.iterdir())


def test_slurm_itself_says_what_it_does_not_know_and_a_time_in_which_no_run_would_begin_is_refused(
    programs, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    program(programs / "scontrol", "exit 0")
    refused = "allocation failure: Invalid account"
    program(programs / "sbatch", f'test "$1" != --test-only || {{ echo "{refused}" >&2; exit 1; }}')
    asked = ["submit", "--frameworks", "pytorch", "--models", "resnet50_v1.5", "--device", "cpu", "--scales", "1x1"]

    assert cli.main([*asked, "--go"]) == Exit.USAGE and "Invalid account" in capsys.readouterr().err
    assert cli.main([*asked, "--anyway"]) == Exit.DONE
    assert cli.main([*asked, "--ask", "time=2"]) == Exit.NOTHING_MEASURED and "4 min" in "".join(capsys.readouterr())
    assert [slurm.seconds(text) for text in ("90", "1:30", "8:00:00", "1-2", "1-2:03", "1-2:03:04", "0:0:30", "x")] == [
        *(5400, 90, 28800, 93600, 93780, 93784, 30, None)
    ]


def test_jobs_of_their_own_for_each_number_of_nodes_are_written_where_slurm_charges_less_for_them(
    programs, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lab.toml").write_text(
        'frameworks = ["pytorch"]\nmodels = ["resnet50_v1.5"]\nbatch_per_device = [8]\nprecision = ["fp32"]\n'
        'scales = ["1x1", "4x8"]\nsteps = "5+20"\nrepeats = 5\nexpected_run_s = 360\n'
    )
    program(programs / "sbatch", 'echo "$3" >>"$0.asked"; wc -l <"$0.asked"')
    words = ["--spec", "lab.toml", "--recipe", "reference", "--device", "gpu", "--anyway", "--go"]

    assert cli.main(["submit", *words]) == Exit.DONE

    assert "4.00 node-hours for one of the largest scale, 2.90 for one of each" in " ".join(
        capsys.readouterr().out.split()
    )
    whole, *apart = ((tmp_path / "runs" / f"evaluation{name}.sbatch").read_text() for name in ("", "-1", "-4"))
    assert "singleton" not in whole and all("#SBATCH --dependency=singleton\n" in text for text in apart)
    assert "--scales 1x1 " in apart[0] and "--nodes=4\n" in apart[1] and "--scales 1x1,4x8 " in apart[1]
    assert len((programs / "sbatch.asked").read_text().splitlines()) == 2


def test_the_end_of_the_time_is_slurms_variable_or_what_scontrol_says(programs):
    at = time.time() + 600
    told = time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(at))
    program(programs / "scontrol", f"echo '   StartTime=2026-01-01T00:00:00 EndTime={told} Deadline=N/A'")

    assert allocations.wall_time_left_s({"SLURM_JOB_ID": "812", "SLURM_JOB_END_TIME": str(int(at))}) == pytest.approx(
        600, abs=60
    )
    assert allocations.wall_time_left_s({"SLURM_JOB_ID": "812"}) == pytest.approx(600, abs=60)
    program(programs / "scontrol", "echo '   StartTime=Unknown EndTime=Unknown'")
    assert allocations.wall_time_left_s({"SLURM_JOB_ID": "812"}) is None
    assert allocations.wall_time_left_s({}) is None


def test_no_run_is_started_that_the_time_would_not_hold_as_far_as_anybody_can_estimate():
    run = Run(case=CASE, repeat=0)
    now = [0.0]
    remaining = RemainingTime(1000.0, Estimate([(run, 300.0)]), clock=lambda: now[0])

    assert remaining.fits(run)
    now[0] = 560.0
    assert not remaining.fits(run) and remaining.refused
    assert RemainingTime(None, Estimate([])).fits(run)

    assert RemainingTime(1000.0, Estimate([])).fits(run)
    assert not RemainingTime(100.0, Estimate([])).fits(run)


# manifests for Kubernetes: found right once, then held, and checked with the models that Kubeflow publishes


COMMAND = ["python3", "-m", "evalsuite", "compare", "--engine", "hosts"]
COMMAND += ["--option", "note=two words: #1", "--xla", "on"]
PLAIN = Values(image="registry/lab/evalsuite:1", claim="runs")
FULL = Values(
    image="registry/lab/evalsuite:1", claim="runs", name="full", namespace="training", mount="/mnt/lab",
    queue="gpu-queue", priority="high", resources={"cpu": "96", "memory": "1Ti", "rdma/hca": "1"},
    selector={"node.kubernetes.io/instance-type": "h200x8"}, tolerate=("nvidia.com/gpu",), pull_secrets=("regcred",),
    host_network=True, environment={"NCCL_DEBUG": "INFO", "NCCL_IB_HCA": "mlx5"},
)  # fmt: skip
TEXTS = {
    "plain": kubernetes_submission.manifests(PLAIN, COMMAND, nodes=2, devices_per_node=1, device="cpu"),
    "full": kubernetes_submission.manifests(FULL, COMMAND, nodes=125, devices_per_node=8, device="gpu"),
}
CASES = {name: list(yaml.safe_load_all(text)) for name, text in TEXTS.items()}
FILE = 'image = "lab/evalsuite:1"\nclaim = "runs"\n'


@pytest.mark.parametrize("name", CASES)
def test_the_manifests_are_those_that_were_read_and_found_right(name):
    assert TEXTS[name] == goldens.expected(f"kubernetes/{name}.yaml", TEXTS[name])


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
        each["template"]["spec"]["template"]["spec"] for each in runtime["spec"]["template"]["spec"]["replicatedJobs"]
    )

    assert (policy["numNodes"], policy["mpi"]["numProcPerNode"], policy["mpi"]["runLauncherAsNode"]) == (125, 8, False)
    assert node["containers"][0]["resources"]["limits"] == {**FULL.resources, "nvidia.com/gpu": "8"}
    assert "nvidia.com/gpu" not in launcher["containers"][0]["resources"]["limits"]
    assert launcher["containers"][0]["command"][-len(COMMAND) :] == COMMAND
    assert job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "gpu-queue"
    assert job["spec"]["runtimeRef"]["name"] == runtime["metadata"]["name"]


def submitted(tmp_path, *words):
    (tmp_path / "values.toml").write_text(FILE)
    where = ["--runs", "runs", "--values", str(tmp_path / "values.toml")]
    with contextlib.chdir(tmp_path):
        return cli.main(
            ["submit", "--engine", "kubernetes", "--frameworks", "pytorch", "--scales", "1x1,2x2", *where, *words]
        )


def test_submit_writes_what_the_launcher_runs_over_the_pods(tmp_path):
    assert submitted(tmp_path, "--device", "cpu") == 0

    text = (tmp_path / "runs" / "evaluation.yaml").read_text()
    assert "numNodes: 2" in text
    words = [line.strip().removeprefix("- ").strip('"') for line in text.splitlines()]
    line = words[words.index("compare") :]
    assert line[: line.index("--frameworks")] == ["compare", "--engine", "hosts", "--hosts", HOSTFILE]
    assert {"/shared/runs", "/shared/report", "1x1,2x2"} <= set(line)
    assert "--values" not in words
    assert "--go" not in words


def test_go_gives_them_to_the_cluster_s_client_and_repeats_what_it_says(tmp_path, monkeypatch, capsys):
    client = program(tmp_path / "bin" / "kubectl", 'echo "error: no matches for kind \\"TrainJob\\"" >&2; exit 1')
    monkeypatch.setenv("PATH", str(client.parent), prepend=":")

    assert submitted(tmp_path, "--device", "cpu", "--go") == 2
    assert 'no matches for kind "TrainJob"' in capsys.readouterr().err

    client.write_text("#!/bin/sh\necho trainjob.trainer.kubeflow.org/evaluation created\n")
    assert submitted(tmp_path, "--device", "cpu", "--go") == 0
    assert "evaluation created" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "why"), [(("--container", "pyxis"), "leave --container out"), (("--out", "/home/me/k"), "/shared")]
)
def test_what_the_pods_cannot_do_or_no_values_say_is_refused(tmp_path, capsys, words, why):
    assert submitted(tmp_path, "--device", "cpu", *words) == 2
    assert why in capsys.readouterr().err and not (tmp_path / "runs" / "evaluation.yaml").exists()
    without = ["submit", "--engine", "kubernetes", "--frameworks", "pytorch", "--runs", str(tmp_path / "runs")]
    assert cli.main(without) == 2 and "--values FILE" in capsys.readouterr().err and not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("words", "left_s", "code", "said"),
    [
        ((), 100, Exit.INTERRUPTED, "5 runs left for lack of time"),
        (("--max-device-hours", "1"), 9e9, Exit.SOME_FAILED, "5 runs left: the limit of device-hours"),
        ((), 9e9, Exit.DONE, "5 of 5 runs to do"),
    ],
)
def test_what_is_left_undone_has_a_code_of_its_own(tmp_path, monkeypatch, capsys, words, left_s, code, said):
    monkeypatch.setattr(allocations, "wall_time_left_s", lambda environment: left_s)
    monkeypatch.setattr(campaign, "launch_all", lambda runs, *_, fits, **__: iter([fits(next(runs))][:0]))
    monkeypatch.setattr("evalsuite.launch.checks.doctor.await_quiet", lambda say: None)
    line = (*TOYNET, "--runs", str(tmp_path), "--repeats", "5", "--scales", "1x1", *words)
    request = read_request(cli.parser_of("run").parse_args(line))

    assert launching.run_missing(request)[1] == code
    assert said in capsys.readouterr().err
