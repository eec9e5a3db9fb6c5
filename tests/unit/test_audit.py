"""`evalsuite audit` and `archive`: what is falsified is found, nothing else; at night from more seeds."""

import json
import re
import shlex
import shutil
import subprocess
import zipfile
from random import Random

import corruptions
import pytest
import reports

from evalsuite import cli
from evalsuite.audit import own_files
from evalsuite.core import paths
from evalsuite.core.errors import EvalsuiteError, Exit
from evalsuite.core.files import read_json, sha256
from evalsuite.site import publishing
from tests.sources import NIGHTLY

SEEDS = range(15 if NIGHTLY else 1)
BAD = (Exit.CRITERION_FAILED, Exit.UNDETERMINED)


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    return corruptions.honest(tmp_path_factory.mktemp("honest"))


def audit(place, *options, runs=None):
    return cli.main(["audit", str(place.report), "--runs", str(runs or place.runs), *options])


def test_an_untouched_report_holds_with_its_runs_their_archive_and_its_seal(honest, tmp_path, capsys):
    packed = [tmp_path / name for name in ("a.zip", "b.zip")]
    for file in packed:
        assert audit(honest, "--archive", str(file)) == Exit.DONE

    assert audit(honest, "--seal", honest.seal[:12]) == audit(honest, runs=packed[0]) == Exit.DONE
    assert cli.main(["audit", str(honest.report)]) == Exit.DONE
    assert packed[0].read_bytes() == packed[1].read_bytes()
    said = capsys.readouterr()
    assert said.out.count("everything holds") == 5 and "raw files were not looked at" in said.err


def test_a_report_that_lacks_a_finished_run_holds_and_the_audit_says_that_it_lacks_it(honest, tmp_path, capsys):
    place = honest.copied(tmp_path)
    shutil.rmtree(next(place.runs.glob("toynet*/r1")))
    place.write_report()

    assert audit(place) == Exit.DONE
    assert "of 1 place that runs are missing" in capsys.readouterr().out


def test_a_report_of_several_folders_of_runs_holds_with_all_of_them_alone(honest, tmp_path):
    place, report = honest.copied(tmp_path), tmp_path / "both"
    both = ["--runs", str(honest.runs), "--runs", str(place.runs)]
    assert cli.main(["report", *both, "--out", str(report), "--forms", "logs"]) == Exit.DONE

    assert cli.main(["audit", str(report), *both]) == Exit.DONE
    assert cli.main(["audit", str(report), *both[:2]]) == Exit.UNDETERMINED
    (place.runs / "attempts.jsonl").unlink()
    assert cli.main(["audit", str(report), *both]) in BAD


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("corrupt", corruptions.FOUND, ids=lambda each: each.__name__)
def test_what_is_falsified_is_found_without_a_seal(honest, tmp_path, capsys, corrupt, seed):
    place = honest.copied(tmp_path)
    corrupt(place, Random(seed))

    assert audit(place) in BAD
    assert str(tmp_path) in "".join(capsys.readouterr())


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("corrupt", corruptions.NEEDS_SEAL, ids=lambda each: each.__name__)
def test_what_is_made_anew_throughout_needs_the_seal_which_is_said(honest, tmp_path, capsys, corrupt, seed):
    place = honest.copied(tmp_path)
    corrupt(place, Random(seed))

    assert audit(place, "--seal", honest.seal) == Exit.CRITERION_FAILED
    assert f"expected the seal {honest.seal}" in capsys.readouterr().out
    assert audit(place) == Exit.DONE
    assert "no seal was given" in capsys.readouterr().err


def test_a_signature_of_openssh_beside_the_manifest_is_no_foreign_file_and_goes_with_a_new_report(honest, tmp_path):
    place = honest.copied(tmp_path)
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "lab"], check=True)
    sign = ["ssh-keygen", "-Y", "sign", "-n", "evalsuite", "-f", tmp_path / "lab", place.report / "manifest.json"]
    subprocess.run(sign, check=True, capture_output=True)

    assert audit(place) == Exit.DONE
    again = ["--runs", str(place.runs), "--out", str(place.report), "--forms", corruptions.FORMS]
    assert cli.main(["report", *again]) == Exit.DONE
    assert not (place.report / "manifest.json.sig").exists()


def test_a_report_against_published_figures_says_what_share_of_them_and_what_differs(honest, tmp_path, capsys):
    against = ["--against", "dlperf-v1"]
    assert cli.main(["report", "--runs", str(honest.runs), "--out", str(tmp_path), "--forms", "md", *against]) == 0

    (entry, _) = read_json(tmp_path / "summary.json")["against"]
    assert (entry["reference"], entry["figures"]) == (384.19, 1)
    assert entry["differs"] == {"framework": "mxnet", "batch": "128", "device": "V100"}
    assert entry["share"] == entry["items_per_s"] / entry["reference"]
    printed, _, told = "".join(capsys.readouterr()).partition("evalsuite audit ")
    for text in (printed, (tmp_path / "report.html").read_text()):
        assert "384.19" in text and "V100" in text
    assert cli.main(["audit", *shlex.split(told.splitlines()[0])]) == Exit.DONE
    others = ["--against", "tianshu"]
    assert cli.main(["audit", str(tmp_path), "--runs", str(honest.runs), *others]) == Exit.CRITERION_FAILED
    assert "tianshu: none of its figures" in capsys.readouterr().err
    assert cli.main(["report", "--against", "nothing"]) == Exit.USAGE


