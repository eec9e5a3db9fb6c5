"""Secrets planted wherever a run can hold one: none may stand in anything that evalsuite writes for others."""

import hashlib
import json
import shutil
import zipfile
from dataclasses import replace

import pytest
import reports
import runfolders

from evalsuite import cli
from evalsuite.core.errors import EvalsuiteError, Exit
from evalsuite.machine import environment
from evalsuite.results.publish import log_copies
from tests import planted as planting
from tests import sources
from tests.bad_files import as_json, changed
from tests.planted import COMMANDS, LAST_LINE, MADE, SECRETS, VARIABLES, WORD
from tests.toys import CASE

FORMS = "html,single,md,xlsx,zip,logs"


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """Runs of an older version, with many kinds of secrets in words and variables, and some in each record and log."""
    return planting.plant(tmp_path_factory.mktemp("planted"), COMMANDS, VARIABLES)


@pytest.fixture(scope="module")
def report(planted, tmp_path_factory):
    """The report of these runs in every form that needs no browser."""
    out = tmp_path_factory.mktemp("shown") / "report"
    assert cli.main(["report", "--runs", str(planted), "--out", str(out), "--forms", FORMS]) == Exit.DONE
    return out


def held(folder):
    """Which secrets stand where below *folder*, by name."""
    shown = [(path.name, content) for path in folder.rglob("*") if path.is_file() for content in opened(path)]
    assert len(shown) > 15
    return {(secret, name) for name, content in shown for secret in SECRETS if secret.encode() in content}


def test_no_planted_secret_stands_in_any_form_of_the_report_or_on_a_site(report, tmp_path):
    assert held(report) == set()
    assert "[secret: " in (report / "report.html").read_text()
    assert cli.main(["publish", str(report), "--site", str(tmp_path / "site")]) == Exit.DONE
    assert held(tmp_path / "site") == set()


@pytest.mark.parametrize("command", ["report", "plan", "parse", "parse --json", "diff"])
def test_no_planted_secret_reaches_the_terminal(command, planted, report, tmp_path, capfd):
    log = planted / CASE.id / "r1" / "log.n0.txt"
    words = {
        "report": ["--runs", planted, "--out", tmp_path / "out"],
        "plan": ["--runs", planted, "--frameworks", "pytorch", "--device", "cpu", "--environment", "current"],
        "diff": [report, report],
    }.get(command, [log])

    cli.main([*command.split(), *map(str, words)])

    said = "".join(capfd.readouterr())
    assert len(said) > 50
    assert [secret for secret in SECRETS if secret in said] == []


ADAPTER = f"""
from evalsuite.contracts.adapter import Adapter, Command, Recipe
def command(case): return Command(argv=("{{python}}", "train.py", "--password", "{WORD}"))
facts = dict(name="reference-resnet50", model="resnet50_v1.5", kind="reference", dialect="pytorch_examples")
ADAPTER = Adapter(name="toynet", title="T", recipes=(Recipe(**facts, command=command, image="x?token={WORD}"),))
"""
ROWS = f"""framework,model,nodes,gpus_per_node,batch_size_per_gpu,precision,throughput,unit,source
pytorch,m,1,1,32,fp32,12.5,images/s,{planting.ADDRESS}
pytorch,hf_{MADE},1,1,32,fp32,12.5,images/s,x
pytorch,m,1,1,32,fp32,password={WORD},images/s,x
"""


@pytest.mark.parametrize("command", ["plan", "import", "publish"])
def test_no_planted_secret_stands_in_what_is_printed_as_json(command, planted, report, tmp_path, capfd):
    folder = tmp_path / f"hf_{MADE}"
    folder.mkdir()
    (folder / "toynet.py").write_text(ADAPTER)
    (folder / "a.log").write_text("\n".join([*runfolders.steps().lines, LAST_LINE]))
    (folder / "t.csv").write_text(ROWS)
    stated = [f"--set={name}" for name in ("framework=pytorch", "model=m", "devices=1", "batch=32")]
    words = {
        "plan": ["--adapters", folder, "--frameworks=toynet", "--device=cpu", "--environment=current", "--commands",
                 "--runs", planted],
        "import": [folder / "a.log", folder / "t.csv", *stated, "--runs", tmp_path / "r"],
        "publish": [report, "--site", folder / "site"],
    }[command]  # fmt: skip

    cli.main([command, *map(str, words), "--json"])

    out, said = capfd.readouterr()
    assert json.loads(out)
    assert [secret for secret in SECRETS if secret in out + said] == []


def test_an_import_does_not_call_a_run_by_a_secret(tmp_path, capsys):
    (tmp_path / "t.csv").write_text(ROWS)

    code = cli.main(["import", str(tmp_path / "t.csv"), "--runs", str(tmp_path / "runs")])

    said = "".join(capsys.readouterr())
    assert code == Exit.USAGE and "model: it looks like a secret" in said  # what is no figure is asked first
    assert MADE not in said and WORD not in said
    assert not list((tmp_path / "runs").glob("*/r0"))


