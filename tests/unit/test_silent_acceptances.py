"""Changes that are known to be bad, at every place of every file: the command refuses, or tells of the file.

`test_generated_attacks.py` asks of any change that it makes no traceback; here what is changed can mean nothing good,
and may never pass as the sound file does. What is not asked for: keys that a record may lack by its contract, and keys
more in the records of runs, where a later evalsuite may write some (evalsuite/documents.py).

A few changes at each place here, by a seed; all of them by `make test-attacks` (EVALSUITE_ATTACKS=1).
"""

import json
import os
import random
import shutil
from dataclasses import MISSING, fields, replace

import pytest
import reports
import runfolders
from test_attacks import AUTHOR, CRITERIA, LOG, MAPPING, SPEC, _toml

from evalsuite import cli
from evalsuite.documents import HostEnvironment, RunCommand
from evalsuite.errors import EvalsuiteError
from evalsuite.model import Protocol, Run
from evalsuite.report.data import finished
from evalsuite.results.evaluation import evaluate
from evalsuite.runs import samples
from evalsuite.runs.endings import AgentOutcome, Outcome
from evalsuite.runs.planned import Planned
from evalsuite.runs.store import Store
from tests.toys import CASE

ALL = bool(os.environ.get("EVALSUITE_ATTACKS"))
SEED = int(os.environ.get("EVALSUITE_SEED", "15"))
ASKED = replace(
    CASE,
    precision="amp",
    device="gpu",
    devices_per_node=2,
    xla=True,
    protocol=Protocol(warmup_steps=10, measured_steps=90),
    options=(("a", "b"),),
)  # nothing as it is by default: a key that is taken out makes another case
SAMPLE = {"cpu_percent": 10.0, "memory_used_bytes": 100, "tree": {"cpu_s": 1.0, "memory_bytes": 5, "processes": 2}}
AGENT = AgentOutcome(
    exit_code=0, signal=None, timed_out=False, interrupted_by=None, error=None, cpu_s=0.5, duration_s=63.0, samples=70,
    samples_missed=0, left_behind=0, survivors=0, started_at="2026-11-20T10:00:00+08:00", group_cpu_s=50.0, beside=0,
    cores=((0, 1),), clock_error_s=(0.1, 0.1), sha256={"log.n0.txt": "0" * 64},
)  # fmt: skip
KINDS = {
    "wrong type": lambda value: "x" if isinstance(value, dict) else {"a": {"b": []}},
    "list": lambda value: [None],
    "NaN": lambda value: float("nan"),
    "huge": lambda value: 10**400,
    "negative": lambda value: -1,
}
MAY_BE_NEGATIVE = {("agent.n0.json", "exit_code")}  # ended by that signal
RECORDS = {
    "plan.json": Planned, "case.json": None, "command.json": RunCommand, "outcome.json": Outcome,
    "environment.n0.json": HostEnvironment, "agent.n0.json": AgentOutcome,
}  # fmt: skip


@pytest.fixture
def chance(request):
    return random.Random(f"{SEED} {request.node.name}")


def places(facts, way=()):
    """The way to each value inside *facts*, JSON."""
    for key in facts if isinstance(facts, dict) else range(len(facts)):
        yield (*way, key)
        if isinstance(facts[key], dict | list):
            yield from places(facts[key], (*way, key))


def value_at(facts, way):
    for key in way:
        facts = facts[key]
    return facts


def changed(facts, way, make=None):
    """A copy of *facts* with what *make* makes of the value at *way* in its place; without *make*, none."""
    copy = json.loads(json.dumps(facts))
    place = value_at(copy, way[:-1])
    if make:
        place[way[-1]] = make(place[way[-1]])
    else:
        del place[way[-1]]
    return copy


def wrong_values(facts, chance, but=()):
    """(what was done, *facts* with it) for each place and kind of wrong value, or for one kind at each place."""
    for way in places(facts):
        number = isinstance(value_at(facts, way), int | float)
        kinds = [kind for kind in KINDS if kind != "negative" or (number and way[-1] not in but)]
        for kind in kinds if ALL else [chance.choice(kinds)]:
            yield f"{kind} at {way}", changed(facts, way, KINDS[kind])


