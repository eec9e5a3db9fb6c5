"""`evalsuite import`: run folders out of logs and tables."""

import json

import pytest

from evalsuite.cli import main
from evalsuite.errors import EvalsuiteError, Exit
from evalsuite.importing import published_tables, user_facts
from evalsuite.results.measure.measurement import measurement
from evalsuite.runs.store import Store

LINE = "Epoch: [0][{step:3d}/200]\tTime  0.500 ( 0.600)\tData  0.002 ( 0.001)\tLoss 6.7e+00\n"
LOG = "".join(LINE.format(step=step) for step in range(1, 131))
PATTERN = "{framework}/{nodes}n{gpus}g/b{batch}_{precision}_{repeat}.log"
TABLE = """framework,model,nodes,gpus_per_node,total_gpus,batch_size_per_gpu,precision,xla,features,throughput,unit
NGC MXNet,ResNet50-v1.5,1,8,8,128,fp32,na,DALI+Horovod,3006.02,images/sec
NGC MXNet,ResNet50-v1.5,4,8,32,128,fp16,na,DALI+Horovod,-,images/sec
NGC MXNet,ResNet50-v1.5,4,8,32,128,fp32,na,DALI+Horovod,11758.0,furlongs/sec
"""


@pytest.fixture
def logs(tmp_path):
    for name in ("pytorch/1n1g/b64_fp32_1.log", "pytorch/1n1g/b64_fp32_2.log", "pytorch/2n8g/b64_fp16_1.log"):
        path = tmp_path / "logs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"started from {name}\n{LOG}")
    return tmp_path / "logs"


def imported(*arguments):
    return main(["import", *map(str, arguments)])


def test_paths_say_what_logs_do_not(logs, tmp_path):
    code = imported(logs, "--pattern", PATTERN, "--set", "model=resnet50", "--runs", tmp_path / "runs")

    folders = Store(tmp_path / "runs").finished()
    values = {(folder.run().case.scale, folder.run().repeat): measurement(folder) for folder in folders}
    assert code == Exit.DONE
    assert {key: found.value for key, found in values.items()} == {
        ("1x1", 1): pytest.approx(128.0),
        ("1x1", 2): pytest.approx(128.0),
        ("2x8", 1): pytest.approx(128.0 * 16),
    }
    assert {found.origin for found in values.values()} == {"imported"}
    assert values["2x8", 1].run.case.precision == "amp"


def test_the_log_is_kept_byte_for_byte(logs, tmp_path):
    imported(logs, "--pattern", PATTERN, "--set", "model=resnet50", "--runs", tmp_path / "runs")

    kept = {folder.logs()[0].path.read_bytes() for folder in Store(tmp_path / "runs").finished()}
    assert kept == {path.read_bytes() for path in logs.rglob("*.log")}


def test_what_is_there_already_is_not_made_again(logs, tmp_path, capsys):
    again = [logs, "--pattern", PATTERN, "--set", "model=resnet50", "--runs", tmp_path / "runs"]
    imported(*again)
    capsys.readouterr()

    assert imported(*again) == Exit.DONE
    assert capsys.readouterr().out.count("already there") == 4


def test_a_path_that_contradicts_the_log_is_not_imported(tmp_path, capsys):
    header = "reference workload: framework=pytorch batch_per_device=32 processes=2 global_batch=64\n"
    (tmp_path / "b64.log").write_text(header + LOG)

    imported(tmp_path / "b64.log", "--pattern", "b{batch}.log", "--set", "model=resnet50", "--runs", tmp_path / "runs")

    assert "batch is said to be 64, and the log says 32" in capsys.readouterr().out
    assert not Store(tmp_path / "runs").finished()


def test_a_mapping_file_says_it_for_some_logs(logs, tmp_path):
    (tmp_path / "map.toml").write_text(
        '[defaults]\nmodel = "resnet50"\nbatch = 64\n[[runs]]\npath = "*/1n1g/*.log"\ngpus = 1\nxla = true\n'
    )

    code = imported(logs, "--map", tmp_path / "map.toml", "--runs", tmp_path / "runs")

    cases = {folder.run().case for folder in Store(tmp_path / "runs").finished()}
    assert code == Exit.SOME_FAILED  # the third log has no [[runs]]
    assert [(case.scale, case.xla, case.batch_per_device) for case in cases] == [("1x1", True, 64)]


def test_the_logs_of_the_ranks_of_a_run_make_one_run(tmp_path):
    for rank in (0, 1):
        (tmp_path / f"run_r{rank}.log").write_text(LOG)

    pattern = ["--pattern", "run_r{rank}.log", "--set", "model=resnet50", "--set", "gpus=2", "--set", "batch=8"]
    imported(tmp_path, *pattern, "--runs", tmp_path / "runs")

    (folder,) = Store(tmp_path / "runs").finished()
    assert [log.rank for log in folder.logs()] == [0, 1]
    assert measurement(folder).value == pytest.approx(32.0)


def test_what_nobody_says_is_named(logs, tmp_path, capsys):
    code = imported(logs / "pytorch/1n1g/b64_fp32_1.log", "--runs", tmp_path / "runs")

    assert code == Exit.USAGE
    assert "neither path nor log says model, devices, batch" in capsys.readouterr().out


