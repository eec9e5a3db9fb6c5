"""The files of a run folder as nouns: there and back, and what is said of one that is not as it should be."""

import functools
import json
import re
from dataclasses import MISSING, fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsuite import decode, documents, paths
from evalsuite.documents import (
    CampaignPlace,
    Checkout,
    Citation,
    CitedFigure,
    ContainerLimits,
    DialectSource,
    Gpu,
    HostEnvironment,
    Interface,
    PrintedBeside,
    RunCommand,
    Source,
    UsedRecipe,
)
from evalsuite.errors import EvalsuiteError
from evalsuite.model import Case, Protocol, Skip
from evalsuite.runs.endings import AgentOutcome, Outcome
from evalsuite.runs.journal import Campaign, JournalLine
from evalsuite.runs.planned import AskedRun, Planned
from evalsuite.runs.samples import Header
from evalsuite.runs.store import Store
from tests.toys import CASE, COMMAND

RECORDED = Store(paths.DATA / "recorded").finished()
CASE_WITH_ALL = Case(
    framework="toynet",
    recipe="reference-resnet50",
    model="resnet50_v1.5",
    nodes=2,
    devices_per_node=4,
    batch_per_device=32,
    precision="amp",
    xla=True,
    device="gpu",
    protocol=Protocol(warmup_steps=5, measured_steps=30),
    options=(("image_size", "64"), ("workers", "2")),
)
FULL = (
    RunCommand(
        argv=("srun", "python", "train.py"),
        command=("python", "train.py"),
        environment={"OMP_NUM_THREADS": "2"},
        recipe=replace(
            UsedRecipe(**{field.name: field.name for field in fields(UsedRecipe)} | {"scope": "own"}),
            dialect_source=DialectSource(by="author", file="d.py", sha256="0", option="--dialects"),
            features=("Horovod", "APEX"),
            facts={"optimiser": "sgd"},
        ),
        engine="slurm",
        evalsuite="0.1.0",
        files={"hosts": "a\nb\n"},
        links={"criteo_data": "/data/criteo"},
        container="docker",
        sandbox="bwrap",
        image_digest="sha256:1",
        data_sets=({"name": "gpt2", "seed": 1, "shape": [3, None]},),
        timeout_s=300.5,
        checkout=Checkout(name="n", repository="r", commit="c", clean=True, absent=("big.bin",), licence="MIT"),
        script_sha256="2",
        workload_sha256={"train.py": "2", "loop.py": "6"},
        framework_version="2.1",
        packages={"torch": "2.1"},
        imported=(Source(path="a.log", sha256="3"),),
        printed=PrintedBeside(speedup="1.5x"),
        stated={"precision": "fp16"},
        corrected={"precision": "fp32"},
        figure=CitedFigure(
            printed="11331.93",
            kind="median",
            n=7,
            log_set="bz128/4n8g",
            citations=(
                Citation(row="t.csv:2", source="README.md", speedup="28.89", base="392.24", base_row="t.csv:1"),
            ),
            runs=("11331.93",),
            others=(Citation(row="t.csv:3"),),
            others_printed=("11233.92",),
        ),
        campaign=CampaignPlace(id="20261120T020000-5eed00", plan_sha256="5", round=2, order=7, attempt=1),
    ),
    Outcome(
        status="completed",
        reason="",
        exit_code=-9,
        started_at="2026-01-01T00:00:00+00:00",
        duration_s=1.5,
        enough="hung",
        fault="infrastructure",
        origin="imported",
        sha256={"log.n.txt": "4"},
        trimmed=True,
    ),
    HostEnvironment(
        host="n1",
        node_rank=1,
        os="Debian GNU/Linux 12 (bookworm)",
        kernel="6.1",
        architecture="x86_64",
        cpu_model="EPYC",
        cpu_count=64,
        cpu_count_usable=7.5,
        cpu_governor="performance",
        numa_nodes=2,
        memory_total_bytes=2**39,
        container=ContainerLimits(cpus=7.5, memory_bytes=2**34),
        disks=("sda", "nvme0n1"),
        interfaces={"eth0": Interface(speed_mbit_s=100_000), "lo": Interface()},
        gpus=(
            Gpu(index=0, uuid="GPU-0", name="H200", memory_total_bytes=2**37, power_limit_w=700.0, of_job=True),
            Gpu(index=1),
        ),
        driver="550",
        cuda_driver="12.4",
        topology="GPU0 X",
        python="3.11",
        evalsuite="0.1.0",
        environment_variables={"NCCL_DEBUG": "INFO"},
    ),
    AgentOutcome(
        exit_code=137,
        signal="SIGKILL",
        timed_out=True,
        interrupted_by="SIGINT",
        error="no room",
        started_at="2026-01-01T00:00:00+00:00",
        duration_s=2.5,
        cpu_s=0.125,
        left_behind=1,
        survivors=0,
        samples=9,
        samples_missed=1,
        cores=((0, 1), (2, 3)),
        beside=1,
        clock_ahead_s=(0.5, -0.25),
        clock_error_s=(0.125, 0.0),
        group_cpu_s=1.5,
        no_group="none",
        sha256={"log.n0.txt": "0"},
    ),
    AskedRun(repeat=3, case=CASE_WITH_ALL),
    Planned(
        profile="quick",
        repeats=5,
        cases=(CASE, CASE_WITH_ALL),
        skips=(Skip(case=CASE, reason="no such cluster", kind="unsupported"),),
        most_repeats=7,
    ),
    Campaign(
        id="20261120T020000-5eed00",
        started_at="2026-11-20T10:00:00+08:00",
        plan=Planned(profile="quick", repeats=5, cases=(CASE_WITH_ALL,), skips=()),
        plan_sha256="5",
        evalsuite="0.1.0",
    ),
    JournalLine(
        event="ended",
        run="case/r0",
        attempt=1,
        campaign="20261120T020000-5eed00",
        at="2026-11-20T10:00:00+08:00",
        status="completed",
        items_per_s=1.5,
        unit="images/s",
        before="6",
        fault="infrastructure",
    ),
    Header(
        hz=2.0,
        jitter=0.25,
        started_at_unix_s=1.7e9,
        clock_ahead_s=0.25,
        cpu_count=7.5,
        cpu_scope="container",
        cores=(0, 1),
        memory_total_bytes=2**34,
        memory_scope="container",
        disks=("sda",),
        interfaces={"eth0": Interface(speed_mbit_s=1000)},
        filesystems={"lustre:a": "lustre"},
        gpus=(Gpu(index=0, of_job=False),),
        pcie_period_s=1.0,
    ),
)
KINDS = {type(one): one for one in FULL}
SAID = r"run/file\.json: {}: .*expected .*\. .*(Move|Read|compare)"
json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text()),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=5), inner, max_size=4)),
    max_leaves=6,
)