def test_a_copied_log_keeps_its_lines_and_the_manifest_has_both_hashes(planted, report):
    with zipfile.ZipFile(report / "report-logs.zip") as archive:
        manifest = json.loads(archive.read("manifest.json"))
        for log in manifest["logs"]:
            raw, copy = (planted / log["log"]).read_bytes(), archive.read(log["log"])

            assert (log["sha256"], log["masked_sha256"]) == tuple(hashlib.sha256(x).hexdigest() for x in (raw, copy))
            assert raw != copy and [*map(len, raw.split(b"\n"))] == [*map(len, copy.split(b"\n"))]
        assert "masked_sha256" in archive.read("README.txt").decode()
    assert len(manifest["logs"]) == 2


def test_a_private_key_over_several_pieces_is_masked_whole_and_a_receipt_still_shows_what_was_read(report):
    begin, end = b"a\n-----BEGIN EC PRIVATE KEY-----\n", b"-----END EC PRIVATE KEY-----\nb\n"
    found = list(log_copies.masked(iter([begin, b"MHcCAQEEIAkMHcCAQEEIAkMHcCAQEEIAk\n", end])))
    assert b"".join(found).startswith(b"a\n***") and b"MHc" not in b"".join(found) and found[-1].endswith(b"\nb\n")
    assert [*map(len, found)] == [len(begin), 34, len(end)]

    with zipfile.ZipFile(report / "report-data.zip") as archive:
        (run, *_) = json.loads(archive.read("evidence.json"))

    assert len(run["lines"]) == 3
    for line in run["lines"]:
        assert line["read"] and f"token={'*' * len(WORD)}" in line["text"]


def in_summary(report):
    file = report / "summary.json"
    way = ("summaries", 0, "case", "options")
    file.write_bytes(as_json(changed(json.loads(file.read_text()), way, lambda _: {"api_key": WORD})))


def appended(report):
    with open(report / "report.html", "a") as into:
        into.write(f"\nhf_{MADE}\n")


def packed(report):
    with zipfile.ZipFile(report / "report-data.zip", "a") as archive:
        archive.writestr("more.csv", f"a\nhttps://me:{WORD}@host\n")


SHOWN_TO_ALL = {  # how a report is changed, what is said
    "summary": (in_summary, "summary.json"),
    "page": (appended, "it is not as summary.json says"),
    "archive": (packed, "looks like a secret"),
}


@pytest.mark.parametrize(("change", "told"), SHOWN_TO_ALL.values(), ids=SHOWN_TO_ALL)
def test_a_report_or_site_with_a_secret_in_it_is_not_published(change, told, report, tmp_path, capsys):
    shutil.copytree(report, tmp_path / "report")
    change(tmp_path / "report")
    reports.sealed(tmp_path / "report")

    assert cli.main(["publish", str(tmp_path / "report"), "--site", str(tmp_path / "site")]) == Exit.USAGE
    said = capsys.readouterr().err
    assert told in said and WORD not in said and MADE not in said
    assert not (tmp_path / "site").exists()


def test_an_author_who_writes_a_secret_is_told(planted, tmp_path, capsys):
    (file := tmp_path / "mine.toml").write_text(f'[[finding]]\nzh = "密码：{WORD}"\nen = "see above"\n')

    code = cli.main(["report", "--runs", str(planted), "--author", str(file), "--out", str(tmp_path / "o")])

    said = capsys.readouterr().err
    assert code == Exit.USAGE and "mine.toml: finding[0].zh" in said and WORD not in said


def test_a_run_whose_case_is_called_by_a_secret_is_left_out_and_said(tmp_path, capfd):
    runs, out = tmp_path / "runs", tmp_path / "out"
    runfolders.finished(runs)
    with pytest.raises(EvalsuiteError, match=r"options.api_key: it looks like a secret"):
        runfolders.finished(runs, case=replace(CASE, options=(("api_key", WORD),)))
    file = runfolders.finished(runs, case=replace(CASE, options=(("width", "6400"),))).path / "case.json"
    file.write_text(file.read_text().replace("width", "api_key").replace("6400", WORD))

    assert cli.main(["report", "--runs", str(runs), "--out", str(out), "--forms", "md"]) == Exit.DONE
    page = (out / "report.html").read_text()
    assert WORD not in page + "".join(capfd.readouterr())
    assert "options.api_key: it looks like a secret" in page


def opened(path):
    """What is in *path*, and in the files of an archive."""
    yield path.read_bytes()
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            yield from (archive.read(name) for name in archive.namelist())


@pytest.mark.parametrize("name", VARIABLES)
def test_a_variable_that_holds_a_secret_is_not_recorded_as_it_stands(name):
    relevant = environment.relevant({name: VARIABLES[name], "NCCL_DEBUG": "INFO", "NCCL_NEW_KNOB": WORD})

    assert WORD not in str(relevant) and MADE not in str(relevant)
    assert relevant["NCCL_DEBUG"] == "INFO"
    assert relevant["NCCL_NEW_KNOB"] == environment.SET


@pytest.mark.parametrize(("words", "ends", "told"), sources.cases("secrets.toml")["an_error_tells_the_terminal"])
def test_an_error_tells_the_terminal_neither_a_secret_nor_a_command(words, ends, told, tmp_path, capsys):
    code = cli.main([word.replace("{0}", str(tmp_path)) for word in words])

    said = capsys.readouterr().err
    assert code == ends
    assert told in said and "\x1b" not in said and WORD not in said