def test_a_row_of_a_table_is_cited_and_never_measured(tmp_path, capsys):
    (tmp_path / "table.csv").write_text(TABLE)

    code = imported(tmp_path / "table.csv", "--runs", tmp_path / "runs", "--json")

    results = json.loads(capsys.readouterr().out)
    (folder,) = Store(tmp_path / "runs").finished()
    found = measurement(folder)
    assert code == Exit.SOME_FAILED
    assert [result["reason"] for result in results[1:]] == [
        "no throughput is recorded",
        'unknown unit "furlongs/sec"; expected one of images/s, sentences/s, sequences/s, samples/s, tokens/s, words/s',
    ]
    assert (found.origin, found.value, found.throughput.unit) == ("cited", 3006.02, "images/s")
    assert found.run.case.options == (("features", "DALI+Horovod"),)
    assert TABLE.splitlines()[1] in folder.logs()[0].path.read_text()


def test_a_workbook_is_read_as_its_first_sheet(tmp_path, capsys):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for line in TABLE.splitlines():
        book.active.append([float(cell) if cell.replace(".", "").isdigit() else cell for cell in line.split(",")])
    book.save(tmp_path / "table.xlsx")

    imported(tmp_path / "table.xlsx", "--runs", tmp_path / "runs", "--json")

    results = json.loads(capsys.readouterr().out)
    (folder,) = Store(tmp_path / "runs").finished()
    assert results[0]["source"].endswith("table.xlsx:2")
    assert (measurement(folder).value, measurement(folder).run.case.scale) == (3006.02, "1x8")


def test_a_cell_with_an_error_is_empty_and_touched_cells_behind_the_table_are_no_rows(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["throughput", "nodes", None], [None, None, None], ["#N/A", 8.0, ""], [1.5, "a\nb", None], [None]):
        book.active.append(row)
    book.save(tmp_path / "table.xlsx")

    assert published_tables._spreadsheet(tmp_path / "table.xlsx") == "throughput,nodes\n,\n,8\n1.5,a b\n"


@pytest.mark.parametrize("content", [b"", b"no workbook", b"PK\x03\x04 cut off"])
def test_what_is_called_a_workbook_and_is_none_is_said_in_one_line(content, tmp_path, capsys):
    (tmp_path / "table.xlsx").write_bytes(content)

    code = imported(tmp_path / "table.xlsx", "--runs", tmp_path / "runs")

    said = capsys.readouterr().err
    assert code == Exit.USAGE
    assert "table.xlsx" in said and "expected a workbook" in said and "Traceback" not in said


def test_a_table_saved_in_the_chinese_code_page_is_read(tmp_path, capsys):
    (tmp_path / "表.csv").write_bytes(TABLE.replace("DALI+Horovod", "数据增强").encode("gb18030"))

    imported(tmp_path / "表.csv", "--runs", tmp_path / "runs", "--json")

    (folder,) = Store(tmp_path / "runs").finished()
    assert "数据增强" in folder.logs()[0].path.read_text(encoding="utf-8")


@pytest.mark.parametrize("text", ["logs/*.log", "{batch}/{batch}.log"])
def test_a_pattern_that_says_nothing_or_twice_is_refused(text):
    with pytest.raises(EvalsuiteError, match="the placeholders are"):
        user_facts.pattern(text)


@pytest.mark.parametrize("content", ["[runs", "[[runs]]\nmodel = 'x'\n", "runs = 1\n"])
def test_a_mapping_file_that_is_none_is_refused(tmp_path, content):
    (tmp_path / "map.toml").write_text(content)

    with pytest.raises(EvalsuiteError, match=r"map\.toml: .*expected"):
        user_facts.mapping(tmp_path / "map.toml")


def campaigns(runs):
    return {measurement(folder).campaign for folder in Store(runs).finished()}


def test_a_campaign_that_is_said_is_kept_and_makes_no_other_case(logs, tmp_path):
    said = [logs, "--pattern", PATTERN, "--set", "model=resnet50"]
    imported(*said, "--runs", tmp_path / "runs")
    imported(*said, "--campaign", "tuesday", "--runs", tmp_path / "named")

    cases = [{folder.run().id for folder in Store(tmp_path / name).finished()} for name in ("runs", "named")]
    assert cases[0] == cases[1]
    assert (campaigns(tmp_path / "runs"), campaigns(tmp_path / "named")) == ({None}, {"tuesday"})


def test_the_campaign_of_runs_that_are_there_is_corrected_only_where_that_is_asked_for(logs, tmp_path, capsys):
    said = [logs, "--pattern", PATTERN, "--set", "model=resnet50", "--runs", tmp_path / "runs"]
    imported(*said)

    imported(*said, "--campaign", "tuesday")
    assert 'campaign "tuesday" (recorded: not said)' in capsys.readouterr().out
    assert campaigns(tmp_path / "runs") == {None}

    imported(*said, "--campaign", "tuesday", "--amend")
    assert campaigns(tmp_path / "runs") == {"tuesday"}


def test_a_path_can_say_the_campaign_and_may_not_contradict_what_is_said(logs, tmp_path, capsys):
    pattern = "{campaign}/{nodes}n{gpus}g/b{batch}_{precision}_{repeat}.log"
    facts = ["--set", "model=resnet50", "--set", "framework=pytorch"]
    imported(logs, "--pattern", pattern, *facts, "--runs", tmp_path / "runs")
    assert campaigns(tmp_path / "runs") == {"pytorch"}

    imported(logs, "--pattern", pattern, *facts, "--campaign", "other", "--runs", tmp_path / "none")
    assert 'campaign: --set says "other", and the path says "pytorch"' in capsys.readouterr().out


def test_an_empty_campaign_is_refused(logs, tmp_path, capsys):
    code = imported(logs, "--pattern", PATTERN, "--campaign", " ", "--runs", tmp_path / "runs")

    assert code == Exit.USAGE
    assert "--campaign" in capsys.readouterr().err