def written(one):
    """*one* as it is read from the disk again."""
    return json.loads(json.dumps(one.to_json()))


def read(kind, facts):
    return kind.from_json(facts, "run/file.json")


def places(value, path=()):
    """The path of every key and item in *value*."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in items:
        yield (*path, name)
        yield from places(inner, (*path, name))


def at(facts, path):
    return functools.reduce(lambda inner, name: inner[name], path, facts)


def changed(facts, path, value):
    copy = json.loads(json.dumps(facts))
    at(copy, path[:-1])[path[-1]] = value
    return copy


def name_of(path):
    """`("gpus", 0, "name")` as an error writes it: `gpus[0].name`."""
    return "".join(f"[{each}]" if isinstance(each, int) else f".{each}" for each in path).removeprefix(".")


def is_open(path):
    """Whether anything may stand there: what a data set's own file says is kept as it is."""
    return path[0] == "data_sets" and len(path) > 2


PLACES = [
    pytest.param(kind, path, id=f"{kind.__name__}-{name_of(path)}")
    for kind, one in KINDS.items()
    for path in places(written(one))
    if not is_open(path)
]
REQUIRED = [
    pytest.param(kind, field.name, id=f"{kind.__name__}-{field.name}")
    for kind in KINDS
    for field in fields(kind)
    if field.default is MISSING and kind is not AskedRun
]


@pytest.mark.parametrize("one", FULL, ids=lambda one: type(one).__name__)
def test_what_was_written_is_read_back(one):
    assert read(type(one), written(one)) == one
    assert all(getattr(one, field.name) is not None for field in fields(one))


@pytest.mark.parametrize("one", FULL, ids=lambda one: type(one).__name__)
def test_what_is_not_known_is_left_out_of_the_file_and_comes_back_as_none(one):
    bare = replace(one, **{field.name: None for field in fields(one) if field.default is None})

    assert None not in written(bare).values()
    assert read(type(one), written(bare)) == bare


@pytest.mark.parametrize(("kind", "path"), PLACES)
def test_a_value_of_another_type_is_an_error_that_names_file_and_key(kind, path):
    facts = written(KINDS[kind])
    wrong = [[1]] if isinstance(at(facts, path), dict) else {"a": 1}

    with pytest.raises(EvalsuiteError, match=SAID.format(re.escape(name_of(path)))):
        read(kind, changed(facts, path, wrong))


@pytest.mark.parametrize(("kind", "key"), REQUIRED)
def test_a_missing_key_is_an_error_that_names_file_and_key(kind, key):
    facts = {name: value for name, value in written(KINDS[kind]).items() if name != key}

    with pytest.raises(EvalsuiteError, match=SAID.format(key)):
        read(kind, facts)


