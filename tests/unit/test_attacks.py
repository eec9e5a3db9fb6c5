"""Bad values in every file that evalsuite reads: one sentence and the documented exit code, or the attack has got in.

The tables of tests/attacks say what is put where (README.md there). No attack may end in a traceback, which in-process
is any exception that leaves the command, and none may be accepted in silence.
"""

import csv
import functools
import json
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
import reports
import runfolders
import synthetic

from evalsuite import cli
from evalsuite.errors import Exit
from evalsuite.report.data import finished as report_finished
from evalsuite.results.evaluation import evaluate
from evalsuite.results.measure.summary import counts
from evalsuite.runs.planned import Planned
from evalsuite.runs.store import Store
from tests.toys import CASE

TABLES = Path(__file__).resolve().parent.parent / "attacks"
LONGEST_SENTENCE = 1500  # characters: a message that lists what is known is long, one that repeats the input is longer


def attacks(name):
    """(key, bad value) of each attack in a table."""
    for line in (TABLES / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        key, *values = (part.strip() for part in line.split(" | "))
        yield from ((key, value) for value in values)


def each(name, but=()):
    """The parameters of a test that tries every attack of the table *name*."""
    found = [pair for pair in attacks(name) if pair not in but]
    return pytest.mark.parametrize(("key", "bad"), found, ids=[f"{key}={bad[:40]}" for key, bad in found])


def refused(capsys, *argv, code=Exit.USAGE):
    """Calls the command; what it said, having checked that it is one sentence with the documented exit code."""
    given = cli.main([str(word) for word in argv])
    out, said = capsys.readouterr()

    assert given == code, f"exit code {given}: {out[:300]}{said[:300]}"
    assert said.startswith(f"evalsuite {argv[0]}: ")
    assert said.count("\n") == 1 and said.isprintable() is False and said[:-1].isprintable(), repr(said)
    assert 30 < len(said) < LONGEST_SENTENCE
    return said


# what is put where


def with_json(facts, key, bad):
    """A copy of *facts* with *bad*, written as JSON, at *key*; `-` takes the key out."""
    copy = json.loads(json.dumps(facts))
    *way, last = (int(part) if part.isdigit() else part for part in key.split("."))
    place = functools.reduce(lambda inner, name: inner[name], way, copy)
    if bad == "-":
        del place[last]
    else:
        place[last] = json.loads(bad)
    return copy


def toml_of(lines, key, bad):
    """A TOML file of *lines*, (key with dots, value) pairs, with *bad* in place of *key* and of all below it."""
    kept = {name: value for name, value in lines.items() if name != key and not name.startswith(f"{key}.")}
    kept |= {} if bad == "-" else {key: bad}
    return "".join(_toml(kept))


def _toml(lines):
    tables = {}
    for key, value in lines.items():
        table, _, name = key.rpartition(".") if not key.startswith('"') else ("", "", key)
        tables.setdefault(table, []).append(f"{name} = {value}\n")
    for table, inside in sorted(tables.items()):
        name, _, number = table.partition(".")
        if table:
            yield f"[[{name}]]\n" if number else f"[{name}]\n"
        yield from inside


# the spec

SPEC = {"frameworks": '["pytorch"]', "options": '{image_size = "64"}', "repeats": "2"}


def plan(spec, runs):
    return ("plan", "--spec", spec, "--device", "cpu", "--environment", "current", "--runs", runs)


def test_the_good_spec_is_taken(tmp_path, capsys):
    (tmp_path / "spec.toml").write_text("".join(_toml(SPEC)))

    assert cli.main([*map(str, plan(tmp_path / "spec.toml", tmp_path / "runs"))]) in (Exit.DONE, Exit.NOTHING_MEASURED)


@each("spec")
def test_a_bad_spec_is_refused(key, bad, tmp_path, capsys):
    (tmp_path / "spec.toml").write_text(toml_of(SPEC, key, bad), encoding="utf-8")

    said = refused(capsys, *plan(tmp_path / "spec.toml", tmp_path / "runs"))

    assert "spec.toml" in said or "--frameworks" in said or "--models" in said
    assert not (tmp_path / "runs").exists()


def test_a_matrix_that_nobody_could_run_is_refused_before_it_is_unrolled(tmp_path, capsys):
    axes = {
        "scales": json.dumps([f"1x{devices}" for devices in range(1, 25)]),
        "batch_per_device": json.dumps([*range(1, 1001)]),
    }
    (tmp_path / "spec.toml").write_text("".join(_toml({**SPEC, **axes})))

    assert "the axes make 24000 cases" in refused(capsys, *plan(tmp_path / "spec.toml", tmp_path / "runs"))


def test_the_files_that_a_plan_reads_are_read_once_and_not_for_each_case(tmp_path, capsys, monkeypatch):
    read = []
    loads = tomllib.loads
    monkeypatch.setattr(tomllib, "loads", lambda text: read.append(text) or loads(text))
    axes = {**SPEC, "batch_per_device": json.dumps([*range(1, 201)])}
    (tmp_path / "spec.toml").write_text("".join(_toml(axes)))

    assert cli.main([*map(str, plan(tmp_path / "spec.toml", tmp_path / "runs")), "--json"]) == Exit.NOTHING_MEASURED
    assert len(json.loads(capsys.readouterr().out)["skips"]) == 200
    assert len(read) < 20


# criteria and findings of an author

CRITERIA = {
    "C1.threshold": "0.8", "C1.min_nodes": "20", "C2.threshold": "0.8", "C2.min_nodes": "1",
    "target.0.model": '"resnet50_v1.5"', "target.0.metric": '"top1"', "target.0.value": "76.0", "target.0.epochs": "90",
}  # fmt: skip
AUTHOR = {"finding.0.zh": '"一句话"', "finding.0.en": '"a sentence"'}


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A folder with one good run."""
    runs = tmp_path_factory.mktemp("measured")
    runfolders.finished(runs)
    return runs


@each("criteria")
def test_bad_criteria_are_refused(key, bad, tmp_path, measured, capsys):
    (tmp_path / "criteria.toml").write_text(toml_of(CRITERIA, key, bad))

    said = refused(
        capsys, "report", "--runs", measured, "--criteria", tmp_path / "criteria.toml", "--out", tmp_path / "out"
    )

    assert "criteria.toml" in said
    assert not (tmp_path / "out").exists()


@each("author")
def test_a_bad_authors_file_is_refused(key, bad, tmp_path, measured, capsys):
    (tmp_path / "mine.toml").write_text(toml_of(AUTHOR, key, bad), encoding="utf-8")

    said = refused(capsys, "report", "--runs", measured, "--author", tmp_path / "mine.toml", "--out", tmp_path / "out")

    assert "mine.toml" in said
    assert not (tmp_path / "out").exists()


# tables and logs from elsewhere

ROW = {"framework": "pytorch", "model": "resnet50_v1.5", "nodes": "1", "gpus_per_node": "8", "batch_size_per_gpu": "64",
       "precision": "amp", "throughput": "1234.5", "unit": "images/s", "run": "0"}  # fmt: skip


@each("csv")
def test_a_bad_row_of_a_table_is_left_out_with_its_reason(key, bad, tmp_path, capsys):
    row = {name: value for name, value in ROW.items() if not (name == key and bad == "-")}
    if bad != "-":
        row[key] = bad
    with open(tmp_path / "t.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, row)
        writer.writeheader()
        writer.writerow(row)

    code = cli.main(["import", str(tmp_path / "t.csv"), "--runs", str(tmp_path / "runs")])
    out, said = capsys.readouterr()

    assert code in (Exit.USAGE, Exit.NOTHING_MEASURED)
    assert "t.csv" in out + said and (out + said).count("\n") <= 3
    assert not list((tmp_path / "runs").glob("*/r*"))


LOG = "".join(f"Epoch: [0][{step:4d}/120]\tTime 0.5000 (0.5000)\tLoss 6.7e+00\n" for step in range(120))
MAPPING = {
    "defaults.framework": '"pytorch"', "defaults.model": '"resnet50_v1.5"', "defaults.nodes": "1",
    "defaults.gpus": "1", "defaults.batch": "32", "runs.0.path": '"*.log"', "runs.0.precision": '"fp32"',
}  # fmt: skip


@each("mapping")
def test_a_bad_mapping_file_makes_no_run(key, bad, tmp_path, capsys):
    (tmp_path / "a.log").write_text(LOG)
    (tmp_path / "map.toml").write_text(toml_of(MAPPING, key, bad), encoding="utf-8")

    paths = [str(tmp_path / "a.log"), "--map", str(tmp_path / "map.toml"), "--runs", str(tmp_path / "runs")]
    code = cli.main(["import", *paths])
    out, said = capsys.readouterr()

    assert code in (Exit.USAGE, Exit.NOTHING_MEASURED)
    assert 1 <= (out + said).count("\n") <= 2
    assert not list((tmp_path / "runs").glob("*/r*"))


# official repositories

COMMIT = "0123456789" * 4
REPOSITORY = {
    "one.repository": '"https://example.org/owner/name"', "one.commit": f'"{COMMIT}"', "one.licence": '"MIT"',
}  # fmt: skip


@each("repositories")
def test_a_bad_repository_is_refused_before_git_is_called(key, bad, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("EVALSUITE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path))  # no git
    (tmp_path / "repositories.toml").write_text(toml_of(REPOSITORY, key, bad), encoding="utf-8")

    said = refused(capsys, "repositories", "get", "--adapters", tmp_path, "one")

    assert "repositories.toml" in said
    assert not (tmp_path / "cache").exists()


# finished reports


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return reports.written(tmp_path_factory.mktemp("finished") / "report", reports.evaluation(reports.summary()))


def test_a_report_of_devices_that_are_cores_is_read_back(tmp_path):
    of = replace(synthetic.case(protocol=synthetic.FULL), device="cpu", cores_per_device=4)
    folder = reports.written(tmp_path / "report", reports.evaluation(reports.summary(of=of)))

    assert [one.case for one in report_finished.read(folder).summaries] == [of]


def with_summary(finished, folder, key, bad):
    folder.mkdir()
    (folder / "report.html").write_bytes((finished / "report.html").read_bytes())
    facts = json.loads((finished / "summary.json").read_text(encoding="utf-8"))
    (folder / "summary.json").write_text(json.dumps(with_json(facts, key, bad)), encoding="utf-8")
    return folder


@each("summary")
def test_an_altered_summary_is_not_compared(key, bad, finished, tmp_path, capsys):
    altered = with_summary(finished, tmp_path / "altered", key, bad)

    assert "altered/summary.json" in refused(capsys, "compare-reports", finished, altered)


@each("summary")
def test_an_altered_summary_is_not_published(key, bad, finished, tmp_path, capsys):
    altered = with_summary(finished, tmp_path / "altered", key, bad)

    assert "altered/summary.json" in refused(capsys, "publish", altered, "--site", tmp_path / "site")
    assert not list((tmp_path / "site").rglob("*.html"))


# run folders

FILES = {
    "case": "case.json", "outcome": "outcome.json", "command": "command.json", "environment": "environment.n0.json",
}  # fmt: skip
OF_A_RUN = [(kind, key, bad) for kind in FILES for key, bad in attacks(kind)]


@pytest.mark.parametrize(
    ("kind", "key", "bad"), OF_A_RUN, ids=[f"{kind}.{key}={bad[:40]}" for kind, key, bad in OF_A_RUN]
)
def test_a_run_whose_records_were_altered_is_told_of_and_counts_for_nothing(kind, key, bad, tmp_path):
    folder = runfolders.finished(tmp_path).path
    runfolders.finished(tmp_path, repeat=1)
    file = folder / FILES[kind]
    facts = {**json.loads(file.read_text())}
    file.write_text(json.dumps(with_json(facts, key, bad)))

    found = evaluate(Store(tmp_path))

    told = [finding for finding in found.findings if finding.severity in ("exclude", "reject")]
    failed = [run for one in found.summaries for run in one.measurements if run.run.repeat == 0 and run.value is None]
    said = [*(str(finding) for finding in told), *(run.reason for run in failed)]
    assert any(file.name in words or "no_such" in words or "log.n0.txt" in words for words in said), said
    assert sum(counts(run) for one in found.summaries for run in one.measurements) == 1


@each("plan")
def test_an_altered_plan_is_refused(key, bad, tmp_path, capsys):
    runfolders.finished(tmp_path)
    Store(tmp_path).write_plan(Planned(profile="quick", repeats=1, cases=(CASE,), skips=()))
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(with_json(json.loads(file.read_text()), key, bad)))

    assert "plan.json" in refused(capsys, "report", "--runs", tmp_path, "--out", tmp_path / "out")