def test_the_recorded_trainings_make_a_report_that_holds_and_tells_the_way_to_the_target(tmp_path):
    criteria, runs = paths.DATA / "criteria" / "convergence.toml", paths.DATA / "recorded-convergence.zip"
    words = ["--runs", str(runs), "--criteria", str(criteria)]

    assert cli.main(["report", *words, "--out", str(tmp_path / "r"), "--forms", corruptions.FORMS]) == Exit.DONE
    assert cli.main(["audit", str(tmp_path / "r"), *words]) == Exit.DONE
    publishing.publish([tmp_path / "r"], tmp_path / "site")  # though some numbers are of undisturbed runs alone
    text = (tmp_path / "r" / "report.html").read_text()
    assert all(said in text for said in ("5 of 5", "unknown: no meter of the devices"))
    for summary in read_json(tmp_path / "r" / "summary.json")["summaries"]:
        assert summary["to_target"]["epochs_each"]["value"] == 25
        assert {run["trained"] for run in summary["runs"][:5]} == {"trained"}


def test_raw_files_gone_an_archive_cut_short_another_version_and_a_word_that_is_no_seal(honest, tmp_path, capsys):
    place = honest.copied(tmp_path)
    summary = place.report / "summary.json"
    file = tmp_path / "runs.zip"
    assert audit(place, "--archive", str(file)) == Exit.DONE
    file.write_bytes(file.read_bytes()[:-300])

    assert audit(place, runs=tmp_path / "nowhere") == Exit.UNDETERMINED
    assert audit(place, runs=file) == Exit.CRITERION_FAILED
    assert audit(place, "--seal", "12") == Exit.USAGE
    summary.write_text(summary.read_text().replace(f'"evalsuite": "{cli.__version__}"', '"evalsuite": "0.0.1"'))
    capsys.readouterr()
    assert audit(place) == Exit.USAGE
    assert "evalsuite 0.0.1 wrote the report" in capsys.readouterr().err
    summary.unlink()
    assert audit(place) == Exit.UNDETERMINED


def test_an_archive_without_secrets_leaves_files_out_whole_and_the_audit_names_them(honest, tmp_path, capsys):
    place = honest.copied(tmp_path)
    log = next(place.runs.glob("*/r0/log.n0.txt"))
    log.write_text("password=hunter2-and-more\n" + log.read_text())
    file = tmp_path / "runs.zip"

    corruptions.hash_again(log.parent)
    corruptions.a_chain_made_anew(place, Random(1), (1.0,))
    place.write_report()
    assert audit(place, "--archive", str(file), "--redact") == Exit.DONE
    with zipfile.ZipFile(file) as archive:
        assert log.relative_to(place.runs).as_posix() not in archive.namelist()
    assert f"{log}: left out" in capsys.readouterr().err
    audit(place, runs=file)
    assert f"{file / log.relative_to(place.runs)}: it is missing" in capsys.readouterr().out


def test_each_form_shows_the_seal_of_the_summary_beside_it(honest, tmp_path, capsys):
    report, summary = (place := honest.copied(tmp_path)).report, place.report / "summary.json"
    facts = read_json(summary)
    page = {"report.html": sha256(report / "report.html")}  # as it is, with the seal of before
    summary.write_text(json.dumps({**facts, "profile": "full", "page_files": facts["page_files"] | page}))
    reports.sealed(report)

    assert cli.main(["audit", str(report)]) == Exit.CRITERION_FAILED
    told = {line.split(": ")[0] for line in capsys.readouterr().out.splitlines() if "shows another seal" in line}
    shown = [file for pattern in own_files.SEALED for file in report.glob(pattern)]
    assert told == {*map(str, shown)} and len(shown) > 5
    with pytest.raises(EvalsuiteError, match="shows another seal"):
        publishing.publish([report], tmp_path / "site")


@pytest.mark.parametrize(("was", "now"), [(r"\d+\.\d+", "98765.4"), (r"(?m)^\| \w+ \|", "| Chainer |")])
def test_what_the_markdown_has_and_the_page_has_not_is_refused(was, now, honest, tmp_path):
    file = (report := honest.copied(tmp_path).report) / "report.en.md"
    text = file.read_text()
    file.write_text(re.sub(was, now, text, count=1))
    assert file.read_text() != text
    reports.sealed(report)

    with pytest.raises(EvalsuiteError, match=r"report.en.md: it is not as report.html says"):
        publishing.publish([report], tmp_path / "site")


@pytest.mark.parametrize("edited", ["throughput.high", "latency.p50_s", "throughput_per_device", "runs.0.started_at"])
def test_what_the_summary_has_and_no_table_has_is_found(edited, honest, tmp_path, capsys):
    file = (report := honest.copied(tmp_path).report) / "summary.json"
    *names, last = (int(name) if name.isdigit() else name for name in edited.split("."))
    at = (facts := read_json(file))["summaries"][0]
    for name in names:
        at = at[name]
    at[last] = "2026-11-23" if last == "started_at" else 1.001 * at[last] + 0.1
    file.write_text(json.dumps(facts))
    reports.sealed(report)

    assert cli.main(["audit", str(report)]) == Exit.CRITERION_FAILED
    assert "it says what no table of the report has" in capsys.readouterr().out


def test_page_index_and_site_json_show_the_seal(honest, tmp_path):
    publishing.publish([honest.report], tmp_path / "site")

    shown = [honest.report / "report.html", *(tmp_path / "site" / name for name in ("index.html",))]
    (listed,) = read_json(tmp_path / "site" / "site.json")["reports"]
    summary = read_json(honest.report / "summary.json")
    assert (listed["seal"], listed["journal_sha256"]) == (honest.seal, summary["journal_sha256"])
    assert all(each in file.read_text() for file in shown for each in (honest.seal, *summary["journal_sha256"]))