def spoilt(content):
    """(what was done, content) of a JSON file that is cut, empty, or has a key twice."""
    key = content[content.index(b'"') :].split(b":")[0]
    yield "cut", content[: len(content) // 2]
    yield "its last byte gone", content.rstrip()[:-1]
    yield "empty", b""
    yield "a key twice", content.rstrip()[:-1] + b", " + key + b": 1}"


# the records of a run


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A run with every kind of record, and the plan that asked for it."""
    store = Store(tmp_path_factory.mktemp("sound"))
    header = samples.Header(hz=1.0, cpu_count=2.0, memory_total_bytes=1000)
    lines = [header.to_json(), *({**SAMPLE, "at_s": float(second)} for second in range(70))]
    with store.claim(Run(case=ASKED, repeat=0)) as folder:
        folder.samples_path("n0").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        folder.pack_samples("n0")
        folder.write_agent("n0", AGENT)
        runfolders.fill(folder)
    store.write_plan(Planned(profile="quick", repeats=1, cases=(ASKED,), skips=()))
    return store.root


def file_of(runs, name):
    return runs / name if name == "plan.json" else runs / ASKED.id / "r0" / name


def silent(runs, name, content):
    """Whether the record called *name* may hold *content* and nothing is said of it."""
    file = file_of(runs, name)
    sound = file.read_bytes()
    file.write_bytes(content)
    try:
        found = evaluate(Store(runs))
    except EvalsuiteError as error:
        return name not in str(error)
    finally:
        file.write_bytes(sound)
    said = [str(one) for one in found.findings if one.severity in ("exclude", "reject")]
    said += [run.reason for one in found.summaries for run in one.measurements if run.value is None]
    return not any(name in words for words in said)


def test_the_sound_run_counts_and_nothing_is_said_of_it(runs):
    found = evaluate(Store(runs))

    assert [one.n for one in found.summaries] == [1]
    assert {one.severity for one in found.findings} <= {"note", "flag"}


@pytest.mark.parametrize("name", RECORDS)
def test_no_record_of_a_run_with_a_wrong_value_is_taken(name, runs, chance):
    content = file_of(runs, name).read_bytes()
    but = {key for file, key in MAY_BE_NEGATIVE if file == name}
    tried = [(what, json.dumps(bad).encode()) for what, bad in wrong_values(json.loads(content), chance, but)]
    tried += spoilt(content)

    assert [what for what, bad in tried if silent(runs, name, bad)] == []


@pytest.mark.parametrize("name", [name for name in RECORDS if name != "case.json"])
def test_no_record_of_a_run_without_a_key_that_it_needs_is_taken(name, runs):
    facts = json.loads(file_of(runs, name).read_bytes())
    needed = [one.name for one in fields(RECORDS[name]) if one.default is MISSING and one.default_factory is MISSING]
    tried = [(key, json.dumps(changed(facts, (key,))).encode()) for key in ("schema", *needed)]

    assert [key for key, bad in tried if silent(runs, name, bad)] == []


def test_no_case_without_a_key_or_with_one_more_is_taken_for_itself(runs):
    facts = json.loads(file_of(runs, "case.json").read_bytes())
    bad = {key: changed(facts, (key,)) for key in facts if key != "nodes"}  # without, they are one
    bad["one more"] = {**facts, "zzz": 1}

    assert [key for key, one in bad.items() if silent(runs, "case.json", json.dumps(one).encode())] == []


@pytest.mark.parametrize("name", ["log.n0.txt", "arrivals.n0.csv", "samples.n0.columns"])
def test_no_recording_is_taken_that_is_not_what_was_recorded(name, runs, chance):
    content = file_of(runs, name).read_bytes()
    at = chance.randrange(len(content))
    tried = {
        "cut": content[: len(content) // 2], "empty": b"", "its last byte gone": content[:-1],
        "a bit": bytes([*content[:at], content[at] ^ 1, *content[at + 1 :]]), "doubled": content * 2,
    }  # fmt: skip

    assert [what for what, bad in tried.items() if silent(runs, name, bad)] == []


@pytest.mark.parametrize("name", ["log.n0.txt", "arrivals.n0.csv", "samples.n0.columns"])
def test_a_hash_that_is_taken_out_or_another_is_told(name, runs):
    facts = json.loads(file_of(runs, "outcome.json").read_bytes())
    folder = file_of(runs, "outcome.json").parent
    sound = (folder / "outcome.json").read_bytes()
    for make in (None, lambda digest: digest[::-1]):
        (folder / "outcome.json").write_text(json.dumps(changed(facts, ("sha256", name), make)))
        found = evaluate(Store(runs))
        (folder / "outcome.json").write_bytes(sound)

        assert any(name in str(one) for one in found.findings if one.severity == "exclude")


def test_a_run_recorded_when_logs_alone_had_hashes_is_unchanged(runs):
    folder = Store(runs).finished()[0]
    outcome = folder.outcome()
    logs = {name: digest for name, digest in outcome.sha256.items() if name.startswith("log.")}

    assert folder.changed(replace(outcome, sha256=logs)) == ()
    assert folder.changed(replace(outcome, sha256={})) == ("log.n0.txt",)


# finished reports


def test_no_summary_of_a_report_with_a_wrong_value_is_read(tmp_path, chance):
    folder = reports.written(tmp_path / "report", reports.evaluation(reports.summary()))
    file = folder / finished.SUMMARY
    facts = json.loads(file.read_text())
    tried = [(what, json.dumps(bad).encode()) for what, bad in wrong_values(facts, chance)]
    tried += spoilt(json.dumps(facts).encode())

    taken = []
    for what, bad in tried:
        file.write_bytes(bad)
        try:
            finished.read(folder)
            taken.append(what)
        except EvalsuiteError as error:
            assert str(file) in str(error)
    assert len(tried) > 200
    assert taken == []


# files that people write

WRONG = ("{a = {b = [1]}}", "[[[1]]]", "nan", "-1", "1e400", "9" * 400, "true", '"\\u0000"')
WRITTEN = {"spec": SPEC, "criteria": CRITERIA, "author": AUTHOR, "mapping": MAPPING}


def misread(name, lines, chance):
    """(what was done, the file's text) for each line of a sound file of a person's."""
    for at, line in enumerate(lines):
        before, key, after = lines[:at], line.partition(" = ")[0], lines[at + 1 :]
        if " = " not in line:
            continue
        for wrong in WRONG if ALL else chance.sample(WRONG, 2):
            yield f"{key} = {wrong[:20]}", [*before, f"{key} = {wrong}", *after]
        yield f"{key} twice", [*before, line, line, *after]
        yield f"{key} cut", [*before, f"{key} = "]
        if name != "mapping":  # where a name more is an option of the case, by docs
            yield f"a key beside {key}", [*before, line, "zzz = 1", *after]


@pytest.mark.parametrize("name", WRITTEN)
def test_no_file_of_a_persons_with_a_mistake_is_taken(name, runs, tmp_path, chance, capsys):
    file = tmp_path / f"{name}.toml"
    (tmp_path / "a.log").write_text(LOG)
    made, report = tmp_path / "imported", ("report", "--runs", runs, "--out", tmp_path / "out", "--forms", "md")
    words = {
        "spec": ("plan", "--spec", file, "--device", "cpu", "--environment", "current", "--runs", made),
        "criteria": (*report, "--criteria", file),
        "author": (*report, "--author", file),
        "mapping": ("import", tmp_path / "a.log", "--map", file, "--runs", made),
    }[name]
    lines = "".join(_toml(WRITTEN[name])).splitlines()
    taken = []
    for what, text in misread(name, lines, chance):
        file.write_text("\n".join(text) + "\n")
        code = cli.main([str(word) for word in words])
        said = "".join(capsys.readouterr())
        if code not in (2, 3) or not any(word in said for word in (file.name, "a.log", "--frameworks")):
            taken.append((what, code, said[:200]))
        shutil.rmtree(made, ignore_errors=True)

    assert taken == []