@pytest.mark.parametrize("kind", sorted(KINDS, key=str))
@pytest.mark.parametrize("schema", [0, 2, 99, -1, "1", None, True, 1.0])
def test_an_unknown_schema_is_refused(kind, schema):
    with pytest.raises(EvalsuiteError, match=r"run/file\.json: schema: .*(reads|expected) 1\b"):
        read(kind, {**written(KINDS[kind]), "schema": schema})


def test_a_newer_schema_is_refused_with_what_is_read():
    with pytest.raises(EvalsuiteError) as error:
        read(Outcome, {"schema": 3, "status": "completed", "reason": ""})

    assert str(error.value) == (
        "run/file.json: schema: got 3; expected 1. Read it with the evalsuite that wrote it, or with a newer one."
    )


def test_all_mistakes_of_a_file_are_told_at_once():
    with pytest.raises(EvalsuiteError) as error:
        read(Outcome, {"schema": 1, "status": "done", "exit_code": "x", "sha256": {"log.a": 1, "log.b": 2}})

    assert str(error.value) == (
        "run/file.json: 5 mistakes. "
        'status: got "done"; expected one of completed, stopped_as_planned, failed, timed_out. '
        'reason: missing; expected a text or a message. exit_code: got "x"; expected a whole number. '
        "sha256.log.a: got 1; expected a text. "
        f"sha256.log.b: got 2; expected a text. {decode.message(documents.TRY)}"
    )


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        (
            {"status": "done"},
            'status: got "done"; expected one of completed, stopped_as_planned, failed, timed_out',
        ),
        ({"duration_s": "x" * 99}, f'duration_s: got "{"x" * 60}…"; expected a number, at least 0'),
        ({"sha256": {"log.n.txt": [1]}}, "sha256.log.n.txt: got […] of 1; expected a text"),
    ],
)
def test_an_error_shows_what_stood_there_and_what_was_expected(facts, said):
    with pytest.raises(EvalsuiteError) as error:
        read(Outcome, {"schema": 1, "status": "failed", "reason": "", **facts})

    assert str(error.value) == f"run/file.json: {said}. {decode.message(documents.TRY)}"


def test_a_key_in_a_list_is_named_with_its_place():
    facts = changed(written(KINDS[RunCommand]), ("imported", 0, "sha256"), None)

    with pytest.raises(EvalsuiteError, match=r": imported\[0\]\.sha256: got null; expected a text"):
        read(RunCommand, facts)


def test_a_key_of_a_later_evalsuite_is_passed_over():
    assert read(RunCommand, {**COMMAND.to_json(), "weather": "fine"}) == COMMAND


def test_a_case_with_an_axis_that_is_not_known_is_refused():
    with pytest.raises(EvalsuiteError, match=r'file\.json: unknown key "colour"; the keys are framework, '):
        read(AskedRun, {**written(KINDS[AskedRun]), "colour": "blue"})


def test_an_option_is_a_name_and_a_value():
    facts = changed(written(KINDS[AskedRun]), ("options", 1), ["workers"])

    with pytest.raises(EvalsuiteError, match=r": options\[1\]: got \[…\] of 1; expected a list of 2"):
        read(AskedRun, facts)


@given(facts=json_values)
def test_any_json_gives_a_noun_or_an_error_of_the_users(facts):
    for kind in KINDS:
        with pytest.raises(EvalsuiteError, match=r"^run/file\.json: "):
            read(kind, facts)


@given(place=st.sampled_from([param.values for param in PLACES]), value=json_values)
def test_any_json_at_any_key_gives_a_noun_or_an_error_of_the_users(place, value):
    kind, path = place
    try:
        found = read(kind, changed(written(KINDS[kind]), path, value))
    except EvalsuiteError as error:
        assert str(error).startswith("run/file.json: ")
    else:
        assert isinstance(found, kind)


@pytest.mark.parametrize("folder", RECORDED, ids=lambda folder: f"{folder.path.parent.name}-{folder.path.name}")
def test_a_recorded_run_is_read(folder):
    samples = folder.samples("vm")
    outcome, command, hosts, agents = folder.outcome(), folder.command(), folder.environments(), folder.agents()

    assert outcome.sha256.keys() >= {log.path.name for log in folder.logs()}
    assert command.recipe.name == folder.run().case.recipe
    assert [host.host for host in hosts.values()] == list(hosts) == list(agents) == ["vm"]
    assert len(samples.tables["at_s"][""]) > 1
    bound = sum(map(len, agents["vm"].cores or ()))
    assert samples.header.cpu_count == (bound or hosts["vm"].cpu_count_usable)
